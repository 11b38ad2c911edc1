"""Small distributions to decide on, with whole weights so that ties are common and sums exact."""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from refpair.costs import Cost, get_cost
from refpair.posterior import LabelDistribution
from tests import naive


@dataclass
class Case:
    vectors: list
    weights: list

    def distribution(self):
        return LabelDistribution.from_dense(self.vectors, self.weights)


@st.composite
def cases(draw, max_labels=5, max_rows=3):
    n_labels = draw(st.integers(1, max_labels))
    everything = naive.all_vectors(n_labels)
    vectors = draw(st.lists(st.sampled_from(everything), min_size=1, max_size=7, unique=True))
    weight = st.lists(st.integers(0, 4), min_size=len(vectors), max_size=len(vectors)).filter(any)
    return Case(vectors, draw(st.lists(weight, min_size=1, max_size=max_rows)))


def f_beta(beta):
    return partial(naive.f_beta, square=Fraction(beta) ** 2)


def weigh_first(y, z):
    """A cost that is no function of the counts: labels count 1, 2, 3, …, and two mistakes in a row 5 more."""
    wrong = [a != b for a, b in zip(y, z, strict=True)]
    pairs = sum(a and b for a, b in pairwise(wrong))
    return Fraction(sum(k for k, w in enumerate(wrong, 1) if w) + 5 * pairs)


def weigh_first_arrays(Y, Z):
    wrong = Y != Z
    return wrong @ np.arange(1, Y.shape[1] + 1) + 5 * (wrong[:, 1:] & wrong[:, :-1]).sum(axis=1)


def own_counts(tp, fp, fn, tn):
    return fp * fp / 4 + 3 * fn - tp + tn / 8


def own_counts_of_vectors(y, z):
    tp, fp, fn, tn = (
        sum((a, b) == pair for a, b in zip(y, z, strict=True)) for pair in [(1, 1), (0, 1), (1, 0), (0, 0)]
    )
    return Fraction(fp * fp, 4) + 3 * fn - tp + Fraction(tn, 8)


NAMED = {
    **{name: (get_cost(name), cost) for name, cost in naive.COSTS.items()},
    "f0.5": (get_cost("f0.5"), f_beta(0.5)),
    "f2": (get_cost("f2"), f_beta(2)),
}
OWN = {
    "counts": (Cost.from_counts(own_counts), own_counts_of_vectors),
    "function": (Cost.from_function(weigh_first_arrays), weigh_first),
}
ALL = {**NAMED, **OWN}


def random_distribution(rng, n, n_labels, n_vectors):
    """Make n rows of a few vectors each, some nearly sure and some not at all."""
    everything = np.array(naive.all_vectors(n_labels), np.uint8)
    weights = np.zeros((n, len(everything)))
    for row in weights:
        some = rng.choice(len(everything), rng.integers(1, n_vectors + 1), replace=False)
        row[some] = rng.dirichlet(np.full(len(some), rng.choice([0.2, 1.0, 3.0]))) + 1e-9
    return LabelDistribution.from_dense(everything, weights)

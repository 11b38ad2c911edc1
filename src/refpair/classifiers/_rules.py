"""Rules of a classifier: about the labels that it was fitted on, some rows of which may break them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from refpair._fitting import warn_caller
from refpair._parallel import chunks_of
from refpair.decision.rule_set import RuleSet
from refpair.tables.labels import LabelFormat, LabelMatrix

_ROWS_AT_ONCE = 10_000
_MOST_TOLD = 5
_SELDOM = 0.01  # of training rows: where more break a rule, it does not tell what is true


def learn_rules(rules: Any, labels: LabelMatrix, form: LabelFormat) -> RuleSet | None:
    """Return rules about the labels that were read; warn if some of the training rows break them."""
    found = RuleSet.resolve(rules, form.label_names)
    if found is None:
        return None
    chunks = chunks_of(labels.shape[0], _ROWS_AT_ONCE)
    broken = np.concatenate([found.broken(labels[chunk]) for chunk in chunks])
    n_broken = int(broken.any(axis=1).sum())
    if n_broken:
        counts = broken.sum(axis=0)
        worst = np.argsort(-counts, kind="stable")[: min(_MOST_TOLD, np.count_nonzero(counts))]
        sentences = found.sentences(form.label_names)
        told = "; ".join(f"{sentences[rule]!r} ({counts[rule]:,})" for rule in worst)
        more = "; ..." if np.count_nonzero(counts) > len(worst) else ""
        warn_caller(
            f"{n_broken:,} of {labels.shape[0]:,} training rows break a rule, and no answer will: "
            f"{told}{more}",
            UserWarning,
        )
        exceptions = np.flatnonzero(counts > _SELDOM * labels.shape[0])
        found = replace(found, exceptions=tuple(exceptions.tolist()))
    return found

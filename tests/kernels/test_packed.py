import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refpair._kernels import packed
from refpair._kernels.grow import n_copies_of
from refpair._kernels.packed import field_widths
from refpair.bits.weights import in_copies
from tests.kernels.calling import from_python

pack_row_weights = from_python(packed.pack_row_weights)
row_count, signed_sum, weight_sum = map(from_python, (packed.row_count, packed.signed_sum, packed.weight_sum))


def pack(differences, min_samples_leaf=1, rows=None, widths=None, row_weight=()):
    """The packed weights of one bit by row, the rows that are kept, and the widths."""
    n = len(differences)
    n_copies = n_copies_of(np.float64(row_weight), n)
    weight_bits, count_bits = widths or field_widths(n_copies, min_samples_leaf)
    values, kept = np.zeros(n, np.int64), np.full(n, -1, np.int32)
    rows = np.arange(n, dtype=np.int32) if rows is None else np.int32(rows)
    n_kept = pack_row_weights(
        np.float64(differences), np.arange(n, dtype=np.int32), np.float64(row_weight), rows, weight_bits,
        count_bits, values, kept,
    )  # fmt: skip
    return values, kept[:n_kept], weight_bits, count_bits


def unpack(packed, weight_bits, count_bits):
    return (
        int(signed_sum(packed, weight_bits, count_bits)),
        int(weight_sum(packed, weight_bits, count_bits)),
        int(row_count(packed, count_bits)),
    )


@pytest.mark.parametrize("n_rows", [1, 2, 3, 7, 8, 1000, 2**16 - 1, 2**16, 500_000, 10**6, 10**8, 2**29])
def test_all_sums_fit_a_word(n_rows):
    weight_bits, count_bits = field_widths(n_rows, 1)
    assert (weight_bits, count_bits) == (31, 0)
    if n_rows <= 2**19:
        weight_bits, count_bits = field_widths(n_rows, 2)
        assert n_rows < 2**count_bits
    # S takes a sign more than W. Each weight is at least 1 and the sum of all is within the field.
    assert 2 * weight_bits + count_bits <= 63
    assert 4 * n_rows <= 2**weight_bits


def test_too_many_rows_are_refused():
    for n_rows, min_samples_leaf in [(2**19 + 1, 2), (10**6, 5), (2**29 + 1, 1)]:
        with pytest.raises(ValueError, match=f"{n_rows} training rows are too many for min_samples_leaf="):
            field_widths(n_rows, min_samples_leaf)


finite = st.floats(-1e308, 1e308, allow_nan=False, allow_subnormal=True)


@given(st.lists(finite | st.sampled_from([0.0, 1.0, -1.0]), min_size=1, max_size=40), st.integers(1, 3))
@settings(deadline=None, max_examples=300)
def test_weights_are_quantised_in_proportion(differences, min_samples_leaf):
    values, kept, weight_bits, count_bits = pack(differences, min_samples_leaf)
    assert kept.tolist() == [i for i, difference in enumerate(differences) if difference != 0]
    n, whole = len(differences), 2**weight_bits
    largest = max(abs(d) for d in differences)
    parts = [abs(d) / largest for d in differences] if largest else []
    signed, weights = [], []
    for i in kept:
        s, w, count = unpack(values[i], weight_bits, count_bits)
        assert s == (w if differences[i] > 0 else -w)
        assert w >= 1
        assert count == (1 if count_bits else 0)
        assert abs(w - parts[i] / sum(parts) * (whole - 1 - 2 * n)) <= 1 + 1e-6 * w
        signed.append(s)
        weights.append(w)
    # Sums of packed weights are the packed sums, with all rows, with some, and as parent minus child.
    total, part = int(values[kept].sum()), int(values[kept[::2]].sum())
    count = len(kept) if count_bits else 0
    assert unpack(total, weight_bits, count_bits) == (sum(signed), sum(weights), count)
    rest = (sum(signed[1::2]), sum(weights[1::2]), len(kept[1::2]) if count_bits else 0)
    assert unpack(total - part, weight_bits, count_bits) == rest


@pytest.mark.parametrize(("n", "min_samples_leaf"), [(2_000_000, 1), (2**19, 2)])
@pytest.mark.parametrize("weights", ["equal", "spread", "one"])
def test_the_sums_of_very_many_rows_fit(n, min_samples_leaf, weights):
    rng = np.random.default_rng(0)
    differences = np.ones(n) if weights == "equal" else 10.0 ** rng.uniform(-12, 0, n)
    if weights == "one":
        differences[1:] = 1e-300
    values, kept, weight_bits, count_bits = pack(differences, min_samples_leaf)
    assert len(kept) == n
    exact = sum(int(w) for w in weight_sum_of(values, weight_bits, count_bits))
    total = int(values.sum())
    count = n if count_bits else 0
    assert unpack(total, weight_bits, count_bits) == (exact, exact, count)
    assert exact < 2**weight_bits
    assert unpack(-total + 2 * (total & (2 ** (weight_bits + count_bits) - 1)), weight_bits, count_bits) == (
        -exact,
        exact,
        count,
    ), "the same rows with the other sign"


def weight_sum_of(values, weight_bits, count_bits):
    return values >> count_bits & (1 << weight_bits) - 1


def test_only_the_given_rows_take_part():
    values, kept, weight_bits, count_bits = pack([5.0, 1.0, -3.0, 0.0], rows=[2, 3, 1])
    assert kept.tolist() == [2, 1]
    assert values[0] == values[3] == 0
    weights = [unpack(values[i], weight_bits, count_bits)[1] for i in (1, 2)]
    assert weights[1] / weights[0] == pytest.approx(3.0, rel=1e-8)


def test_costs_out_of_the_range_of_floats_keep_their_proportions():
    for scale in (1e-322, 1e-300, 1e300, 5e307):
        values, _, weight_bits, count_bits = pack([scale, 2 * scale, -scale])
        weights = [unpack(value, weight_bits, count_bits)[1] for value in values]
        assert weights[1] / weights[0] == pytest.approx(2.0, rel=1e-8)
        assert weights[2] == weights[0]


@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 1.0, -1.0, 0.5, -4.0]), st.integers(1, 9)), min_size=1, max_size=30
    ),
    st.integers(1, 3),
)
@settings(deadline=None, max_examples=200)
def test_a_whole_weight_is_worth_as_many_rows(rows, min_samples_leaf):
    differences, weights = (np.array(part, float) for part in zip(*rows, strict=True))
    values, kept, *widths = pack(differences, min_samples_leaf, row_weight=weights)
    times = weights.astype(int)
    repeated, _, *same_widths = pack(np.repeat(differences, times), min_samples_leaf)
    assert widths == same_widths
    first = np.cumsum(times) - times
    for i in kept:
        assert values[i] == times[i] * repeated[first[i]]


@given(
    st.lists(st.tuples(st.floats(0.01, 100.0), st.floats(2.0**-30, 1e6)), min_size=2, max_size=30),
    st.integers(1, 3),
)
@settings(deadline=None, max_examples=200)
def test_other_weights_multiply_and_their_sums_fit(rows, min_samples_leaf):
    differences, weights = (np.array(part) for part in zip(*rows, strict=True))
    weights = in_copies(weights, 1 << 19)
    values, kept, *widths = pack(differences, min_samples_leaf, row_weight=weights)
    total = sum(unpack(value, *widths)[1] for value in values)
    assert len(kept) == len(rows)
    assert unpack(int(values.sum()), *widths)[:2] == (total, total)
    parts = differences * weights
    whole = 2 ** widths[0] - 1 - 2 * np.maximum(weights, 1.0).sum()
    for value, part, weight in zip(values, parts / parts.sum(), weights, strict=True):
        assert abs(unpack(value, *widths)[1] - part * whole) <= 1 + weight + 1e-6 * part * whole
        if widths[1]:
            assert unpack(value, *widths)[2] == max(1, int(weight))

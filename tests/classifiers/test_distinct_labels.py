import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from refpair.posterior.distinct_labels import distinct_labels
from refpair.tables.labels import read_labels


@given(st.data(), st.integers(1, 12), st.sampled_from([1, 2, 7, 8, 9, 17]))
@settings(deadline=None)
def test_distinct_rows_dense_and_sparse(data, n, n_labels):
    labels = data.draw(arrays(np.uint8, (n, n_labels), elements=st.integers(0, 1)))
    rows = [tuple(row) for row in labels.tolist()]
    expected = sorted(set(rows))
    for matrix in (labels, np.asfortranarray(labels), read_labels(sp.csr_array(labels))[0]):
        found = distinct_labels(matrix)
        assert [tuple(vector) for vector in found.vectors.tolist()] == expected
        assert [expected[vector] for vector in found.of_row] == rows
        assert found.counts.tolist() == [rows.count(vector) for vector in expected]
        assert found.of_row.dtype == np.int32
        assert found.vectors.dtype == np.uint8


def test_many_labels_are_sorted_quickly():
    """By packed bytes, not label by label."""
    labels = np.random.default_rng(0).integers(0, 2, (3000, 5000), dtype=np.uint8)
    found = distinct_labels(labels)
    np.testing.assert_array_equal(found.vectors[found.of_row], labels)

from threading import Barrier, Thread

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from refpair._blas import one_blas_thread


def n_threads():
    return {library.num_threads for library in ThreadpoolController().select(user_api="blas").lib_controllers}


@pytest.fixture
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        if n_threads() != {2}:
            pytest.skip("the library of this machine has one thread only")
        yield


def test_threads_are_limited_and_come_back(two_threads):
    with one_blas_thread():
        assert n_threads() == {1}
        with one_blas_thread():
            assert n_threads() == {1}
        assert n_threads() == {1}
    assert n_threads() == {2}
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        raise ZeroDivisionError
    assert n_threads() == {2}


def test_whoever_ends_last_lifts_the_limit():
    before = n_threads()
    if before == {1}:
        pytest.skip("there is nothing to limit")
    first_ends, second_begins = Barrier(2), Barrier(2)
    seen = []

    def first():
        with one_blas_thread():
            second_begins.wait()
            first_ends.wait()

    def second():
        second_begins.wait()
        with one_blas_thread():
            first_ends.wait()
            one.join()
            seen.append(n_threads())

    one, two = Thread(target=first), Thread(target=second)
    one.start()
    two.start()
    two.join()
    assert seen == [{1}]
    assert n_threads() == before


def test_products_are_the_same():
    A = np.random.default_rng(0).standard_normal((50, 50))
    with one_blas_thread():
        limited = A @ A
    np.testing.assert_allclose(limited, A @ A)

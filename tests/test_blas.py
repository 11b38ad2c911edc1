import contextlib
import os
from threading import Barrier, Thread, local

import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from refpair import _parallel
from refpair._parallel import one_blas_thread


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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_is_not_bound_by_the_threads_of_its_parent():
    before = n_threads()
    if before == {1}:
        pytest.skip("there is nothing to limit")
    begun, ended = Barrier(2), Barrier(2)

    def ask():
        with one_blas_thread():
            begun.wait()
            ended.wait()

    thread = Thread(target=ask)
    thread.start()
    begun.wait()
    child = os.fork()
    if child == 0:  # pragma: no cover
        code = 1
        with contextlib.suppress(BaseException):
            with one_blas_thread():
                inside = n_threads()
            code = int(not (inside == {1} and n_threads() == before))
        os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    ended.wait()
    thread.join()
    assert n_threads() == before


class LibraryByThread:
    """A library in which each thread has a number of its own."""

    internal_api = "mkl"

    def __init__(self):
        self.of_thread = local()

    def get_num_threads(self):
        return getattr(self.of_thread, "number", 4)

    def set_num_threads(self, number):
        self.of_thread.number = number


def test_a_library_with_a_number_for_each_thread(monkeypatch):
    library = LibraryByThread()
    monkeypatch.setattr(_parallel._Limits, "shared", _parallel._Limit([]))
    monkeypatch.setattr(_parallel._Limits, "own_libraries", (library,))
    monkeypatch.setattr(_parallel, "_LIMITS", _parallel._Limits())
    seen = []

    def ask():
        with one_blas_thread():
            seen.append(library.get_num_threads())
        seen.append(library.get_num_threads())

    with one_blas_thread():
        ask()
        thread = Thread(target=ask)
        thread.start()
        thread.join()
    assert seen == [1, 1, 1, 4]
    assert library.get_num_threads() == 4

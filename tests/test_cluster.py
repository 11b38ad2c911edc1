"""Fits on a Dask cluster of two processes, which are the same as at home, even if one of them dies."""

import os
import signal
import threading
from contextlib import contextmanager
from dataclasses import fields
from functools import partial

import dask.array as da
import joblib
import numpy as np
import pytest
from distributed import Client, LocalCluster, get_client
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from refpair import BinaryRelevance, Cost, CSRPEClassifier, RAkEL
from refpair._parallel import is_on_worker, run_chunks
from refpair.costs import get_cost
from refpair.datasets import load_dataset
from refpair.on_disk import open_rows

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # sockets of workers that were killed


@pytest.fixture(scope="module")
def client():
    how = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with LocalCluster(**how, silence_logs=50) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def data():
    digits = load_dataset("digits")
    return digits.X[:500], digits.Y[:500]


def on_cluster():
    return joblib.parallel_config(backend="dask")


def chunks(n):
    return [slice(i, i + 1) for i in range(n)]


def run(work, n):
    return run_chunks(work, chunks(n), n_jobs=None, verbose=0, title="working")


def arrays_of(model):
    """Return all arrays of a fitted model."""
    bank = model.bits_
    learnt = (
        [getattr(bank.trees_, field.name) for field in fields(bank.trees_)] if hasattr(bank, "trees_") else []
    )
    learnt += [getattr(bank, name) for name in ("weights_", "intercept_") if hasattr(bank, name)]
    assert learnt
    return [*learnt, model.code_.encode(model.relevant_set_), model.relevant_set_]


def assert_same_model(one, other, X):
    for mine, theirs in zip(arrays_of(one), arrays_of(other), strict=True):
        np.testing.assert_array_equal(mine, theirs)
        assert mine.dtype == theirs.dtype
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    if one.decoder == "posterior":
        assert one.posterior_.sources[0].settings == other.posterior_.sources[0].settings
        assert one.oob_cost_ == other.oob_cost_
        np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["tree", "logistic"])
def test_a_fit_is_the_same_as_at_home(client, data, learner):
    model = CSRPEClassifier("f1", n_bits=300, estimator=learner, random_state=0)
    home = clone(model).fit(*data)
    with on_cluster():
        assert_same_model(home, clone(model).fit(*data), data[0])


@pytest.mark.slow
def test_workers_open_rows_on_disk_by_themselves(client, data, tmp_path):
    np.save(tmp_path / "X.npy", data[0])
    sources = ("code", "labels")
    model = CSRPEClassifier("f1", n_bits=120, max_samples=100, sources=sources, random_state=0)
    home = clone(model).fit(*data)
    with on_cluster():
        assert_same_model(home, clone(model).fit(open_rows(tmp_path / "X.npy"), data[1]), data[0])


def test_other_learners_and_classifiers(client, data):
    X, Y = data[0][:100], data[1][:100]
    for model in (
        CSRPEClassifier(
            "f1", n_bits=20, estimator=DecisionTreeClassifier(max_depth=3), decoder="nearest", random_state=0
        ),
        BinaryRelevance(DecisionTreeClassifier(max_depth=3), random_state=0),
        RAkEL("forest", random_state=0),
    ):
        home = clone(model).fit(X, Y).predict(X)
        with on_cluster():
            np.testing.assert_array_equal(clone(model).fit(X, Y).predict(X), home)


def test_an_own_cost_may_be_a_function_without_a_name(client, data):
    price = 3.0
    cost = Cost.from_counts(lambda tp, fp, fn, tn: price * fp + fn)
    model = CSRPEClassifier(cost, n_bits=120, decoder="nearest", random_state=0)
    home = clone(model).fit(*data)
    with on_cluster():
        assert_same_model(home, clone(model).fit(*data), data[0])


class Noted:
    """A cost that notes which processes unpack it, and which use it."""

    def __init__(self, folder):
        self.folder = folder

    def note(self, what):
        with open(self.folder / what, "a") as file:
            file.write(f"{os.getpid()}\n")

    def noted(self, what):
        return [int(line) for line in (self.folder / what).read_text().split()]

    def __setstate__(self, state):
        self.__dict__ = state
        self.note("unpacked")

    def __call__(self, Y, Z):
        self.note("used")
        return (Y != Z).sum(axis=1)


def test_what_chunks_share_is_sent_once_a_worker(client, data, tmp_path):
    cost = Noted(tmp_path)
    model = CSRPEClassifier(Cost.from_function(cost), n_bits=1000, decoder="nearest", random_state=0)
    with on_cluster():
        model.fit(*data)
    workers = set(client.run(os.getpid).values())
    assert sorted(cost.noted("unpacked")) == sorted(workers)  # X is in the same parcel
    assert workers < set(cost.noted("used"))


def test_a_model_is_sent_once_a_worker(client, data, tmp_path):
    cost = Noted(tmp_path)
    X, Y = data
    model = CSRPEClassifier(Cost.from_function(cost), n_bits=100, decoder="nearest", random_state=0).fit(X, Y)
    lazy = model.predict(da.from_array(X, chunks=(20, -1)))
    np.testing.assert_array_equal(lazy.compute(), model.predict(X))
    unpacked = cost.noted("unpacked")
    assert {unpacked.count(worker) for worker in client.run(os.getpid).values()} == {1}


def slow(seconds, array, chunk):
    threading.Event().wait(seconds)
    assert array.flags.aligned
    assert array.flags.writeable
    return chunk.start


def fail_at_three(chunk):
    if chunk.start == 3:
        raise ZeroDivisionError("three")
    return chunk.start


def test_an_error_is_raised_as_it_is(client):
    with on_cluster(), pytest.raises(ZeroDivisionError, match=r"^three$"):
        run(fail_at_three, 50)
    with on_cluster(), pytest.raises(TypeError, match="cannot pickle"):
        run(lambda chunk: threading.Lock(), 3)
    with on_cluster(), pytest.raises(TypeError, match="cannot pickle"):
        run(partial(slow, 0.0, threading.Lock()), 3)


class Broken:
    def __setstate__(self, state):
        raise ModuleNotFoundError("there is no such module on the worker")


def test_work_that_cannot_be_unpacked_is_an_error(client):
    broken = Broken()
    broken.something = 1
    with on_cluster(), pytest.raises(ModuleNotFoundError, match="on the worker"):
        run(partial(slow, 0.0, broken), 5)


def test_arrays_arrive_as_they_were(client):
    with on_cluster():
        assert run(partial(slow, 0.0, np.zeros(1)), 5) == list(range(5))


def test_an_interrupt_cancels_what_is_left(client, tmp_path):
    def interrupt():
        threading.Event().wait(0.5)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with on_cluster(), pytest.raises(KeyboardInterrupt):
        run(partial(slow, 0.2, np.zeros(1)), 100)
    thread.join()
    for _ in range(100):
        if not any(client.processing().values()):
            break
        threading.Event().wait(0.05)
    assert not any(client.processing().values())


def fit_in_a_task(X, Y):
    with on_cluster():
        return get_client() is not None and CSRPEClassifier("f1", n_bits=120, random_state=0).fit(
            X, Y
        ).predict(X)


def test_a_fit_in_a_task_stays_there(client, data):
    home = CSRPEClassifier("f1", n_bits=120, random_state=0).fit(*data).predict(data[0])
    for future in [client.submit(fit_in_a_task, *data, pure=False) for _ in range(3)]:
        np.testing.assert_array_equal(future.result(timeout=60), home)


def test_a_search_on_the_cluster(client, data):
    model, costs = CSRPEClassifier(n_bits=120, random_state=0), {"cost": ["f1", "hamming"]}
    search = GridSearchCV(model, costs, scoring=get_cost("f1").scorer(), cv=2)
    home = clone(search).fit(*data)
    with on_cluster():
        there = clone(search).fit(*data)
    np.testing.assert_array_equal(there.cv_results_["mean_test_score"], home.cv_results_["mean_test_score"])


def test_progress_goes_on(client, capsys):
    with on_cluster():
        run_chunks(partial(slow, 0.0, np.zeros(1)), chunks(7), n_jobs=None, verbose=1, title="working")
    assert "7/7" in capsys.readouterr().err


def test_large_arrays_are_shared_by_processes_and_may_be_written_to():
    large = np.zeros(300_000)
    with joblib.parallel_config(backend="loky", n_jobs=2):
        seen = run(lambda chunk: (type(large).__name__, large.flags.writeable), 3)
    assert seen == [("memmap", True)] * 3


# ---- workers that die; these tests come last ----


@contextmanager
def killing(started, client, n_killed=None):
    """Kill workers, by default all, as soon as a file is there, which what is done meanwhile has to make."""
    found = client.run(os.getpid, on_error="return").values()  # one that was killed may still be listed
    pids = [pid for pid in found if isinstance(pid, int)][:n_killed]

    def kill():
        while not started.exists():
            threading.Event().wait(0.01)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    yield
    assert not killer.is_alive()


class SlowCost:
    """A cost that makes a file when a worker first needs it, and takes its time there."""

    def __init__(self, started):
        self.started = started

    def __call__(self, tp, fp, fn, tn):
        if is_on_worker():
            self.started.touch()
            threading.Event().wait(0.1)
        return fp + fn


def test_a_fit_survives_a_worker(client, data, tmp_path):
    started = tmp_path / "started"
    model = CSRPEClassifier(
        Cost.from_counts(SlowCost(started)), n_bits=1000, decoder="nearest", random_state=0
    )
    home = clone(model).fit(*data)
    assert not started.exists()
    with on_cluster(), killing(started, client, 1):
        there = clone(model).fit(*data)
    assert_same_model(home, there, data[0])


def begin(started, chunk):
    started.touch()
    threading.Event().wait(0.1)
    return chunk.start


@pytest.mark.slow
def test_the_work_is_sent_again_if_all_copies_are_lost(client, tmp_path):
    started = tmp_path / "started"
    with on_cluster(), killing(started, client):
        assert run(partial(begin, started), 20) == list(range(20))

"""With the tools around it: pipelines, searches, copies, files, other processes, the progress shown."""

import pickle
import subprocess
import sys

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.feature_selection import VarianceThreshold
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from refpair import Cost, CSRPEClassifier, _parallel
from refpair.datasets import load_dataset


def classifier(**parameters):
    return CSRPEClassifier(**{"n_bits": 60, "random_state": 0} | parameters)


def test_pipeline(small):
    X, Y = small
    X = np.column_stack([X, np.zeros(120)])
    pipeline = make_pipeline(VarianceThreshold(), StandardScaler(), classifier()).fit(X[:90], Y[:90])
    scaled = StandardScaler().fit(X[:90, :6])
    alone = classifier().fit(scaled.transform(X[:90, :6]), Y[:90])
    np.testing.assert_array_equal(pipeline.predict(X), alone.predict(scaled.transform(X[:, :6])))
    assert pipeline.score(X[90:], Y[90:]) == alone.score(scaled.transform(X[90:, :6]), Y[90:])


@pytest.mark.parametrize("cost", ["hamming", "rank", "f1", Cost.per_label(false_negative=5)])
def test_a_search_takes_the_better_model_whichever_way_the_cost_is_reported(small, cost):
    X, Y = small
    grid = {"max_depth": [1, 6]}
    search = GridSearchCV(classifier(cost=cost, sources=("code",)), grid, cv=3).fit(X, Y)
    means = []
    for depth in grid["max_depth"]:
        folds = [np.arange(120) // 40 == fold for fold in range(3)]
        models = [
            classifier(cost=cost, max_depth=depth, sources=("code",)).fit(X[~fold], Y[~fold])
            for fold in folds
        ]
        reported = [
            model.cost_.mean(Y[fold], model.predict(X[fold]))
            for model, fold in zip(models, folds, strict=True)
        ]
        means.append(np.mean(reported))
    better = np.argmax(means) if search.best_estimator_.cost_.greater_is_better else np.argmin(means)
    assert abs(means[0] - means[1]) > 0.01
    assert search.best_params_ == {"max_depth": grid["max_depth"][better]}
    assert abs(search.best_score_) == pytest.approx(means[better])


@pytest.mark.slow
def test_a_search_over_costs_and_learners(small):
    X, Y = small
    grid = {"cost": ["f1", "hamming"], "estimator": ["tree", LogisticRegression()], "n_bits": [20]}
    search = GridSearchCV(classifier(), grid, cv=2, scoring="f1_samples", n_jobs=2, error_score="raise")
    search.fit(X, np.maximum(Y, [1, 0, 0, 0]))
    assert len(search.cv_results_["params"]) == 4
    linear = classifier(n_bits=10, estimator=LogisticRegression())
    nested = GridSearchCV(linear, {"estimator__C": [1e-9, 10.0]}, cv=2)
    assert nested.fit(X, Y).best_params_ == {"estimator__C": 10.0}


def test_cross_validation(small):
    X, Y = small
    scores = cross_val_score(classifier(), X, Y, cv=3)
    expected = []
    for fold in range(3):
        test = np.arange(120) // 40 == fold
        expected.append(classifier().fit(X[~test], Y[~test]).score(X[test], Y[test]))
    np.testing.assert_array_equal(scores, expected)
    assert cross_val_predict(classifier(), X, Y, cv=3).shape == Y.shape
    frames = cross_val_score(classifier(), pd.DataFrame(X), pd.DataFrame(Y), cv=3, error_score="raise")
    np.testing.assert_array_equal(frames, scores)


def test_the_score_is_greater_for_the_better(small):
    X, Y = small
    for cost in ("f1", "accuracy", "f2", "hamming", "rank", "zero_one", Cost.per_label(false_negative=3)):
        model = classifier(cost=cost).fit(X, Y)
        assert model.score(X, Y) == model.cost_.scorer()(model, X, Y)
        assert model.score(X, Y) > model.score(X, 1 - Y)


def test_clones_are_alike_and_not_fitted(small):
    X, Y = small
    model = classifier(
        cost=Cost.per_label(false_negative=3),
        n_bits=20,
        estimator=LogisticRegression(C=2.0),
        max_samples=0.8,
        relevant_set=Y[:9],
    ).fit(X, Y)
    copy = clone(model)
    assert not hasattr(copy, "bits_")
    assert copy.estimator.C == 2.0
    np.testing.assert_array_equal(copy.fit(X, Y).predict(X), model.predict(X))
    assert repr(copy).startswith("CSRPEClassifier(")


@pytest.mark.parametrize("learner", ["tree", LogisticRegression()])
def test_models_can_be_pickled_and_dumped(small, tmp_path, learner):
    X, Y = small
    model = classifier(estimator=learner, n_bits=21, max_samples=0.9).fit(X, Y)
    joblib.dump(model, tmp_path / "model.joblib")
    for copy in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model.joblib")):
        np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    joblib.dump(model, tmp_path / "plain.joblib", compress=False)
    mapped = joblib.load(tmp_path / "plain.joblib", mmap_mode="r")
    np.testing.assert_array_equal(mapped.predict(X), model.predict(X))


def test_a_pickle_is_loaded_in_a_new_process(small, tmp_path):
    """Which has not imported polars, though the labels were a polars frame."""
    X, Y = small
    model = classifier().fit(X, pl.DataFrame(Y, schema=list("abcd")))
    (tmp_path / "model.pickle").write_bytes(pickle.dumps(model))
    np.save(tmp_path / "X.npy", X)
    program = (
        "import pickle, numpy; model = pickle.load(open('model.pickle', 'rb'))\n"
        "predicted = model.predict(numpy.load('X.npy'))\n"
        "assert type(predicted).__module__.startswith('polars'), type(predicted)\n"
        "numpy.save('predicted.npy', predicted.to_numpy())"
    )
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, timeout=120)
    np.testing.assert_array_equal(np.load(tmp_path / "predicted.npy"), model.predict(X).to_numpy())


@pytest.mark.slow
def test_processes_instead_of_threads(small):
    X, Y = small
    expected = classifier(n_bits=130).fit(X, Y).predict(X)
    with joblib.parallel_config("loky", n_jobs=2):
        np.testing.assert_array_equal(classifier(n_bits=130).fit(X, Y).predict(X), expected)


@pytest.mark.parametrize("learner", ["tree", LogisticRegression()])
def test_progress_is_shown_on_standard_error(small, capsys, learner):
    X, Y = small
    # The posterior tries 5 bits of two codes, and learns the other 16 of one; and 10 for each of 4 labels.
    for decoder, counts in (("nearest", (21,)), ("posterior", (5, 16, 10 * 4))):
        classifier(estimator=learner, n_bits=21, verbose=1, decoder=decoder).fit(X, Y).predict(X)
        shown = capsys.readouterr()
        assert shown.out == ""
        assert "learning bits" in shown.err
        assert all(f"{n_learnt}/{n_learnt}" in shown.err for n_learnt in counts)
        assert "predicting bits" in shown.err
    classifier(estimator=learner, n_bits=21).fit(X, Y).predict(X)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("decoder", ["posterior", "nearest"])
def test_predictions_have_the_threads_that_the_model_has_now(decoder, monkeypatch):
    pools = []

    class Noted(_parallel.ThreadPoolExecutor):
        def __init__(self, n_threads):
            pools.append(n_threads)
            super().__init__(n_threads)

    monkeypatch.setattr(_parallel, "ThreadPoolExecutor", Noted)
    digits = load_dataset("digits")
    X, Y = digits.X[:300], digits.Y[:300]
    model = CSRPEClassifier(n_bits=50, decoder=decoder, n_jobs=1, random_state=0).fit(X, Y)
    alone = model.predict(X)
    assert not pools
    assert np.array_equal(model.set_params(n_jobs=3).predict(X), alone)
    assert set(pools) == {2}  # and the one that asks

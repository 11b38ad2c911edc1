"""scikit-learn's callbacks: what a fit tells them, on its own and within a pipeline."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline

from refpair import (
    BayesDecisionClassifier,
    BinaryRelevance,
    CondensedFilterTree,
    CSRPEClassifier,
    TableVectorizer,
)

callback = pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")


class Notes:
    """Notes what it is told; fails at the task that is called ``fail_at``."""

    max_propagation_depth = None

    def __init__(self, fail_at: str = "") -> None:
        self.fail_at, self.open, self.done, self.set_up = fail_at, [], [], 0

    def setup(self, estimator, context):
        self.set_up += 1

    def teardown(self, estimator, context):
        self.set_up -= 1

    def on_fit_task_begin(self, estimator, context):
        if context.task_name == self.fail_at:
            raise RuntimeError(f"no {self.fail_at}")
        self.open.append(context.task_name)

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        assert self.open.pop() == context.task_name
        self.done.append(context.task_name)
        if context.parent is None:
            self.fitted = fitted_estimator


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    return X, (X @ rng.standard_normal((4, 3)) > 0).astype(int)


MODELS = {
    "CSRPE": (CSRPEClassifier(n_bits=200, decoder="nearest", n_jobs=2, random_state=0), "learning bits"),
    "posterior": (CSRPEClassifier(n_bits=200, random_state=0), "learning forests"),
    "reduction": (BinaryRelevance("tree", random_state=0), "learning bits"),
    "estimators": (BinaryRelevance(RandomForestClassifier(3), random_state=0), "learning bits"),
    "levels": (CondensedFilterTree("tree", n_rounds=2, random_state=0), "training levels"),
    "folds": (BayesDecisionClassifier(RandomForestClassifier(3, random_state=0), calibrate=True), "Folds"),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_fit_tells_of_its_tasks(data, name, capsys):
    model, title = MODELS[name]
    X, Y = data
    notes = Notes()
    model = clone(model).set_callbacks(notes)
    assert model.fit(X, Y) is model
    assert notes.open == []
    assert notes.set_up == 0
    assert notes.done[-1] == "fit"
    assert title in notes.done
    assert f"{title}, a part" in notes.done
    np.testing.assert_array_equal(notes.fitted.predict(X), model.predict(X))
    told = len(notes.done)
    model.predict(X)
    clone(model).set_callbacks().fit(X, Y)
    assert len(notes.done) == told  # of no other fits, and not of predictions
    assert title not in capsys.readouterr().err  # it is shown by the callbacks alone


def test_a_failure_of_a_callback_leaves_the_model_as_it_was(data):
    X, Y = data
    notes = Notes(fail_at="learning bits")
    model = CSRPEClassifier(n_bits=30, random_state=0).set_callbacks(notes)
    with pytest.raises(RuntimeError, match="no learning bits"):
        model.fit(X, Y)
    assert notes.set_up == 0
    assert not hasattr(model, "cost_")
    assert sorted(vars(model)) == sorted([*model.get_params(), "_skl_callbacks"])
    assert model.set_callbacks().fit(X, Y).score(X, Y) > 0.8


def test_a_model_within_another_one_tells_only_its_own_callbacks(data):
    X, Y = data
    outer, inner = Notes(), Notes()
    within = CSRPEClassifier(n_bits=30, random_state=0).set_callbacks(inner)
    BayesDecisionClassifier(within, cost="hamming").set_callbacks(outer).fit(X, Y)
    assert "learning bits" in inner.done
    assert "learning bits" not in outer.done


def test_a_pipeline_passes_them_on(data):
    X, Y = data
    notes = Notes()
    table = pd.DataFrame(X, columns=list("abcd"))
    model = make_pipeline(TableVectorizer(), CSRPEClassifier(n_bits=30, random_state=0)).set_callbacks(notes)
    model.fit(table, Y)
    assert notes.open == []
    assert notes.set_up == 0
    assert "learning bits" in notes.done
    assert model.predict(table).shape == Y.shape


def test_the_progress_bar_of_scikit_learn(data, capsys):
    X, Y = data
    CSRPEClassifier(n_bits=30, random_state=0).set_callbacks(callback.ProgressBar()).fit(X, Y)
    shown = capsys.readouterr().out
    assert re.search(r"CSRPEClassifier - fit .* 100%", shown)
    assert re.search(r"CSRPEClassifier - learning bits #0 .* 100%", shown)

"""BayesDecisionClassifier on data of all kinds, with models within models, and its parameters."""

import pickle
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags

from refpair import BayesDecisionClassifier, Cost
from tests.classifiers.deciding import ESTIMATORS, fit

# ---- data of all kinds ----


@pytest.mark.parametrize("name", ESTIMATORS)
def test_labels_that_do_not_vary(small, name):
    X, Y = small
    n = len(Y)
    Y = np.column_stack([np.ones(n, int), Y[:, 0], np.zeros(n, int), Y[:, 1]])
    for labels in (Y, Y[:, [0, 1, 2, 2]], Y[:, [0, 2, 2, 0]]):
        model = fit(name, X[:90], labels[:90])
        predicted, p = model.predict(X[90:]), model.predict_proba(X[90:])
        for k in range(4):
            if len(set(labels[:, k])) == 1:
                assert (predicted[:, k] == labels[0, k]).all()
                np.testing.assert_allclose(p[:, k], np.clip(labels[0, k], 1e-6, 1 - 1e-6))
        assert model.score(X[90:], labels[90:]) > 0.7
        assert (p > 0).all()
        assert (p < 1).all()
    with_order = fit("chain", X[:90], Y[:90]).estimator_
    assert list(with_order.order_) == [1, 0]  # of [2, 0, 3, 1], labels 1 and 3 are left


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_single_label(small, name):
    X, Y = small
    column = fit(name, X[:90], Y[:90, :1])
    assert column.predict(X[90:]).shape == column.predict_proba(X[90:]).shape == (30, 1)
    # Whatever is wrong costs the same: the likelier class is best, as the model says itself.
    as_told = fit(name, X[:90], Y[:90, :1], calibrate=False)
    alone = np.ravel(as_told.estimator_.predict(X[90:]))
    np.testing.assert_array_equal(as_told.predict(X[90:])[:, 0], alone)
    words = np.where(Y[:, 0], "yes", "no")
    named = fit(name, X[:90], words[:90])
    assert named.classes_.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(named.predict(X[90:]) == "yes", column.predict(X[90:])[:, 0])
    assert named.predict_proba(X[90:]).shape == (30, 2)
    np.testing.assert_allclose(named.predict_proba(X[90:])[:, 1], column.predict_proba(X[90:])[:, 0])
    only = fit(name, X, ["yes"] * 120)
    assert only.predict_proba(X[:2]).tolist() == [[1.0], [1.0]]
    assert only.predict(X[:2]).tolist() == ["yes", "yes"]


@pytest.mark.parametrize("name", ["forest", "chain", "logistic"])
def test_frames_and_sparse_matrices(small, name):
    X, Y = small
    expected = fit(name, X, Y).predict(X)
    features, labels = [f"x{i}" for i in range(6)], ["joy", "calm", "anger", "fear"]
    frame = pd.DataFrame(X, columns=features, index=np.arange(120) + 7)
    model = fit(name, frame, pd.DataFrame(Y, columns=labels))
    predicted = model.predict(frame)
    assert list(predicted.columns) == labels == model.classes_.tolist()
    assert predicted.index.equals(frame.index)
    np.testing.assert_array_equal(predicted, expected)
    assert list(model.decide(frame, "rank").columns) == labels
    assert model.feature_names_in_.tolist() == features
    with pytest.raises(ValueError, match="the labels of the model are"):
        model.expected_cost(frame, pd.DataFrame(Y, columns=labels[::-1]))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[features[::-1]])
    sparse = fit(name, sp.csc_array(X), sp.csr_array(Y))
    assert isinstance(sparse.predict(sp.csr_matrix(X)), sp.csr_matrix)
    assert (sparse.predict(sp.csr_matrix(X)).toarray() == expected).mean() > 0.99  # sums in another order
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(frame), expected)


BOOSTING = HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5)
TAKE_NAN = {
    "forest": RandomForestClassifier(5, random_state=0),
    "extra trees": ExtraTreesClassifier(5, random_state=0),
    "tree": DecisionTreeClassifier(random_state=0),
    "boosting": BOOSTING,
    "once a label": MultiOutputClassifier(BOOSTING),
    "one against the rest": OneVsRestClassifier(BOOSTING),
    "searched": GridSearchCV(RandomForestClassifier(5, random_state=0), {"max_depth": [3]}, cv=2),
    "pipeline": make_pipeline(SimpleImputer(), MultiOutputClassifier(LogisticRegression())),
    "pipeline of one label": make_pipeline(SimpleImputer(), LogisticRegression()),
    "pipeline within": MultiOutputClassifier(make_pipeline(SimpleImputer(), LogisticRegression())),
}
REFUSE_NAN = {
    "LogisticRegression": MultiOutputClassifier(LogisticRegression()),
    "GaussianNB": GaussianNB(),
    "ClassifierChain": ClassifierChain(BOOSTING),
    "KNeighborsClassifier": KNeighborsClassifier(),
}


@pytest.mark.parametrize("name", TAKE_NAN)
def test_missing_values_are_for_the_estimator_to_take(small, name):
    X, Y = small
    gaps = np.where(np.abs(X) > 1.5, np.nan, X)
    for given in (X, gaps):
        model = BayesDecisionClassifier(TAKE_NAN[name], random_state=0).fit(given[:90], Y[:90])
        assert model.decide(gaps[90:], "hamming").shape == (30, 4)
        assert (model.decide(gaps[90:], "hamming") == Y[90:]).mean() > 0.6
    if "pipeline" not in name:  # they do not tell
        assert get_tags(model).input_tags.allow_nan
        with pytest.raises(ValueError, match="infinity"):
            model.predict(np.where(np.isnan(gaps), np.inf, X))


@pytest.mark.parametrize("name", REFUSE_NAN)
def test_missing_values_are_for_the_estimator_to_refuse(small, name):
    X, Y = small
    gaps = np.where(np.abs(X) > 1.5, np.nan, X)
    model = BayesDecisionClassifier(REFUSE_NAN[name])
    assert not get_tags(model).input_tags.allow_nan
    with pytest.raises(ValueError, match=f"Input X contains NaN.\n{name} does not accept missing values"):
        model.fit(gaps, Y)


def test_forests_refuse_missing_values_in_sparse_matrices(small):
    X, Y = small
    gaps = sp.csr_array(np.where(np.abs(X) > 1.5, np.nan, X))
    with pytest.raises(ValueError, match="Input X contains NaN"):
        fit("forest", gaps, Y)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        fit("forest", X, Y).predict(gaps)


# ---- models within models ----

RAW = pd.DataFrame({"colour": ["red", "blue", "blue", "green"] * 30, "size": np.arange(120) % 7})


@pytest.mark.parametrize("name", ["forest", "chain", "logistic"])
def test_pipelines_are_looked_into(small, name):
    """They are read as their last step on the transformed features, and get their features as they are."""
    X, Y = small
    to_numbers = ColumnTransformer([("colour", OneHotEncoder(), ["colour"])], remainder="passthrough")
    inner = make_pipeline(StandardScaler(), ESTIMATORS[name])
    model = BayesDecisionClassifier(make_pipeline(to_numbers, inner), calibrate=False).fit(RAW, Y)
    plain = make_pipeline(to_numbers, StandardScaler()).fit_transform(RAW)
    expected = BayesDecisionClassifier(ESTIMATORS[name], calibrate=False).fit(plain, Y)
    np.testing.assert_array_equal(model.predict(RAW), expected.predict(plain))
    np.testing.assert_allclose(model.predict_proba(RAW), expected.predict_proba(plain))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(RAW[["size", "colour"]])
    search = GridSearchCV(inner, {"standardscaler__with_mean": [True]}, cv=2)
    np.testing.assert_array_equal(
        BayesDecisionClassifier(search, random_state=0).fit(X, Y).predict(X),
        BayesDecisionClassifier(inner, random_state=0).fit(X, Y).predict(X),
    )
    single = BayesDecisionClassifier(make_pipeline(StandardScaler(), ESTIMATORS["logistic"])).fit(X, Y[:, 0])
    assert single.score(X, Y[:, 0]) > 0.7


class Counting(StandardScaler):
    times: ClassVar[list] = []

    def fit(self, X, y=None):
        self.times.append(len(X))
        return super().fit(X)


class Foreign(ClassifierMixin, BaseEstimator):
    """A classifier as other packages have them, with the tags that all begin with."""

    def fit(self, X, y):
        assert np.ndim(y) == 1
        self.inner_ = LogisticRegression().fit(X, y)
        self.classes_ = self.inner_.classes_
        return self

    def predict(self, X):
        return self.inner_.predict(X)

    def predict_proba(self, X):
        return self.inner_.predict_proba(X)


LOGISTIC = LogisticRegression()
SEARCH = GridSearchCV(LOGISTIC, {"C": [0.001, 1, 1000]}, cv=2)
PIPELINE_SEARCH = GridSearchCV(make_pipeline(StandardScaler(), LOGISTIC), {"memory": [None]}, cv=2)
ONCE_A_LABEL = {
    "alone": (LOGISTIC, MultiOutputClassifier(LOGISTIC)),
    "boosting": (BOOSTING, MultiOutputClassifier(BOOSTING)),
    "foreign": (Foreign(), MultiOutputClassifier(Foreign())),
    "pipelines": (
        make_pipeline(StandardScaler(), make_pipeline(MinMaxScaler(), LOGISTIC)),
        make_pipeline(StandardScaler(), MinMaxScaler(), MultiOutputClassifier(LOGISTIC)),
    ),
    "search": (
        make_pipeline(StandardScaler(), SEARCH),
        make_pipeline(StandardScaler(), MultiOutputClassifier(SEARCH)),
    ),
    "pipeline searched": (PIPELINE_SEARCH, MultiOutputClassifier(PIPELINE_SEARCH)),
}


@pytest.mark.parametrize("name", ONCE_A_LABEL)
def test_a_learner_of_one_label_is_fitted_once_a_label(small, name):
    X, Y = small
    given, expected = (
        BayesDecisionClassifier(estimator, random_state=0).fit(X[:90], Y[:90])
        for estimator in ONCE_A_LABEL[name]
    )
    np.testing.assert_array_equal(given.predict_proba(X[90:]), expected.predict_proba(X[90:]))
    np.testing.assert_array_equal(given.predict(X[90:]), expected.predict(X[90:]))
    assert str(given.estimator) == str(ONCE_A_LABEL[name][0])  # as it was


def test_what_comes_before_a_learner_of_one_label_is_fitted_once(small):
    X, Y = small
    Counting.times.clear()
    model = BayesDecisionClassifier(make_pipeline(Counting(), LOGISTIC)).fit(X, Y)
    assert Counting.times.count(len(X)) == 1
    assert isinstance(model.estimator_[-1], MultiOutputClassifier)
    assert len(model.estimator_[-1].estimators_) == 4


def test_a_single_label_that_varies_needs_no_wrapper(small):
    X, Y = small
    for labels in (Y[:, :1], Y[:, 0], np.column_stack([Y[:, 0], np.zeros_like(Y[:, 0])])):
        assert type(BayesDecisionClassifier(LOGISTIC).fit(X, labels).estimator_) is LogisticRegression


def test_texts(small):
    words = np.array(["apple", "pear", "plum", "fig"])
    _, Y = small
    texts = [" ".join(["and", *words[row.astype(bool)]]) for row in Y]
    forest = RandomForestClassifier(20, max_features=None, bootstrap=False, random_state=0)
    model = BayesDecisionClassifier(make_pipeline(TfidfVectorizer(), forest)).fit(texts, Y)
    np.testing.assert_array_equal(model.predict(texts), Y)
    np.testing.assert_array_equal(model.predict(texts[:1]), Y[:1])


class Halving(FunctionTransformer):
    """As TargetEncoder, gives rows other numbers while it is fitted than later."""

    def fit_transform(self, X, y=None):
        return np.asarray(X) / 2


def test_leaves_without_training_rows(small):
    X, Y = small
    X = np.abs(X[:, :1])
    model = BayesDecisionClassifier(make_pipeline(Halving(), DecisionTreeClassifier(random_state=0)))
    reading = model.fit(X, Y)._label_model.reading
    (tree,) = reading.trees
    found, _ = np.unique(tree.apply(np.float32(X)), return_counts=True)
    leaves = np.flatnonzero(tree.children_left < 0)
    assert len(found) < len(leaves)
    assert (np.diff(reading.start)[leaves] > 0).all()
    rows = np.full((1, 1), X.max() * 0.4)
    assert model.predict(rows).shape == (1, 4)


def test_it_can_be_searched_itself(small):
    X, Y = small
    forest = RandomForestClassifier(5, random_state=0)
    search = GridSearchCV(BayesDecisionClassifier(forest), {"estimator__max_depth": [1, 6]}, cv=3).fit(X, Y)
    assert search.best_params_ == {"estimator__max_depth": 6}


# ---- parameters ----


def test_random_states(small):
    X, Y = small
    given = [
        BayesDecisionClassifier(RandomForestClassifier(5), random_state=seed).fit(X, Y) for seed in (1, 1, 2)
    ]
    p = [model.predict_proba(X) for model in given]
    np.testing.assert_array_equal(p[0], p[1])
    assert not np.array_equal(p[0], p[2])
    own = BayesDecisionClassifier(RandomForestClassifier(5, random_state=3), random_state=1).fit(X, Y)
    assert own.estimator_.random_state == 3
    assert given[0].estimator.random_state is None
    chains = [fit("short chain", X, Y, random_state=seed).predict_proba(X) for seed in (1, 1, 2)]
    np.testing.assert_array_equal(chains[0], chains[1])
    assert not np.array_equal(chains[0], chains[2])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"estimator": None}, "estimator must be a classifier of scikit-learn, not None"),
        ({"estimator": RandomForestClassifier}, "estimator must be a classifier of scikit-learn"),
        ({"estimator": "forest"}, "estimator must be a classifier of scikit-learn"),
        ({"estimator": MultiOutputClassifier(LinearSVC())}, r"estimator must have predict_proba.*Calibrated"),
        ({"estimator": ClassifierChain(LinearSVC())}, r"estimator must have predict_proba.*Calibrated"),
        ({"estimator": ClassifierChain(LogisticRegression(), order=[0, 1])}, "order of the chain must name"),
        ({"cost": "haming"}, "did you mean 'hamming'"),
        ({"cost": 3}, "cost must be a name, a Cost or a function, not 3"),
        ({"cost": Cost.per_label(false_negative=[1, 2])}, "2"),
        ({"calibrate": "yes"}, "calibrate must be True or False, not 'yes'"),
        ({"n_samples": 0}, "n_samples must be an integer of at least 1, not 0"),
        ({"n_samples": 1.5}, "n_samples must be an integer"),
        ({"n_jobs": 0}, "n_jobs must be an integer other than 0"),
        ({"random_state": "seed"}, "random_state must be a seed"),
        ({"verbose": -1}, "verbose must be an integer"),
    ],
)
def test_bad_parameters_are_named(small, parameters, message):
    model = BayesDecisionClassifier(**{"estimator": GaussianNB()} | parameters)
    with pytest.raises(ValueError, match=message):
        model.fit(*small)


def test_bad_calls_are_explained(small):
    X, Y = small
    model = fit("forest", X, Y)
    with pytest.raises(ValueError, match="k must be an integer of at least 1, not 0"):
        model.predict_set_proba(X, k=0)
    with pytest.raises(ValueError, match="cost must be a name"):
        model.decide(X, 3)
    with pytest.raises(ValueError, match="X has 5 features"):
        model.decide(X[:, :5], "f1")

    class Odd(KNeighborsClassifier):
        def predict_proba(self, X):
            return self.given

    for given, message in [
        (np.ones((120, 3)), "not a multi-label classifier"),
        (np.full((120, 4), np.nan), "not numbers"),
    ]:
        odd = BayesDecisionClassifier(Odd(), calibrate=False).fit(X, Y)
        odd.estimator_.given = given
        with pytest.raises(ValueError, match=message):
            odd.predict(X)
    odd.estimator_.given = sp.csr_array(Y * (1 + 1e-15))
    np.testing.assert_array_equal(odd.predict(X), Y)

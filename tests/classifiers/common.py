"""Every classifier of the package in a form that learns fast; what is added later is found by itself."""

import inspect

from sklearn.multioutput import MultiOutputClassifier
from sklearn.tree import DecisionTreeClassifier

import refpair.classifiers
from refpair.classifiers._base import MultiLabelClassifier

CLASSES = {
    name: found
    for name in refpair.classifiers.__all__
    if inspect.isclass(found := getattr(refpair.classifiers, name))
    and issubclass(found, MultiLabelClassifier)
}

# What is set where a classifier has such a parameter. The Hamming loss is the one for which scikit-learn's
# checks hold, as it wants every label for itself to be the likelier of 0 and 1.
_CHEAP = {"cost": "hamming", "n_bits": 30, "n_samples": 7, "n_rounds": 2, "random_state": 0}

# Weights of rows are as good as copies of them where nothing is drawn and nothing is judged on left-out rows.
_EQUIVALENCE = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]
NOT_COPIES = dict.fromkeys(_EQUIVALENCE, "bags and folds of repeated rows are other ones")


def parameters(cls):
    """Return the parameters of a classifier by name, each with its default."""
    found = inspect.signature(cls).parameters
    return {name: parameter.default for name, parameter in found.items()}


def make(name, **given):
    """Return a classifier, not fitted, with some parameters as given and the others as is cheap."""
    known = parameters(CLASSES[name])
    cheap = {name: value for name, value in _CHEAP.items() if name in known}
    if "estimator" in known:
        # Where there is no default the estimator is to learn several labels by itself.
        own = known["estimator"] is inspect.Parameter.empty
        cheap["estimator"] = DecisionTreeClassifier(max_depth=5, random_state=0) if own else "tree"
    return CLASSES[name](**cheap | given)


def make_with(name, learner, **given):
    """Return a classifier that is made of clones of one of scikit-learn's."""
    parameter = learner_parameter(name)
    is_binary = parameters(CLASSES[name])[parameter] is not inspect.Parameter.empty
    return make(name, **{parameter: learner if is_binary else MultiOutputClassifier(learner)} | given)


def learner_parameter(name):
    """Return the name of the parameter that takes a classifier of scikit-learn."""
    return "estimator"


def names_with(parameter):
    """Return the names of the classifiers that have a parameter."""
    return [name for name, cls in CLASSES.items() if parameter in parameters(cls)]

"""Cost-sensitive multi-label learning: predictions of lowest expected cost."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = [
    "MLECC",
    "AtLeast",
    "AtMost",
    "BayesDecisionClassifier",
    "BinaryRelevance",
    "CSRPEClassifier",
    "ChainClassifier",
    "CondensedFilterTree",
    "Cost",
    "CostGuarantee",
    "Exactly",
    "Exclusive",
    "Forest",
    "Implies",
    "LabelPowerset",
    "Logistic",
    "Measure",
    "ProbabilisticChain",
    "RAkEL",
    "TableVectorizer",
    "Taxonomy",
    "get_cost",
    "load",
    "save",
]

if TYPE_CHECKING:
    __version__: str
    from refpair.classifiers import (
        MLECC,
        BayesDecisionClassifier,
        BinaryRelevance,
        ChainClassifier,
        CondensedFilterTree,
        CostGuarantee,
        CSRPEClassifier,
        Forest,
        LabelPowerset,
        Logistic,
        ProbabilisticChain,
        RAkEL,
    )
    from refpair.costs import Cost, Measure, get_cost
    from refpair.decision import AtLeast, AtMost, Exactly, Exclusive, Implies, Taxonomy
    from refpair.persistence import load, save
    from refpair.tables import TableVectorizer
else:
    # Imported when first asked for: scikit-learn and numba take two seconds, which `refpair --help` should
    # not wait for.
    _HOMES = {"Cost": "costs", "Measure": "costs", "get_cost": "costs", "TableVectorizer": "tables"}
    _HOMES |= dict.fromkeys(("AtLeast", "AtMost", "Exactly", "Exclusive", "Implies", "Taxonomy"), "decision")
    _HOMES |= {"load": "persistence", "save": "persistence"}

    def __getattr__(name: str) -> Any:
        if name == "__version__":
            return import_module("importlib.metadata").version("refpair")
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = found = getattr(import_module(f"refpair.{_HOMES.get(name, 'classifiers')}"), name)
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})

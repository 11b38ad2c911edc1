"""The classifiers, as scikit-learn estimators."""

from refpair.classifiers._asking import AnswersAndQuestions
from refpair.classifiers.base_estimators import Forest, Logistic
from refpair.classifiers.bayes_decision import BayesDecisionClassifier
from refpair.classifiers.binary_relevance import BinaryRelevance
from refpair.classifiers.chain import ChainClassifier
from refpair.classifiers.cost_guarantee import CostGuarantee
from refpair.classifiers.csrpe import CSRPEClassifier
from refpair.classifiers.filter_tree import CondensedFilterTree
from refpair.classifiers.label_powerset import LabelPowerset
from refpair.classifiers.mlecc import MLECC
from refpair.classifiers.probabilistic_chain import ProbabilisticChain
from refpair.classifiers.rakel import RAkEL

__all__ = [
    "MLECC",
    "AnswersAndQuestions",
    "BayesDecisionClassifier",
    "BinaryRelevance",
    "CSRPEClassifier",
    "ChainClassifier",
    "CondensedFilterTree",
    "CostGuarantee",
    "Forest",
    "LabelPowerset",
    "Logistic",
    "ProbabilisticChain",
    "RAkEL",
]

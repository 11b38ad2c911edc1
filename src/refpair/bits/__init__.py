"""Learners of bits: from the rows of X to the code of their label vectors."""

from refpair.bits.bags import Bags
from refpair.bits.class_trees import ClassProblems, ClassTreeBank
from refpair.bits.estimator import EstimatorBank
from refpair.bits.logistic import LogisticBank
from refpair.bits.problem import BitLearner, BitProblems
from refpair.bits.trees import TreeBank

__all__ = [
    "Bags",
    "BitLearner",
    "BitProblems",
    "ClassProblems",
    "ClassTreeBank",
    "EstimatorBank",
    "LogisticBank",
    "TreeBank",
]

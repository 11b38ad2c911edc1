"""Learners of bits: from the rows of X to the code of their label vectors."""

from refpair.bits.estimator import EstimatorBank
from refpair.bits.logistic import LogisticBank
from refpair.bits.problem import Bags, BitLearner, BitProblems, ClassProblems
from refpair.bits.trees import ClassTreeBank, TreeBank

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

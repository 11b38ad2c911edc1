"""Learners of bits: from the rows of X to the code of their label vectors."""

from refpair.bits.class_trees import ClassProblems, ClassTreeBank
from refpair.bits.estimator import EstimatorBank
from refpair.bits.logistic import LogisticBank
from refpair.bits.out_of_bag import out_of_bag
from refpair.bits.problem import BitLearner, BitProblems
from refpair.bits.trees import TreeBank

__all__ = [
    "BitLearner",
    "BitProblems",
    "ClassProblems",
    "ClassTreeBank",
    "EstimatorBank",
    "LogisticBank",
    "TreeBank",
    "out_of_bag",
]

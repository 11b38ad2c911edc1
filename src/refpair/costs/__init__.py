"""Costs of predicting the label vector z when the truth is y.

A cost compares two label vectors of K labels: by the counts tp = |y ∩ z|, fp = |z| − tp, fn = |y| − tp and
tn = K − tp − fp − fn, label by label, or by any function of the two.

=================  ================================  ==============================
name               cost C(y, z)                      reported by :meth:`Cost.mean`
=================  ================================  ==============================
``hamming``        (fp + fn) / K                     the cost (lower is better)
``zero_one``       1 if fp + fn > 0 else 0           the cost (lower is better)
``rank``           fp·fn + ½(tn·fn + fp·tp)          the cost (lower is better)
``f1``             1 − 2tp / (2tp + fp + fn)         1 − cost (higher is better)
``f0.5``, ``f2``…  1 − F-beta, beta in the name      1 − cost (higher is better)
``jaccard``        1 − tp / (tp + fp + fn)           1 − cost (higher is better)
per label          Σₖ fnₖ·yₖ(1−zₖ) + fpₖ·(1−yₖ)zₖ    the cost (lower is better)
any function       f(tp, fp, fn, tn) or f(Y, Z)      as defined
=================  ================================  ==============================

A :class:`Measure` is one of a whole table: ``macro_f1``, ``micro_f1``, ``macro_jaccard``, ``micro_jaccard``,
``balanced_accuracy`` (the mean over labels), ``macro_f2``, ``micro_f0.5`` and so on, and any function of the
counts of labels. scikit-learn's ``f1_macro``, ``f1_micro``, ``jaccard_macro`` and ``jaccard_micro`` are
accepted. They are scikit-learn's scores: a label that is in no row, and predicted in none, counts 0.

A :class:`RankedCost` is one of lists of k labels, in order: ``precision@3``, ``recall@5``, ``ndcg@10``.

``accuracy`` is another name of ``jaccard``, and scikit-learn's ``f1_samples`` and ``jaccard_samples`` are
accepted. An empty prediction of an empty truth is right: it costs 0 under F-beta and Jaccard.
"""

from refpair.costs._counts import Labels
from refpair.costs._counts import check_labels as check_labels
from refpair.costs.cost import Cost, cost_names, get_cost
from refpair.costs.cost import CountCost as CountCost
from refpair.costs.cost import PerLabelCost as PerLabelCost
from refpair.costs.cost import vector_cost as vector_cost
from refpair.costs.measure import Measure
from refpair.costs.ranked import RankedCost

__all__ = ["Cost", "Labels", "Measure", "RankedCost", "cost_names", "get_cost"]

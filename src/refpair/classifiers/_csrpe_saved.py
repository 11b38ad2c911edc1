"""What a model file holds of a CSRPEClassifier, and what must hold of it."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from refpair._saved import IfThere, claim_room, require
from refpair.bits.problem import BitLearner
from refpair.classifiers._base import MultiLabelClassifier
from refpair.classifiers._mixture_choice import SEARCH
from refpair.coding import ReferencePairCode
from refpair.coding.nearest import CodeBook
from refpair.posterior.code import CodeSource
from refpair.posterior.mixture import Mixture, Posterior
from refpair.posterior.source import Source

_MOST_VECTORS = 1 << 20  # that get code words when a file is read


class SavableCSRPE(MultiLabelClassifier):
    """What a fitted CSRPEClassifier has; its posterior is put together of parts that it has anyway."""

    _doc_page = "classifiers"
    decoder: str
    relevant_set: Any
    code_: ReferencePairCode
    relevant_set_: npt.NDArray[np.uint8]
    relevant_counts_: npt.NDArray[np.int64] | npt.NDArray[np.float64]
    bits_: BitLearner
    oob_cost_: IfThere[float]

    def _get_saved(self) -> dict[str, Any]:
        saved = super()._get_saved()
        if hasattr(self.relevant_set, "to_numpy"):
            saved["relevant_set"] = self.relevant_set.to_numpy()
        if hasattr(self, "posterior_"):
            by_code, *others = self.posterior_.sources
            saved["posterior_"] = {
                "code": by_code.get_parts(), "others": list(others), "mixture": self.posterior_.mixture
            }  # fmt: skip
            saved["oob_search_"] = {name: column.tolist() for name, column in self.oob_search_.items()}
        return saved

    @classmethod
    def _from_saved(cls, saved: dict[str, Any]) -> Self:
        parts, search = saved.pop("posterior_", None), saved.pop("oob_search_", None)
        model = super()._from_saved(saved)
        if not hasattr(model, "code_"):
            return model
        has_posterior = model.decoder == "posterior" and len(model.code_) > 0
        require((parts is not None) == has_posterior, "the posterior is missing, or there is no use for it")
        if has_posterior:
            require(hasattr(model, "oob_cost_"), "oob_cost_ is missing")
            right = isinstance(parts, dict) and parts.keys() == {"code", "others", "mixture"}
            require(right, "the posterior lacks some of its parts")
            relevant = model.relevant_set_, model.relevant_counts_
            by_code = CodeSource.from_parts(parts["code"], model.bits_, model.code_, *relevant)
            model.posterior_ = _posterior(by_code, parts["others"], parts["mixture"], model)
            right = isinstance(search, dict) and search.keys() == set(SEARCH)
            require(right, "the search is missing")
            require(len({len(column) for column in search.values()}) == 1, "the search has a wrong shape")
            model.oob_search_ = {name: np.array(search[name], np.float64) for name in SEARCH}
        else:
            model._make_code_book()
        return model

    def _check_learnt(self, n_features: int, n_labels: int) -> None:
        code, vectors, n = self.code_, self.relevant_set_, len(self.relevant_set_)
        right = vectors.shape == (n, n_labels) and n > 0 and self.relevant_counts_.shape == (n,)
        require(right, "the relevant set has a wrong shape")
        counts = self.relevant_counts_
        require(((counts >= 0) & (counts < np.inf)).all(), "a label vector counts less than nothing")
        right = code.alpha.shape[1] == n_labels
        require(right, "the code is one of other labels")
        require(n <= _MOST_VECTORS, "there are more code words than there is room for")
        claim_room(n * len(code))
        require(len(self.bits_) == len(code), "there is not one learner for each bit")
        self.bits_.check_n_features(n_features)

    def _make_code_book(self) -> None:
        self._code_book = CodeBook(self.code_.encode(self.relevant_set_))


def _posterior(by_code: CodeSource, others: Any, mixture: Any, model: SavableCSRPE) -> Posterior:
    """Return the posterior of what a file holds, if its parts fit together."""
    right = isinstance(others, list) and all(isinstance(source, Source) for source in others)
    require(right and isinstance(mixture, Mixture), "the posterior lacks some of its parts")
    sources = (by_code, *others)
    require(len({source.name for source in sources}) == len(sources), "a source is there twice")
    n_labels = model._label_format.n_labels
    right = mixture.pool.fits(len(sources), n_labels)
    right &= len(mixture.weights) == sum(source.tells_vectors for source in sources)
    require(right, "the mixture is one of other sources")
    for source in sources:
        source.check_shapes(model.n_features_in_, n_labels, len(model.relevant_set_))
    return Posterior(model.relevant_set_, sources, mixture)

"""Models in files whose cost is a function: it is not in the file, so what it says of a few labels is."""

from __future__ import annotations

from typing import Any, Self, cast

from refpair._saved import Savable
from refpair.costs._probe import check_probe, is_function, probe


class SavableWithCost(Savable):
    """A model with a ``cost_`` and a ``_label_format``; a function must be the same when it is loaded."""

    def _get_saved(self) -> dict[str, Any]:
        saved, model = super()._get_saved(), cast(Any, self)
        if "cost_" in saved and is_function(model.cost_):
            saved["probe"] = probe(model.cost_, model._label_format.n_labels)
        return saved

    @classmethod
    def _from_saved(cls, saved: dict[str, Any]) -> Self:
        said = saved.pop("probe", None)
        model = super()._from_saved(saved)
        if said is not None:
            loaded = cast(Any, model)
            check_probe(loaded.cost_, loaded._label_format.n_labels, said)
        return model

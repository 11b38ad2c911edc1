"""Costs of the user's own, names and stored costs: a right result, or an error that names the cost."""

from __future__ import annotations

import json
import warnings
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from fuzz.choices import Choices
from fuzz.plugins import LARGEST, Plugin
from refpair import CSRPEClassifier
from refpair.costs import Cost, RankedCost, get_cost

INSTRUMENTED = ("refpair.costs", "fuzz.plugins")
SEEDS = (
    *(bytes([kind]) + bytes(range(start, start + 60)) for kind in range(2) for start in (0, 60, 120, 180)),
    b"\2f0.5",
    b"\2jaccard",
    b"\2f1e-200",
    b"\2ndcg@10",
    b"\3" + b'{"name": "f2"}',
    b"\3" + b'{"name": "fraud", "false_positive": [1, 2.5], "false_negative": 0}',
    b"\3" + b'{"name": "fraud", "false_positive": 1, "false_negative": [["spam", 5], [3, 2]], "default": 2}',
    b"\4" + bytes(range(40)),
)
WORDS = (
    "f0.5", "f2", "f1", "fnan", "finf", "f-1", "f1_0", "f1e-300", "f1e400", "hamming", "zero_one", "rank",
    "jaccard", "recall@3", "@0", '"name"', '"false_positive"', '"false_negative"', "[1, 2]",
    '[["a", 2]]', '"default"', "1e308", "1e400", "NaN", "Infinity", "null", "true", "-1",
)  # fmt: skip

_FORMS: tuple[Callable[[npt.NDArray[np.uint8]], Any], ...] = (
    lambda Y: Y,
    lambda Y: Y.astype(bool),
    lambda Y: Y.astype(np.float32),
    lambda Y: Y.astype(">i4"),
    np.asfortranarray,
    lambda Y: Y.tolist(),
    pd.DataFrame,
    sp.csr_array,
    sp.csc_matrix,
    sp.coo_array,
    lambda Y: Y[:, ::-1][:, ::-1],
)
_BROKEN: tuple[Callable[[npt.NDArray[np.uint8]], Any], ...] = (
    lambda Y: Y[0],
    lambda Y: Y[None],
    lambda Y: Y[:, :0],
    lambda Y: Y + 2,
    lambda Y: -1.0 * Y - 1,
    lambda Y: np.full(Y.shape, np.nan),
    lambda Y: Y.astype(str),
    lambda Y: Y.astype(object) + 10**30,
    lambda Y: [[0], [0, 1]],
    lambda Y: None,
    lambda Y: {"a": 1},
    lambda Y: np.ma.masked_array(Y, mask=True),
    lambda Y: sp.csr_array(Y + 2),
)


def check(data: bytes) -> None:
    """Let the first byte say what the rest is."""
    kinds = (_check_plugin, _check_fit, _check_name, _check_stored, _check_prices)
    kind = kinds[data[0] % len(kinds)] if data else _check_plugin
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kind(data[1:])


def _made(choices: Choices) -> tuple[Plugin, Cost]:
    plugin = Plugin.chosen(choices)
    maker = choices.below(3)
    if maker == 0:
        return plugin, Cost.from_counts(plugin.of_counts, name="mine")
    return plugin, Cost.from_function(plugin.of_labels, name="mine") if maker == 1 else get_cost(
        plugin.of_labels
    )


def _labels(choices: Choices, n_rows: int, n_labels: int) -> npt.NDArray[np.uint8]:
    bits = np.frombuffer(choices.take(n_rows).ljust(n_rows, b"\5"), np.uint8)
    return np.unpackbits(bits[:, None], axis=1, count=n_labels)


def _outcome(call: Callable[[], Any], plugin: Plugin, cost: Cost) -> Any:
    """Return what a call gives; None if it is refused as it should be, or raises the user's own error."""
    try:
        result = call()
    except (ValueError, TypeError) as error:
        if error is not plugin.error and (cost.name not in str(error) or plugin.is_fine()):
            raise AssertionError(f"a wrong refusal: {error!r}") from error
        return None
    except Exception as error:
        if error is not plugin.error:
            raise
        return None
    assert plugin.error is None or not plugin.was_called
    return result


def _require(is_clear: bool, error: Exception) -> None:
    if not is_clear:
        raise AssertionError("the error does not name what is wrong") from error


def _check_plugin(data: bytes) -> None:
    choices = Choices(data)
    plugin, cost = _made(choices)
    n, m, n_labels = 1 + choices.below(5), 1 + choices.below(5), 1 + choices.below(8)
    Y, Z = _labels(choices, n, n_labels), _labels(choices, m, n_labels)
    given = choices.one_of(_FORMS)(Y.copy()), choices.one_of(_FORMS)(Z.copy())
    matrix = _outcome(lambda: cost.matrix(*given), plugin, cost)
    if matrix is not None:
        expected = np.array([plugin.expected(np.repeat(Y[i : i + 1], m, axis=0), Z) for i in range(n)])
        _check_costs(matrix, expected)
    for side, labels in zip(given, (Y, Z), strict=True):
        unchanged = side.toarray() if sp.issparse(side) else np.asarray(side)
        np.testing.assert_array_equal(unchanged, labels, "an argument was written to")
    if n == m:
        rows = _outcome(lambda: cost.rows(*given), plugin, cost)
        score = _outcome(lambda: cost.mean(*given), plugin, cost)
        assert (rows is None) == (score is None)
        if rows is not None:
            _check_costs(rows, plugin.expected(Y, Z))
            np.testing.assert_allclose(score, rows.mean(), rtol=1e-12)
    broken = choices.one_of(_BROKEN)
    for pair in ((broken(Y), Z), (Y, broken(Z))):
        try:
            result = cost.matrix(*pair)
        except (ValueError, TypeError) as error:
            _require(str(error)[:2] in ("Y ", "Z "), error)
        else:
            raise AssertionError(f"taken as labels: {pair!r}, with the costs {result!r}")


def _check_costs(costs: Any, expected: npt.NDArray[np.float64]) -> None:
    assert type(costs) is np.ndarray
    assert costs.dtype == np.float64
    assert costs.flags.writeable
    assert np.abs(costs).max() <= LARGEST
    np.testing.assert_array_equal(costs, expected)


def _check_fit(data: bytes) -> None:
    """Fit and predict; it takes long, so only one input in 32 does, and no mutation makes it more."""
    if zlib.crc32(data) % 32:
        return
    choices = Choices(data)
    plugin, cost = _made(choices)
    X = np.arange(24.0).reshape(12, 2) % 7
    Y = _labels(choices, 12, 3)
    x, y = X.copy(), Y.copy()
    model = CSRPEClassifier(cost, n_bits=10, random_state=0)
    if choices.flag():
        model.set_params(decoder="nearest")
    predicted = _outcome(lambda: model.fit(X, Y).predict(X), plugin, cost)
    np.testing.assert_array_equal(X, x)
    np.testing.assert_array_equal(Y, y)
    if predicted is not None:
        assert predicted.shape == Y.shape
        assert np.isin(predicted, (0, 1)).all()


def _check_name(data: bytes) -> None:
    name = data.decode("utf-8", "surrogateescape")
    try:
        cost = get_cost(name)
    except ValueError as error:
        _require(repr(name) in str(error), error)
        return
    assert get_cost(cost.name) == cost
    assert Cost.from_dict(json.loads(json.dumps(cost.to_dict()))) == cost
    if isinstance(cost, RankedCost):
        right, wrong = cost.rows([[0, 0, 1], [1, 0, 0]], [[2, 1, 0], [1, 2, 0]])
        assert 0 <= right <= wrong <= 1
    if not cost.compares_vectors:
        return
    costs = cost.matrix([[0, 0, 1], [0, 0, 0]], [[1, 0, 0], [0, 1, 1], [0, 0, 1]])
    assert np.isfinite(costs).all()
    assert costs[0, 2] == 0 < costs[0, 0]


def _check_stored(data: bytes) -> None:
    try:
        stored = json.loads(data)
    except (ValueError, RecursionError):
        stored = [data.decode("utf-8", "replace")]
    try:
        cost = Cost.from_dict(stored)
    except (ValueError, TypeError):
        return
    assert Cost.from_dict(json.loads(json.dumps(cost.to_dict()))) == cost


def _check_prices(data: bytes) -> None:
    choices = Choices(data)
    n_labels = 1 + choices.below(5)
    odd: tuple[Any, ...] = (
        None,
        "dear",
        "5",
        10**400,
        1j,
        [],
        {},
        [[1.0]],
        [1.0, [2.0]],
        b"1",
        np.longdouble("1e4000"),
        1e308,
        -1,
        True,
    )

    def price() -> Any:
        if choices.below(4) == 3:
            return choices.one_of(odd)
        return [abs(choices.number()) for _ in range(n_labels)] if choices.flag() else abs(choices.number())

    fp, fn = price(), price()
    Y, Z = _labels(choices, 3, n_labels), _labels(choices, 3, n_labels)
    try:
        cost = Cost.per_label(false_positive=fp, false_negative=fn, name="mine")
        rows = cost.rows(Y, Z)
    except (ValueError, TypeError) as error:
        _require("false_" in str(error) or "prices of" in str(error), error)
        return
    assert np.isfinite(rows).all()
    fp, fn = (np.broadcast_to(np.asarray(prices, float), n_labels) for prices in (fp, fn))
    expected = [float((fn * (y > z)).sum() + (fp * (z > y)).sum()) for y, z in zip(Y, Z, strict=True)]
    np.testing.assert_allclose(rows, expected, rtol=1e-12)
    np.testing.assert_allclose(np.diag(cost.matrix(Y, Z)), expected, rtol=1e-12)
    assert Cost.from_dict(json.loads(json.dumps(cost.to_dict()))) == cost

"""How many label decisions does it save to ask for single labels instead of whole rows?

Both sides start from the same 20 rows of half of the data (at most 1,000 rows) and ask 5 rows at a time, or
as many single labels as 5 rows have; a row of K labels counts as K decisions. After each answer, a model is
fitted to what is known, and its F1 measured on rows of the other half, all labels of which are known. The
models are logistic regressions, one for each label, as they are, and with answers of least expected cost;
and, at a few points only because it takes longer, `CSRPEClassifier` of 100 bits.

    python -m benchmarks.cells emotions enron debtags.csv.gz digits --labels tags --drop package
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.common import Results, find_data, markdown_table, read_table
from refpair import BayesDecisionClassifier, BinaryRelevance, CSRPEClassifier, get_cost
from refpair.active import RepresentativeUncertainty
from refpair.classifiers import Logistic
from refpair.datasets import MultiLabelData
from refpair.experiments.data import find_sources
from refpair.experiments.report.table import show_number
from refpair.experiments.settings import half_split
from refpair.experiments.simulation import scale_features
from refpair.tables import TableOptions

TABLE = "cells.csv.gz"
START, ANSWERS, BATCH, MOST = 20, 100, 5, 1000
SAVED = 70  # answers, of which the labels are asked for one by one
C = 10.0  # chosen on runs 10 to 29 of emotions, where 100 made answers to whole rows worse
CSRPE_AT = (50, 60, SAVED, ANSWERS)  # answers
MODELS = {"decided": "decided for F1", "plain": "as they are", "csrpe": "CSRPE"}
Floats = npt.NDArray[np.float64]


def curve(data: MultiLabelData, run: int, cells: bool, with_csrpe: bool) -> list[dict[str, Any]]:
    """Return the scores after so many answers; cells are counted as parts of rows."""
    pool, test = (some[:MOST] for some in half_split(data.X.shape[0], run))
    X, X_test = scale_features(data.X[pool], data.X[test])
    truth, truth_test = (np.asarray(data.Y[some], np.float64) for some in (pool, test))
    regressions = BinaryRelevance(Logistic(C))
    strategy = RepresentativeUncertainty("f1", estimator=regressions, random_state=run)
    known = np.full(truth.shape, np.nan)
    known[:START] = truth[:START]
    scores = []
    for answers in range(0, (SAVED if cells else ANSWERS) + 1, BATCH):
        if answers and cells:
            row, label = strategy.query_cells(X, known, BATCH * truth.shape[1]).T
            known[row, label] = truth[row, label]
        elif answers:
            rows = strategy.query(X, known, BATCH)
            known[rows] = truth[rows]
        decides = BayesDecisionClassifier(regressions, cost="f1", calibrate=False)
        found = {"decided": _score(decides, X, known, X_test, truth_test)}
        found["plain"] = _score(regressions, X, known, X_test, truth_test)
        if with_csrpe and answers in CSRPE_AT:
            model = CSRPEClassifier("f1", n_bits=100, random_state=run)
            found["csrpe"] = _score(model, X, known, X_test, truth_test)
            p = model.predict_proba(X_test)
            found["log_loss"] = -float(np.log(np.where(truth_test, p, 1.0 - p)).mean())
        scores.append({"answers": answers} | found)
    return scores


def _score(model: Any, X: Any, known: Floats, X_test: Any, truth_test: Floats) -> float:
    some = ~np.isnan(known).all(axis=1)
    nothing = np.isnan(known).all(axis=0)
    model.fit(X[some], np.where(nothing, 0.0, known[some]))
    return float(get_cost("f1").mean(truth_test, model.predict(X_test)))


def means() -> Any:
    """Return the mean scores by data set, side and answers."""
    table = read_table(TABLE)
    return table.drop(columns="run").groupby(["data", "asked", "answers"], sort=False).mean()


def share(scores: Any, model: str, n: int) -> float:
    """Return the part of n whole rows' label decisions from which on cells are as good; NaN: more than 70."""
    goal, there = scores.loc["rows", model][n], scores.loc["cells", model].dropna()
    good = (there >= goal)[::-1].cummin()[::-1]
    return float(good.index[good].min()) / n if good.any() else float("nan")


def _percent(part: float) -> str:
    return "–" if np.isnan(part) else f"{100 * part:.0f} %"


def show() -> str:
    """Return the table of what is stored."""
    runs = read_table(TABLE).groupby("data")["run"].nunique()
    found = means()
    rows = []
    for name in dict.fromkeys(found.index.get_level_values("data")):
        scores = found.loc[name]
        goal = scores.loc["rows"].loc[ANSWERS]
        row = [name, runs[name], show_number(scores.loc["rows"].loc[0, "decided"], 3)]
        row += [show_number(goal["decided"], 3), show_number(scores.loc["cells"].loc[SAVED, "decided"], 3)]
        rows.append([*row, *(_percent(share(scores, model, ANSWERS)) for model in MODELS)])
    header = ["data", "runs", "F1 at the start", f"{ANSWERS} rows", f"{SAVED} %, as cells", *MODELS.values()]
    return markdown_table(header, rows)


def show_summary() -> str:
    """Say on which data sets how many decisions were enough, for answers decided for F1."""
    found = means()
    names = dict.fromkeys(found.index.get_level_values("data"))
    told = {name: _percent(share(found.loc[name], "decided", ANSWERS)) for name in names}
    return ", ".join(f"{part.replace('–', f'more than {SAVED} %')} on {name}" for name, part in told.items())


def show_calibration() -> str:
    """Return what CSRPE's probabilities are like after as many label decisions on either side."""
    found = means()
    rows = []
    for name in dict.fromkeys(found.index.get_level_values("data")):
        scores = found.loc[name]
        losses = [scores.loc[side].loc[SAVED, "log_loss"] for side in ("rows", "cells")]
        f1 = [scores.loc[side].loc[SAVED, "csrpe"] for side in ("rows", "cells")]
        rows.append([name, *(show_number(one, 3) for one in (*f1, *losses))])
    return markdown_table(["data", "F1, rows", "F1, cells", "log loss, rows", "log loss, cells"], rows)


def main() -> None:
    """Measure each run of each data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="+")
    parser.add_argument("--labels", action="append", help="the columns of labels of a file")
    parser.add_argument("--drop", action="append", default=[], help="columns to leave out")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--csrpe-runs", type=int, default=10, help="runs that CSRPE is fitted in, too")
    given = parser.parse_args()
    find_data()
    options = TableOptions(labels=tuple(given.labels or ()) or None, drop=tuple(given.drop))
    sources = find_sources(given.data, options)
    results = Results(TABLE, go_on=True)
    warnings.simplefilter("ignore")  # of labels that few rows have
    for run in range(given.runs):
        for source in sources:
            case = {"data": source.name.partition(".")[0], "run": run}
            if results.has(**case):
                continue
            sides = {
                side: curve(source.read(), run, side == "cells", run < given.csrpe_runs)
                for side in ("rows", "cells")
            }
            for side, scores in sides.items():
                for row in scores:
                    results.add(**case, asked=side, **row)
    print(show(), show_calibration(), sep="\n\n")


if __name__ == "__main__":
    main()

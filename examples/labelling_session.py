"""A labelling session from Python: answers are kept on disk, and the session goes on where it was."""

import tempfile
from pathlib import Path

import pandas as pd

from refpair.datasets import load_dataset
from refpair.labeling import Session


def main() -> None:
    """Ask and answer, stop, go on, and take the labels with us."""
    digits = load_dataset("digits")
    X = pd.DataFrame(digits.X[:600], columns=digits.feature_names)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "digits.sqlite")
        with Session.open(path, X=X, labels=digits.label_names, cost="f1") as session:
            for _ in range(10):
                rows = session.ask(5)  # the rows to label next
                session.tell(rows, digits.Y[rows])  # kept when it returns
            print(session)

        with Session.open(path, X=X) as session:  # tomorrow: all answers are still there
            rows = session.ask()
            session.tell(rows, [["3", "7"]])  # names will do
            session.undo()  # no, that was wrong
            session.skip(rows)  # nobody can tell
            print(session)
            table = session.table()
            session.export(Path(folder, "labels.csv"))
            exported = pd.read_csv(Path(folder, "labels.csv"))
    print(
        len(table), "rows:", ", ".join(map(str, table.columns[:3])), "and", table.shape[1] - 3, "more columns"
    )
    print(len(exported), "rows exported")


if __name__ == "__main__":
    main()

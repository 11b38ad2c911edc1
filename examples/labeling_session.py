"""A labeling session from Python: answers are stored in a file, and the session can be continued."""

import tempfile
from pathlib import Path

import pandas as pd

from refpair import load
from refpair.datasets import load_dataset
from refpair.labeling import Session


def main() -> None:
    """Ask and answer, stop, continue, and export labels and model."""
    digits = load_dataset("digits")
    X = pd.DataFrame(digits.X[:600], columns=digits.feature_names).rename_axis("number").reset_index()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "digits.sqlite")
        with Session.open(path, X=X, labels=digits.label_names, cost="f1", id_column="number") as session:
            for _ in range(10):
                rows = session.ask(5)  # the rows to label next
                session.tell(rows, digits.Y[rows])  # stored when it returns
            print(session)

        with Session.open(path, X=X) as session:  # tomorrow: all answers are still there
            rows = session.ask()
            session.tell(rows, [["3", "7"]])  # names work, too
            session.undo()  # it was wrong
            session.skip(rows)  # nobody can tell
            print(session)
            table = session.table()
            session.export(Path(folder, "labels.csv"))  # the answered rows, as refpair fit takes them
            exported = pd.read_csv(Path(folder, "labels.csv"))
            session.save_model(Path(folder, "digits.refpair"))
        predicted = load(Path(folder, "digits.refpair")).predict(X.tail(2))  # raw rows
    print(
        len(table), "rows:", ", ".join(map(str, table.columns[:3])), "and", table.shape[1] - 3, "more columns"
    )
    print(len(exported), "rows exported")
    print(predicted.shape[1], "labels predicted for", len(predicted), "rows")


if __name__ == "__main__":
    main()

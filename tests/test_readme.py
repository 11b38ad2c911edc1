"""What the README shows is what a user gets."""

import contextlib
import io
import json
import re
from pathlib import Path

import numpy as np

from refpair.active import Session

README = Path(__file__).parents[1] / "README.md"
ACTIVE = README.parent / "docs" / "active-learning.md"
LABELLING = README.parent / "docs" / "labelling.md"
NOTEBOOK = LABELLING.with_suffix(".ipynb")


def test_the_examples_run_one_after_the_other_and_print_what_the_readme_says():
    text = README.read_text()
    expected = "".join(re.findall(r"```\n\n```\n(.*?)```", text, re.DOTALL))
    printed, names = io.StringIO(), {}
    with contextlib.redirect_stdout(printed):
        for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            exec(compile(code, "README.md", "exec"), names)
    assert printed.getvalue() == expected


def test_the_page_on_active_learning_runs():
    names = {}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        for code in re.findall(r"```python\n(.*?)```", ACTIVE.read_text(), re.DOTALL):
            exec(compile(code, "active-learning.md", "exec"), names)
    assert np.isfinite(names["Y"]).all(axis=1).sum() == 50
    assert printed.getvalue() == "The budget is used up: 200 of 200 rows have labels.\n"


def test_the_page_on_labelling_runs():
    names = {}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        for code in re.findall(r"```python\n(.*?)```", LABELLING.read_text(), re.DOTALL):
            exec(compile(code, "labelling.md", "exec"), names)
    assert printed.getvalue() == (
        "Session(digits.sqlite: 20 of 3000 rows answered, 0 skipped, 10 labels, cost f1)\nNone\n"
    )
    assert len(names["table"]) == 3000


def test_the_notebook_runs():
    names = {}
    for cell in json.loads(NOTEBOOK.read_text())["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), "labelling.ipynb", "exec"), names)
    with Session.open(names["path"]) as session:
        assert session.n_answered == 60

"""What the README shows is what a user gets."""

import contextlib
import io
import re
from pathlib import Path

import numpy as np

README = Path(__file__).parents[1] / "README.md"
ACTIVE = README.parent / "docs" / "active-learning.md"


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

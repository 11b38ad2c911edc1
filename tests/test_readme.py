"""What the README shows is what a user gets."""

import contextlib
import io
import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_the_examples_run_one_after_the_other_and_print_what_the_readme_says():
    text = README.read_text()
    expected = "".join(re.findall(r"```\n\n```\n(.*?)```", text, re.DOTALL))
    printed, names = io.StringIO(), {}
    with contextlib.redirect_stdout(printed):
        for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            exec(compile(code, "README.md", "exec"), names)
    assert printed.getvalue() == expected

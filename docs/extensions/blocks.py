"""Blocks that the tests pass over say so behind their language, which the pages need not show."""

import re
from typing import Any


def on_page_markdown(markdown: str, **kwargs: Any) -> str:
    """Leave the language alone."""
    return re.sub(r"^```python no-test$", "```python", markdown, flags=re.MULTILINE)

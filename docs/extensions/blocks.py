"""What pages look like on GitHub and on the site differs a little; here they are made ready for the site."""

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def on_page_markdown(markdown: str, page: Any, **kwargs: Any) -> str:
    """Show the README as the home page, and leave the mark of blocks that tests pass over out."""
    if page.file.src_uri == "index.md":
        markdown = _moved((ROOT / "README.md").read_text(encoding="utf-8"))
    markdown = markdown.replace(r"\<", "&lt;")  # Python-Markdown would show the backslash
    return re.sub(r"^```python no-test$", "```python", markdown, flags=re.MULTILINE)


def on_page_content(html: str, **kwargs: Any) -> str:
    """Show types of parameters as docstrings have them, and no dash where nothing is said."""
    html = re.sub(r"(<code>[^<]*\w) - like\b", r"\1-like", html)
    html = re.sub(r"\(<code>\(((?:(?!</code>).)*)\)</code>", r"(<code>\1</code>", html, flags=re.DOTALL)
    return re.sub(r'\s*–\s*<div class="doc-md-description">\s*</div>', "", html)


def _moved(readme: str) -> str:
    """Return the README with links as they are from docs/; what the site does not have is no link."""
    readme = readme.replace("](docs/", "](")
    return re.sub(r"(?<!!)\[([^\]]+)\]\((?:examples|benchmarks|CONTRIBUTING)[^)]*\)", r"`\1`", readme)

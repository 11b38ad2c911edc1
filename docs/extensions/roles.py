"""Docstrings mark names as Sphinx does; here these become links of the pages."""

import re

import griffe

_ROLE = re.compile(r":(?:attr|class|exc|func|meth|mod|obj):`([~!]?)([\w.]+)`")


class Roles(griffe.Extension):
    """Turn ``:class:`Name``` into a link to the page that has it, or into plain code if none has."""

    def on_object(self, *, obj: griffe.Object, **kwargs: object) -> None:
        """Rewrite one docstring."""
        docstring = obj.docstring
        if docstring is not None:
            docstring.value = _ROLE.sub(lambda found: _link(obj, *found.groups()), docstring.value)


def _link(obj: griffe.Object, short: str, name: str) -> str:
    shown = name.rpartition(".")[2] if short == "~" else name
    if short == "!":
        return f"`{name}`"
    return f'<autoref optional identifier="{_full(obj, name)}"><code>{shown}</code></autoref>'


def _full(obj: griffe.Object, name: str) -> str:
    """Return the full path of a name as its docstring would import it."""
    first, _, rest = name.partition(".")
    while obj is not None and obj.parent is not None:
        if first in obj.members:
            return ".".join(filter(None, [obj.path, first, rest]))
        obj = obj.parent
    return name

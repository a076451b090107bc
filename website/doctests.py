"""Examples in docstrings become blocks of code: `>>>` would be a quotation in Markdown."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

_EXAMPLE = re.compile(r"^>>> .*(?:\n.+)*", re.M)


class Doctests(Extension):
    """Called by mkdocstrings with every class, function and attribute."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Put a fence around the examples of a docstring."""
        if obj.docstring:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(docstring: str) -> str:
    """The docstring with its examples in fences."""
    return _EXAMPLE.sub(r"```pycon\n\g<0>\n```", docstring)

"""Formulas: LaTeX in the pages becomes MathML in the site, which browsers typeset by themselves.

`$…$` stands in a line, `$$…$$` in a paragraph of its own. The Markdown extension arithmatex finds
them and leaves them in elements of the class `arithmatex`; this hook puts MathML there. Nothing is
loaded from elsewhere, and no script runs.
"""

from __future__ import annotations

import html
import re
from typing import Any

from latex2mathml.converter import convert

_FORMULA = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<latex>.*?)\\[)\]]</(?P=tag)>', re.S
)


def on_page_content(content: str, **_: Any) -> str:
    """Called by mkdocs with the HTML of every page."""
    return _FORMULA.sub(_mathml, content)


def _mathml(found: re.Match[str]) -> str:
    latex = html.unescape(found["latex"]).strip()
    display = "block" if found["tag"] == "div" else "inline"
    tag = found["tag"]
    return f'<{tag} class="formula">{convert(latex, display=display)}</{tag}>'

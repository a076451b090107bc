"""Formulas: LaTeX in the pages becomes MathML in the site, which browsers typeset by themselves.

`$…$` stands in a line, `$$…$$` in a paragraph of its own. The Markdown extension arithmatex finds
them and leaves them in elements of the class `arithmatex`; this hook puts MathML there. Nothing is
loaded from elsewhere, and no script runs. Punctuation after a formula stays on its line.
"""

from __future__ import annotations

import html
import re
from typing import Any

from latex2mathml.converter import convert

_FORMULA = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<latex>.*?)\\[)\]]</(?P=tag)>'
    r"(?P<after>[.,;:)]*)",
    re.S,
)
# What latex2mathml takes for a letter is an operator, with the space of one around it.
_OPERATORS = {
    "<mi>&#x02032;</mi>": "<mo>&#x02032;</mo>",  # prime
    "<mi>&#x0007E;</mi>": "<mo>&#x0223C;</mo>",  # is distributed as
    "<mi>&#x000B1;</mi>": "<mo>&#x000B1;</mo>",  # plus or minus
    "<mi>&#x029F5;</mi>": "<mo>&#x02216;</mo>",  # without
    "<mi>ln</mi>": '<mi>ln</mi><mspace width="0.17em"/>',
}


def on_page_content(content: str, **_: Any) -> str:
    """Called by mkdocs with the HTML of every page."""
    return _FORMULA.sub(_mathml, content)


def _mathml(found: re.Match[str]) -> str:
    latex = html.unescape(found["latex"]).strip()
    display = "block" if found["tag"] == "div" else "inline"
    tag, math = found["tag"], convert(latex, display=display)
    for wrong, right in _OPERATORS.items():
        math = math.replace(wrong, right)
    return f'<{tag} class="formula">{math}{found["after"]}</{tag}>'

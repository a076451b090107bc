"""The tables of a campaign's page: headings that sort, cells with the value they are sorted by."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_LONG = 30  # rows: a longer table scrolls in its own box


def head(name: str, kind: str = "") -> str:
    """A heading that sorts its column."""
    return f'<th class="{kind}" scope="col"><button type="button">{escape(name)}</button></th>'


def ends(first: str, last: str) -> str:
    """The heading of a column of charts: what their left and right ends are."""
    both = f"<span><span>{escape(first)}</span><span>{escape(last)}</span></span>"
    return f'<th class="chart" scope="col">{both}</th>'


def name(words: str) -> str:
    """The cell that says what a row is about."""
    return f'<td class="name">{escape(words)}</td>'


def chart(picture: str) -> str:
    """A cell with a chart."""
    return f'<td class="chart">{picture}</td>'


def number(words: str, value: float, kind: str = "") -> str:
    """A number in words, sorted by its value."""
    return f'<td class="number {kind}" data-value="{value:.6g}">{escape(words)}</td>'


def text(words: str, kind: str = "") -> str:
    """A cell of text."""
    return f'<td class="{kind}">{escape(words)}</td>'


def table(heads: Sequence[str], rows: Sequence[str]) -> str:
    """A sortable table of headings and rows of cells."""
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    box = "scroll long" if len(rows) > _LONG else "scroll"
    return (
        f'<div class="{box}"><table class="sortable"><thead><tr>{"".join(heads)}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def rest(shown: int, count: int, words: str, option: str) -> str:
    """What was left out, and how to get it; nothing if all is shown."""
    if count <= shown:
        return ""
    which = words.format(f"{shown:,}", f"{count:,}")
    return f'<p class="soft">{which}; <code>forsooth infer {option}</code> writes all.</p>'

"""How objects show themselves: a few lines as text, a small table in a notebook.

All HTML is escaped: names of tasks and workers come from strangers.
"""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MOST_ROWS = 10  # of a table in a notebook
FEW_ROWS = 5  # of a table as text
LONGEST = 40  # characters of a name
DIGITS = 4  # significant, of a number


def number(value: object) -> str:
    """A number for reading; an en dash where there is none."""
    if isinstance(value, int | str):
        return str(value)
    if value is None or math.isnan(float(value)):  # type: ignore[arg-type]
        return "–"
    return f"{float(value):.{DIGITS}g}"  # type: ignore[arg-type]


def short(text: str) -> str:
    """One line of at most `LONGEST` characters."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def as_text(title: str, facts: Iterable[str], rows: Sequence[Sequence[object]] = ()) -> str:
    """A title, facts on lines of their own, and the columns of a small table aligned."""
    lines = [title, *(f"  {fact}" for fact in facts)]
    cells = [[short(number(value)) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells)]
    for row in cells:
        first, *rest = (
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths))
        )
        lines.append("  ".join(("  " + first, *rest)).rstrip())
    return "\n".join(lines)


def as_html(
    title: str,
    facts: Iterable[str],
    columns: Mapping[str, Sequence[object]] | None = None,
    total: int = 0,
) -> str:
    """The same for a notebook: a heading, facts, the first rows of a table, how many there are."""
    parts = [f"<div><strong>{escape(title)}</strong>"]
    parts += [f"<div>{escape(fact)}</div>" for fact in facts]
    if columns:
        parts.append(_table(columns))
        shown = min(total, MOST_ROWS)
        if shown < total:
            parts.append(f"<div>{shown} of {total:,} rows; to_frame() has them all</div>")
    return "".join((*parts, "</div>"))


def _table(columns: Mapping[str, Sequence[object]]) -> str:
    """The first column is a name and stands on the left, numbers on the right."""
    head = _row("th", [escape(name) for name in columns])
    rows = zip(*(list(column)[:MOST_ROWS] for column in columns.values()))
    body = "".join(_row("td", [escape(short(number(value))) for value in row]) for row in rows)
    return (
        '<div style="overflow-x: auto"><table style="border-collapse: collapse; margin: 0.4em 0">'
        f"<thead>{head}</thead><tbody>{body}</tbody></table></div>"
    )


def _row(tag: str, cells: list[str]) -> str:
    style = 'style="padding: 0.1em 0.7em; white-space: nowrap; text-align: {}"'
    first, rest = style.format("left"), style.format("right")
    return (
        "<tr>"
        + "".join(
            f"<{tag} {rest if place else first}>{cell}</{tag}>" for place, cell in enumerate(cells)
        )
        + "</tr>"
    )

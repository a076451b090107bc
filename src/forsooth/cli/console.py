"""The output of commands: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import textwrap
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

# name         value  unit, reason
_NARROWEST = 8  # characters of a column of text that is still easy to read
_WIDEST = 24  # characters of a column of text beyond which long words may be broken
_GAP = 2  # characters between columns

output = Console(highlight=False)
aside = Console(stderr=True, highlight=False)


def print_json(document: dict[str, Any]) -> None:
    """One JSON document on standard output, nothing else."""
    print(json.dumps(document, indent=2, allow_nan=False))


def complain(message: str) -> None:
    """Say what was wrong."""
    _print(aside, message, "error:", "bold red")


def notice(message: str) -> None:
    """Say something that the reader should know."""
    _print(aside, message, "note:", "yellow")


def say(message: str) -> None:
    """A paragraph of plain text."""
    _print(output, message)


def _print(console: Console, message: str, label: str = "", style: str = "") -> None:
    """A terminal gets whole words on lines of its width, anything else the paragraph in one line.

    Long words, such as keys and addresses, are never broken.
    """
    text = f"{label} {message}" if label else message
    if console.is_terminal:
        lines = (
            textwrap.fill(
                line, max(console.width, 20), break_long_words=False, break_on_hyphens=False
            )
            for line in text.split("\n")
        )
        text = "\n".join(lines)
    styled = Text(text)
    styled.stylize(style, 0, len(label))
    console.print(styled, soft_wrap=True)


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str | None = None,
    decimals: int = 3,
) -> None:
    """A table, numbers to the right; where the terminal is too narrow, a paragraph per row."""
    listed = [list(row) for row in rows]
    numeric = [
        all(isinstance(row[place], int | float) or row[place] == "" for row in listed)
        for place in range(len(columns))
    ]
    texts = [[_text(cell, decimals) for cell in row] for row in listed]
    widths = [
        max(map(cell_len, cells))
        for cells in ([name, *column] for name, *column in zip(columns, *texts))
    ]
    words = [
        max(cell_len(word) for cell in cells for word in (cell.split() or [""]))
        for cells in zip(columns, *texts)
    ]
    least = [
        width if number else min(width, max(word, _NARROWEST), _WIDEST)
        for width, word, number in zip(widths, words, numeric)
    ]
    if title:
        output.print(title, markup=False, style="italic")
    if sum(least) + _GAP * (len(least) - 1) > output.width:
        _print_paragraphs(columns, texts)
        return
    table = Table(header_style="bold", box=None, pad_edge=False, padding=(0, _GAP, 0, 0))
    for column, width, number in zip(columns, least, numeric):
        table.add_column(
            escape(column),
            justify="right" if number else "left",
            overflow="fold",
            min_width=width,
            no_wrap=number,
        )
    for row in texts:
        table.add_row(*map(escape, row))
    output.print(table)


def _print_paragraphs(columns: Sequence[str], texts: Iterable[Sequence[str]]) -> None:
    """Each row as `column: cell` lines."""
    for first, *others in texts:
        output.print(f"{columns[0]}: {first}", markup=False, style="bold", overflow="fold")
        for column, cell in zip(columns[1:], others):
            if cell:
                name = f"{column}: " if column else ""
                output.print(Padding(Text(name + cell, overflow="fold"), (0, 0, 0, 2)))


def _text(cell: object, decimals: int) -> str:
    if isinstance(cell, float):
        return f"{cell:.{decimals}f}"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)


@contextmanager
def working(label: str) -> Iterator[Callable[[str], None]]:
    """A line on standard error while something runs; call what it yields to change the line."""
    with aside.status(label) as status:
        yield status.update


@contextmanager
def progress_bar(label: str, *, percent: bool = False) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on standard error; call what it yields with (done, total)."""
    shown = TaskProgressColumn() if percent else MofNCompleteColumn()
    columns = (TextColumn(label), BarColumn(), shown, TimeRemainingColumn())
    silent = not aside.is_terminal
    with Progress(*columns, console=aside, transient=True, disable=silent) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)

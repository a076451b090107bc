"""The output of commands: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

output = Console(highlight=False)
aside = Console(stderr=True, highlight=False)


def print_json(document: dict[str, Any]) -> None:
    """One JSON document on standard output, nothing else."""
    print(json.dumps(document, indent=2, allow_nan=False))


def complain(message: str) -> None:
    """Say what was wrong."""
    aside.print("error:", style="bold red", end=" ")
    aside.print(message, markup=False, soft_wrap=True)


def notice(message: str) -> None:
    """Say something that the reader should know."""
    aside.print("note:", style="yellow", end=" ")
    aside.print(message, markup=False, soft_wrap=True)


def say(message: str) -> None:
    """A line of plain text."""
    output.print(message, markup=False, soft_wrap=True)


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str | None = None,
    decimals: int = 3,
) -> None:
    """A table; numbers to the right."""
    table = Table(title=title, title_justify="left", header_style="bold", box=None, pad_edge=False)
    listed = [list(row) for row in rows]
    for place, column in enumerate(columns):
        numeric = all(isinstance(row[place], int | float) or row[place] == "" for row in listed)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in listed:
        table.add_row(*(_text(cell, decimals) for cell in row))
    output.print(table)


def _text(cell: object, decimals: int) -> str:
    if isinstance(cell, float):
        return f"{cell:.{decimals}f}"
    return escape(f"{cell:,}" if isinstance(cell, int) else str(cell))


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on standard error; call what it yields with (done, total)."""
    columns = (TextColumn(label), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    silent = not aside.is_terminal
    with Progress(*columns, console=aside, transient=True, disable=silent) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)

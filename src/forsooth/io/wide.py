"""Wide tables: one row per worker, one column per task; an empty cell is a skipped task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from forsooth.errors import ForsoothError
from forsooth.io.tables import SYNONYMS, Source

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from numpy.typing import NDArray


@dataclass(frozen=True)
class Unfolded(Source):
    """A wide table as a long one, which still knows where every answer stood."""

    wide: Source | None = None
    tasks: tuple[str, ...] = ()
    workers: tuple[str, ...] = ()
    place: NDArray[np.intp] | None = None

    def where(self, row: int) -> str:
        """The row and the column of the wide table, and that it was read as one."""
        assert self.wide is not None
        assert self.place is not None
        line, column = divmod(int(self.place[row]), len(self.tasks))
        return (
            f"{self.wide.where(line)}, column {self.tasks[column]!r} (read as a wide table: one "
            "row per worker, one column per task)"
        )

    @property
    def notice(self) -> str:
        """What was assumed, for people."""
        some = ", ".join(self.tasks[:3]) + (", …" if len(self.tasks) > 3 else "")
        return f"read as a wide table: {len(self.tasks):,} columns are tasks ({some})"


def is_wide(source: Source, columns: Mapping[str, str]) -> bool:
    """Is there a worker, but neither a task nor a label column?"""
    if {"task", "label"} & set(columns):
        return False
    names = {name.strip().lower() for name in source.table.column_names}
    worker = (columns["worker"].lower(),) if "worker" in columns else SYNONYMS["worker"]
    return bool(names.intersection(worker)) and not names.intersection(
        (*SYNONYMS["task"], *SYNONYMS["label"])
    )


def unfolded(source: Source, columns: Mapping[str, str]) -> Unfolded:
    """The answers of a wide table, row by row."""
    workers = source.identifiers("worker", columns.get("worker")).to_pylist()
    tasks = _tasks(source, columns.get("worker"))
    cells = [_texts(source, name) for name in tasks]
    place = np.array(
        [
            row * len(tasks) + column
            for row in range(len(workers))
            for column, texts in enumerate(cells)
            if texts[row] is not None
        ],
        np.intp,
    )
    row, column = np.divmod(place, max(1, len(tasks)))
    text = pa.string()
    long = {
        "worker": pa.array([workers[at] for at in row], text),
        "task": pa.array([tasks[at] for at in column], text),
        "label": pa.array([cells[at][line] for line, at in zip(row, column)], text),
    }
    found = tuple(dict.fromkeys(workers))
    return Unfolded(pa.table(long), source.path, source.title, source, tasks, found, place)


def _tasks(source: Source, worker: str | None) -> tuple[str, ...]:
    names = (worker.lower(),) if worker else SYNONYMS["worker"]
    tasks = tuple(name for name in source.table.column_names if name.strip().lower() not in names)
    if not tasks:
        raise ForsoothError(f"{source.name} has a worker column, but no answers beside it")
    return tasks


def _texts(source: Source, name: str) -> list[str | None]:
    """One task's answers as text; None where a cell is empty (null, NaN or blank)."""
    column = source.table.column(name)
    if column.null_count == len(column):
        return [None] * len(column)
    return [None if _is_empty(value) else str(value).strip() for value in column.to_pylist()]


def _is_empty(value: object) -> bool:
    return value is None or value != value or (isinstance(value, str) and not value.strip())


def check_columns(columns: Mapping[str, str] | None, known: Collection[str]) -> dict[str, str]:
    """`columns` as a dict of roles; refused if it is none or names an unknown role."""
    if columns is None:
        return {}
    if not hasattr(columns, "items"):
        raise ForsoothError(f'columns renames roles: {{"label": "score"}}; got {columns!r}')
    if strange := [role for role in columns if role not in known]:
        raise ForsoothError(f"columns: unknown role {strange[0]!r}; known: {', '.join(known)}")
    return {role: str(name) for role, name in columns.items()}

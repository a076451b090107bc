"""Spreadsheets: the one sheet that has something in it, as a table of text."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from forsooth.errors import ForsoothError

if TYPE_CHECKING:
    from pathlib import Path

ENDINGS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")


def read(path: Path) -> pa.Table:
    """Every column as text; whole numbers without a decimal point, empty rows left out."""
    (_, names), *rows = _rows(path)
    columns = zip(*(cells for _, cells in rows)) if rows else [()] * len(names)
    return pa.Table.from_arrays([pa.array(each, pa.string()) for each in columns], names=names)


def line(path: Path, row: int) -> int:
    """The line of the sheet on which data row `row` (from 0) stands."""
    return _rows(path)[row + 1][0]


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """Line and cells of every row that is not empty; the first names the columns."""
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise ForsoothError(
            f"{path}: reading spreadsheets needs python-calamine: "
            'pip install "forsooth[excel]". Or save the sheet as CSV'
        ) from None
    try:
        with CalamineWorkbook.from_path(str(path)) as book:
            sheets = {
                name: book.get_sheet_by_name(name).to_python(skip_empty_area=False)
                for name in book.sheet_names
            }
    except CalamineError as error:
        raise ForsoothError(f"{path} cannot be read: {error}") from error
    filled = {}
    for name, cells in sheets.items():
        texts = ([_text(cell) for cell in row] for row in cells)
        rows = [(number, row) for number, row in enumerate(texts, 1) if any(row)]
        if rows:
            filled[name] = rows
    if not filled:
        raise ForsoothError(f"{path} has no sheet with anything in it")
    if len(filled) > 1:
        raise ForsoothError(
            f"{path} has {len(filled)} sheets ({', '.join(map(repr, filled))}): keep the one with "
            "the table in a file of its own, or save it as CSV"
        )
    (rows,) = filled.values()
    width = max(len(row) - _blank_at_end(row) for _, row in rows)
    return [(number, row[:width]) for number, row in rows]


def _blank_at_end(row: list[str]) -> int:
    return next((place for place, cell in enumerate(reversed(row)) if cell), len(row))


def _text(cell: Any) -> str:
    """As a person reads it."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, date | datetime | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return str(cell)
    return str(cell)

"""Spreadsheets are read where python-calamine is, and refused clearly where it is not."""

from __future__ import annotations

import sys
import zipfile
from html import escape
from pathlib import Path

import pytest

from forsooth import Answers, ForsoothError
from forsooth.io import excel, tables

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def workbook(path: Path, **sheets: list[list[object]]) -> Path:
    """A minimal .xlsx: strings inline, numbers as numbers, None as no cell."""
    names = list(sheets)
    numbers = range(1, len(names) + 1)
    with zipfile.ZipFile(path, "w") as file:
        parts = "".join(
            f'<Override PartName="/xl/worksheets/s{n}.xml" ContentType="{_KIND}.worksheet+xml"/>'
            for n in numbers
        )
        file.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{_TYPES}"><Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{_KIND}.sheet.main+xml"/>'
            f"{parts}</Types>",
        )
        file.writestr("_rels/.rels", _links(["officeDocument"], ["xl/workbook.xml"]))
        listed = "".join(
            f'<sheet name="{name}" sheetId="{n}" r:id="r{n}"/>' for n, name in zip(numbers, names)
        )
        file.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>',
        )
        targets = [f"worksheets/s{n}.xml" for n in numbers]
        links = _links(["worksheet"] * len(names), targets)
        file.writestr("xl/_rels/workbook.xml.rels", links)
        for target, rows in zip(targets, sheets.values()):
            data = "".join(_row(line, row) for line, row in enumerate(rows, 1))
            sheet = f'<worksheet xmlns="{_MAIN}"><sheetData>{data}</sheetData></worksheet>'
            file.writestr(f"xl/{target}", sheet)
    return path


def _links(kinds: list[str], targets: list[str]) -> str:
    links = "".join(
        f'<Relationship Id="r{n}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for n, (kind, target) in enumerate(zip(kinds, targets), 1)
    )
    return f'<Relationships xmlns="{_PACKAGE}">{links}</Relationships>'


def _row(line: int, row: list[object]) -> str:
    cells = ""
    for place, value in enumerate(row):
        where = f"{chr(65 + place)}{line}"
        if isinstance(value, str):
            cells += f'<c r="{where}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
        elif value is not None:
            cells += f'<c r="{where}"><v>{value}</v></c>'
    return f'<row r="{line}">{cells}</row>'


ROWS: list[list[object]] = [
    ["task", "worker", "label"],
    ["q1", "ann", 3],
    ["q2", "ann", 0],
    [],
    ["q1", 7, 4],
]


def test_answers_from_a_spreadsheet(tmp_path: Path) -> None:
    path = workbook(tmp_path / "answers.xlsx", notes=[], answers=ROWS)
    answers = Answers.read(path, "0..4")
    assert answers == Answers.of({"ann": {"q1": 3, "q2": 0}, "7": {"q1": 4}}, "0..4")


def test_an_error_names_the_line_of_the_sheet(tmp_path: Path) -> None:
    path = workbook(tmp_path / "answers.xlsx", answers=[*ROWS, ["q2", "bob", 9.5]])
    with pytest.raises(ForsoothError, match=r"answers.xlsx, line 6: the answer '9.5'"):
        Answers.read(path, "0..4")


def test_several_sheets_none_and_no_spreadsheet(tmp_path: Path) -> None:
    with pytest.raises(ForsoothError, match="has 2 sheets .'one', 'two'.: keep the one"):
        tables.read(workbook(tmp_path / "two.xlsx", one=ROWS, two=ROWS))
    with pytest.raises(ForsoothError, match="no sheet with anything in it"):
        tables.read(workbook(tmp_path / "none.xlsx", one=[], two=[[], []]))
    (tmp_path / "text.xlsx").write_text("task,worker,label\n")
    with pytest.raises(ForsoothError, match="text.xlsx cannot be read"):
        tables.read(tmp_path / "text.xlsx")
    with pytest.raises(ForsoothError, match="does not exist"):
        tables.read(tmp_path / "nothing.xlsx")


def test_a_header_alone_has_no_rows(tmp_path: Path) -> None:
    table = excel.read(workbook(tmp_path / "header.xlsx", one=ROWS[:1]))
    assert (table.column_names, table.num_rows) == (["task", "worker", "label"], 0)


def test_the_extra_is_named_where_it_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = workbook(tmp_path / "answers.xlsx", answers=ROWS)
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(ForsoothError, match=r'pip install "forsooth\[excel\]". Or save .* as CSV'):
        tables.read(path)

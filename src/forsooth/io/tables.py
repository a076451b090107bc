"""The tables that people bring and take: CSV, TSV, Parquet (gzip is transparent), any dataframe.

Spreadsheets are read, and JSON as Label Studio exports it.
"""

from __future__ import annotations

import csv
import gzip
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from forsooth.errors import ForsoothError
from forsooth.io import excel, frames, label_studio
from forsooth.io.files import replacing
from forsooth.natural import rounded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TextIO

    import numpy as np

SYNONYMS: dict[str, tuple[str, ...]] = {
    "task": ("task", "question", "item"),
    "worker": ("worker", "annotator"),
    "label": ("label", "answer", "response", "value"),
    "truth": ("truth", "gold"),
}
_UNREADABLE = (pa.ArrowException, OSError, EOFError, UnicodeDecodeError, zlib.error, csv.Error)
_PARQUET = (".parquet", ".pq")
_TEXT = (".csv", ".tsv", ".txt")
_JSON = ".json"
csv.field_size_limit(2**30)  # the reader is only used to explain errors; nothing is too long


@dataclass(frozen=True)
class Source:
    """A table and where it came from, so that an error can name the file and the line."""

    table: pa.Table
    path: Path | None = None
    title: str = "the table"

    @property
    def name(self) -> str:
        """What to call the table in a message."""
        return str(self.path) if self.path else self.title

    def column(self, role: str, chosen: str | None = None) -> pa.Array:
        """The column that plays `role` (task, worker, label, truth), by name or by synonym."""
        found = self.table.column_names
        for name in (chosen,) if chosen else SYNONYMS[role]:
            matches = [column for column in found if column.strip().lower() == name.lower()]
            if len(matches) > 1:
                raise ForsoothError(f"{self.name} has {len(matches)} columns named {name!r}")
            if matches:
                column = self.table.column(matches[0])
                return (
                    pa.concat_arrays(column.chunks)
                    if column.num_chunks
                    else column.combine_chunks()
                )
        wanted = repr(chosen) if chosen else " or ".join(map(repr, SYNONYMS[role]))
        raise ForsoothError(
            f"{self.name} has no column {wanted} (the {role}). Columns found: "
            f"{', '.join(map(repr, found)) or 'none'}"
        )

    def identifiers(self, role: str, chosen: str | None = None) -> pa.StringArray:
        """A column of names as text; a name may be anything but missing."""
        import pyarrow.compute as pc  # here, because it takes a while to load

        column = self.column(role, chosen)
        try:
            if pa.types.is_floating(column.type):
                column = pc.if_else(pc.is_nan(column), None, column)
            names = column.cast(pa.string())
        except pa.ArrowException:
            raise ForsoothError(
                f"{self.name}: the {role} column holds {column.type}, not names"
            ) from None
        missing = pc.or_kleene(pc.is_null(names), pc.equal(pc.utf8_trim_whitespace(names), ""))
        if pc.any(missing).as_py():
            row = pc.index(missing, True).as_py()
            raise ForsoothError(f"{self.where(row)}: the {role} is missing")
        return names

    def where(self, row: int) -> str:
        """Row `row` (counted from 0) as a person finds it: file and line, or row number."""
        if self.path is None or is_parquet(self.path) or _ending(self.path) == _JSON:
            return f"{self.name}, row {row + 1}"
        if _ending(self.path) in excel.ENDINGS:
            return f"{self.name}, line {excel.line(self.path, row)}"
        return f"{self.name}, line {_line_of_row(self.path, row)}"


def read(source: Any) -> Source:
    """Read a file by its name, or take any dataframe, list of dicts or dict of columns."""
    if isinstance(source, Source):
        return source
    if isinstance(source, str | Path):
        return _read_file(Path(source))
    return Source(frames.table_of(source))


def write(columns: Mapping[str, Sequence[Any] | np.ndarray], path: str | Path) -> None:
    """Write columns as Parquet, TSV or CSV, by the file's ending; never a half-written file.

    Text is for reading: its numbers are rounded. Parquet keeps every digit.
    """
    if not isinstance(path, str | Path):
        raise ForsoothError(f"write takes the path of a file, got {path!r}")
    check_ending(path)
    table, ending = arrow(columns), _ending(path)
    if ending not in _PARQUET:
        table = _for_reading(table)
    with replacing(path) as temporary:
        if ending in _PARQUET:
            import pyarrow.parquet as pq

            pq.write_table(table, temporary)
        else:
            import pyarrow.csv as pa_csv

            delimiter = "\t" if ending == ".tsv" else ","
            options = pa_csv.WriteOptions(delimiter=delimiter, quoting_style="needed")
            with pa.output_stream(temporary, compression=_compression(Path(path))) as stream:
                pa_csv.write_csv(table, stream, options)


def arrow(columns: Mapping[str, Sequence[Any] | np.ndarray]) -> pa.Table:
    """Columns as an arrow table; NaN becomes null."""
    return pa.table({name: pa.array(column, from_pandas=True) for name, column in columns.items()})


def _for_reading(table: pa.Table) -> pa.Table:
    """The same with rounded numbers."""
    for place, field in enumerate(table.schema):
        if pa.types.is_floating(field.type):
            column = rounded(table.column(place).to_numpy())
            table = table.set_column(place, field.name, pa.array(column, from_pandas=True))
    return table


def check_ending(path: str | Path) -> None:
    """Refuse to write a table into a file whose name says that it is something else."""
    zipped_parquet = _ending(path) in _PARQUET and _compression(Path(path))
    if _ending(path) not in (*_TEXT, *_PARQUET) or zipped_parquet:
        known = ", ".join((*_TEXT, *(f"{ending}.gz" for ending in _TEXT), *_PARQUET))
        raise ForsoothError(f"cannot write a table into {path}: its ending must be one of {known}")


def is_parquet(path: Path) -> bool:
    """By its first bytes, whatever it is called."""
    try:
        with path.open("rb") as file:
            return file.read(4) == b"PAR1"
    except OSError:
        return False


def _read_file(path: Path) -> Source:
    try:
        if not path.exists():
            raise ForsoothError(f"{path} does not exist")
        if path.is_dir():
            raise ForsoothError(f"{path} is a folder; give a CSV, TSV, Parquet or Excel file")
        if path.suffix.lower() in excel.ENDINGS:
            return Source(excel.read(path), path)
        if _ending(path) == _JSON:
            return Source(_read_json(path), path)
        parquet = is_parquet(path) or _ending(path) in _PARQUET
        return Source(_read_parquet(path) if parquet else _read_csv(path), path)
    except _UNREADABLE as error:
        raise ForsoothError(f"{path} cannot be read: {_first_line(error)}") from error


def _read_parquet(path: Path) -> pa.Table:
    import pyarrow.parquet as pq

    return pq.read_table(path)


def _read_json(path: Path) -> pa.Table:
    with _open_text(path) as file:
        text = file.read()
    try:
        rows = label_studio.rows(text)
    except ForsoothError as error:
        raise ForsoothError(f"{path}: {error}") from error
    columns = zip(*rows) if rows else ((), (), ())
    arrays = (pa.array(column, pa.string()) for column in columns)
    return pa.table(dict(zip(("task", "worker", "label"), arrays)))


def _read_csv(path: Path) -> pa.Table:
    """Every column as text: identifiers such as 007 stay what they are."""
    import pyarrow.csv as pa_csv

    with _open_text(path) as file:
        header = file.readline()
    if not header.strip():
        raise ForsoothError(f"{path}: the first line is empty; it must name the columns")
    delimiter = _delimiter(header)
    names = next(csv.reader([header], delimiter=delimiter))
    if "\n" not in header:  # a header and nothing else
        return pa.table({name: pa.array([], pa.string()) for name in names})
    torn: list[str] = []

    def refuse(row: pa_csv.InvalidRow) -> str:
        torn.append(f"{row.actual_columns} fields instead of {row.expected_columns}: {row.text!r}")
        return "error"

    with pa.input_stream(path, compression=_compression(path)) as stream:
        try:
            return pa_csv.read_csv(
                stream,
                parse_options=pa_csv.ParseOptions(
                    delimiter=delimiter, newlines_in_values=True, invalid_row_handler=refuse
                ),
                convert_options=pa_csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string())
                ),
            )
        except pa.ArrowInvalid as error:
            if not torn:
                raise
            where = f"{path}, line {_torn_line(path, delimiter, len(names))}"
            raise ForsoothError(f"{where}: {torn[0]}") from error


def _torn_line(path: Path, delimiter: str, columns: int) -> int:
    """The line on which the first row with another number of fields ends."""
    with _open_text(path) as file:
        reader = csv.reader(file, delimiter=delimiter)
        return next(reader.line_num for row in reader if row and len(row) != columns)


def _delimiter(header: str) -> str:
    """Tab, comma or semicolon: the one that the header line has most of."""
    return max("\t,;", key=header.count)


def _line_of_row(path: Path, row: int) -> int:
    """The line on which data row `row` ends; read again, slowly, only to explain an error."""
    with _open_text(path) as file:
        delimiter = _delimiter(file.readline())
        reader = csv.reader(file, delimiter=delimiter)
        filled = (reader.line_num + 1 for fields in reader if fields)
        return next((line for count, line in enumerate(filled) if count == row), row + 2)


def _open_text(path: Path) -> TextIO:
    if _compression(path):
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _compression(path: Path) -> str | None:
    return "gzip" if path.suffix.lower() == ".gz" else None


def _ending(path: str | Path) -> str:
    """The file's ending in lower case, without .gz."""
    name = Path(path)
    return Path(name.stem if _compression(name) else name.name).suffix.lower()


def _first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]

"""The tables that people bring and take: CSV, TSV, Parquet (gzip is transparent), any dataframe."""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from forsooth.errors import ForsoothError
from forsooth.files import replacing

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


@dataclass(frozen=True)
class Source:
    """A table and where it came from, so that an error can name the file and the line."""

    table: pa.Table
    path: Path | None = None

    @property
    def name(self) -> str:
        """What to call the table in a message."""
        return str(self.path) if self.path else "the table"

    def column(self, role: str, chosen: str | None = None) -> pa.ChunkedArray:
        """The column that plays `role` (task, worker, label, truth), by name or by synonym."""
        found = self.table.column_names
        for name in (chosen,) if chosen else SYNONYMS[role]:
            matches = [column for column in found if column.strip().lower() == name.lower()]
            if len(matches) > 1:
                raise ForsoothError(f"{self.name} has {len(matches)} columns named {name!r}")
            if matches:
                return self.table.column(matches[0])
        wanted = repr(chosen) if chosen else " or ".join(map(repr, SYNONYMS[role]))
        raise ForsoothError(
            f"{self.name} has no column {wanted} (the {role}). Columns found: "
            f"{', '.join(map(repr, found)) or 'none'}"
        )

    def where(self, row: int) -> str:
        """Row `row` (counted from 0) as a person finds it: file and line, or row number."""
        if self.path is None or _is_parquet(self.path):
            return f"{self.name}, row {row + 1}"
        return f"{self.name}, line {_line_of_row(self.path, row)}"


def read(source: Any) -> Source:
    """Read a file by its name, or take any dataframe (pandas, polars, pyarrow, …)."""
    if isinstance(source, Source):
        return source
    if isinstance(source, str | Path):
        return _read_file(Path(source))
    if isinstance(source, pa.Table):
        return Source(source)
    import narwhals as nw

    try:
        return Source(nw.from_native(source, eager_only=True).to_arrow())
    except TypeError:
        raise ForsoothError(
            f"expected a file name or a dataframe, got {type(source).__name__}"
        ) from None


def write(columns: Mapping[str, Sequence[Any] | np.ndarray], path: str | Path) -> None:
    """Write columns as Parquet, TSV or CSV, by the file's ending; never a half-written file."""
    table = pa.table(dict(columns))
    with replacing(path) as temporary:
        if _is_parquet(Path(path)):
            import pyarrow.parquet as pq

            pq.write_table(table, temporary)
        else:
            import pyarrow.csv as pc

            tabs = ".tsv" in Path(path).suffixes
            options = pc.WriteOptions(delimiter="\t" if tabs else ",", quoting_style="needed")
            with pa.output_stream(temporary, compression=_compression(Path(path))) as stream:
                pc.write_csv(table, stream, options)


def _read_file(path: Path) -> Source:
    if not path.exists():
        raise ForsoothError(f"{path} does not exist")
    if path.is_dir():
        raise ForsoothError(f"{path} is a folder; give a CSV, TSV or Parquet file")
    try:
        return Source(_read_parquet(path) if _is_parquet(path) else _read_csv(path), path)
    except (pa.ArrowException, OSError, UnicodeDecodeError, EOFError) as error:
        raise ForsoothError(f"{path} cannot be read: {str(error).splitlines()[0]}") from error


def _read_parquet(path: Path) -> pa.Table:
    import pyarrow.parquet as pq

    return pq.read_table(path)


def _read_csv(path: Path) -> pa.Table:
    """Every column as text: identifiers such as 007 stay what they are."""
    import pyarrow.csv as pc

    with _open_text(path) as file:
        header = file.readline()
    if not header.strip():
        raise ForsoothError(f"{path} is empty: the first line must name the columns")
    delimiter = _delimiter(header)
    names = next(csv.reader([header], delimiter=delimiter))
    with pa.input_stream(path, compression=_compression(path)) as stream:
        return pc.read_csv(
            stream,
            parse_options=pc.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=pc.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
        )


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
    return "gzip" if path.suffix == ".gz" else None


def _is_parquet(path: Path) -> bool:
    return path.suffix in {".parquet", ".pq"}

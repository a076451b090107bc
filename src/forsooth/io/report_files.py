"""Reports of one campaign in files or folders, here or elsewhere, read a piece at a time.

A campaign can be larger than memory. It is opened by reading only the files' footers, and then
read in pieces: some workers of a row group, few enough that their cells fit into memory. A file of
another campaign is refused before any reports are read.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from forsooth.errors import ForsoothError
from forsooth.estimand import Estimand, agreed
from forsooth.io.files import replacing
from forsooth.mechanisms.base import PIECE_CELLS, Mechanism
from forsooth.reports import WRITING, Reports, read_metadata

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from forsooth.scale import Scale


@dataclass(frozen=True)
class Piece:
    """A row group of a reports file: where it is, and how many workers it holds."""

    path: str
    row_group: int
    workers: int

    def reports(self) -> Iterator[Reports]:
        """The piece's reports, in parts that fit easily into memory."""
        with _naming(f"{self.path}, row group {self.row_group}"), _opened(self.path) as file:
            reader = _parquet(file)
            metadata = reader.schema_arrow.metadata
            rows = max(1, PIECE_CELLS // len(read_metadata(metadata).tasks))
            for batch in reader.iter_batches(rows, row_groups=[self.row_group]):
                table = pa.Table.from_batches([batch]).replace_schema_metadata(metadata)
                yield Reports.from_arrow(table)

    def names(self) -> list[str]:
        """Its workers' names."""
        with _naming(f"{self.path}, row group {self.row_group}"), _opened(self.path) as file:
            column = _parquet(file).read_row_group(self.row_group, columns=["worker"])["worker"]
            names: list[str] = column.to_pylist()
            return names


@dataclass(frozen=True)
class ReportPart:
    """The pieces that were made by one mechanism."""

    mechanism: Mechanism
    pieces: tuple[Piece, ...]

    @property
    def workers(self) -> int:
        """How many workers have reported."""
        return sum(piece.workers for piece in self.pieces)


@dataclass(frozen=True)
class ReportFiles:
    """A campaign's reports in files; one part for every mechanism.

    `estimands` has what each of `paths` states, None where it states nothing; `seeds` the seed of
    its noise, None where it was not simulated.
    """

    tasks: tuple[str, ...]
    parts: tuple[ReportPart, ...]
    paths: tuple[str, ...]
    estimands: tuple[Estimand | None, ...] = ()
    seeds: tuple[int | None, ...] = ()

    @property
    def scale(self) -> Scale:
        """The answer scale."""
        return self.parts[0].mechanism.scale

    @property
    def workers(self) -> int:
        """How many workers have reported."""
        return sum(part.workers for part in self.parts)

    @property
    def estimand(self) -> Estimand | None:
        """What the files state as their estimand; files that disagree are refused."""
        return agreed(self.estimands)

    def pieces(self) -> Iterator[Piece]:
        """All pieces, part by part."""
        for part in self.parts:
            yield from part.pieces

    def marks(self) -> dict[str, str]:
        """By path a hash of the file's footer, which no two files of reports share."""
        return {path: _mark(path) for path in self.paths}

    def only(self, paths: Sequence[str]) -> ReportFiles:
        """Some of the files."""
        chosen = set(paths)
        parts = [
            ReportPart(part.mechanism, tuple(p for p in part.pieces if p.path in chosen))
            for part in self.parts
        ]
        stated = dict(zip(self.paths, zip(self.estimands, self.seeds)))
        return ReportFiles(
            self.tasks,
            tuple(part for part in parts if part.pieces),
            tuple(paths),
            tuple(stated[path][0] for path in paths),
            tuple(stated[path][1] for path in paths),
        )

    def read(self) -> list[Reports]:
        """All reports in memory, for methods that need them there."""
        found = []
        for path in self.paths:
            with _naming(path), _opened(path) as file:
                found.append(Reports.from_arrow(_parquet(file).read()))
        return found

    @classmethod
    def open(cls, sources: Sequence[str | Path]) -> ReportFiles:
        """Files, folders of Parquet files, or fsspec addresses of either (``s3://…``)."""
        paths = [path for source in sources for path in _files(str(source))]
        if not paths:
            raise ForsoothError("infer needs files or folders of reports")
        if len(set(paths)) < len(paths):
            raise ForsoothError("a file of reports is given twice")
        first: tuple[str, ...] | None = None
        estimands: list[Estimand | None] = []
        seeds: list[int | None] = []
        pieces: dict[str, tuple[Mechanism, list[Piece]]] = {}
        for path in paths:
            with _naming(path), _opened(path) as file:
                footer = _parquet(file)
                metadata = read_metadata(footer.schema_arrow.metadata)
                mechanism, tasks = metadata.mechanism, metadata.tasks
                groups = range(footer.num_row_groups)
                rows = [footer.metadata.row_group(group).num_rows for group in groups]
            first = first or tasks
            estimands.append(metadata.estimand)
            seeds.append(metadata.simulation_seed)
            scale = next(iter(pieces.values()))[0].scale if pieces else mechanism.scale
            if tasks != first or mechanism.scale != scale:
                what = "scale" if mechanism.scale != scale else "list of tasks"
                raise ForsoothError(
                    f"{path} is of another campaign than {paths[0]}: its {what} differs"
                )
            _, listed = pieces.setdefault(mechanism.to_json(), (mechanism, []))
            listed += [Piece(path, group, count) for group, count in zip(groups, rows) if count]
        parts = tuple(ReportPart(each, tuple(listed)) for each, listed in pieces.values() if listed)
        if not parts or first is None:
            raise ForsoothError("there are no reports to infer from")
        return cls(first, parts, tuple(paths), tuple(estimands), tuple(seeds))


def write_in_pieces(path: str | Path, reports: Iterable[Reports]) -> None:
    """Write reports of one mechanism that come a few workers at a time; one row group for each."""
    import pyarrow.parquet as pq

    writer = None
    with replacing(path) as temporary:
        try:
            for each in reports:
                table = each.to_arrow()
                if writer is None:
                    writer = pq.ParquetWriter(temporary, table.schema, **WRITING)
                writer.write_table(table)
        finally:
            if writer is not None:
                writer.close()


def _files(source: str) -> list[str]:
    """The file itself, or the Parquet files in a folder, in the order of their names."""
    if "://" in source:
        return _remote_files(source)
    path = Path(source)
    if path.is_dir():
        return _some(source, sorted(map(str, path.rglob("*.parquet"))))
    if not path.is_file():
        raise ForsoothError(f"{source} does not exist or is not a file")
    return [source]


def _remote_files(source: str) -> list[str]:
    """The same at an fsspec address."""
    try:
        from fsspec.core import url_to_fs

        system, path = url_to_fs(source)
        if system.isfile(path):
            return [source]
        found = sorted(system.find(path)) if system.isdir(path) else []
    except (ImportError, OSError, ValueError) as error:
        raise ForsoothError(
            f"{source} cannot be read: {error}. Addresses need fsspec, which forsooth[cluster] "
            "brings, and its package for this kind of address"
        ) from error
    found = [name for name in found if name.endswith(".parquet")]
    return _some(source, [system.unstrip_protocol(name) for name in found])


def _some(source: str, found: list[str]) -> list[str]:
    if not found:
        raise ForsoothError(f"{source} does not exist or holds no Parquet file")
    return found


def _mark(path: str) -> str:
    """Sizes, statistics and places of all columns: noise is never the same twice."""
    with _naming(path), _opened(path) as file:
        said = json.dumps(_parquet(file).metadata.to_dict(), default=str)
    return blake2b(said.encode(), digest_size=16).hexdigest()


@contextmanager
def _opened(path: str) -> Iterator[Any]:
    """What pyarrow reads from: a local path, or an open file at an address."""
    if "://" not in path:
        yield path
        return
    import fsspec

    with fsspec.open(path, "rb") as file:
        yield file


def _parquet(file: Any) -> Any:
    import pyarrow.parquet as pq

    return pq.ParquetFile(file, page_checksum_verification=True)


@contextmanager
def _naming(where: str) -> Iterator[None]:
    """Errors name the place; damage is reported as an error."""
    try:
        yield
    except ForsoothError as error:
        raise ForsoothError(f"{where}: {error}") from error
    except (pa.ArrowException, OSError) as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise ForsoothError(f"{where} is not a whole reports file: {reason}") from error

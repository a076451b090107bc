"""What leaves the workers: one payload per worker, and the public mechanism that made it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from forsooth.cells import Cells
from forsooth.display import as_html, as_text, short
from forsooth.errors import ForsoothError
from forsooth.estimand import Estimand, check_estimand
from forsooth.io import packing, strict
from forsooth.io.files import replacing
from forsooth.mechanisms.base import Mechanism
from forsooth.plural import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from forsooth.scale import Scale

_KEY = b"forsooth"
# Noise has no dictionary; checksums detect damaged pages.
WRITING: dict[str, Any] = {
    "compression": "zstd",
    "use_dictionary": False,
    "write_page_checksum": True,
}
AnsweredCells = tuple["NDArray[np.int32]", "NDArray[np.int32]"]


@dataclass(frozen=True, eq=False, repr=False)
class Reports:
    """The reports of some workers on one campaign, and everything needed to read them.

    `values` is (workers, width) where every worker's report has the same shape, or one value per
    answered cell where the set of answered cells is public; `answered` then holds the worker's
    and the task's index of each. Reports that were made with a simulation seed say so. `estimand`
    says what the truth of a task is, where the requester has fixed it.
    """

    mechanism: Mechanism
    tasks: tuple[str, ...]
    workers: tuple[str, ...]
    values: NDArray[Any]
    answered: AnsweredCells | None = None
    simulation_seed: int | None = None
    estimand: Estimand | None = None
    backend: str | None = None  # the dataframe library the answers came from; not in files

    def __post_init__(self) -> None:
        if self.estimand is not None:
            check_estimand(self.estimand)

    def __len__(self) -> int:
        return len(self.workers)

    def __repr__(self) -> str:
        return as_text(*self._described())

    def _repr_html_(self) -> str:
        return as_html(*self._described())

    def _described(self) -> tuple[str, list[str]]:
        workers, tasks = counted(len(self.workers), "worker"), counted(len(self.tasks), "task")
        facts = [
            f"mechanism {self.mechanism.name}, scale {short(str(self.scale))}",
            *self.mechanism.guarantee.describe(len(self.tasks)).split("; "),
        ]
        if self.estimand:
            facts.append(f"estimand {self.estimand}")
        if self.simulation_seed is not None:
            facts.append(f"simulated with seed {self.simulation_seed}: no privacy")
        return f"Reports of {workers} on {tasks}", facts

    @property
    def scale(self) -> Scale:
        """The answer scale."""
        return self.mechanism.scale

    def cells(self) -> Cells:
        """The reports read as if they were answers: what the paper's inference is given."""
        readings = self.mechanism.readings(self)
        if self.answered is None:
            return Cells.from_rows(readings)
        kept = ~np.isnan(readings)
        worker, task = (index[kept].astype(np.intp) for index in self.answered)
        return Cells(len(self.workers), len(self.tasks), worker, task, readings[kept])

    def write(self, path: str | Path) -> None:
        """Write Parquet: one row per worker, the mechanism in the file's metadata."""
        import pyarrow.parquet as pq

        with replacing(path) as temporary:
            pq.write_table(self.to_arrow(), temporary, **WRITING)

    @classmethod
    def read(cls, path: str | Path) -> Reports:
        """Read a reports file; refuse what is not ours, truncated, or impossible."""
        import pyarrow.parquet as pq

        if not isinstance(path, str | Path):
            raise ForsoothError(f"Reports.read takes the path of a reports file, got {path!r}")
        if not Path(path).is_file():
            raise ForsoothError(f"{path} does not exist or is not a file")
        try:
            return cls.from_arrow(pq.read_table(path))
        except ForsoothError as error:
            raise ForsoothError(f"{path}: {error}") from error
        except (pa.ArrowException, OSError) as error:
            reason = (str(error) or type(error).__name__).splitlines()[0]
            raise ForsoothError(f"{path} is not a whole reports file: {reason}") from error

    def to_arrow(self) -> pa.Table:
        """One row per worker, with everything needed to read them in the schema's metadata."""
        metadata = {
            "mechanism": self.mechanism.to_json(),
            "tasks": self.tasks,
            "simulation_seed": self.simulation_seed,
            "estimand": self.estimand,
        }
        table = pa.table({"worker": pa.array(self.workers, pa.string()), **self._columns()})
        return table.replace_schema_metadata({_KEY: json.dumps(metadata)})

    @classmethod
    def from_arrow(cls, table: pa.Table) -> Reports:
        """A table from a stranger: exact types, no nulls, no repetition, before anything is cast.

        The rows may be some of a file's, a row group for instance: each stands for itself.
        """
        metadata = read_metadata(table.schema.metadata)
        mechanism, tasks = metadata.mechanism, metadata.tasks
        workers = strict.strings(_column(table, "worker", pa.string()).to_pylist(), "worker")
        if mechanism.layout == "rows":
            values, answered = _rows(table, mechanism, len(tasks)), None
        else:
            values, answered = _cells(table, mechanism, len(tasks))
        reports = cls(
            mechanism,
            tasks,
            workers,
            values,
            answered,
            metadata.simulation_seed,
            metadata.estimand,
        )
        reports.refuse_impossible()
        return reports

    def _columns(self) -> dict[str, pa.Array]:
        values = self.values.astype(self.mechanism.dtype, copy=False)
        if self.answered is None:
            packed = packing.pack(values, self.mechanism.bits)
            buffers = [None, pa.py_buffer(packed)]
            size = pa.binary(packed.shape[1])
            return {"report": pa.Array.from_buffers(size, len(self.workers), buffers)}
        worker, task = self.answered
        starts = np.searchsorted(worker, np.arange(len(self.workers) + 1)).astype(np.int32)
        return {
            "tasks": pa.ListArray.from_arrays(starts, pa.array(task, pa.int32())),
            "report": pa.ListArray.from_arrays(starts, pa.array(values)),
        }

    def refuse_impossible(self) -> None:
        """Refuse values that the mechanism never sends, naming the worker and the cell."""
        impossible = self.mechanism.check(self.values, len(self.tasks))
        if not impossible.any():
            return
        place = np.argwhere(impossible)[0]
        if self.answered is not None:
            worker, task = (int(index[place[0]]) for index in self.answered)
            where = f"task {self.tasks[task]!r}"
        else:
            worker = int(place[0])
            per_task = self.values.shape[1] == len(self.tasks)
            where = f"task {self.tasks[place[1]]!r}" if per_task else f"number {place[1] + 1}"
        raise ForsoothError(
            f"the report of worker {self.workers[worker]!r} holds a value that "
            f"{self.mechanism.name} never sends ({where})"
        )


def simulation_notices(seeds: Iterable[int | None]) -> tuple[str, ...]:
    """What a reader should know of noise that was made from seeds; nothing if there are none."""
    known = sorted({seed for seed in seeds if seed is not None})
    if not known:
        return ()
    which = f"seed{'s' * (len(known) > 1)} {', '.join(map(str, known))}"
    return (f"reports were made with the simulation {which}: they protect nobody",)


@dataclass(frozen=True)
class Metadata:
    """What a reports file says about all its rows; files of version 0.1.0 state no estimand."""

    mechanism: Mechanism
    tasks: tuple[str, ...]
    simulation_seed: int | None
    estimand: Estimand | None


def read_metadata(metadata: Mapping[bytes, bytes] | None) -> Metadata:
    """The mechanism, the public list of tasks, the simulation's seed and the stated estimand."""
    return _parsed((metadata or {}).get(_KEY, b"null"))


@lru_cache(maxsize=8)  # every piece of a file says the same
def _parsed(text: bytes) -> Metadata:
    found = strict.loads(text)
    try:
        mechanism = Mechanism.from_json(strict.string(found["mechanism"], "mechanism"))
        tasks = strict.strings(found["tasks"], "tasks")
        seed = found["simulation_seed"]
        estimand = found.get("estimand")
    except (KeyError, TypeError) as error:
        raise ForsoothError("this is not a reports file of forsooth") from error
    if seed is not None:
        strict.integer(seed, "simulation_seed", 0, 2**64)
    if estimand is not None:
        estimand = check_estimand(strict.string(estimand, "estimand"))
    return Metadata(mechanism, tasks, seed, estimand)


def _column(table: pa.Table, name: str, wanted: pa.DataType) -> pa.Array:
    if table.column_names.count(name) != 1:
        raise ForsoothError(f"there must be one column {name!r}")
    column = table[name]
    if column.type != wanted or column.null_count:
        raise ForsoothError(f"column {name!r} must be {wanted} without nulls, not {column.type}")
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], wanted)


def _rows(table: pa.Table, mechanism: Mechanism, tasks: int) -> NDArray[Any]:
    """Reports of equal length: packed values."""
    width = mechanism.width(tasks)
    size = mechanism.report_bytes(width)
    _refuse_unpacked(table, size, width * mechanism.dtype.itemsize)
    report = _column(table, "report", pa.binary(size))
    start = report.offset * size
    held = np.frombuffer(report.buffers()[1], np.uint8)[start : start + len(report) * size]
    packed = held.reshape(len(report), size)
    return packing.unpack(packed, width, mechanism.bits, mechanism.dtype)


def _refuse_unpacked(table: pa.Table, size: int, unpacked: int) -> None:
    """Files from before reports were packed: as many whole bytes as values."""
    found = [field.type for field in table.schema if field.name == "report"]
    if size != unpacked and found == [pa.binary(unpacked)]:
        raise ForsoothError(
            f"its reports have {unpacked} bytes each, as an older forsooth wrote them; now they "
            f"have {size}. Download the reports again from their service, or read them with the "
            "forsooth that wrote them; only simulations may be perturbed once more"
        )


def _cells(table: pa.Table, mechanism: Mechanism, tasks: int) -> tuple[NDArray[Any], AnsweredCells]:
    """The reported values and the public cells that they belong to."""
    listed = _column(table, "tasks", pa.list_(pa.int32()))
    report = _column(table, "report", pa.list_(pa.from_numpy_dtype(mechanism.dtype)))
    task, values = listed.flatten(), report.flatten()
    counts = np.diff(listed.offsets.to_numpy())
    if task.null_count or values.null_count:
        raise ForsoothError("a report holds a null")
    if len(task) != len(values) or (counts != np.diff(report.offsets.to_numpy())).any():
        raise ForsoothError("tasks and reported values do not match")
    place = task.to_numpy()
    if len(place) and not (place.min() >= 0 and place.max() < tasks):
        raise ForsoothError(f"a report names a task outside the campaign's {tasks} tasks")
    worker = np.repeat(np.arange(len(counts)), counts).astype(np.int32)
    if (np.diff(worker.astype(np.int64) * tasks + place) <= 0).any():
        raise ForsoothError("a report's tasks must be listed once each, in order")
    return values.to_numpy(), (worker, place.astype(np.int32))

"""What leaves the workers: one payload per worker, and the public mechanism that made it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from forsooth.cells import Cells
from forsooth.errors import ForsoothError
from forsooth.files import replacing
from forsooth.mechanism import Mechanism

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.scale import Scale

_KEY = b"forsooth"


@dataclass(frozen=True, eq=False)
class Reports:
    """The reports of some workers on one campaign, and everything needed to read them.

    `values` is (workers, width) where every worker's report has the same shape, or one value per
    answered cell where the set of answered cells is public; `answered` then holds the worker's
    and the task's index of each. Reports that were made with a simulation seed say so.
    """

    mechanism: Mechanism
    tasks: tuple[str, ...]
    workers: tuple[str, ...]
    values: NDArray[Any]
    answered: tuple[NDArray[np.int32], NDArray[np.int32]] | None = None
    simulation_seed: int | None = None

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
        metadata = {
            "mechanism": self.mechanism.to_json(),
            "tasks": self.tasks,
            "simulation_seed": self.simulation_seed,
        }
        table = pa.table({"worker": pa.array(self.workers, pa.string()), **self._columns()})
        table = table.replace_schema_metadata({_KEY: json.dumps(metadata)})
        with replacing(path) as temporary:
            pq.write_table(table, temporary, compression="zstd", use_dictionary=False)

    @classmethod
    def read(cls, path: str | Path) -> Reports:
        """Read a reports file; refuse what is not ours, truncated, or impossible."""
        if not Path(path).is_file():
            raise ForsoothError(f"{path} does not exist or is not a file")
        try:
            table = pq.read_table(path)
            metadata = json.loads((table.schema.metadata or {})[_KEY])
            tasks, seed = tuple(metadata["tasks"]), metadata["simulation_seed"]
            mechanism = Mechanism.from_json(metadata["mechanism"])
            workers = tuple(table["worker"].to_pylist())
            values, answered = _payload(table, mechanism, len(tasks))
        except ForsoothError as error:
            raise ForsoothError(f"{path}: {error}") from error
        except KeyError as error:
            raise ForsoothError(f"{path} is not a reports file of forsooth") from error
        except (pa.ArrowException, OSError, ValueError, TypeError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise ForsoothError(f"{path} is not a whole reports file: {reason}") from error
        reports = cls(mechanism, tasks, workers, values, answered, seed)
        reports._refuse_impossible(path)
        return reports

    def _columns(self) -> dict[str, pa.Array]:
        values = np.ascontiguousarray(self.values.astype(self.mechanism.dtype.newbyteorder("<")))
        if self.answered is None:
            width = pa.binary(values.shape[1] * values.itemsize)
            buffers = [None, pa.py_buffer(values)]
            return {"report": pa.Array.from_buffers(width, len(self.workers), buffers)}
        worker, task = self.answered
        starts = np.searchsorted(worker, np.arange(len(self.workers) + 1)).astype(np.int32)
        return {
            "tasks": pa.ListArray.from_arrays(starts, pa.array(task)),
            "report": pa.ListArray.from_arrays(starts, pa.array(values)),
        }

    def _refuse_impossible(self, path: str | Path) -> None:
        impossible = self.mechanism.check(self.values, len(self.tasks))
        if not impossible.any():
            return
        place = np.argwhere(impossible)[0]
        if self.answered is None:
            worker, task = int(place[0]), int(place[1])
        else:
            worker, task = (int(index[place[0]]) for index in self.answered)
        raise ForsoothError(
            f"{path}: the report of worker {self.workers[worker]!r} holds a value that "
            f"{self.mechanism.name} never sends (task {self.tasks[task]!r})"
        )


def _payload(
    table: pa.Table, mechanism: Mechanism, tasks: int
) -> tuple[NDArray[Any], tuple[NDArray[np.int32], NDArray[np.int32]] | None]:
    """The reported values, and where participation is public the cells they belong to."""
    report = table["report"].combine_chunks()
    if isinstance(report, pa.ChunkedArray):
        report = pa.concat_arrays(report.chunks)
    dtype = mechanism.dtype.newbyteorder("<")
    if mechanism.layout == "rows":
        width = mechanism.width(tasks)
        if report.type != pa.binary(width * dtype.itemsize) or report.null_count:
            raise ForsoothError(f"every report must be {width * dtype.itemsize} bytes long")
        start = report.offset * width
        values = np.frombuffer(report.buffers()[1], dtype)[start : start + len(report) * width]
        return values.reshape(len(report), width).astype(mechanism.dtype), None
    listed = table["tasks"].combine_chunks()
    counts = np.diff(listed.offsets.to_numpy())
    task = listed.flatten().to_numpy().astype(np.int32)
    values = report.flatten().to_numpy().astype(mechanism.dtype)
    if len(task) != len(values) or (counts != np.diff(report.offsets.to_numpy())).any():
        raise ForsoothError("tasks and reported values do not match")
    if len(task) and not (task.min() >= 0 and task.max() < tasks):
        raise ForsoothError(f"a report names a task outside the campaign's {tasks} tasks")
    return values, (np.repeat(np.arange(len(counts)), counts).astype(np.int32), task)

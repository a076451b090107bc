"""Numbers in some cells of a worker × task table: what every inference of the paper works on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Cells:
    """One number per answered cell, in coordinates, ordered by worker."""

    workers: int
    tasks: int
    worker: NDArray[np.intp]
    task: NDArray[np.intp]
    value: NDArray[np.float64]

    @classmethod
    def from_rows(cls, rows: NDArray[np.float64]) -> Cells:
        """The cells of a whole table, in which NaN stands for NULL."""
        worker, task = np.nonzero(~np.isnan(rows))
        workers, tasks = rows.shape
        return cls(workers, tasks, worker, task, rows[worker, task])

    @classmethod
    def stack(cls, parts: Sequence[Cells]) -> Cells:
        """The same tasks answered by several groups of workers, one group below the other."""
        if len(parts) == 1:
            return parts[0]
        above = np.cumsum([0] + [part.workers for part in parts[:-1]])
        return cls(
            sum(part.workers for part in parts),
            parts[0].tasks,
            np.concatenate([part.worker + start for part, start in zip(parts, above)]),
            np.concatenate([part.task for part in parts]),
            np.concatenate([part.value for part in parts]),
        )

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """Where each worker's cells begin; one more number than workers."""
        return np.searchsorted(self.worker, np.arange(self.workers + 1))

    def per_task(self, amounts: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """The sum of `amounts` (one per cell; by default 1) over each task's cells."""
        return np.bincount(self.task, amounts, minlength=self.tasks).astype(np.float64)

    def per_worker(self, amounts: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """The sum of `amounts` (one per cell; by default 1) over each worker's cells."""
        if amounts is None:
            return np.diff(self.starts).astype(np.float64)
        return np.bincount(self.worker, amounts, minlength=self.workers).astype(np.float64)

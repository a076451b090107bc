"""The result: an estimate with an interval for every task, a quality for every worker."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from forsooth import tables

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from forsooth.scale import Scale

COVERAGE = 0.9


@dataclass(frozen=True, eq=False)
class Posterior:
    """What `method="posterior"` knows beyond the estimates.

    `mass` is P(truth = grid point | reports), tasks × grid; `answers` is P(answer | truth) as
    learned of the crowd as a whole, grid × answers. `participation` is the estimated share of
    answered cells where it is hidden. `constant_as_good` is the probability that one constant
    for all tasks would have had no larger error: near 1, ε was too small to learn anything.
    `deviation_interval` bounds every worker's deviation with 90 % probability.
    """

    grid: NDArray[np.float64]
    mass: NDArray[np.float64]
    answers: NDArray[np.float64]
    model: str
    participation: float | None
    constant_as_good: float
    deviation_interval: tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Truths:
    """What the collector has learned.

    `low` and `high` bound a 90 % interval for what the method estimates: it covers chance, not the
    bias that a mechanism brings, and is the whole scale where fewer than two cells speak. `support`
    counts the cells that spoke for a task. `quality` sums to 1 over the workers; `deviation` is the
    root mean square distance of a worker's cells from the estimates (NaN without cells).
    """

    method: str
    scale: Scale
    tasks: tuple[str, ...]
    estimate: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    support: NDArray[np.int64]
    workers: tuple[str, ...]
    quality: NDArray[np.float64]
    deviation: NDArray[np.float64]
    iterations: int
    converged: bool
    history: tuple[float, ...] = field(default=())
    posterior: Posterior | None = None

    def columns(self) -> dict[str, Any]:
        """`task, truth, low, high, support`, and the nearest label where labels are words."""
        columns: dict[str, Any] = {"task": self.tasks, "truth": self.estimate}
        if not self.scale.is_numeric:
            columns["label"] = [self.scale.nearest_label(value) for value in self.estimate]
        return columns | {"low": self.low, "high": self.high, "support": self.support}

    def worker_columns(self) -> dict[str, Any]:
        """`worker, quality, deviation`; the deviation of a worker without cells is empty.

        With a posterior also `low, high`, the 90 % interval of the deviation.
        """
        columns = {"worker": self.workers, "quality": self.quality, "deviation": self.deviation}
        if self.posterior:
            low, high = self.posterior.deviation_interval
            columns |= {"low": low, "high": high}
        return columns

    def write(self, path: str | Path) -> None:
        """Write one row per task, as CSV, TSV or Parquet."""
        tables.write(self.columns(), path)

    def write_workers(self, path: str | Path) -> None:
        """Write one row per worker, as CSV, TSV or Parquet."""
        tables.write(self.worker_columns(), path)

    def error(self, truth: NDArray[np.float64]) -> float:
        """MAE, the mean absolute error over the tasks whose truth is known (not NaN)."""
        known = ~np.isnan(truth)
        return float(np.mean(np.abs(self.estimate[known] - truth[known])))

    def coverage(self, truth: NDArray[np.float64]) -> float:
        """The share of the known truths that lie in their 90 % intervals."""
        known = ~np.isnan(truth)
        rounding = 1e-9 * self.scale.range
        above, below = self.low - rounding <= truth, truth <= self.high + rounding
        return float(np.mean((above & below)[known]))

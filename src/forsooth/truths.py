"""The result: an estimate with an interval for every task, a quality for every worker."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from forsooth.errors import ForsoothError
from forsooth.io import tables

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from forsooth.scale import Scale

COVERAGE = 0.9
NO_WORKER_QUALITY = (
    "the estimand opinion gives no worker quality: careless people cannot be identified, because a "
    "population p with a share g of guessers among K answers, (1 − g)·p + g/K, is a valid "
    "population too. Leave out the worker output (--workers), or ask for the estimand level or "
    "label"
)


@dataclass(frozen=True, eq=False)
class Shares:
    """Per task and answer the estimated share of people who would answer so, with 90 % intervals.

    Arrays are tasks × answers. `participation` and its bounds are per task: the share of workers
    who answered it.
    """

    estimate: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    participation: NDArray[np.float64]
    participation_low: NDArray[np.float64]
    participation_high: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Posterior:
    """What `method="posterior"` knows beyond the estimates.

    `estimand` says what the truth of a task is taken to be: `level`, `label` or `opinion`.
    `mass` is P(truth = grid point | reports), tasks × grid (for `opinion` the truth is the mean
    answer); `answers` is P(answer | truth) for the crowd as a whole, grid × answers.
    `participation` is the estimated share of answered cells where it is hidden, with its 90 %
    interval. `deviation_interval` bounds every worker's deviation with 90 % probability.
    `shares` are the shares of every answer and `draws` draws of them from the posterior, draws ×
    tasks × answers (`opinion` only). `seed` is that of the integration points. `unordered` labels
    have no order: their estimate is the likeliest one.
    """

    estimand: str
    grid: NDArray[np.float64]
    mass: NDArray[np.float64]
    answers: NDArray[np.float64]
    model: str
    participation: float | None
    participation_interval: tuple[float, float] | None
    deviation_interval: tuple[NDArray[np.float64], NDArray[np.float64]]
    unordered: bool = False
    shares: Shares | None = None
    seed: int = 0
    draws: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Calibration:
    """How the intervals or prediction sets were calibrated on gold tasks.

    `coverage` is the least probability that the truth of a further task lies inside, on average
    over tasks, if the gold tasks are exchangeable with the others. `gold` counts the gold tasks.
    The widths are means over the tasks before and after calibration; for labels the width of a
    task is its number of labels (before: the smallest set with 90 % of the posterior).
    """

    coverage: float
    gold: int
    width_before: float
    width_after: float


@dataclass(frozen=True)
class Difference:
    """The mean answer of `group` minus that of `other` on one task, with its 90 % interval."""

    task: str
    group: str
    other: str
    estimate: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Truths:
    """What the collector has learned.

    `low` and `high` bound a 90 % interval for what the method estimates: it covers chance, not the
    bias that a mechanism brings, and is the whole scale where a task has fewer than two cells.
    `support` counts the cells of a task. `quality` sums to 1 over the workers; `deviation` is the
    root mean square distance of a worker's cells from the estimates (NaN without cells).
    `calibration` is set where gold tasks calibrated the intervals; for labels `prediction_sets`
    then lists every task's possible labels. `differences` compares groups of workers (`opinion`).
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
    calibration: Calibration | None = None
    prediction_sets: tuple[tuple[str, ...], ...] | None = None
    differences: tuple[Difference, ...] = ()

    def columns(self) -> dict[str, Any]:
        """`task, truth, low, high, support`, and the nearest label where labels are words.

        With the estimand label also `probability`, that of the estimate, and the prediction set
        where gold tasks calibrated it. With opinion the truth is the mean answer, so that it has no
        label; `share_ANSWER, share_ANSWER_low, share_ANSWER_high` follow for every answer, then
        `participation` with its bounds.
        """
        estimand = self.posterior.estimand if self.posterior else None
        columns: dict[str, Any] = {"task": self.tasks, "truth": self.estimate}
        if not self.scale.is_numeric and estimand != "opinion":
            columns["label"] = [self.scale.nearest_label(value) for value in self.estimate]
        columns |= {"low": self.low, "high": self.high, "support": self.support}
        if self.posterior and estimand == "label":
            columns["probability"] = self._probability(self.posterior)
        if self.prediction_sets is not None:
            columns["prediction_set"] = [",".join(each) for each in self.prediction_sets]
        if self.posterior and self.posterior.shares:
            columns |= _share_columns(self.posterior.shares, self.scale)
        return columns

    def _probability(self, posterior: Posterior) -> NDArray[np.float64]:
        """P(the answer nearest to the estimate), for every task."""
        nearest = np.abs(self.estimate[:, None] - posterior.grid).argmin(axis=1)
        return np.take_along_axis(posterior.mass, nearest[:, None], axis=1)[:, 0]

    def worker_columns(self) -> dict[str, Any]:
        """`worker, quality, deviation`; the deviation of a worker without cells is empty.

        With a posterior also `low, high`, the 90 % interval of the deviation.
        """
        columns = {"worker": self.workers, "quality": self.quality, "deviation": self.deviation}
        if self.posterior:
            if self.posterior.estimand == "opinion":
                raise ForsoothError(NO_WORKER_QUALITY)
            low, high = self.posterior.deviation_interval
            columns |= {"low": low, "high": high}
        return columns

    def difference_columns(self) -> dict[str, Any]:
        """`task, group, other, estimate, low, high`: one row per task and pair of groups."""
        names = [each.name for each in fields(Difference)]
        return {name: [getattr(each, name) for each in self.differences] for name in names}

    def write(self, path: str | Path) -> None:
        """Write one row per task, as CSV, TSV or Parquet."""
        tables.write(self.columns(), path)

    def write_workers(self, path: str | Path) -> None:
        """Write one row per worker, as CSV, TSV or Parquet."""
        tables.write(self.worker_columns(), path)

    def write_differences(self, path: str | Path) -> None:
        """Write one row per task and pair of groups, as CSV, TSV or Parquet."""
        tables.write(self.difference_columns(), path)

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


def _share_columns(shares: Shares, scale: Scale) -> dict[str, NDArray[np.float64]]:
    """The shares of every answer and the participation, each with its interval."""
    columns: dict[str, NDArray[np.float64]] = {}
    for code, label in enumerate(scale.labels):
        columns[f"share_{label}"] = shares.estimate[:, code]
        columns[f"share_{label}_low"] = shares.low[:, code]
        columns[f"share_{label}_high"] = shares.high[:, code]
    return columns | {
        "participation": shares.participation,
        "participation_low": shares.participation_low,
        "participation_high": shares.participation_high,
    }

"""The result: an estimate with an interval for every task, a quality for every worker."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from forsooth.display import FEW_ROWS, as_html, as_text, short
from forsooth.errors import ForsoothError
from forsooth.io import tables
from forsooth.io.frames import frame_of
from forsooth.known import truth_array
from forsooth.plural import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from forsooth.scale import Scale

COVERAGE = 0.9
VALLEY = 0.05  # a share: shallower valleys are not called disagreement
_IN_TEXT = ("task", "truth", "label", "low", "high", "support", "probability")
NO_WORKER_QUALITY = (
    "the estimand opinion gives no worker quality: careless people cannot be identified, because a "
    "population p with a share g of guessers among K answers, (1 − g)·p + g/K, is a valid "
    "population too. Leave out the worker output (--worker-output), or ask for the estimand level "
    "or label"
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
class Valleys:
    """Per task how much rarer an answer is than answers on both sides, with its 90 % interval.

    It is a difference of shares, at most 0 where the answers have one peak. `camps` are the codes
    of the answers on the left, in between and on the right, tasks × 3. See
    `forsooth.inference.valleys`.
    """

    estimate: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    camps: NDArray[np.intp]

    @property
    def divided(self) -> NDArray[np.bool_]:
        """Where people disagree: the valley is deeper than 0.05 with a probability of 95 %."""
        return self.low > VALLEY


@dataclass(frozen=True, eq=False)
class Posterior:
    """What `method="posterior"` knows beyond the estimates.

    `estimand` says what the truth of a task is taken to be: `level`, `label` or `opinion`.
    `mass` is P(truth = grid point | reports), tasks × grid (for `opinion` the truth is the mean
    answer); `answers` is P(answer | truth) for the crowd as a whole, grid × answers.
    `participation` is the estimated share of answered cells where it is hidden, with its 90 %
    interval. `deviation_interval` bounds every worker's deviation with 90 % probability.
    `shares` are the shares of every answer and `draws` draws of them from the posterior, draws ×
    tasks × answers, `valleys` says where people disagree (`opinion` only; the last for 3 to 11
    answers in order). `seed` is that of the integration points. `unordered` labels have no order:
    their estimate is the likeliest one.
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
    valleys: Valleys | None = None


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


@dataclass(frozen=True)
class Truth:
    """What is known of one task: `truths["q1"]`.

    `label` is the nearest label where labels are words, `probability` that of the estimate
    (`label` only), `shares` the share of every answer (`opinion` only).
    """

    task: str
    truth: float
    low: float
    high: float
    support: int
    label: str | None = None
    probability: float | None = None
    prediction_set: tuple[str, ...] | None = None
    shares: Mapping[str, float] | None = None


@dataclass(frozen=True, eq=False, repr=False)
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
    notices: tuple[str, ...] = ()  # what was assumed or merged
    backend: str | None = None  # the caller's dataframe library

    def __len__(self) -> int:
        return len(self.tasks)

    def __iter__(self) -> Iterator[str]:
        return iter(self.tasks)

    def __contains__(self, task: object) -> bool:
        return task in self._place_of

    def __getitem__(self, task: str) -> Truth:
        place = self.place(task)
        row = {name: column[place] for name, column in self._columns.items()}
        shares = self.posterior.shares if self.posterior else None
        return Truth(
            task,
            float(row["truth"]),
            float(row["low"]),
            float(row["high"]),
            int(row["support"]),
            row.get("label"),
            float(row["probability"]) if "probability" in row else None,
            self.prediction_sets[place] if self.prediction_sets is not None else None,
            dict(zip(self.scale.labels, shares.estimate[place].tolist())) if shares else None,
        )

    def place(self, task: object) -> int:
        """The position of a task in `tasks` and in every array."""
        if isinstance(task, Hashable) and task in self._place_of:
            return self._place_of[task]
        some = ", ".join(self.tasks[:3]) + (", …" if len(self.tasks) > 3 else "")
        raise ForsoothError(f"there is no task {task!r}; tasks are named {some}")

    @cached_property
    def _columns(self) -> dict[str, Any]:
        return self.columns()

    @cached_property
    def _place_of(self) -> dict[Hashable, int]:
        return {task: place for place, task in enumerate(self.tasks)}

    def to_frame(self, backend: str | None = None) -> Any:
        """One row per task, in the library the data came from, or in `backend`; else pyarrow."""
        return frame_of(self.columns(), backend or self.backend)

    def workers_frame(self, backend: str | None = None) -> Any:
        """One row per worker, as `to_frame`."""
        return frame_of(self.worker_columns(), backend or self.backend)

    def plot(self, axes: Axes | None = None, *, tasks: Iterable[str] | None = None) -> Axes:
        """Draw every task's estimate (the first 40, or `tasks`); needs forsooth[plots].

        Level: the interval. Label: the probability of each label. Opinion: the shares.
        """
        from forsooth.truth_plots import plot_truths

        return plot_truths(self, axes, tasks)

    def __repr__(self) -> str:
        columns = {name: column for name, column in self._columns.items() if name in _IN_TEXT}
        rows = list(zip(*(list(column)[:FEW_ROWS] for column in columns.values())))
        more = len(self) - len(rows)
        table = [tuple(columns), *rows]
        text = as_text(*self._described(), table)
        return f"{text}\n  … {more:,} more" if more else text

    def _repr_html_(self) -> str:
        return as_html(*self._described(), self._shown(), len(self))

    def _described(self) -> tuple[str, list[str]]:
        estimand = f", estimand {self.posterior.estimand}" if self.posterior else ""
        workers = f" from {counted(len(self.workers), 'worker')}" if self.workers else ""
        title = f"Truths of {counted(len(self), 'task')}{workers}"
        facts = [f"method {self.method}{estimand}, scale {short(str(self.scale))}"]
        if not self.converged:
            facts.append(f"not converged after {counted(self.iterations, 'iteration')}")
        return title, [*facts, *(f"note: {notice}" for notice in self.notices)]

    def _shown(self) -> dict[str, Any]:
        """The columns without the bounds of shares and the like, too many to read."""
        names = ("participation", "valley", *(f"share_{label}" for label in self.scale.labels))
        bounds = {f"{name}{end}" for name in names for end in ("_low", "_high")}
        return {name: each for name, each in self._columns.items() if name not in bounds}

    def columns(self) -> dict[str, Any]:
        """`task, truth, low, high, support`, and the nearest label where labels are words.

        With the estimand label also `probability`, that of the estimate, and the prediction set
        where gold tasks calibrated it. With opinion the truth is the mean answer, so that it has no
        label; `share_ANSWER, share_ANSWER_low, share_ANSWER_high` follow for every answer, then
        `participation` and `valley`, each with its bounds.
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
        if self.posterior and (valleys := self.posterior.valleys):
            columns |= {"valley": valleys.estimate}
            columns |= {"valley_low": valleys.low, "valley_high": valleys.high}
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

    def error(self, truth: object) -> float:
        """MAE, the mean absolute error over the tasks whose truth is known.

        `truth` is a mapping or series by task, a table (`task, truth`), or one number per task in
        the order of `tasks`, NaN where it is unknown. Labels stand for their values.
        """
        array, known = self._known(truth)
        return float(np.mean(np.abs(self.estimate[known] - array[known])))

    def coverage(self, truth: object) -> float:
        """The share of the known truths that lie in their 90 % intervals; `truth` as in `error`."""
        array, known = self._known(truth)
        rounding = 1e-9 * self.scale.range
        above, below = self.low - rounding <= array, array <= self.high + rounding
        return float(np.mean((above & below)[known]))

    def _known(self, truth: object) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The truths in the order of the tasks, and which of them are known."""
        array = truth_array(truth, self.tasks, self.scale)
        known = ~np.isnan(array)
        if not known.any():
            raise ForsoothError("truth: no truth is known, so there is nothing to compare with")
        return array, known


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

"""What the methods that work on numbers in cells share: rules, results, spreads, intervals."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from forsooth.checks import check_number, check_whole
from forsooth.errors import ForsoothError
from forsooth.truths import COVERAGE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.cells import Cells
    from forsooth.scale import Scale

Ties = Literal["middle", "low", "high"]
TIES: tuple[str, ...] = get_args(Ties)
NORMAL_QUANTILE = NormalDist().inv_cdf((1 + COVERAGE) / 2)


@dataclass(frozen=True)
class Rules:
    """When to stop, and what to do with a tie.

    An iteration has converged when no estimate moves by more than `tolerance` of the scale's
    range. Of equally good estimates take the `middle` one (their mean), the `low` or the `high`.
    """

    tolerance: float = 1e-6
    max_iterations: int = 1000
    ties: Ties = "middle"

    def __post_init__(self) -> None:
        check_whole(self.max_iterations, "max_iterations")
        if not check_number(self.tolerance, "the tolerance") > 0:
            raise ForsoothError(f"the tolerance must be above 0, got {self.tolerance!r}")
        if self.ties not in TIES:
            raise ForsoothError(f"unknown tie rule {self.ties!r}; known: {', '.join(TIES)}")


@dataclass(frozen=True, eq=False)
class Estimates:
    """A method's result on bare indices; NaN where a task has no cells.

    `probability` is P(answer) per task and answer, of a method that computes it.
    """

    truth: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    deviation: NDArray[np.float64]
    history: tuple[float, ...] = ()
    converged: bool = True
    probability: NDArray[np.float64] | None = None


def worker_squares(cells: Cells, truth: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σ_j (a_ij − μ_j)² over each worker's cells."""
    return cells.per_worker((cells.value - truth[cells.task]) ** 2)


def worker_deviation(cells: Cells, truth: NDArray[np.float64]) -> NDArray[np.float64]:
    """σ_i of Equation 2: RMS distance of a worker's cells from the truths; NaN without cells."""
    return np.sqrt(per_answered(worker_squares(cells, truth), cells.per_worker()))


def quality(deviation: NDArray[np.float64], smoothing: float) -> NDArray[np.float64]:
    """q_i ∝ 1/σ_i, summing to 1; a worker without cells has none."""
    inverse = np.nan_to_num(1 / np.maximum(deviation, smoothing))
    shares: NDArray[np.float64] = inverse / max(float(inverse.sum()), np.finfo(float).tiny)
    return shares


def smallest_deviation(scale: Scale) -> float:
    """A millionth of the range: below it a deviation counts as none."""
    return 1e-6 * scale.range


def pinned(truth: NDArray[np.float64], gold: NDArray[np.float64]) -> NDArray[np.float64]:
    """Estimates, with the known truths (not NaN) in their places."""
    return np.where(np.isnan(gold), truth, gold)


def per_answered(amount: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Amount / weight; NaN where there is no weight."""
    ratio = np.full(len(weight), np.nan)
    np.divide(amount, weight, out=ratio, where=weight > 0)
    return ratio


def weighted_mean(cells: Cells, weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Equation 1."""
    of_cell = weight[cells.worker]
    return per_answered(cells.per_task(of_cell * cells.value), cells.per_task(of_cell))


def standard_error(
    cells: Cells, weight: NDArray[np.float64], squares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Of a weighted mean of independent cells; NaN for a task with a single cell.

    The residuals, whose `squares` are summed per worker, flatter: the truths were fitted to them,
    and a worker with few cells pulls the truths to their own. So each worker's variance is drawn to
    the pooled one (as if two more of their cells had it), and the pooled one counts a degree of
    freedom per task.
    """
    counts, support = cells.per_worker(), cells.per_task()
    freedom = max(1.0, cells.value.size - float((support > 0).sum()))
    variance = (squares + 2 * squares.sum() / freedom) / (counts + 2)
    total = cells.per_task((weight**2 * variance)[cells.worker])
    error = per_answered(np.sqrt(total), cells.per_task(weight[cells.worker]))
    return np.where(support > 1, error, np.nan)

"""Truths by least squares, reweighted until nothing moves: what Algorithm 1 and CATD share.

    minimise  Σ_i c_i φ(S_i)  with  S_i = Σ_j (a_ij − μ_j)² + n_i δ²  over the n_i cells of worker i

where φ is the square root or the logarithm. Both lie below their tangents: with w_i ∝ c_i φ'(S_i)

    μ_j = Σ_i w_i a_ij / Σ_i w_i     over the workers who answered j

minimises a function that lies above the objective and touches it: no round raises it. The δ, a
millionth of the scale's range, bounds the weight of a worker whose residuals are all zero.

A worker's weight needs their own cells only, and cells stand in the order of workers. So a round is
one sweep: residuals, weight, and at once the share of the next truths' sums.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from forsooth.inference.estimates import (
    NORMAL_QUANTILE,
    Estimates,
    Rules,
    per_answered,
    pinned,
    smallest_deviation,
    standard_error,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from forsooth.cells import Cells
    from forsooth.scale import Scale

Penalty = Literal["root", "log"]


def reweighted(
    cells: Cells,
    scale: Scale,
    rules: Rules,
    gold: NDArray[np.float64],
    importance: NDArray[np.float64],
    penalty: Penalty,
) -> Estimates:
    """From the plain means until nothing moves; `importance` is c_i, `gold` tasks are kept."""
    floor = smallest_deviation(scale) ** 2
    counts, support = cells.per_worker(), cells.per_task()
    sweep = sweep_over(cells, importance, floor, penalty)
    weight = np.ones(cells.workers)
    truth = pinned(per_answered(cells.per_task(cells.value), support), gold)
    squares, sums = sweep(truth)
    history = [_objective(importance, squares + floor * counts, penalty)]
    converged = cells.value.size == 0
    while not converged and len(history) < rules.max_iterations:
        weight = _weights(importance, squares + floor * counts, penalty)
        previous, truth = truth, pinned(per_answered(sums[:, 0], sums[:, 1]), gold)
        squares, sums = sweep(truth)
        history.append(_objective(importance, squares + floor * counts, penalty))
        moved = float(np.nanmax(np.abs(truth - previous)))
        converged = moved <= rules.tolerance * scale.range
    half = NORMAL_QUANTILE * standard_error(cells, weight, squares)
    deviation = np.sqrt(per_answered(squares, counts))
    return Estimates(truth, truth - half, truth + half, deviation, tuple(history), converged)


def _objective(
    importance: NDArray[np.float64], squares: NDArray[np.float64], penalty: Penalty
) -> float:
    if penalty == "root":
        return float(importance @ np.sqrt(squares))
    answered = squares > 0
    return float(importance[answered] @ np.log(squares[answered]))


def _weights(
    importance: NDArray[np.float64], squares: NDArray[np.float64], penalty: Penalty
) -> NDArray[np.float64]:
    """c_i φ'(S_i) up to a factor, which cancels; 0 for a worker without cells."""
    steepness = np.sqrt(squares) if penalty == "root" else squares
    return np.nan_to_num(per_answered(importance, steepness))


def sweep_over(
    cells: Cells, importance: NDArray[np.float64], floor: float, penalty: Penalty
) -> Callable[[NDArray[np.float64]], tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """From truths to each worker's Σ (a − μ)² and each task's next (Σ w·a, Σ w)."""
    compiled = _compiled()
    if compiled is None:
        return lambda truth: sweep_twin(cells, importance, floor, penalty, truth)
    # Unsigned and no longer than needed: a third less to read, and no negative index to look for.
    starts, task = cells.starts.astype(np.uint64), cells.task.astype(np.uint32)

    def sweep(truth: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        squares, sums = np.zeros(cells.workers), np.zeros((cells.tasks, 2))
        root = penalty == "root"
        compiled(starts, task, cells.value, truth, importance, floor, root, squares, sums)
        return squares, sums

    return sweep


def sweep_twin(
    cells: Cells,
    importance: NDArray[np.float64],
    floor: float,
    penalty: Penalty,
    truth: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The same with bincount, column by column."""
    squares = cells.per_worker((cells.value - truth[cells.task]) ** 2)
    weight = _weights(importance, squares + floor * cells.per_worker(), penalty)
    of_cell = weight[cells.worker]
    sums = np.column_stack([cells.per_task(of_cell * cells.value), cells.per_task(of_cell)])
    return squares, sums


@cache
def _compiled() -> Callable[..., None] | None:
    try:
        from numba import njit
    except ImportError:
        return None

    # Sums may be taken in any order: without leave the compiler adds residuals one by one.
    @njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
    def sweep(
        starts: Any,
        task: Any,
        value: Any,
        truth: Any,
        importance: Any,
        floor: Any,
        root: Any,
        squares: Any,
        sums: Any,
    ) -> None:
        # The worker before is added to the sums while this one's residuals are taken: both wait
        # for the tasks' cache lines, and waiting for both at once is a tenth faster.
        before, end_before, weight = starts[0], starts[0], 0.0
        for worker in range(len(starts) - 1):
            first, end = starts[worker], starts[worker + 1]
            both = min(end - first, end_before - before)
            total = 0.0
            for step in range(both):
                total += (value[first + step] - truth[task[first + step]]) ** 2
                into = task[before + step]
                sums[into, 0] += weight * value[before + step]
                sums[into, 1] += weight
            for cell in range(first + both, end):
                total += (value[cell] - truth[task[cell]]) ** 2
            for cell in range(before + both, end_before):
                sums[task[cell], 0] += weight * value[cell]
                sums[task[cell], 1] += weight
            squares[worker] = total
            floored = total + floor * (end - first)
            if end > first:
                weight = importance[worker] / (np.sqrt(floored) if root else floored)
            before, end_before = first, end
        for cell in range(before, end_before):
            sums[task[cell], 0] += weight * value[cell]
            sums[task[cell], 1] += weight

    return sweep

"""Algorithm 1 of the paper: truths as weighted means, weights from the distance to the truths.

    q_i = 1/m;  repeat   μ_j = Σ q_i a_ij / Σ q_i   over the workers who answered j       (Eq. 1)
                         q_i ∝ 1/σ_i,  σ_i = RMS of a_ij − μ_j over the tasks i answered  (Eq. 2)
    until nothing moves.

This is iteratively reweighted least squares for F(μ) = Σ_i |T_i|·σ_i(μ), a sum of Euclidean norms
and so convex: F never rises, and there is nothing but its minimum to converge to. A worker whose
residual is zero would have infinite weight; σ_i is therefore √(mean square + δ²) with δ a millionth
of the scale's range, which keeps F convex and the descent monotone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forsooth.inference.estimates import (
    NORMAL_QUANTILE,
    Estimates,
    Rules,
    per_answered,
    pinned,
    quality,
    smallest_deviation,
    worker_deviation,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.cells import Cells
    from forsooth.scale import Scale


def algorithm1(cells: Cells, scale: Scale, rules: Rules, gold: NDArray[np.float64]) -> Estimates:
    """The paper's truth inference on numbers in cells; `gold` tasks keep their known truth."""
    smoothing = smallest_deviation(scale)
    counts = cells.per_worker()
    weight = np.full(cells.workers, 1 / max(1, cells.workers))
    truth = pinned(_weighted_mean(cells, weight), gold)
    deviation = worker_deviation(cells, truth, smoothing)
    history = [float(np.nansum(counts * deviation))]
    converged = cells.value.size == 0
    while not converged and len(history) < rules.max_iterations:
        weight = quality(deviation, smoothing)
        previous, truth = truth, pinned(_weighted_mean(cells, weight), gold)
        deviation = worker_deviation(cells, truth, smoothing)
        history.append(float(np.nansum(counts * deviation)))
        moved = float(np.nanmax(np.abs(truth - previous)))
        converged = moved <= rules.tolerance * scale.range
    half = NORMAL_QUANTILE * _standard_error(cells, weight, truth)
    low, high = truth - half, truth + half
    deviation = worker_deviation(cells, truth)
    return Estimates(truth, low, high, deviation, tuple(history), converged)


def _weighted_mean(cells: Cells, weight: np.ndarray) -> np.ndarray:
    """Equation 1."""
    of_cell = weight[cells.worker]
    return per_answered(cells.per_task(of_cell * cells.value), cells.per_task(of_cell))


def _standard_error(cells: Cells, weight: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Of a weighted mean of independent cells; NaN for a task with a single cell.

    The residuals flatter: the truths were fitted to them, and a worker with few cells pulls the
    truths to his own. So each worker's variance is drawn to the pooled one (as if two more of his
    cells had it), and the pooled one counts a degree of freedom per task.
    """
    counts, support = cells.per_worker(), cells.per_task()
    squares = cells.per_worker((cells.value - truth[cells.task]) ** 2)
    freedom = max(1.0, cells.value.size - float((support > 0).sum()))
    variance = (squares + 2 * squares.sum() / freedom) / (counts + 2)
    of_cell = weight[cells.worker]
    total = cells.per_task(of_cell**2 * variance[cells.worker])
    error = per_answered(np.sqrt(total), cells.per_task(of_cell))
    return np.where(support > 1, error, np.nan)

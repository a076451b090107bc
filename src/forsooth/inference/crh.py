"""CRH: conflict resolution on heterogeneous data, with the squared loss.

    minimise   Σ_i w_i L_i   with   L_i = Σ_j (a_ij − μ_j)² / s_j   and   Σ_i exp(−w_i) = 1

where s_j is the standard deviation of task j's cells. Each half-step is exact:

    w_i = −log(L_i / Σ L)        μ_j = Σ w_i a_ij / Σ w_i   over the workers who answered j

so the objective, L·H(L_i/L) with H the entropy of the workers' shares of the loss, never rises.
It is not convex: where it comes to rest depends on the start, which is the plain mean. The
logarithm makes the weights of many workers much alike, and so CRH a cautious step from the mean.

Q. Li, Y. Li, J. Gao, B. Zhao, W. Fan, J. Han: Resolving Conflicts in Heterogeneous Data by Truth
Discovery and Source Reliability Estimation. SIGMOD 2014. https://doi.org/10.1145/2588555.2610509
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
    smallest_deviation,
    standard_error,
    weighted_mean,
    worker_deviation,
    worker_squares,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.cells import Cells
    from forsooth.scale import Scale


def crh(cells: Cells, scale: Scale, rules: Rules, gold: NDArray[np.float64]) -> Estimates:
    """Weights from the logarithm of each worker's share of the loss; `gold` is kept."""
    smallest = smallest_deviation(scale)
    mean = weighted_mean(cells, np.ones(cells.workers))
    spread = _task_spread(cells, mean, smallest)
    truth = pinned(mean, gold)
    loss = _loss(cells, truth, spread, smallest)
    weight = _weights(loss)
    history = [float(weight @ loss)]
    converged = cells.value.size == 0
    while not converged and len(history) < rules.max_iterations:
        better = weighted_mean(cells, weight)
        # A worker who makes up all of the loss has weight 0; what only they answered stays.
        previous, truth = truth, pinned(np.where(np.isnan(better), truth, better), gold)
        loss = _loss(cells, truth, spread, smallest)
        weight = _weights(loss)
        history.append(float(weight @ loss))
        moved = float(np.nanmax(np.abs(truth - previous)))
        converged = moved <= rules.tolerance * scale.range
    half = NORMAL_QUANTILE * standard_error(cells, weight, worker_squares(cells, truth))
    deviation = worker_deviation(cells, truth)
    return Estimates(truth, truth - half, truth + half, deviation, tuple(history), converged)


def _task_spread(cells: Cells, mean: NDArray[np.float64], smallest: float) -> NDArray[np.float64]:
    """s_j; where all agree, or there is but one cell, the pooled one: only gold can differ there.

    With no spread anywhere every s_j is 1: any constant will do, as weights are shares.
    """
    squares, support = (cells.value - mean[cells.task]) ** 2, cells.per_task()
    own = np.sqrt(per_answered(cells.per_task(squares), support))
    pooled = float(np.sqrt(squares.mean())) if squares.size else 0.0
    return np.where(own > smallest, own, pooled if pooled > smallest else 1.0)


def _loss(
    cells: Cells, truth: NDArray[np.float64], spread: NDArray[np.float64], smallest: float
) -> NDArray[np.float64]:
    """L_i; the δ² in it bounds the weight of a worker without any error."""
    square = (cells.value - truth[cells.task]) ** 2 + smallest**2
    return cells.per_worker(square / spread[cells.task])


def _weights(loss: NDArray[np.float64]) -> NDArray[np.float64]:
    """−log of each worker's share of the loss; 0 for a worker without cells."""
    share = loss / max(float(loss.sum()), np.finfo(float).tiny)
    return np.maximum(0.0, -np.log(share, out=np.zeros_like(share), where=loss > 0))

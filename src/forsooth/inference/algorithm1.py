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
    pinned,
    quality,
    smallest_deviation,
    standard_error,
    weighted_mean,
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
    truth = pinned(weighted_mean(cells, weight), gold)
    deviation = worker_deviation(cells, truth, smoothing)
    history = [float(np.nansum(counts * deviation))]
    converged = cells.value.size == 0
    while not converged and len(history) < rules.max_iterations:
        weight = quality(deviation, smoothing)
        previous, truth = truth, pinned(weighted_mean(cells, weight), gold)
        deviation = worker_deviation(cells, truth, smoothing)
        history.append(float(np.nansum(counts * deviation)))
        moved = float(np.nanmax(np.abs(truth - previous)))
        converged = moved <= rules.tolerance * scale.range
    half = NORMAL_QUANTILE * standard_error(cells, weight, truth)
    low, high = truth - half, truth + half
    deviation = worker_deviation(cells, truth)
    return Estimates(truth, low, high, deviation, tuple(history), converged)

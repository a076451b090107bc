"""GTM, the Gaussian truth model: EM with a prior on the truths and on the workers' variances.

    μ_j ~ N(μ₀, σ₀²)     σ_i² ~ InverseGamma(α, β)     a_ij ~ N(μ_j, σ_i²)

on the scale moved and stretched to −1..1, with μ₀ = 0 and σ₀ = 1, so that a truth is drawn a
little to the middle of the scale, the more so the fewer and the noisier its cells. One round:

    E   1/v_j = 1/σ₀² + Σ_i 1/σ_i²,     m_j = v_j (μ₀/σ₀² + Σ_i a_ij/σ_i²)
    M   σ_i² = (2β + Σ_j [(a_ij − m_j)² + v_j]) / (2(α + 1) + n_i)

It maximises the posterior density of all σ_i², the truths integrated out, and EM never lowers it.
The v_j is what a worker owes to having helped to make m_j: without it someone who answers
alone would look perfect. The prior is worth about four cells, of a deviation of a fifth of the
half scale.

B. Zhao, J. Han: A Probabilistic Model for Estimating Real-valued Truth from Conflicting Sources.
QDB 2012.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forsooth.inference.estimates import (
    NORMAL_QUANTILE,
    Estimates,
    Rules,
    pinned,
    worker_deviation,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.cells import Cells
    from forsooth.scale import Scale

ALPHA, BETA = 1.0, 0.1
PRIOR_MEAN, PRIOR_VARIANCE = 0.0, 1.0


def gtm(cells: Cells, scale: Scale, rules: Rules, gold: NDArray[np.float64]) -> Estimates:
    """Posterior means of Gaussian truths, the workers' variances by EM; `gold` is certain."""
    half_range = scale.range / 2
    value = (cells.value - scale.middle) / half_range
    known = (gold - scale.middle) / half_range
    variance = _start(cells, value)
    mean, doubt = _truths(cells, value, known, variance)
    history = [_log_posterior(cells, value, mean, doubt, variance)]
    converged = cells.value.size == 0
    while not converged and len(history) < rules.max_iterations:
        variance = _variances(cells, value, mean, doubt)
        previous = mean
        mean, doubt = _truths(cells, value, known, variance)
        history.append(_log_posterior(cells, value, mean, doubt, variance))
        converged = float(np.max(np.abs(mean - previous))) <= 2 * rules.tolerance
    support = cells.per_task()
    truth = np.where(support > 0, scale.middle + half_range * mean, np.nan)
    truth = pinned(truth, gold)
    half = NORMAL_QUANTILE * half_range * np.where(support > 1, np.sqrt(doubt), np.nan)
    deviation = worker_deviation(cells, truth)
    return Estimates(truth, truth - half, truth + half, deviation, tuple(history), converged)


def _start(cells: Cells, value: NDArray[np.float64]) -> NDArray[np.float64]:
    """All workers alike: the variance of all cells around their tasks' means, and the prior."""
    support = np.maximum(1.0, cells.per_task())
    squares = float(((value - (cells.per_task(value) / support)[cells.task]) ** 2).sum())
    return np.full(cells.workers, (2 * BETA + squares) / (2 * (ALPHA + 1) + value.size))


def _truths(
    cells: Cells,
    value: NDArray[np.float64],
    known: NDArray[np.float64],
    variance: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The E-step: posterior mean m_j and variance v_j; a known truth has no variance."""
    precision = 1 / variance[cells.worker]
    doubt = 1 / (1 / PRIOR_VARIANCE + cells.per_task(precision))
    mean = doubt * (PRIOR_MEAN / PRIOR_VARIANCE + cells.per_task(precision * value))
    return pinned(mean, known), np.where(np.isnan(known), doubt, 0.0)


def _variances(
    cells: Cells,
    value: NDArray[np.float64],
    mean: NDArray[np.float64],
    doubt: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The M-step: the mode of each σ_i² given the expected squares."""
    squares = cells.per_worker((value - mean[cells.task]) ** 2 + doubt[cells.task])
    mode: NDArray[np.float64] = (2 * BETA + squares) / (2 * (ALPHA + 1) + cells.per_worker())
    return mode


def _log_posterior(
    cells: Cells,
    value: NDArray[np.float64],
    mean: NDArray[np.float64],
    doubt: NDArray[np.float64],
    variance: NDArray[np.float64],
) -> float:
    """Log p(cells, σ²) up to a constant: at the posterior mean, plus Laplace's ½ log v_j.

    Laplace's formula is exact for a Gaussian. Known truths have v_j = 0 and are not integrated.
    """
    of_cell = variance[cells.worker]
    likelihood = -0.5 * float((np.log(of_cell) + (value - mean[cells.task]) ** 2 / of_cell).sum())
    open_task = doubt > 0
    off = (mean[open_task] - PRIOR_MEAN) ** 2 / PRIOR_VARIANCE
    truths = 0.5 * float((np.log(doubt[open_task] / PRIOR_VARIANCE) - off).sum())
    workers = -float(((ALPHA + 1) * np.log(variance) + BETA / variance).sum())
    return likelihood + truths + workers

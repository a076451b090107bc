"""The paper's three bounds on the expected error of Algorithm 1 on perturbed answers.

They are implemented as printed. Two remarks. The bounds take the weights q_i as given, although
Algorithm 1 computes them from the data. And the weights 𝒩(x; μ, σ) of the RR bound are densities
at the points of Γ that do not sum to 1 there; the paper's own example (3.551) comes out to 0.2 %
with the weights normalised over Γ, and to 3.436 without. We normalise, unless asked not to.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from forsooth.errors import ForsoothError
from forsooth.privacy import check_epsilon

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from forsooth.scale import Scale

_HALF_NORMAL = math.sqrt(2 / math.pi)  # E|X| of a standard normal X


def lp_bound(
    scale: Scale,
    epsilon: float,
    *,
    answered: ArrayLike,
    sigma: ArrayLike,
    truth: ArrayLike,
    null_value: float | None = None,
    quality: ArrayLike | None = None,
) -> float:
    """Theorem 2: E[MAE] ≤ 1/n Σ_j Σ_i q_i e_ij for LP.

    e_ij = (1 − s_i)(φ_j + |Γ|/ε) + s_i(σ_i √(2/π) + |Γ|/ε), φ_j = |μ_j − E(v)|, v being what NULL
    is replaced by: uniform on the scale unless `null_value` says otherwise. `answered` is s_i, the
    share of tasks that a worker answers; numbers or one number per worker.
    """
    s, deviation, q, mu = _workers_and_tasks(epsilon, answered, sigma, quality, truth)
    expected = scale.middle if null_value is None else null_value
    if not scale.low <= expected <= scale.high:
        raise ForsoothError(f"NULL becomes an answer of the scale {scale}, not {expected}")
    noise = scale.size / epsilon
    phi = np.abs(mu - expected)[:, None]
    error = (1 - s) * (phi + noise) + s * (deviation * _HALF_NORMAL + noise)
    return float((error @ q).mean())


def rr_bound(
    scale: Scale,
    epsilon: float,
    *,
    answered: ArrayLike,
    sigma: ArrayLike,
    truth: ArrayLike,
    quality: ArrayLike | None = None,
    normalised: bool = True,
) -> float:
    """Theorem 3: E[MAE] ≤ 1/n Σ_j Σ_i q_i e_ij / Σ_i q_i for RR.

    e_ij = (1 − s_i)|μ_j − Σ_y y/(e^ε+|Γ|)| + Σ_x s_i 𝒩(x; μ_j, σ_i)|μ_j − Σ_y y P_xy|.
    """
    s, deviation, q, mu = _workers_and_tasks(epsilon, answered, sigma, quality, truth)
    if (deviation == 0).any():
        raise ForsoothError("the RR bound needs every worker's sigma above 0")
    values = np.asarray(scale.values)
    keep = math.exp(min(epsilon, 700.0))  # beyond, nothing but "keep" is left anyway
    from_null = values.sum() / (keep + scale.size)
    from_value = (values.sum() + (keep - 1) * values) / (keep + scale.size)
    z = (values - mu[:, None, None]) / deviation[:, None]  # tasks × workers × answers
    if normalised:  # relative to the nearest answer, whose weight may underflow otherwise
        weight = np.exp(((z**2).min(axis=2, keepdims=True) - z**2) / 2)
        weight = weight / weight.sum(axis=2, keepdims=True)
    else:
        weight = np.exp(-(z**2) / 2) / (deviation[:, None] * math.sqrt(2 * math.pi))
    missed = (weight * np.abs(mu[:, None, None] - from_value)).sum(axis=2)
    error = (1 - s) * np.abs(mu - from_null)[:, None] + s * missed
    return float((error @ q).mean())


def mf_bound(
    scale: Scale,
    epsilon: float,
    *,
    tasks: int,
    d: int,
    workers: int = 1,
    largest_quality: float | None = None,
) -> float:
    """Theorem 5: E[MAE] ≤ q̃ m (√(2/π) + d|Γ| / (nε)) for MF; with equal workers q̃ m = 1."""
    check_epsilon(epsilon)
    if not 1 <= d <= tasks or workers < 1:
        raise ForsoothError(
            f"the MF bound needs 1 ≤ d ≤ tasks and workers ≥ 1, got d = {d}, tasks = {tasks}, "
            f"workers = {workers}"
        )
    if largest_quality is not None and not 1 / workers <= largest_quality <= 1:
        raise ForsoothError("qualities sum to 1: the largest lies between 1/workers and 1")
    share = 1 / workers if largest_quality is None else largest_quality
    return share * workers * (_HALF_NORMAL + d * scale.size / (tasks * epsilon))


def _workers_and_tasks(
    epsilon: float,
    answered: ArrayLike,
    sigma: ArrayLike,
    quality: ArrayLike | None,
    truth: ArrayLike,
) -> tuple[NDArray[np.float64], ...]:
    """s_i, σ_i and normalised q_i per worker, μ_j per task, as arrays."""
    check_epsilon(epsilon)
    try:
        s, deviation, q = np.broadcast_arrays(
            np.atleast_1d(np.asarray(answered, float)),
            np.atleast_1d(np.asarray(sigma, float)),
            np.atleast_1d(np.asarray(1.0 if quality is None else quality, float)),
        )
    except ValueError:
        raise ForsoothError("answered, sigma and quality must be numbers or equally long") from None
    mu = np.atleast_1d(np.asarray(truth, float))
    if not ((s >= 0) & (s <= 1)).all() or not ((deviation >= 0) & (deviation < np.inf)).all():
        raise ForsoothError("the answered share lies in [0, 1]; sigma is finite, not negative")
    if not ((q >= 0) & (q < np.inf)).all() or q.sum() == 0 or not np.isfinite(mu).all():
        raise ForsoothError("qualities must be finite, not negative; truths must be finite")
    if epsilon < 1e-9:
        raise ForsoothError("the bounds are meaningless for ε below 1e-9")
    return s, deviation, q / q.sum(), mu

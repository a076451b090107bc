"""How P(θ | reports) is read: estimates, quantiles, and whether it tells tasks apart at all."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

Estimate = Literal["median", "mean", "mode"]
ESTIMATES: tuple[str, ...] = get_args(Estimate)


def estimated(grid: Array, mass: Array, estimate: Estimate, gold: Array) -> Array:
    """One number for every task; where the truth is known, the truth."""
    if estimate == "mean":
        point = mass @ grid
    elif estimate == "mode":
        point = grid[mass.argmax(axis=1)]
    else:
        point = quantile(grid, mass, 0.5)
    return np.where(np.isnan(gold), point, gold)


def quantile(grid: Array, mass: Array, level: float) -> Array:
    """The first grid point at which the posterior has reached `level`."""
    reached = np.cumsum(mass, axis=1) >= level - 1e-12
    point: Array = grid[reached.argmax(axis=1)]
    return point


def constant_as_good(grid: Array, mass: Array, estimate: Estimate) -> float:
    """The posterior probability that one constant for all tasks has no larger error.

    The difference of the two errors is a sum over tasks, and so about normal.
    """
    constant = quantile(grid, mass.mean(axis=0)[None, :], 0.5)
    point = estimated(grid, mass, estimate, np.full(len(mass), np.nan))
    gains = np.abs(grid - constant) - np.abs(grid - point[:, None])
    means = (mass * gains).sum(axis=1)
    deviation = np.sqrt((mass * (gains - means[:, None]) ** 2).sum())
    return NormalDist().cdf(-means.sum() / deviation) if deviation else float(means.sum() <= 0)

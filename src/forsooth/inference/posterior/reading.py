"""How P(θ | reports) is read: estimates, quantiles, and whether it tells tasks apart at all."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.inference.posterior.model import Crowd

Estimate = Literal["median", "mean", "mode"]
ESTIMATES: tuple[str, ...] = get_args(Estimate)


def estimated(
    crowd: Crowd, mass: NDArray[np.float64], estimate: Estimate, gold: NDArray[np.float64]
) -> NDArray[np.float64]:
    """One number for every task; where the truth is known, the truth."""
    if estimate == "mean":
        point = mass @ crowd.grid
    elif estimate == "mode":
        point = crowd.grid[mass.argmax(axis=1)]
    else:
        point = quantile(crowd, mass, 0.5)
    return np.where(np.isnan(gold), point, gold)


def quantile(crowd: Crowd, mass: NDArray[np.float64], level: float) -> NDArray[np.float64]:
    """The first grid point at which the posterior has reached `level`."""
    reached = np.cumsum(mass, axis=1) >= level - 1e-12
    point: NDArray[np.float64] = crowd.grid[reached.argmax(axis=1)]
    return point


def constant_as_good(crowd: Crowd, mass: NDArray[np.float64], estimate: Estimate) -> float:
    """The posterior probability that one constant for all tasks has no larger error.

    The difference of the two errors is a sum over tasks, and so about normal.
    """
    constant = quantile(crowd, mass.mean(axis=0)[None, :], 0.5)
    point = estimated(crowd, mass, estimate, np.full(len(mass), np.nan))
    gains = np.abs(crowd.grid - constant) - np.abs(crowd.grid - point[:, None])
    means = (mass * gains).sum(axis=1)
    deviation = np.sqrt((mass * (gains - means[:, None]) ** 2).sum())
    return NormalDist().cdf(-means.sum() / deviation) if deviation else float(means.sum() <= 0)

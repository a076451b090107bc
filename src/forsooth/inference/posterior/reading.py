"""How a posterior on a grid is read: quantiles, estimates, intervals that contain them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forsooth.truths import COVERAGE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.inference.posterior.options import Estimate

    Array = NDArray[np.float64]


def quantile(grid: Array, mass: Array, level: float, *, discrete: bool) -> Array:
    """The posterior's quantile for every row of `mass`.

    Between the ends the mass of a grid point is spread evenly over its cell, so that the grid does
    not show; at an end it stays there. Discrete: the first point at which `level` is reached.
    """
    reached = np.cumsum(mass, axis=1)
    reached /= reached[:, -1:]
    place = (reached < level - 1e-12).sum(axis=1).clip(0, len(grid) - 1)
    if discrete:
        return np.asarray(grid[place])
    row = np.arange(len(mass))
    before = np.where(place > 0, reached[row, place - 1], 0)
    share = (level - before) / np.maximum(reached[row, place] - before, 1e-300)
    edges = np.concatenate([grid[:1], (grid[1:] + grid[:-1]) / 2, grid[-1:]])
    inside = edges[place] + share.clip(0, 1) * (edges[place + 1] - edges[place])
    at_end = (place == 0) | (place == len(grid) - 1)
    point: Array = np.where(at_end, grid[place], inside)
    return point


def read(
    grid: Array, mass: Array, estimate: Estimate, gold: Array, *, discrete: bool
) -> tuple[Array, Array, Array]:
    """Estimate, low and high of every task; where the truth is known, the truth."""
    sides = ((1 - COVERAGE) / 2, (1 + COVERAGE) / 2)
    low, high = (quantile(grid, mass, side, discrete=discrete) for side in sides)
    if estimate == "mean":
        point = mass @ grid
    elif estimate == "mode":
        point = grid[mass.argmax(axis=1)]
    else:
        point = quantile(grid, mass, 0.5, discrete=discrete)
    found = point, np.minimum(low, point), np.maximum(high, point)
    point, low, high = (np.where(np.isnan(gold), each, gold) for each in found)
    return point, low, high


def between(kinds: Array, deviations: Array) -> tuple[Array, Array, Array]:
    """Every worker's deviation with its interval, from P(kind): workers × kinds.

    Kinds are points of a ladder: in between, the logarithm of the deviation is interpolated.
    """
    order = np.argsort(deviations)
    rungs = np.log(deviations[order])
    empty = np.full(len(kinds), np.nan)
    point, low, high = read(rungs, kinds[:, order], "median", empty, discrete=False)
    return np.exp(point), np.exp(low), np.exp(high)

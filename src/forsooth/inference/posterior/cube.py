"""Averages over a unit cube, by importance sampling that learns where the likelihood is.

Points that fill the cube evenly come first. If few of them carry all of the weight, more are drawn
around those, again and again. Every point is weighted by likelihood / density, where the density is
that of all draws together (the balance heuristic; Veach and Guibas 1995, Cornuet et al. 2012), so
that nothing drawn on the way is wasted or counted twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from forsooth.inference.posterior.model import normalised_exp

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_FIRST, _MORE = 384, 192  # points to begin with, and in every round after that
_ROUNDS = 6
_ENOUGH = 100.0  # points that count, in effect
_CENTRES = 64  # the heaviest points, around which more are drawn
_SPREAD_OVER = 15.0  # centres that count, in effect, if need be with flattened weights
_WIDTH = 0.9  # of a kernel, in standard deviations of the weighted points
_NARROWEST = 1e-4


@dataclass(frozen=True, eq=False)
class Average:
    """Points of the cube, the logarithms of their weights, and ln ∫ likelihood."""

    points: Array
    logs: Array
    evidence: float

    def weights(self, power: float = 1.0) -> Array:
        """The weights to some power; they sum to one."""
        return normalised_exp(power * self.logs)[0]


@dataclass(frozen=True, eq=False)
class _Kernels:
    """A mixture of normal kernels, folded back into the cube at its faces."""

    centres: Array
    weights: Array
    widths: Array

    def draw(self, number: int, random: np.random.Generator) -> Array:
        chosen = self.centres[random.choice(len(self.centres), number, p=self.weights)]
        moved = np.abs(chosen + self.widths * random.normal(size=chosen.shape)) % 2
        return np.where(moved > 1, 2 - moved, moved)

    def density(self, points: Array) -> Array:
        kernels = np.ones((len(points), len(self.centres)))
        for place, centre, width in zip(points.T, self.centres.T, self.widths):
            folded = sum(  # the centre, and its mirror images in both faces
                np.exp(-0.5 * ((place[:, None] - image) / width) ** 2)
                for image in (centre, -centre, 2 - centre)
            )
            kernels *= folded / (width * np.sqrt(2 * np.pi))
        density: Array = kernels @ self.weights
        return density


def average(log_likelihood: Callable[[Array], Array], dimensions: int) -> Average:
    """Integrate over the cube; `log_likelihood` takes one point per row."""
    random = np.random.default_rng(0)  # always the same: equal reports give equal truths
    kernels = list[_Kernels]()
    points = _even(_FIRST, dimensions)
    logs, drawn = log_likelihood(points), np.full(_FIRST, float(_FIRST))  # draws per volume
    found = _weighted(points, logs, drawn)
    while _in_effect(found.weights()) < _ENOUGH and len(kernels) < _ROUNDS:
        kernels.append(_around(found))
        more = kernels[-1].draw(_MORE, random)
        there = _FIRST + _MORE * np.sum([each.density(more) for each in kernels], axis=0)
        drawn = np.append(drawn + _MORE * kernels[-1].density(points), there)
        points, logs = np.concatenate([points, more]), np.append(logs, log_likelihood(more))
        found = _weighted(points, logs, drawn)
    return found


def _even(number: int, dimensions: int) -> Array:
    """Points of low discrepancy: multiples of powers of the root of x^(d+1) = x + 1 (Roberts)."""
    root = 2.0
    for _ in range(60):
        root = (1 + root) ** (1 / (dimensions + 1))
    steps = root ** -np.arange(1, dimensions + 1)
    return (0.5 + np.arange(1, number + 1)[:, None] * steps) % 1


def _weighted(points: Array, logs: Array, drawn: Array) -> Average:
    """Every point's likelihood over the density that all draws together had there."""
    ratios = logs - np.log(drawn / len(points))
    _, total = normalised_exp(ratios)
    return Average(points, ratios, float(total - np.log(len(points))))


def _in_effect(weights: Array) -> float:
    """How many points with equal weights would tell as much (Kish)."""
    return float(1 / (weights**2).sum())


def _around(found: Average) -> _Kernels:
    """Kernels on the heaviest points; if only a few are heavy, on the next ones too."""
    power = 1.0
    while _in_effect(weights := found.weights(power)) < _SPREAD_OVER:
        power /= 2
    middle = weights @ found.points
    deviation = np.sqrt(weights @ (found.points - middle) ** 2)
    heaviest = np.argsort(-weights)[:_CENTRES]
    shares = weights[heaviest] / weights[heaviest].sum()
    return _Kernels(found.points[heaviest], shares, np.maximum(_WIDTH * deviation, _NARROWEST))

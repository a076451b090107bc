"""The model of a crowd: truths on a grid, answers around them, workers of several kinds.

* The truth θ of a task lies on a grid over the scale. Its prior is a mixture of spikes on the
  answers themselves (many truths *are* answers), of bumps around them (many are not), and of a
  uniform; the weights are learned. What they start from depends on the scale: of two answers one
  is true, but a scale with many levels is a measure, and a measure's truth may lie anywhere. Only
  its ends are special. Its bumps are wide: narrow ones fit to whatever errors workers really make.
* A worker of error σ answers round(θ + N(0, σ²)), clipped to the scale. σ is one of a ladder, from
  "nearly always right" to "hardly related"; a last kind answers at random. The shares are learned.
  On a fine scale nobody is always right to the step, and who seems so has a favourite answer.
* A worker answers a task with some probability ρ, and the report follows the channel P(report |
  answer or NULL), which is known exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.scale import Scale

_GRID_POINTS = 40
_PER_STEP = 8  # of these at least, between two answers: hundreds of answers tell truths so well
STEPS = 20  # that a scale has at most: people who answer 63 of 100 do not mean 63 and not 62
_LADDER = (0.25, 0.6, 0.85, 1.2, 1.7, 2.4, 5.0)  # σ in steps of the scale
_SHARPEST = 0.06  # the least σ, in ranges of the scale
_APART = 1.42  # how many times the least σ the next one is, at least
SHORT = 10  # answers of a short scale, which may be names; one with more is a measure
BUMP = 0.4  # the width of a bump, in steps
_WIDE_BUMP = 1.5  # on a measure
_SHAPES = (  # up to so many answers: the shares of spikes and bumps, the rest is uniform
    (2, (0.9, 0.05)),
    (5, (0.6, 0.3)),
    (SHORT, (0.3, 0.6)),
    (math.inf, (0.05, 0.9)),
)
EARNED = 0.6  # nats that a free share must add to the likelihood: chance alone gives it half a nat
PER_SHARE = 2.0  # nats that a share of a learned P(a | θ) must add, where they cannot be computed
_FLOOR = 1e-12  # no answer is impossible
_PRIOR_CELLS = 0.5  # every kind of worker counts as much as so many cells


@dataclass(frozen=True, eq=False)
class Crowd:
    """The fixed parts of the model for one scale."""

    scale: Scale

    @property
    def learns_answers(self) -> bool:
        """Does the class model learn P(answer | θ, kind), or take it as it is?"""
        return False

    @cached_property
    def grid(self) -> NDArray[np.float64]:
        """Points over the scale; every answer is one of them."""
        values = np.asarray(self.scale.values)
        if self.scale.size <= SHORT:
            between = max(_PER_STEP, round(_GRID_POINTS / (self.scale.size - 1)))
        else:
            between = max(1, round(2 * _GRID_POINTS / (self.scale.size - 1)))
        pieces = [np.linspace(a, b, between, endpoint=False) for a, b in pairwise(values)]
        return np.append(np.concatenate(pieces), values[-1])

    @cached_property
    def step(self) -> float:
        """The typical distance of two neighbouring answers, but at least a twentieth of all."""
        return max(float(np.median(np.diff(self.scale.values))), self.scale.range / STEPS)

    @property
    def grain(self) -> float:
        """What truths may differ by before anybody notices."""
        return self.step

    @cached_property
    def centres(self) -> NDArray[np.float64]:
        """What truths may gather around: the answers, or on a finer scale its twenty steps."""
        values = np.asarray(self.scale.values)
        if len(values) <= STEPS + 1:
            return values
        return np.linspace(values[0], values[-1], STEPS + 1)

    @cached_property
    def spots(self) -> NDArray[np.intp]:
        """The centres that many truths are equal to: all answers, of a measure only its ends."""
        every = np.arange(len(self.centres))
        return every[[0, -1]] if self.is_measure else every

    @cached_property
    def deviations(self) -> NDArray[np.float64]:
        """σ of every kind of worker; of the last, who answers at random, the uniform's."""
        values, ladder = np.asarray(self.scale.values), np.array(_LADDER) * self.step
        sharpest = max(ladder[0], _SHARPEST * self.scale.range)
        wider = ladder[ladder > _APART * sharpest]  # two kinds that are nearly the same are one
        return np.concatenate([[sharpest], wider, [values.std()]])

    @cached_property
    def answers(self) -> NDArray[np.float64]:
        """P(answer | θ, kind of worker), kinds × grid × answers."""
        tables = [rounded_normal(self.scale, self.grid, sigma) for sigma in self.deviations[:-1]]
        tables.append(np.full((len(self.grid), self.scale.size), 1 / self.scale.size))
        return possible(np.array(tables))

    @property
    def ordered(self) -> bool:
        """Is there a middle, and more and less?"""
        return True

    @property
    def is_measure(self) -> bool:
        """Is the scale so fine that truths lie anywhere on it?"""
        return self.ordered and self.scale.size > SHORT

    @property
    def choices(self) -> tuple[int, ...]:
        """Sizes of the sets of shares, each summing to one, that weigh the axis 0 of `answers`."""
        return (len(self.deviations),)

    @property
    def beforehand(self) -> NDArray[np.float64]:
        """What each of these shares counts before any reports, in cells."""
        return np.full(len(self.deviations), _PRIOR_CELLS)

    @property
    def price(self) -> float:
        """Nats that each of them must add to the likelihood, to be worth its freedom."""
        return EARNED

    @cached_property
    def shapes(self) -> NDArray[np.float64]:
        """What the prior of θ is mixed from: spikes, bumps and a uniform, each over the grid."""
        return self._shapes((_WIDE_BUMP if self.is_measure else BUMP) * self.grain)

    @cached_property
    def narrow_shapes(self) -> NDArray[np.float64]:
        """The same for a prior of a few numbers, which does not fit to errors."""
        return self._shapes(BUMP * self.step)

    def _shapes(self, width: float) -> NDArray[np.float64]:
        distance = np.abs(self.grid[None, :] - self.centres[:, None])
        spikes = self.spike(distance[self.spots])
        bumps = np.exp(-0.5 * (distance / width) ** 2)
        flat = np.ones((1, len(self.grid)))
        shapes = np.concatenate([spikes, bumps, flat])
        normalised: NDArray[np.float64] = shapes / shapes.sum(axis=1, keepdims=True)
        return normalised

    def spike(self, distance: NDArray[np.float64]) -> NDArray[np.float64]:
        """How likely truths are at this distance from the answer that they gather at."""
        return (distance < 1e-9 * self.scale.range).astype(float)

    def base(self, answers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Weights of the shapes before anything is known of single tasks: as answers are spread."""
        levels = math.inf if self.is_measure else self.scale.size
        spiked, bumped = next(shares for size, shares in _SHAPES if levels <= size)
        around = self.around(answers)
        weights = np.concatenate([spiked * around[self.spots], bumped * around])
        return np.append(weights, 1 - weights.sum())

    def around(self, answers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Shares of the centres, if truths are spread as these answers are."""
        distance = np.abs(np.subtract.outer(self.scale.values, self.centres))
        shares: NDArray[np.float64] = answers @ np.eye(len(self.centres))[distance.argmin(axis=1)]
        return shares

    def nearest(self, values: NDArray[np.float64]) -> NDArray[np.intp]:
        """The grid point next to each value."""
        place: NDArray[np.intp] = np.abs(self.grid[None, :] - values[:, None]).argmin(axis=1)
        return place


def rounded_normal(scale: Scale, places: NDArray[np.float64], sigma: float) -> NDArray[np.float64]:
    """P(place + N(0, σ²), rounded and clipped to the scale, is this answer): places × answers."""
    from scipy.special import ndtr

    values = np.asarray(scale.values)
    cuts = (values[1:] + values[:-1]) / 2
    below = ndtr((cuts - places[:, None]) / sigma)
    edges = np.pad(below, ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1)))
    shares: NDArray[np.float64] = np.diff(edges, axis=1)
    return shares


def possible(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same shares along the last axis, but none is zero."""
    chances = np.maximum(tables, _FLOOR)
    normalised: NDArray[np.float64] = chances / chances.sum(axis=-1, keepdims=True)
    return normalised


def normalised_exp(
    logs: NDArray[np.float64], axis: int = -1
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """e^logs divided by its sum along an axis, and the logarithm of that sum."""
    top = logs.max(axis=axis, keepdims=True)
    weights = logs - top
    np.exp(weights, out=weights)  # in place: fresh memory costs more than the arithmetic
    total = weights.sum(axis=axis, keepdims=True)
    weights /= total
    return weights, (top + np.log(total)).squeeze(axis)

"""The pooled model when reports say little: a crowd in outline, and all outlines averaged.

A handful of nats cannot teach a prior with dozens of free shares: the one that fits best puts all
truths wherever chance has left most reports. So the crowd is outlined by six numbers:

* where truths lie: around answers a with weights e^(−(a − place)²/(2·spread²)), but for a share of
  strays, which lie anywhere. The place is probably the middle of the scale, or else off it, which
  means that most truths are at that end; so without reports that say otherwise, it is the middle.
  Ratings are not all at an end, so that theirs is never off the scale;
* the usual σ of workers, and the share of answers at random;
* the share of answered cells.

The others are alike likely beforehand over what they can be (spread, strays and σ in their
logarithms). The posterior is the average over all outlines h, ∫ P(θ | reports, h) dP(h | reports).
Where reports say a lot, the model with free shares fits better by more than its freedom explains,
and takes over.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from forsooth.inference.posterior.cube import average
from forsooth.inference.posterior.measure import Rating
from forsooth.inference.posterior.model import normalised_exp
from forsooth.inference.posterior.names import INSIDE, as_names, log_chances
from forsooth.inference.posterior.picture import Picture
from forsooth.inference.posterior.pooled import pin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from forsooth.inference.posterior.model import Crowd
    from forsooth.inference.posterior.pooled import Pooled

    Array = NDArray[np.float64]

_PLACES = -0.5, 0.0, 0.5, 0.5, 1.0, 1.5  # in ranges of the scale, from its lower end
_REACHED = 0.0, 0.175, 0.225, 0.775, 0.825, 1.0  # P(no higher place); evenly in between
_INSIDE = INSIDE[0], 0.5, 0.5, INSIDE[1]  # the same of ratings
_REACHED_INSIDE = 0.0, 0.25, 0.75, 1.0
_SPREAD = 0.3, 1.5  # from so many steps to so many ranges of the scale
_STRAY = 0.003, 1.0  # the share of truths that may lie anywhere
_KERNEL = 0.8  # how far workers' σ lie from the usual one, in logarithms
_CARELESS = 0.02, 0.52  # the share of answers at random
_FEWEST_ANSWERED = 1e-4  # of all cells
_AT_ONCE = 2**19  # numbers, so that they stay in the cache
_NEGLIGIBLE = 1e-3  # an outline with less of the heaviest one's weight is left out
_MANY = 1000  # with more different tasks than this, so many of them are asked first
_CLEARLY = 3.0  # nats


def outlined(pooled: Pooled) -> Outlined:
    """The average over all outlines."""
    outlines = _Outlines(pooled)
    found = average(outlines.log_likelihood, outlines.dimensions)
    weights = found.weights()
    kept = weights > _NEGLIGIBLE * weights.max()
    return outlines.picture(found.points[kept], weights[kept] / weights[kept].sum(), found.evidence)


@dataclass(frozen=True, eq=False, kw_only=True)
class Outlined(Picture):
    """What outlines say together, and which they are."""

    outlines: _Outlines
    points: Array
    weights: Array

    def apart(self, crowd: Crowd) -> tuple[Picture, Picture]:
        """Every outline for itself: some are of names, and others of means."""
        shapes, kinds, _ = self.outlines.parameters(self.points)
        answers = np.tensordot(kinds, crowd.answers, 1)
        chances = log_chances(as_names(crowd, shapes @ crowd.narrow_shapes, answers))
        logs = [np.log(self.weights) + each for each in chances]
        names, means = (
            self.outlines.picture(self.points, weights, self.evidence + float(total))
            for weights, total in map(normalised_exp, logs)
        )
        return names, means.as_means(crowd)


def no_outline_fits(pooled: Pooled, point: Array) -> bool:
    """Do some of very many tasks already say that free shares are better than any outline?"""
    some = pooled.on_some_tasks(_MANY)
    if some is pooled:
        return False
    outlines = _Outlines(some)
    found = average(outlines.log_likelihood, outlines.dimensions)
    return some.evidence(point) > found.evidence + _CLEARLY


@dataclass(frozen=True, eq=False)
class _Outlines:
    """Points of the unit cube as crowds."""

    pooled: Pooled

    @cached_property
    def hidden(self) -> bool:
        return any(part.hidden for part in self.pooled.parts)

    @property
    def dimensions(self) -> int:
        """Where participation is public, there is no rate to be guessed."""
        return 6 if self.hidden else 5

    def parameters(self, points: Array) -> tuple[Array, Array, Array]:
        """Weights of the prior's shapes, ω and ρ, a row for every point."""
        place, spread, stray, usual, careless, *rate = points.T
        share = rate[0] if self.hidden else np.full(len(points), 0.5)  # that is of no consequence
        rates = np.clip(share, _FEWEST_ANSWERED, 1 - _FEWEST_ANSWERED)
        return self._weights(place, spread, stray), self._kinds(usual, careless), rates

    def _weights(self, place: Array, spread: Array, stray: Array) -> Array:
        crowd = self.pooled.crowd
        values, size = np.asarray(crowd.scale.values), crowd.scale.range
        inside = isinstance(crowd, Rating)
        places, reached = (_INSIDE, _REACHED_INSIDE) if inside else (_PLACES, _REACHED)
        middle = values[0] + size * np.interp(place, reached, places)
        width = _between(_SPREAD[0] * crowd.step, _SPREAD[1] * size, spread)
        weights = np.array([crowd.base(answers) for answers in _normal(values, middle, width)])
        anywhere = _between(*_STRAY, stray)
        weights[:, :-1] *= ((1 - anywhere) / weights[:, :-1].sum(axis=1))[:, None]
        weights[:, -1] = anywhere
        return weights

    def _kinds(self, usual: Array, careless: Array) -> Array:
        ladder = np.log(self.pooled.crowd.deviations[:-1])
        middle = ladder[0] + np.ptp(ladder) * usual
        careful = _normal(ladder, middle, np.full(len(middle), _KERNEL))
        at_random = _CARELESS[0] + (_CARELESS[1] - _CARELESS[0]) * careless
        return np.column_stack([(1 - at_random)[:, None] * careful, at_random])

    def picture(self, points: Array, weights: Array, evidence: float) -> Outlined:
        """What the outlines at these points say together."""
        _, kinds, shares = self.parameters(points)
        return Outlined(
            mass=self.mass(points, weights)[self.pooled.tally.place],
            answers=np.tensordot(weights @ kinds, self.pooled.crowd.answers, 1),
            participation=float(weights @ shares),
            evidence=evidence,
            outlines=self,
            points=points,
            weights=weights,
        )

    def log_likelihood(self, points: Array) -> Array:
        """Ln P(reports | outline) of every point."""
        tally = self.pooled.tally
        found = [evidence @ tally.times for _, evidence in self._posteriors(points)]
        return np.concatenate(found) + float(tally.times @ tally.together @ self.usual)

    def mass(self, points: Array, weights: Array) -> Array:
        """P(θ | reports) averaged over the points, different tasks × grid."""
        total, begun = np.zeros((len(self.pooled.crowd.grid), len(self.pooled.tally.times))), 0
        for mass, _ in self._posteriors(points):
            total += np.tensordot(weights[begun : begun + mass.shape[1]], mass, ([0], [1]))
            begun += mass.shape[1]
        return total.T

    def _posteriors(self, points: Array) -> Iterator[tuple[Array, Array]]:
        """P(θ | reports of a task, point), grid × some points × different tasks, and its evidence.

        Single precision will do: what is common to all points has been taken out.
        """
        tally, grid = self.pooled.tally, len(self.pooled.crowd.grid)
        some = max(1, _AT_ONCE // (len(tally.times) * grid))
        counts = tally.together.T.astype(np.float32)
        for begin in range(0, len(points), some):
            tables = self._tables(points[begin : begin + some]) - self.usual[:, None, None]
            logs = np.tensordot(tables.T.astype(np.float32), counts, 1)
            yield normalised_exp(pin(logs.T, tally.pinned).T, axis=0)

    @cached_property
    def usual(self) -> Array:
        """0 for the priors, then the logarithm of every symbol's frequency in its part."""
        totals = [part.per_task.sum(axis=0) + 1 for part in self.pooled.parts]
        frequencies = [np.log(total / total.sum()) for total in totals]
        return np.concatenate([np.zeros(self.pooled.groups), *frequencies])

    def _tables(self, points: Array) -> Array:
        """Ln π(θ), then ln P(y | θ) for every symbol of every part: those × points × grid.

        In outline, all groups of tasks have the same prior.
        """
        pooled = self.pooled
        weights, kinds, rates = self.parameters(points)
        prior = np.maximum(weights @ pooled.crowd.narrow_shapes, 1e-300)
        tables = [np.repeat(prior[:, :, None], pooled.groups, axis=2)]
        for part, answered in zip(pooled.parts, pooled.answered):
            given, rate = np.tensordot(kinds, answered, 1), rates[:, None, None]
            tables.append(rate * given + (1 - rate) * part.table[-1] if part.hidden else given)
        logs: Array = np.log(np.concatenate(tables, axis=2)).transpose(2, 0, 1)
        return logs


def _between(low: float, high: float, share: Array) -> Array:
    """From low to high, evenly in the logarithm."""
    between: Array = low * (high / low) ** share
    return between


def _normal(values: Array, middle: Array, deviation: Array) -> Array:
    """Shares of the values, a row for every middle; none is quite 0."""
    logs = -0.5 * ((values - middle[:, None]) / deviation[:, None]) ** 2
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    positive: Array = (shares + 1e-6) / (1 + 1e-6 * len(values))
    return positive

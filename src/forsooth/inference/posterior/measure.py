"""Answers on a measure: whoever sees θ says θ on average, whatever numbers people like.

On a fine scale people say 0 to whatever is small and round numbers to the rest. If errors were
normal, such answers would mean truths in clumps, or beyond the end of the scale. So it is
learned how well each answer a is liked, b(a), and a worker of error σ says

    P(a | θ, σ) ∝ b(a)·exp(η·a − a²/(2σ²)),   with η such that the mean of a is θ:

a natural exponential family, in which many answers of a worker tell θ by their mean alone. Without
the condition on the mean, b and η could move all truths along the scale, and no report would tell.

b solves its moment equations: every answer is given as often as the model expects. On a fine scale
normal errors stay the model unless the reports are likelier under this one by two nats for every
answer. A short scale may be a measure, too (`Rating`), whose errors are normal but for likings, if
they are worth that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from forsooth.inference.posterior.model import (
    BUMP,
    PER_SHARE,
    SHORT,
    STEPS,
    Crowd,
    normalised_exp,
    possible,
    rounded_normal,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.inference.estimates import Rules
    from forsooth.inference.posterior.ascent import Ascent
    from forsooth.inference.posterior.pooled import Pooled

    Array = NDArray[np.float64]

_PLACES = 11  # that truths may gather around on a short scale
HOPELESS = 15.0  # nats behind a model of names, which a measure will not catch up
_FROM_THE_ENDS = 1.0  # steps that the mean of a worker's answers stays away from them
_PRIOR_ANSWERS = 3.0  # so many of each answer are as well liked as expected, to begin with
_ENOUGH = 300  # different tasks show what is liked
_NEARLY = 0.01  # nats per task: a round that gains less changes nothing
_PATIENCE = 20  # rounds like the last one within which normal errors must be caught up with
_EXTREME = 10.0  # nobody likes an answer e^10 times as much as another
_NEWTON_STEPS = 200
_STEEPEST = 1e4  # |η|, per range of the scale
_FAR = 8.0  # no x is farther off the scale, in σ and ranges
_BISECTIONS = 50


@dataclass(frozen=True, eq=False)
class Measure(Crowd):
    """The model for one scale that measures, with how well each of its answers is liked."""

    liked: Array  # b(a)

    @cached_property
    def answers(self) -> Array:
        """P(answer | θ, kind of worker), kinds × grid × answers; the last kind is at random."""
        place, mean = self._in_ranges(np.asarray(self.scale.values)), self._in_ranges(self._means)
        widths = self.deviations[:-1, None] / self.scale.range
        tables = [
            _tilted(place, mean, row) for row in np.log(self.liked) - (place / widths) ** 2 / 2
        ]
        at_random = np.full((len(mean), len(place)), 1 / len(place))
        return possible(np.stack([*tables, at_random]))

    @property
    def _means(self) -> Array:
        """Of the answers to every truth; at an end not everybody says the same."""
        away = _FROM_THE_ENDS * self.grain
        return np.clip(self.grid, self.scale.low + away, self.scale.high - away)

    def _in_ranges(self, values: Array) -> Array:
        """From the middle of the scale, in its ranges."""
        places: Array = (values - np.mean(self.scale.values)) / self.scale.range
        return places

    def spike(self, distance: Array) -> Array:
        """Near an end: truths less than a step away from it are answered like the end itself."""
        near: Array = np.exp(-0.5 * (distance / (BUMP * self.grain)) ** 2)
        return near

    def after(self, counts: Array, free: NDArray[np.intp]) -> Measure:
        """With the likings of the `free` answers that these suggest: kinds × grid × answers."""
        given = counts.sum(axis=(0, 1)) + _PRIOR_ANSWERS
        expected = np.tensordot(counts.sum(axis=2), self.answers[:-1], 2) + _PRIOR_ANSWERS
        liked = self.liked.copy()
        liked[free] *= (given / expected)[free]
        return replace(self, liked=liked / liked.mean())


class Rating(Measure):
    """A short scale as a measure: truths lie between its answers as well as on them.

    Opinions differ, and the truth is the mean of them all. So nobody answers at random, and errors
    are normal, P(a | θ, σ) ∝ b(a)·P(x + N(0, σ²) is rounded to a), about an x that is not θ where
    they end with the scale, but such that the mean of a is.
    """

    @cached_property
    def answers(self) -> Array:
        """P(answer | θ, kind of worker), kinds × grid × answers.

        Of the last kind no more is known than the mean.
        """
        tables = [self._rounded(sigma) for sigma in self.deviations[:-1]]
        place, mean = self._in_ranges(np.asarray(self.scale.values)), self._in_ranges(self._means)
        return possible(np.stack([*tables, _tilted(place, mean, np.zeros(len(place)))]))

    def _rounded(self, sigma: float) -> Array:
        """P(a | θ), grid × answers; the mean rises with x, which is found by bisection."""
        means, far = self._means, _FAR * (sigma + self.scale.range)
        low, high = (
            np.full_like(means, self.scale.low - far),
            np.full_like(means, self.scale.high + far),
        )
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            shares = self.liked * rounded_normal(self.scale, middle, sigma)
            shares /= shares.sum(axis=1, keepdims=True)
            below = shares @ self.scale.values < means
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return shares

    @property
    def is_measure(self) -> bool:
        """Short as the scale is."""
        return True

    @property
    def grain(self) -> float:
        """A twentieth of the scale, as on a fine one."""
        return self.scale.range / STEPS

    @cached_property
    def centres(self) -> Array:
        """What truths may gather around, whatever the answers are."""
        return np.linspace(self.scale.low, self.scale.high, _PLACES)

    def around(self, answers: Array) -> Array:
        """Shares of the centres, if truths are spread as these answers are."""
        density = np.interp(self.centres, self.scale.values, answers)
        shares: Array = density / density.sum()
        return shares


@dataclass(frozen=True, eq=False)
class Measured:
    """The pooled model of a measure at its best point."""

    pooled: Pooled
    ascent: Ascent
    owed: float  # nats, to the freedom of the likings


def measured(pooled: Pooled, ascent: Ascent, rules: Rules) -> tuple[Pooled, Ascent]:
    """The pooled model of a fine scale with likings, if they explain the reports so much better."""
    if not pooled.crowd.is_measure:
        return pooled, ascent
    some = pooled.on_some_tasks(_ENOUGH)
    chosen = _with_likings(_Fit.without(some, Measure, rules), some.evidence(ascent.point), rules)
    if chosen is None:
        return pooled, ascent
    return chosen[0].of_all(pooled, rules)


def rated(pooled: Pooled, ascent: Ascent, rules: Rules, *, if_hopeless: bool) -> Measured | None:
    """The pooled model of a short scale that is taken for a measure, if it can be.

    Two answers are none. If some tasks already say clearly that they are names, it is hopeless.
    """
    if not pooled.crowd.ordered or not 2 < pooled.crowd.scale.size <= SHORT:
        return None
    some = pooled.on_some_tasks(_ENOUGH)
    fit = _Fit.without(some, Rating, rules)
    fit, owed = _with_likings(fit, fit.evidence, rules) or (fit, 0.0)
    behind = some.evidence(ascent.point) - (fit.evidence - owed)
    if behind > HOPELESS and not if_hopeless:
        return None
    return Measured(*fit.of_all(pooled, rules), owed)


def _with_likings(fit: _Fit, rival: float, rules: Rules) -> tuple[_Fit, float] | None:
    """With the likings that are worth most, and what they owe to freedom, if any are worth it.

    At first only the ends of the scale are liked more or less than other answers, then all are.
    """
    every, chosen = np.arange(fit.measure.scale.size), None
    for free in (every[[0, -1]], every[1:]):
        owed = PER_SHARE * len(free)
        fit = _liked(fit, free, rival + owed, rules)
        if fit.evidence - owed > rival:
            rival, chosen = fit.evidence - owed, (fit, owed)
    return chosen


@dataclass(frozen=True, eq=False)
class _Fit:
    """The pooled model at its best point for some likings."""

    measure: Measure
    pooled: Pooled
    point: Array
    evidence: float

    @staticmethod
    def of(pooled: Pooled, measure: Measure, start: Array | None, rules: Rules) -> _Fit:
        found = pooled.of(measure)
        point = found.fit(rules, start).point
        return _Fit(measure, found, point, found.evidence(point))

    @staticmethod
    def without(pooled: Pooled, model: type[Measure], rules: Rules) -> _Fit:
        """Without likings."""
        scale = pooled.crowd.scale
        return _Fit.of(pooled, model(scale, np.ones(scale.size)), None, rules)

    def of_all(self, pooled: Pooled, rules: Rules) -> tuple[Pooled, Ascent]:
        """The same likings for all tasks."""
        found = pooled.of(self.measure)
        return found, found.fit(rules, self.point)

    def next(self, free: NDArray[np.intp], rules: Rules) -> _Fit:
        """For the likings that the answers behind the reports suggest."""
        counts = self.pooled.behind(self.point)[:-1]
        return _Fit.of(self.pooled, self.measure.after(counts, free), self.point, rules)


def _liked(fit: _Fit, free: NDArray[np.intp], worth: float, rules: Rules) -> _Fit:
    """Learn likings until they do not move, or will not be `worth` their freedom.

    Two steps show the way, and a third goes as far along it as they suggest (SQUAREM).
    """
    gain, little = np.inf, _NEARLY * fit.pooled.tally.times.sum()
    while gain > little and fit.evidence + _PATIENCE * gain > worth:
        one = fit.next(free, rules)
        two = one.next(free, rules)
        far = _Fit.of(two.pooled, _ahead(fit.measure, one.measure, two.measure), two.point, rules)
        best = max(two, far, key=lambda each: each.evidence)
        fit, gain = best, best.evidence - fit.evidence
    return fit


def _ahead(zero: Measure, one: Measure, two: Measure) -> Measure:
    """Where these three lead to, if they go on as they do."""
    logs = [np.log(each.liked) for each in (zero, one, two)]
    step, bend = logs[1] - logs[0], logs[2] - 2 * logs[1] + logs[0]
    length = max(1.0, float(np.sqrt(step @ step / (bend @ bend + 1e-24))))
    liked = np.exp(np.clip(logs[0] + 2 * length * step + length**2 * bend, -_EXTREME, _EXTREME))
    return replace(zero, liked=liked / liked.mean())


def _tilted(place: Array, mean: Array, logs: Array) -> Array:
    """Shares ∝ exp(logs + η·place) with each of these means, a row for each.

    By Newton's method for η, which bisects wherever it would leave the interval of the solution.
    """
    tilt, low, high = (np.full(len(mean), each) for each in (0.0, -_STEEPEST, _STEEPEST))
    for _ in range(_NEWTON_STEPS):
        shares, _ = normalised_exp(logs + tilt[:, None] * place)
        off = shares @ place - mean
        if np.abs(off).max() < 1e-9:
            break
        low, high = np.where(off < 0, tilt, low), np.where(off > 0, tilt, high)
        variance = shares @ place**2 - (shares @ place) ** 2
        newton = tilt - off / np.maximum(variance, 1e-12)
        tilt = np.where((low < newton) & (newton < high), newton, (low + high) / 2)
    return shares

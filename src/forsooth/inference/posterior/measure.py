"""Answers on a measure: whoever sees θ says θ on average, whatever numbers people like.

On a fine scale people say 0 to whatever is small and round numbers to the rest. If errors were
normal, such answers would mean truths in clumps, or beyond the end of the scale. So where the
scale is fine it is learned how well each answer a is liked, b(a), and a worker of error σ says

    P(a | θ, σ) ∝ b(a)·exp(η·a − a²/(2σ²)),   with η such that the mean of a is θ:

a natural exponential family, in which many answers of a worker tell θ by their mean alone. Without
the condition on the mean, b and η could move all truths along the scale, and no report would tell.

b solves its moment equations: every answer is given as often as the model expects. Normal errors
stay the model unless the reports are likelier under this one by two nats for every answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from forsooth.inference.posterior.labels import PER_SHARE
from forsooth.inference.posterior.model import Crowd, normalised_exp, possible

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.inference.estimates import Rules
    from forsooth.inference.posterior.ascent import Ascent
    from forsooth.inference.posterior.pooled import Pooled

    Array = NDArray[np.float64]

_FROM_THE_ENDS = 1.0  # steps that the mean of a worker's answers stays away from them
_PRIOR_ANSWERS = 3.0  # so many of each answer are as well liked as expected, to begin with
_ENOUGH = 1000  # different tasks show what is liked
_NEARLY = 0.5  # nats: a round that gains less changes nothing
_PATIENCE = 20  # rounds like the last one within which normal errors must be caught up with
_NEWTON_STEPS = 200
_STEEPEST = 1e4  # |η|, per range of the scale


@dataclass(frozen=True, eq=False)
class Measure(Crowd):
    """The model for one fine scale, with how well each of its answers is liked."""

    liked: Array  # b(a)

    @cached_property
    def answers(self) -> Array:
        """P(answer | θ, kind of worker), kinds × grid × answers; the last kind is at random."""
        values, away = np.asarray(self.scale.values), _FROM_THE_ENDS * self.step
        means = np.clip(self.grid, values[0] + away, values[-1] - away)
        place, mean = ((each - values.mean()) / self.scale.range for each in (values, means))
        widths = self.deviations[:-1, None] / self.scale.range
        tables = [
            _tilted(place, mean, row) for row in np.log(self.liked) - (place / widths) ** 2 / 2
        ]
        at_random = np.full((len(means), len(values)), 1 / len(values))
        return possible(np.stack([*tables, at_random]))

    def after(self, pooled: Pooled, point: Array, free: NDArray[np.intp]) -> Measure:
        """With the likings of the `free` answers that those behind the reports suggest."""
        counts = pooled.behind(point)[:-1]  # kinds × grid × answers
        given = counts.sum(axis=(0, 1)) + _PRIOR_ANSWERS
        expected = np.tensordot(counts.sum(axis=2), self.answers[:-1], 2) + _PRIOR_ANSWERS
        liked = self.liked.copy()
        liked[free] *= (given / expected)[free]
        return Measure(self.scale, liked / liked.mean())


def measured(pooled: Pooled, ascent: Ascent, rules: Rules) -> tuple[Pooled, Ascent]:
    """The pooled model with likings, if they explain the reports so much better; else the same.

    At first only the ends of the scale are liked more or less than other answers, then all are.
    """
    if not pooled.crowd.is_measure:
        return pooled, ascent
    scale, some = pooled.crowd.scale, pooled.on_some_tasks(_ENOUGH)
    measure, chosen = Measure(scale, np.ones(scale.size)), None
    point, best = some.of(measure).fit(rules).point, some.evidence(ascent.point)
    every = np.arange(scale.size)
    for free in (every[[0, -1]], every[1:]):
        price = PER_SHARE * len(free)
        measure, point, evidence = _liked(some, measure, point, free, best + price, rules)
        if evidence - price > best:
            best, chosen = evidence - price, (measure, point)
    if chosen is None:
        return pooled, ascent
    found = pooled.of(chosen[0])
    return found, found.fit(rules, chosen[1])


def _liked(
    pooled: Pooled,
    measure: Measure,
    point: Array,
    free: NDArray[np.intp],
    worth: float,
    rules: Rules,
) -> tuple[Measure, Array, float]:
    """Learn likings until they do not move, or will not be `worth` their freedom; the evidence."""
    found = pooled.of(measure)
    evidence, gain = found.evidence(point), np.inf
    while gain > _NEARLY and evidence + _PATIENCE * gain > worth:
        measure = measure.after(found, point, free)
        found = pooled.of(measure)
        point = found.fit(rules, point).point
        gain = found.evidence(point) - evidence
        evidence += gain
    return measure, point, evidence


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

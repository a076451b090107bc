"""P(θ | reports) where reports tell of mean answers: a sum over all that a crowd may be.

The tasks' mean answers m_j are independent, with a beta distribution P(θ) over the scale. For μ in
the middle its standard deviation is τ ranges of the scale, from nearly normal to mostly at both
ends; for any μ

    T² = 4τ²·(μ − min)·(max − μ).

With N(μ, T²) in its stead everything is normal, and what the reports say of a task, P(m_j |
reports) / N(m_j; μ, T²), is so, too: P(θ) times this is the answer. It is summed over μ, τ and the
hypotheses on the crowd, by how well they explain the reports. A few numbers tell little of τ: then
intervals are as wide as they must be.
"""

from __future__ import annotations

from functools import reduce
from heapq import nlargest
from itertools import product
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from forsooth.inference.posterior.model import normalised_exp
from forsooth.inference.sketches.belief import Belief
from forsooth.inference.sketches.factorized import Profiled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from forsooth.inference.posterior.model import Crowd
    from forsooth.inference.sketches.belief import Hypothesis

    Array = NDArray[np.float64]

_WIDTHS = (0.03, 0.07, 0.11, 0.16, 0.22, 0.3, 0.4)  # τ: of 0.29 and μ in the middle P(θ) is flat
_LEVELS = 12  # values of μ that are tried at once
_ZOOMS = 3  # times, each where the last ones were likely
_MARGIN = 0.01  # of the range: nearer to an end of the scale no μ is tried
_JOINT = 32  # hypotheses on all parts together
_NEGLIGIBLE = 1e-3  # of the likeliest's weight
_SURE = 1e-4  # ranges of the scale that a known truth may be off
_IMPOSSIBLE = 1e-300  # the probability of what cannot be, so that it has a logarithm


class Prior(NamedTuple):
    """Of a task's θ: over the grid, and the normal in its stead."""

    log: Array
    mean: float  # μ
    variance: float  # T²


class Found(NamedTuple):
    """P(θ | reports), tasks × grid, and what the crowd seems to be."""

    mass: Array
    participation: float
    spread: float


class Joint(NamedTuple):
    """A hypothesis on every part: their product, and means over the parts."""

    weight: float
    parts: tuple[Hypothesis, ...]
    participation: float
    spread: float

    @staticmethod
    def of(parts: Sequence[Hypothesis]) -> Joint:
        """What is told of many tasks at once is told together, and last: see `Belief`."""
        profiles = [part for part in parts if isinstance(part, Profiled)]
        others = [part for part in parts if not isinstance(part, Profiled)]
        last = [reduce(Profiled.beside, profiles)] if profiles else []
        return Joint(
            prod(part.weight for part in parts),
            (*others, *last),
            float(np.mean([part.participation for part in parts])),
            float(np.mean([part.spread for part in parts])),
        )

    def tell(self, belief: Belief) -> Belief:
        """One part after the other."""
        return reduce(lambda told, part: part.tell(told), self.parts, belief)


def mixture(crowd: Crowd, parts: Sequence[Sequence[Hypothesis]], gold: Array) -> Found:
    """The sum over all hypotheses; μ is looked for more and more closely."""
    likeliest = nlargest(_JOINT, product(*parts), key=lambda each: prod(p.weight for p in each))
    joint = [Joint.of(each) for each in likeliest]
    joint = [each for each in joint if each.weight > _NEGLIGIBLE * joint[0].weight]
    margin = _MARGIN * crowd.scale.range
    low, high = crowd.scale.low + margin, crowd.scale.high - margin
    for _ in range(_ZOOMS):
        levels, step = np.linspace(low, high, _LEVELS, retstep=True)
        tried = list(product(_priors(crowd, levels), joint))
        beliefs = [_told(crowd, *each, gold) for each in tried]
        priors = np.log([each.weight for _, each in tried])
        weights, _ = normalised_exp(priors + [belief.log for belief in beliefs])
        likely = np.flatnonzero(weights > _NEGLIGIBLE * weights.max())
        joint = [joint[each] for each in np.unique(likely % len(joint))]
        around = [beliefs[each].level for each in likely]
        low, high = max(low, min(around) - step), min(high, max(around) + step)
    mass, participation, spread = np.zeros((len(gold), len(crowd.grid))), 0.0, 0.0
    for each, weight in zip(likely, weights[likely] / weights[likely].sum()):
        prior, hypothesis = tried[each]
        mass += weight * _mass(crowd, prior, beliefs[each])
        participation += weight * hypothesis.participation
        spread += weight * hypothesis.spread
    known = np.flatnonzero(~np.isnan(gold))
    mass[known] = np.eye(len(crowd.grid))[crowd.nearest(gold[known])]
    return Found(mass, float(participation), float(spread))


def _told(crowd: Crowd, prior: Prior, joint: Joint, gold: Array) -> Belief:
    """What is believed after the gold and all reports."""
    known = ~np.isnan(gold)
    belief = Belief(prior.mean, np.full(len(gold), prior.mean), np.full(len(gold), prior.variance))
    if known.any():
        sure = (_SURE * crowd.scale.range) ** 2
        belief = belief.told(np.nan_to_num(gold), known.astype(float), sure)
    return joint.tell(belief)


def _mass(crowd: Crowd, prior: Prior, belief: Belief) -> Array:
    """P(θ) times what was said of every task; a grid point stands for its neighbourhood."""
    precision = np.maximum(1 / belief.variance - 1 / prior.variance, 0)
    pull, grid = (belief.mean - prior.mean) / belief.variance, crowd.grid - prior.mean
    blurred = 1 / (1 + precision * np.diff(grid).mean() ** 2 / 12)
    precision, pull = (precision * blurred)[:, None], (pull * blurred)[:, None]
    mass, _ = normalised_exp(prior.log + pull * grid - 0.5 * precision * grid**2)
    return mass


def _priors(crowd: Crowd, levels: Array) -> list[Prior]:
    """Every μ with every τ."""
    from scipy.special import betainc

    low, extent = crowd.scale.low, crowd.scale.range
    edges = np.concatenate([[0], ((crowd.grid[1:] + crowd.grid[:-1]) / 2 - low) / extent, [1]])
    found = []
    for width, level in product(_WIDTHS, levels):
        mean, strength = (level - low) / extent, 1 / (2 * width) ** 2 - 1
        mass = np.diff(betainc(mean * strength, (1 - mean) * strength, edges))
        variance = (2 * width * extent) ** 2 * mean * (1 - mean)
        found.append(Prior(np.log(np.maximum(mass, _IMPOSSIBLE)), float(level), variance))
    return found

"""Several tasks of one person, each shuffled by itself: the composition of δ(ε) with itself.

Let δ(ε) bound one task for both directions. As a function of x = e^ε it is convex, so that straight
lines between its values at a few x bound it from above. Such a broken line belongs to a pair of
laws (P, Q) whose likelihood ratio takes only these x, and infinity (Doroshenko, Ghazi, Kamath,
Kumar and Manurangsi 2022, "Connect the dots"): Q has at x the change of the slope, P has x times
that, and P has at infinity the last value. The pair dominates the task, so k independent copies
dominate k tasks (Zhu, Dong and Wang 2022, Theorem 10). Log-ratios of copies add up:

    δ_k(ε) = P(∞) + Σ_{λ > ε} P(λ)·(1 − e^{ε−λ}).

Slopes are exact fractions of the floats; sums of probabilities are convolutions, as in `sums`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from forsooth.rounding import float_above

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# name          value    unit, reason
_NODES = 64  # places above ε = 0 at which δ is computed; 256 lower the result by 0.1 %
_UNIT = 2.0**-52
_LOG_ERROR = 2.0**-50  # absolute, for each copy: the logarithm of a node is rounded
_ROUNDINGS = 2**16  # units for each copy: a convolution of at most as many terms


@dataclass(frozen=True, eq=False)
class PrivacyLoss:
    """An upper bound on P's law of the log-ratio: `mass` at (start + i)·step, and at infinity."""

    start: int
    mass: Floats
    infinite: float
    step: float
    copies: int = 1

    @classmethod
    def of(cls, delta: Callable[[float], float], largest: float) -> PrivacyLoss:
        """From a bound δ(ε) that holds in both directions, looked at up to `largest`."""
        step = largest / _NODES
        above = [Fraction(math.exp(step * node)) for node in range(_NODES + 1)]
        bound = [Fraction(min(delta(step * node), 1.0)) for node in range(_NODES + 1)]
        # H_x(P‖Q) = 1 − x + x·H_{1/x}(Q‖P), and Q and P may change places
        below = [(1 / x, 1 - 1 / x + y / x) for x, y in zip(above[:0:-1], bound[:0:-1])]
        places = [Fraction(0), *(x for x, _ in below), *above]
        heights = [Fraction(1), *(y for _, y in below), *bound]
        slopes = [*_convex_slopes(places, heights), Fraction(0)]
        mass = [
            float_above(x * (after - before))
            for x, before, after in zip(places[1:], slopes, slopes[1:])
        ]
        return cls(-_NODES, np.array(mass), float_above(bound[-1]), step)

    def plus(self, other: PrivacyLoss, tolerance: float) -> PrivacyLoss:
        """The sum of two independent log-ratios; tails of about `tolerance` are moved up."""
        mass = np.convolve(self.mass, other.mass)
        left = min(int(np.count_nonzero(np.cumsum(mass) <= tolerance)), len(mass) - 1)
        end = len(mass) - int(np.count_nonzero(np.cumsum(mass[::-1]) <= tolerance))
        end = max(end, left + 1)
        kept = mass[left:end].copy()
        kept[0] += mass[:left].sum()
        infinite = self.infinite + other.infinite + mass[end:].sum()
        return PrivacyLoss(
            self.start + other.start + left,
            kept,
            float(infinite),
            self.step,
            self.copies + other.copies,
        )

    def times(self, copies: int, tolerance: float) -> PrivacyLoss:
        """The sum of several independent copies, by doubling."""
        found = self
        for bit in f"{copies:b}"[1:]:
            found = found.plus(found, tolerance)
            found = found.plus(self, tolerance) if bit == "1" else found
        return found

    def delta(self, epsilon: float) -> float:
        """An upper bound on δ at ε."""
        values = self.step * np.arange(self.start, self.start + len(self.mass))
        over = values + _LOG_ERROR * self.copies * (1 + _NODES * self.step) - epsilon
        expected = float((self.mass * -np.expm1(-np.maximum(over, 0.0))).sum())
        return (expected + self.infinite) * math.exp(_ROUNDINGS * _UNIT * self.copies)


def _convex_slopes(places: Sequence[Fraction], heights: Sequence[Fraction]) -> list[Fraction]:
    """The slopes between neighbouring places of the largest convex function below the heights."""
    hull: list[int] = []
    for place in range(len(places)):
        while len(hull) > 1 and _slope(places, heights, hull[-2], hull[-1]) >= _slope(
            places, heights, hull[-1], place
        ):
            hull.pop()
        hull.append(place)
    return [
        _slope(places, heights, one, other)
        for one, other in pairwise(hull)
        for _ in range(one, other)
    ]


def _slope(
    places: Sequence[Fraction], heights: Sequence[Fraction], one: int, other: int
) -> Fraction:
    return (heights[other] - heights[one]) / (places[other] - places[one])

"""Where a falling error, known only by noisy measurements, crosses a target.

A guide (a falling curve of about the right shape) says where to measure first, and, scaled to what
was measured, where next, until there are measurements on both sides of the target; then bisection,
until the two neighbours of the target are near each other. All on logarithmic axes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from forsooth.planning.estimate import least
from forsooth.planning.rehearsal import Point, spread

if TYPE_CHECKING:
    from collections.abc import Callable

    Curve = Callable[[float], float]

_MOST_TRIES = 10
_TINY = 1e-12  # no error is smaller
_STEP, _FLATTEST = 1.2, 0.1  # of the slope of the guide
_FURTHER = 1.05  # a step goes a little further than it need, to get to the other side


@dataclass(frozen=True)
class Axis:
    """What is varied: within what limits, how near neighbours must come, in whole numbers?"""

    low: float
    high: float
    near: float
    whole: bool

    def tidy(self, value: float) -> float:
        """The value within the limits, to three digits."""
        digits = 2 - math.floor(math.log10(value))
        tidied = round(value, min(digits, 0) if self.whole else digits)
        return float(min(max(tidied, self.low), self.high))


@dataclass(frozen=True)
class Crossing:
    """Where the target is reached, a 90 % interval of that, and the error's relative precision."""

    value: float
    low: float
    high: float
    relative_se: float


def crossing(
    measure: Callable[[float], Point], guide: Curve, target: float, axis: Axis
) -> Crossing | None:
    """Where the measured error reaches the target; None if it does not within the axis."""
    points: dict[float, Point] = {}
    value = axis.tidy(least(guide, target, axis.low, axis.high) or axis.high)
    tries = 0
    while True:
        tries += 1
        points[value] = measure(value)
        errors = smoothed(points)
        above = max((place for place, error in errors.items() if error > target), default=None)
        below = min((place for place, error in errors.items() if error <= target), default=None)
        if above == axis.high:
            return None
        if below == axis.low:
            return Crossing(axis.low, axis.low, axis.low, points[axis.low].se / target)
        if above is None or below is None:
            further = _FURTHER ** (2**tries)
            scaled = target * guide(value) / max(points[value].mae, _TINY)
            if below is None:
                place = least(guide, scaled, value, axis.high) or axis.high
                value = axis.tidy(place * further)
            else:
                value = axis.tidy((least(guide, scaled, axis.low, value) or value) / further)
        elif below > above * axis.near and tries < _MOST_TRIES:
            value = axis.tidy(math.sqrt(above * below))
        else:
            return _between(above, below, points, errors, guide, target)


def smoothed(points: dict[float, Point]) -> dict[float, float]:
    """The errors nearest to the measured ones that fall from place to place."""
    from scipy.optimize import isotonic_regression

    places = sorted(points)
    logs = [math.log(max(points[place].mae, _TINY)) for place in places]
    weights = [len(points[place].errors) for place in places]
    falling = isotonic_regression(logs, weights=weights, increasing=False).x
    return dict(zip(places, np.exp(falling).tolist()))


def _between(
    above: float,
    below: float,
    points: dict[float, Point],
    errors: dict[float, float],
    guide: Curve,
    target: float,
) -> Crossing:
    """Where the line between the neighbours of the target crosses it."""
    share = math.log(errors[above] / target) / math.log(errors[above] / errors[below])
    value = above * (below / above) ** share
    deviation, quantile = spread(points.values())
    relative_se = deviation * math.hypot(
        (1 - share) / math.sqrt(len(points[above].errors)),
        share / math.sqrt(len(points[below].errors)),
    )
    fall = guide(value / _STEP) / max(guide(value * _STEP), _TINY)
    slope = math.log(fall) / (2 * math.log(_STEP))
    factor = math.exp(quantile * relative_se / max(slope, _FLATTEST))
    return Crossing(value, value / factor, value * factor, relative_se)

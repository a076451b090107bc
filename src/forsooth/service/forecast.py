"""What to expect of a campaign that is being planned: the fast estimate of `planning.estimate`.

It takes the crowd as known: truths anywhere on the scale, the given density and noise. Nothing is
simulated, so an answer takes some tenths of a second at most.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

from forsooth import mechanisms
from forsooth.errors import ForsoothError
from forsooth.inference.enough import MARGIN
from forsooth.mechanisms import ChannelMechanism, SampledTasks
from forsooth.odds import strength
from forsooth.planning.adaptive import ADAPTIVE
from forsooth.planning.estimate import Expected, least
from forsooth.scale import Scale
from forsooth.service.campaigns import MAX_ANSWERS
from forsooth.service.schemas_plan import ExpectedErrorView, ForecastView

if TYPE_CHECKING:
    from collections.abc import Callable

    from forsooth.service.schemas_plan import PlannedOrder

# name               value  unit, reason
_TIMES = (1, 3, 10)  # multiples of the number of people
_NOISE = 0.25  # of the range: many people choose a neighbouring answer
_NOISE_OF_TWO = 0.5  # of the range: 84 % choose the right one of two answers
_MOST_DESIGNED = 7  # answers: to design a staircase for more takes longer than a second
_RATIO, _RATIO_OF_TWO = 1.3, 1.8  # of real errors to the estimate: see planning.estimate
_MOST = 1e5  # people; a number above is not searched for
_REMEMBERED = 512  # plans: somebody who types comes back to the same ones
_SLOW = ("mf", "mf-safe")  # not even built here


@lru_cache(maxsize=_REMEMBERED)
def forecast(order: PlannedOrder) -> ForecastView:
    """What to expect of the order."""
    scale = Scale.parse(order.scale)
    if scale.size > MAX_ANSWERS:
        raise ForsoothError(
            f"a campaign's scale has at most {MAX_ANSWERS} answers, got {scale.size}"
        )
    is_pair = scale.size == 2
    noise = order.noise or scale.range * (_NOISE_OF_TWO if is_pair else _NOISE)
    expected = Expected(scale, order.density, noise=f"{noise:.6g}", estimand=order.estimand)
    total = order.epsilon * (order.tasks if order.unit == "cell" else 1)
    error, useful = _error(order, scale, expected), MARGIN * expected.constant_error
    return ForecastView(
        worker_total=total,
        strength=strength(total),
        estimand=expected.assumed,
        expected=[_point(error, times * order.workers, useful) for times in _TIMES]
        if error
        else [],
        answers=scale.size,
        low=scale.low,
        high=scale.high,
        constant_error=expected.constant_error,
        needed=_needed(error, useful) if error else None,
        largest_ratio=_RATIO_OF_TWO if is_pair else _RATIO,
        density=order.density,
        noise=noise,
    )


def _point(error: Callable[[float], float], workers: int, useful: float) -> ExpectedErrorView:
    found = error(workers)
    return ExpectedErrorView(workers=workers, error=found, useful=found <= useful)


def _error(
    order: PlannedOrder, scale: Scale, expected: Expected
) -> Callable[[float], float] | None:
    """The expected error by the number of people; None if there is no quick estimate.

    An adaptive campaign begins with rr, and is estimated as if it stayed there.
    """
    name = "rr" if order.mechanism == ADAPTIVE else order.mechanism
    family = name.partition(":")[0]
    if family in _SLOW or (family == "staircase" and scale.size > _MOST_DESIGNED):
        return None
    mechanism = mechanisms.build(
        name,
        scale,
        order.epsilon,
        tasks=order.tasks,
        protects=order.protects,
        unit=order.unit,
        sampled=order.sampled,
    )
    asked = 1.0  # the share of the people who are asked a question
    if isinstance(mechanism, SampledTasks):
        asked = min(1.0, mechanism.count / order.tasks)
        mechanism = mechanism.inner
    if not isinstance(mechanism, ChannelMechanism):
        return None
    channel = mechanism
    return lambda workers: expected.error(channel, asked * workers)


def _needed(error: Callable[[float], float], target: float) -> int | None:
    """How many people reach the target, to two digits."""
    found = least(error, target, 1, _MOST)
    if found is None:
        return None
    unit = 10 ** max(0, math.floor(math.log10(found)) - 1)
    return int(math.ceil(found / unit) * unit)

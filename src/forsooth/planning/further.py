"""How many more workers the requested precision needs, as a range.

Let W be the width of the intervals now, from n workers, w the requested one, and e(m) the fast
estimate of the error with m workers of the crowd that the inference has found. The width falls
like the error, so about m workers are needed in all, where

    e(m) / e(n) = w / W

Only a ratio of two estimates is used, so what they leave out on both sides cancels.

While reports tell little, the width is that of the prior and the crowd is hardly known. So nothing
is said before the estimated error is clearly below that of the best constant. From then on m is
stated up to a factor. `python -m benchmarks.further` shows how often the range holds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forsooth.mechanisms import ChannelMechanism, SampledTasks
from forsooth.planning.estimate import least
from forsooth.planning.learned import learned

if TYPE_CHECKING:
    from forsooth.mechanisms.base import Mechanism
    from forsooth.truths import Truths

# name         value  unit, reason
_TOO_EARLY = 0.8  # of the best constant's error: above, predictions were wrong by up to ten times
_FACTOR = 2.0  # of the workers needed in all, either way: holds in 9 of 10 simulated campaigns
_MOST = 1e7  # workers; more are nowhere


@dataclass(frozen=True)
class FurtherWorkers:
    """About how many more workers are needed."""

    low: int
    high: int


def further_workers(
    truths: Truths,
    mechanism: Mechanism,
    workers: int,
    *,
    density: float,
    width: float,
    target: float,
) -> FurtherWorkers | None:
    """None if the target is reached, or if nothing can be said (yet).

    `mechanism` is what further workers would use, `workers` how many there are now, and `width`
    that of the intervals now. `density` is the share of the tasks that a worker answers: where
    participation is hidden, of the tasks that they report on.
    """
    share = 1.0  # of the workers who report on a task
    if isinstance(mechanism, SampledTasks):
        if mechanism.layout == "rows":
            share = min(1.0, mechanism.count / len(truths))
        mechanism = mechanism.inner
    expected = learned(truths, density)
    if width <= target or expected is None or not isinstance(mechanism, ChannelMechanism):
        return None
    channel = mechanism
    now = expected.error(channel, share * workers)
    if now > _TOO_EARLY * expected.constant_error:
        return None
    wanted = now * target / width
    needed = least(lambda m: expected.error(channel, share * m), wanted, workers, _MOST)
    if needed is None:
        return None
    low, high = needed / _FACTOR - workers, needed * _FACTOR - workers
    return FurtherWorkers(max(0, math.floor(low)), math.ceil(high))

"""What the sums of `mf-safe` tell: of every task its answers and how many there are, with noise.

Over the workers, the mean y_j of the value readings and p_j of the presence readings are

    y_j = π_j·(m_j − c) + noise,    p_j = π_j + noise,

the noise of both being that of the readings themselves, divided by the number of workers: it has
all of it, the mechanism's, the collisions of tasks and the chance who answers. Tasks are popular to
a different degree, π_j ~ N(π, ω²), with what the spread of the p_j leaves for ω². With μ for m_j in
small terms, (y_j, p_j) has the covariance Σ + ω²·(μ − c, 1)(μ − c, 1)ᵀ, and y_j without what p_j
explains of it, y_j − β(p_j − π), tells m_j. π is what the mean of all p_j says, with its error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from forsooth.inference.posterior.model import normalised_exp

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.inference.sketches.belief import Belief
    from forsooth.mechanisms import SafeFactorization
    from forsooth.reports import Reports

    Array = NDArray[np.float64]

_RATES = 11  # values of π
_ERRORS = 3.0  # standard errors to either side that they span


class Sums(NamedTuple):
    """Means over the workers, and what is left of chance in them."""

    centre: float  # c
    value: Array  # y
    present: Array  # p
    covariance: Array  # Σ
    popularity: float  # ω²


class Summed(NamedTuple):
    """The sums, if π is known."""

    weight: float
    sums: Sums
    participation: float  # π
    spread: float

    def tell(self, belief: Belief) -> Belief:
        """y_j − β(p_j − π) + π·c = π·m_j + noise."""
        sums, rate = self.sums, self.participation
        along = np.array([belief.level - sums.centre, 1.0])
        both = sums.covariance + sums.popularity * np.outer(along, along)
        explained = both[0, 1] / both[1, 1]
        value = sums.value - explained * (sums.present - rate) + rate * sums.centre
        return belief.told(value, rate, both[0, 0] - explained * both[0, 1])


def sums_of(mechanism: SafeFactorization, reports: Reports) -> Sums:
    """Σ is the same for all tasks: their own answers are a small part of it."""
    readings = mechanism.sums(reports)
    workers, tasks = readings[0].shape
    means = np.array([each.mean(axis=0) for each in readings])
    # A single worker has no spread: then about 0, which is more.
    centred = [each - mean * (workers > 1) for each, mean in zip(readings, means)]
    squares = np.array([[np.vdot(one, other) for other in centred] for one in centred])
    covariance = squares / (tasks * max(1, workers - 1) * workers)
    own = mechanism.noise_variance() / workers
    least = own / (mechanism.presence * 2.0**mechanism.grid) ** 2
    covariance += np.diag(np.maximum(0, [own, least] - covariance.diagonal()))
    popularity = max(0.0, float(means[1].var()) - covariance[1, 1]) if tasks > 1 else 0.0
    return Sums(mechanism.centre, means[0], means[1], covariance, popularity)


def hypotheses(mechanism: SafeFactorization, reports: Reports) -> list[Summed]:
    """Every π that is likely."""
    sums, (workers, tasks) = sums_of(mechanism, reports), (len(reports.workers), len(reports.tasks))
    seen = float(sums.present.mean())
    error = np.sqrt((sums.covariance[1, 1] + sums.popularity) / tasks)
    reach, fewest = _ERRORS * error, 1 / (workers * tasks)
    rates = np.linspace(
        max(fewest, min(1, seen - reach)), max(fewest, min(1, seen + reach)), _RATES
    )
    weights, _ = normalised_exp(-0.5 * ((rates - seen) / error) ** 2)
    scale, crowded = mechanism.scale, tasks / mechanism.d
    squares = max(0.0, sums.covariance[0, 0] * workers - mechanism.noise_variance()) / crowded
    found = []
    for weight, rate in zip(weights, rates):
        variance = squares / rate - (sums.value.mean() / rate) ** 2
        spread = float(np.sqrt(np.clip(variance, 0, scale.range**2 / 4)))
        found.append(Summed(float(weight), sums, float(rate), spread))
    return found

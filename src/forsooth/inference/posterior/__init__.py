"""Posterior inference: the truth of every task given the reports and the channel they came through.

The collector knows P(report | answer). Computing P(truth | reports) with it is post-processing and
costs no privacy; it turns reports that are useless when read as answers into good estimates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from forsooth.errors import ForsoothError
from forsooth.inference.estimates import Rules, quality, smallest_deviation
from forsooth.inference.posterior.classes import fit_classes
from forsooth.inference.posterior.evidence import evidence_of
from forsooth.inference.posterior.labels import Labels
from forsooth.inference.posterior.model import Crowd
from forsooth.inference.posterior.pooled import Pooled, Tally, recover_moments
from forsooth.truths import COVERAGE, Posterior, Truths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from forsooth.answers import Answers
    from forsooth.reports import Reports

Estimate = Literal["median", "mean", "mode"]
ESTIMATES: tuple[str, ...] = get_args(Estimate)
_DRAWS = 2000
_HALF_TRUST = 0.5  # nats per worker


def posterior(
    parts: Sequence[Reports | Answers],
    rules: Rules,
    gold: NDArray[np.float64],
    estimate: Estimate = "median",
    *,
    unordered: bool = False,
) -> Truths:
    """Truths with credible intervals. The median minimises the mean absolute error.

    `unordered` labels have no median and no interval: the estimate is the likeliest label, and
    the interval is that label alone.
    """
    if estimate not in ESTIMATES:
        raise ForsoothError(f"unknown estimate {estimate!r}; known: {', '.join(ESTIMATES)}")
    crowd = Labels(parts[0].scale) if unordered else Crowd(parts[0].scale)
    estimate = "mode" if unordered else estimate
    evidence = tuple(evidence_of(part) for part in parts)
    pinned = np.where(np.isnan(gold), -1, crowd.nearest(np.nan_to_num(gold)))
    moments, tally = recover_moments(crowd, evidence, rules), Tally.of(evidence, pinned)
    pooled = Pooled(crowd, evidence, moments, tally)
    ascent = pooled.fit(rules)
    point = pooled.shrunk(ascent.point)
    mass, likelihood = pooled.posterior(point)
    classes = fit_classes(pooled, point, rules)
    workers = sum(part.workers for part in evidence)
    trust = _trust_in_classes((classes.bound - likelihood) / workers)
    mass = (1 - trust) * mass + trust * classes.mass
    kinds = np.concatenate(classes.kinds)
    deviation = kinds @ crowd.deviations
    low, high = (_quantile(crowd, mass, (1 + side * COVERAGE) / 2) for side in (-1, 1))
    point_estimate = _estimate(crowd, mass, estimate, gold)
    if unordered:
        low = high = point_estimate
    hidden = any(part.hidden for part in evidence)
    support = sum(part.per_task().sum(axis=1) for part in evidence)
    return Truths(
        method="posterior",
        scale=crowd.scale,
        tasks=parts[0].tasks,
        estimate=point_estimate,
        low=low,
        high=high,
        support=np.asarray(support, np.int64),
        workers=tuple(worker for part in parts for worker in part.workers),
        quality=quality(deviation, smallest_deviation(crowd.scale)),
        deviation=deviation,
        iterations=len(ascent.history) + len(classes.history),
        converged=ascent.converged and classes.converged,
        history=ascent.history,
        posterior=Posterior(
            grid=crowd.grid,
            mass=mass,
            answers=np.tensordot(pooled.split(point)[1], crowd.answers, 1),
            model="worker classes" if trust > 0.5 else "pooled",
            participation=pooled.split(point)[2] if hidden else None,
            constant_as_good=_constant_as_good(crowd, mass, estimate),
            deviation_interval=_deviation_interval(crowd, kinds),
        ),
    )


def _trust_in_classes(gain: float) -> float:
    """The weight of the class model in the average of both; `gain` is in nats per worker.

    Its evidence is a lower bound and its posteriors are narrower than they should be, so that a
    small gain decides little: half a nat per worker, and it has half of the weight.
    """
    return max(0.0, gain) / (max(0.0, gain) + _HALF_TRUST)


def _estimate(
    crowd: Crowd, mass: NDArray[np.float64], estimate: Estimate, gold: NDArray[np.float64]
) -> NDArray[np.float64]:
    if estimate == "mean":
        point = mass @ crowd.grid
    elif estimate == "mode":
        point = crowd.grid[mass.argmax(axis=1)]
    else:
        point = _quantile(crowd, mass, 0.5)
    return np.where(np.isnan(gold), point, gold)


def _quantile(crowd: Crowd, mass: NDArray[np.float64], level: float) -> NDArray[np.float64]:
    """The first grid point at which the posterior has reached `level`."""
    reached = np.cumsum(mass, axis=1) >= level - 1e-12
    quantile: NDArray[np.float64] = crowd.grid[reached.argmax(axis=1)]
    return quantile


def _deviation_interval(
    crowd: Crowd, kinds: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A 90 % interval of every worker's σ, from the kinds that he may be of."""
    order = np.argsort(crowd.deviations)
    reached = np.cumsum(kinds[:, order], axis=1)
    low, high = (
        crowd.deviations[order][(reached >= (1 + side * COVERAGE) / 2 - 1e-9).argmax(axis=1)]
        for side in (-1, 1)
    )
    return low, high


def _constant_as_good(crowd: Crowd, mass: NDArray[np.float64], estimate: Estimate) -> float:
    """The posterior probability that one constant for all tasks has no larger error."""
    random = np.random.default_rng(0)
    cumulative = np.cumsum(mass, axis=1)
    overall = mass.mean(axis=0)[None, :]
    constant = float(_quantile(crowd, overall, 0.5)[0])
    point = _estimate(crowd, mass, estimate, np.full(len(mass), np.nan))
    wins = 0
    for _ in range(_DRAWS):
        drawn = (random.random((len(mass), 1)) < cumulative).argmax(axis=1)
        truth = crowd.grid[drawn]
        wins += int(np.abs(truth - constant).mean() <= np.abs(truth - point).mean())
    return wins / _DRAWS

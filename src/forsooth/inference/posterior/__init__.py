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
from forsooth.inference.posterior.model import Crowd
from forsooth.inference.posterior.pooled import Pooled, recover_moments
from forsooth.truths import COVERAGE, Posterior, Truths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from forsooth.answers import Answers
    from forsooth.reports import Reports

Estimate = Literal["median", "mean", "mode"]
ESTIMATES: tuple[str, ...] = get_args(Estimate)
_DRAWS = 2000


def posterior(
    parts: Sequence[Reports | Answers],
    rules: Rules,
    gold: NDArray[np.float64],
    estimate: Estimate = "median",
) -> Truths:
    """Truths with credible intervals. The median minimises the mean absolute error."""
    if estimate not in ESTIMATES:
        raise ForsoothError(f"unknown estimate {estimate!r}; known: {', '.join(ESTIMATES)}")
    crowd = Crowd(parts[0].scale)
    evidence = tuple(evidence_of(part) for part in parts)
    pinned = np.where(np.isnan(gold), -1, crowd.nearest(np.nan_to_num(gold)))
    pooled = Pooled(crowd, evidence, recover_moments(crowd, evidence, rules), pinned)
    ascent = pooled.fit(rules)
    point = pooled.shrunk(ascent.point)
    mass, likelihood = pooled.posterior(point)
    classes = fit_classes(pooled, point, rules)
    supported = classes.bound > likelihood
    if supported:
        mass = classes.mass
    deviation = np.concatenate(classes.kinds) @ crowd.deviations
    hidden = any(part.hidden for part in evidence)
    support = sum(part.per_task().sum(axis=1) for part in evidence)
    return Truths(
        method="posterior",
        scale=crowd.scale,
        tasks=parts[0].tasks,
        estimate=_estimate(crowd, mass, estimate, gold),
        low=_quantile(crowd, mass, (1 - COVERAGE) / 2),
        high=_quantile(crowd, mass, (1 + COVERAGE) / 2),
        support=np.asarray(support, np.int64),
        workers=tuple(worker for part in parts for worker in part.workers),
        quality=quality(deviation, smallest_deviation(crowd.scale)),
        deviation=deviation,
        iterations=len(ascent.history) + len(classes.history),
        converged=ascent.converged and (classes.converged or not supported),
        history=ascent.history,
        posterior=Posterior(
            grid=crowd.grid,
            mass=mass,
            answers=np.tensordot(pooled.split(point)[1], crowd.answers, 1),
            model="worker classes" if supported else "pooled",
            participation=pooled.split(point)[2] if hidden else None,
            constant_as_good=_constant_as_good(crowd, mass, estimate),
        ),
    )


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

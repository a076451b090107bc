"""The posterior for `mf` and `mf-safe`, whose reports are sums over tasks.

Sums tell of every task the mean answer m_j that it gets. Given what is unknown of the crowd (see
`factorized`, `summed`) the mean reports are linear in m, and normal by the number of workers;
`mixture` does the rest. They do not tell careful from careless workers, so that a truth may be
further from the middle than its m_j.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import threadpool_limits

from forsooth.cells import Cells
from forsooth.errors import ForsoothError
from forsooth.inference.estimates import quality, smallest_deviation, worker_deviation
from forsooth.inference.posterior.evidence import is_hidden
from forsooth.inference.posterior.model import Crowd, possible, rounded_normal
from forsooth.inference.posterior.reading import constant_as_good, estimated, quantile
from forsooth.inference.sketches import factorized, summed
from forsooth.inference.sketches.mixture import mixture
from forsooth.mechanisms import MatrixFactorization, SafeFactorization
from forsooth.truths import COVERAGE, Posterior, Truths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from forsooth.inference.posterior import Options
    from forsooth.inference.sketches.belief import Hypothesis
    from forsooth.inference.sketches.mixture import Found
    from forsooth.mechanism import Mechanism
    from forsooth.reports import Reports

    Array = NDArray[np.float64]

_CARELESS = 0.4  # the largest share of answers at random; all up to it are alike likely
_SHARES = 5  # that are tried


def is_sketch(mechanism: Mechanism) -> bool:
    """Reports that are sums over tasks, not made of cells."""
    return isinstance(mechanism, MatrixFactorization | SafeFactorization)


def sketched(parts: Sequence[Reports], gold: Array, options: Options) -> Truths:
    """Truths with credible intervals; workers are judged by what their reports decode to."""
    if options.unordered:
        raise ForsoothError(
            "mf and mf-safe report sums over tasks: labels without an order have none"
        )
    crowd, known = Crowd(parts[0].scale), ~np.isnan(gold)
    with threadpool_limits(1):
        found = mixture(crowd, _hypotheses(parts), gold)
    mass = np.where(known[:, None], found.mass, _truths(crowd, parts, found))
    low, high = (
        np.where(known, gold, quantile(crowd.grid, mass, (1 + side * COVERAGE) / 2))
        for side in (-1, 1)
    )
    cells = Cells.stack([part.cells() for part in parts])
    estimate = estimated(crowd.grid, mass, options.estimate, gold)
    deviation = worker_deviation(cells, estimate)
    hidden = any(is_hidden(part.mechanism) for part in parts)
    return Truths(
        method="posterior",
        scale=crowd.scale,
        tasks=parts[0].tasks,
        estimate=estimate,
        low=low,
        high=high,
        support=cells.per_task().astype(np.int64),
        workers=tuple(worker for part in parts for worker in part.workers),
        quality=quality(deviation, smallest_deviation(crowd.scale)),
        deviation=deviation,
        iterations=0,
        converged=True,
        posterior=Posterior(
            grid=crowd.grid,
            mass=mass,
            answers=_answers(crowd, found),
            model="sketches",
            participation=found.participation if hidden else None,
            constant_as_good=constant_as_good(crowd.grid, mass, options.estimate),
            # One worker's sketch is mostly noise: of his own error nothing is known.
            deviation_interval=(0 * deviation, np.maximum(deviation, crowd.scale.range)),
        ),
    )


def _truths(crowd: Crowd, parts: Sequence[Reports], found: Found) -> Array:
    """P(θ | reports) of P(m | reports): with a share c at random, m = (1 − c)·θ + c·middle.

    Sums do not tell c, but answers are spread at least as widely as those at random among them.
    (How widely that is, profiles hardly tell.) A θ that would be off the scale is at its end.
    """
    values, most = np.asarray(crowd.scale.values), _CARELESS
    if not any(isinstance(part.mechanism, MatrixFactorization) for part in parts):
        most = min(most, found.spread**2 / values.var())
    behind = [(crowd.grid - c * values.mean()) / (1 - c) for c in np.linspace(0, most, _SHARES)]
    moved = np.mean([np.eye(len(crowd.grid))[crowd.nearest(each)] for each in behind], axis=0)
    truths: Array = found.mass @ moved
    return truths


def better(one: Truths, other: Truths) -> Truths:
    """Of two posteriors for the same tasks the one that promises the smaller error.

    Both speak for their workers.
    """
    chosen = min((one, other), key=_promised_error)
    deviation = np.concatenate([one.deviation, other.deviation])
    bounds = zip(*(each.posterior.deviation_interval for each in (one, other) if each.posterior))
    low, high = (np.concatenate(bound) for bound in bounds)
    return replace(
        chosen,
        support=one.support + other.support,
        workers=one.workers + other.workers,
        quality=quality(deviation, smallest_deviation(one.scale)),
        deviation=deviation,
        posterior=chosen.posterior and replace(chosen.posterior, deviation_interval=(low, high)),
    )


def _promised_error(truths: Truths) -> float:
    """Σ_j E|θ_j − median_j|."""
    if truths.posterior is None:
        return np.inf
    grid, mass = truths.posterior.grid, truths.posterior.mass
    medians = quantile(grid, mass, 0.5)
    return float((mass * np.abs(grid - medians[:, None])).sum())


def _hypotheses(parts: Sequence[Reports]) -> list[Sequence[Hypothesis]]:
    """On every part; reports that came through the same mechanism are one."""
    groups: dict[str, list[Reports]] = {}
    for part in parts:
        groups.setdefault(part.mechanism.to_json(), []).append(part)
    found: list[Sequence[Hypothesis]] = []
    for group in groups.values():
        mechanism, values = group[0].mechanism, np.concatenate([part.values for part in group])
        if isinstance(mechanism, MatrixFactorization):
            found.append(factorized.hypotheses(mechanism, values))
        elif isinstance(mechanism, SafeFactorization):
            workers = tuple(worker for part in group for worker in part.workers)
            whole = replace(group[0], workers=workers, values=values)
            found.append(summed.hypotheses(mechanism, whole))
    return found


def _answers(crowd: Crowd, found: Found) -> Array:
    """P(answer | θ), with as much error as truths leave of the spread of answers."""
    overall = found.mass.mean(axis=0)
    truths = overall @ crowd.grid**2 - (overall @ crowd.grid) ** 2
    sharpest = float(crowd.deviations.min())
    sigma = np.sqrt(max(found.spread**2 - truths, sharpest**2))
    return possible(rounded_normal(crowd.scale, crowd.grid, sigma))

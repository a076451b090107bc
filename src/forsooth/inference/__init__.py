"""What the collector runs: reports in, truths out; one file per method."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forsooth.answers import Answers
from forsooth.cells import Cells
from forsooth.errors import ForsoothError
from forsooth.inference.algorithm1 import algorithm1
from forsooth.inference.averages import majority, mean, median
from forsooth.inference.estimates import TIES, Rules, Ties, quality, smallest_deviation
from forsooth.reports import Reports
from forsooth.truths import Truths

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from forsooth.inference.estimates import Estimates
    from forsooth.scale import Scale

METHODS: dict[str, Callable[[Cells, Scale, Rules], Estimates]] = {
    "algorithm1": algorithm1,
    "mean": mean,
    "median": median,
    "majority": majority,
}
DEFAULT_METHOD = "algorithm1"


def infer(
    data: Reports | Answers | Sequence[Reports],
    method: str = DEFAULT_METHOD,
    *,
    tolerance: float = Rules.tolerance,
    max_iterations: int = Rules.max_iterations,
    ties: Ties = Rules.ties,
) -> Truths:
    """Each task's truth and each worker's quality, from reports (or, not privately, from answers).

    Several reports of one campaign, even from different mechanisms, are taken together. A task
    without any cell gets the median of the other tasks' estimates and the whole scale as interval.
    """
    if method not in METHODS:
        raise ForsoothError(f"unknown method {method!r}; known: {', '.join(METHODS)}")
    rules = Rules(tolerance, max_iterations, ties)
    parts = [data] if isinstance(data, Reports | Answers) else list(data)
    _check_one_campaign(parts)
    scale, cells = parts[0].scale, Cells.stack([part.cells() for part in parts])
    result = METHODS[method](cells, scale, rules)
    support = cells.per_task().astype(np.int64)
    known = result.truth[support > 0]
    fallback = float(np.median(known)) if known.size else scale.middle
    return Truths(
        method=method,
        scale=scale,
        tasks=parts[0].tasks,
        estimate=np.where(support > 0, result.truth, fallback),
        low=np.where(np.isnan(result.low), scale.low, result.low),
        high=np.where(np.isnan(result.high), scale.high, result.high),
        support=support,
        workers=tuple(worker for part in parts for worker in part.workers),
        quality=quality(result.deviation, smallest_deviation(scale)),
        deviation=result.deviation,
        iterations=len(result.history),
        converged=result.converged,
        history=result.history,
    )


def _check_one_campaign(parts: Sequence[Reports | Answers]) -> None:
    if not parts:
        raise ForsoothError("there are no reports to infer from")
    first, seen = parts[0], set(parts[0].workers)
    for part in parts[1:]:
        if part.scale != first.scale:
            raise ForsoothError(
                f"reports of different campaigns: scales {first.scale} and {part.scale}"
            )
        if part.tasks != first.tasks:
            raise ForsoothError("reports of different campaigns: their lists of tasks differ")
        if twice := seen.intersection(part.workers):
            raise ForsoothError(
                f"worker {min(twice)!r} reports twice ({len(twice)} such): "
                "a worker reports once per campaign"
            )
        seen.update(part.workers)


__all__ = ["DEFAULT_METHOD", "METHODS", "TIES", "Rules", "Ties", "infer"]

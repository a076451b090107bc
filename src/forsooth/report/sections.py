"""Further sections of a campaign's page: all answers, participation, more workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from forsooth.answers import Answers
from forsooth.report.charts import Bar, bar_chart
from forsooth.report.outlook import answered_cells, outlook, participation
from forsooth.report.words import percent, percent_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forsooth.report.charts import BarChart
    from forsooth.report.wording import Wording
    from forsooth.reports import Reports
    from forsooth.truths import Posterior, Truths


@dataclass(frozen=True)
class AllAnswers:
    """The distribution of all answers together, counted or estimated."""

    counted: bool
    bars: BarChart


@dataclass(frozen=True)
class CountedCells:
    """Answered tasks per worker, where they are public."""

    median: float
    fewest: int
    most: int
    share: float


@dataclass(frozen=True)
class EstimatedCells:
    """The share of answered cells, where it is hidden."""

    share: str
    per_worker: float


@dataclass(frozen=True)
class Participated:
    """What is known of who answered what; `silent` tasks have no report."""

    tasks: int
    counted: CountedCells | None
    estimated: EstimatedCells | None
    method: str
    silent: int


@dataclass(frozen=True)
class MoreWorkers:
    """What more workers would bring: `kind` is opinion, estimated or unknown."""

    kind: str
    bars: BarChart | None = None


def all_answers(
    truths: Truths, parts: Sequence[Reports | Answers], wording: Wording
) -> AllAnswers | None:
    """The distribution of all answers; None for `opinion`, which has it per question."""
    posterior = truths.posterior
    if posterior and posterior.estimand == "opinion":
        return None
    counted = all(isinstance(part, Answers) for part in parts)
    if counted:
        codes = [part.code for part in parts if isinstance(part, Answers)]
        counts = np.bincount(np.concatenate(codes), minlength=truths.scale.size)
        shares = counts / max(1, counts.sum())
    elif posterior:
        shares = posterior.mass.mean(axis=0) @ posterior.answers
    else:
        return None
    rows = [
        Bar(label, float(share), f"{share:.1%}") for label, share in zip(wording.labels, shares)
    ]
    return AllAnswers(counted, bar_chart("share", rows))


def participated(truths: Truths, parts: Sequence[Reports | Answers]) -> Participated:
    """Counted where it is public, estimated where it is hidden, if the method does."""
    counts, share = answered_cells(parts), participation(truths, parts)
    counted, estimated = None, None
    if counts is not None and counts.size and share is not None:
        counted = CountedCells(
            float(np.median(counts)), int(counts.min()), int(counts.max()), share
        )
    elif share is not None:
        estimated = EstimatedCells(
            _with_interval(share, truths.posterior), share * len(truths.tasks)
        )
    silent = int((truths.support == 0).sum())
    return Participated(len(truths.tasks), counted, estimated, truths.method, silent)


def _with_interval(share: float, posterior: Posterior | None) -> str:
    if posterior is None or posterior.participation_interval is None:
        return f"about {percent(share)}"
    return percent_interval(share, *posterior.participation_interval)


def more_workers(truths: Truths, parts: Sequence[Reports | Answers]) -> MoreWorkers:
    """The expected error for multiples of the workers, where there is a fast estimate."""
    if truths.posterior and truths.posterior.estimand == "opinion":
        return MoreWorkers("opinion")
    found, count = outlook(truths, parts), len(truths.workers)
    if found is None:
        return MoreWorkers("unknown")
    errors = [(f"{count:,} workers, as now", found.now)]
    errors += [(f"{times * count:,} workers", err) for times, err in found.with_times.items()]
    if found.unperturbed is not None:
        errors.append((f"{count:,} workers, without privacy", found.unperturbed))
    rows = [Bar(name, error, f"{error:.2g}") for name, error in errors]
    return MoreWorkers("estimated", bar_chart("mean error", rows))

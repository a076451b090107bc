"""The results of a campaign for its page: one value, one answer, or shares of answers per task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from forsooth.report.charts import Bar, bar_chart, column_chart
from forsooth.report.opinions import opinion_results
from forsooth.report.tables import left_out, number
from forsooth.report.values import value_table
from forsooth.report.words import NBSP, percent

if TYPE_CHECKING:
    from forsooth.report.charts import BarChart, ColumnChart
    from forsooth.report.opinions import OpinionResults
    from forsooth.report.tables import SortedNumber
    from forsooth.report.values import ValueTable
    from forsooth.report.wording import TaskName, Wording
    from forsooth.truths import Calibration, Posterior, Truths

# name           value  unit, reason
_MOST_TASKS = 1000  # rows: the page must be small enough for a mail
_LISTED = 4  # probable answers named for a task: what a line holds
_UNLIKELY = 0.005  # probability below which an answer is not named: it would read 0 %


@dataclass(frozen=True)
class LabelRow:
    """A task's estimated answer, and the probability of each answer."""

    task: TaskName
    chart: ColumnChart
    legend: tuple[str, ...]
    answer: str
    chance: SortedNumber
    reports: SortedNumber


@dataclass(frozen=True)
class LabelTable:
    """One right answer per task."""

    ends: tuple[str, str]
    unordered: bool
    rows: tuple[LabelRow, ...]
    left_out: str | None


@dataclass(frozen=True)
class CalibrationNote:
    """Both widths: as the model says, and as the gold tasks require."""

    sets: bool
    gold: int
    coverage: float
    widths: BarChart


@dataclass(frozen=True)
class CampaignResults:
    """What was found, by what the truth of a task is; one of the first three is not None."""

    levels: ValueTable | None
    labels: LabelTable | None
    opinions: OpinionResults | None
    method: str
    modelled: bool  # the method has a posterior, so that intervals cover the mechanism's bias
    calibration: CalibrationNote | None


def campaign_results(truths: Truths, wording: Wording) -> CampaignResults:
    """The section of results."""
    posterior = truths.posterior
    shares = posterior.shares if posterior else None
    label = posterior is not None and posterior.estimand == "label"
    return CampaignResults(
        levels=None if shares or label else value_table(truths, wording, _MOST_TASKS),
        labels=_labels(truths, posterior, wording) if posterior and label else None,
        opinions=opinion_results(truths, posterior, wording, _MOST_TASKS)
        if posterior and shares
        else None,
        method=truths.method,
        modelled=posterior is not None,
        calibration=_calibrated(truths.calibration, truths.prediction_sets is not None),
    )


def _labels(truths: Truths, posterior: Posterior, wording: Wording) -> LabelTable:
    """A row per task: the estimated answer, and the probability of each answer."""
    nearest = np.abs(truths.estimate[:, None] - posterior.grid).argmin(axis=1)
    rows = []
    for task in range(min(len(truths.tasks), _MOST_TASKS)):
        mass, support = posterior.mass[task], int(truths.support[task])
        chance = float(mass[nearest[task]])
        rows.append(
            LabelRow(
                wording.task(truths.tasks[task]),
                column_chart(mass, wording.labels),
                _legend(truths, mass, task, wording),
                wording.labels[nearest[task]],
                number(percent(chance), chance),
                number(f"{support:,}", support),
            )
        )
    return LabelTable(
        (wording.labels[0], wording.labels[-1]),
        posterior.unordered,
        tuple(rows),
        left_out(_MOST_TASKS, len(truths.tasks), "The first {} of {} tasks"),
    )


def _legend(truths: Truths, mass: np.ndarray, task: int, wording: Wording) -> tuple[str, ...]:
    """The probable answers, and the prediction set where gold tasks calibrated it."""
    order = np.argsort(-mass, kind="stable")[:_LISTED]
    probable = [
        f"{wording.labels[code]}{NBSP}{percent(mass[code])}"
        for code in order
        if mass[code] >= _UNLIKELY
    ]
    lines = [", ".join(probable)]
    if truths.prediction_sets is not None:
        lines.append(f"prediction set: {', '.join(truths.prediction_sets[task]) or 'empty'}")
    return tuple(lines)


def _calibrated(calibration: Calibration | None, sets: bool) -> CalibrationNote | None:
    if calibration is None:
        return None
    rows = [
        Bar("without calibration", calibration.width_before, f"{calibration.width_before:.3g}"),
        Bar("calibrated, as shown", calibration.width_after, f"{calibration.width_after:.3g}"),
    ]
    widths = bar_chart("labels per set" if sets else "mean width", rows)
    return CalibrationNote(sets, calibration.gold, calibration.coverage, widths)

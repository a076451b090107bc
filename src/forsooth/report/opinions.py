"""The results of a survey for its page: means, a bar per answer, and where people disagree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from forsooth.report.charts import Bar, bar_chart, interval_chart
from forsooth.report.tables import left_out, number
from forsooth.report.values import value_table
from forsooth.report.words import on_scale, percent_interval

if TYPE_CHECKING:
    from forsooth.report.charts import BarChart, IntervalChart
    from forsooth.report.tables import SortedNumber
    from forsooth.report.values import ValueTable
    from forsooth.report.wording import TaskName, Wording
    from forsooth.truths import Difference, Posterior, Shares, Truths, Valleys

# name               value  unit, reason
_MOST_QUESTIONS = 200  # blocks of bars, which take ten times the room of a row
_MOST_DIFFERENCES = 300  # rows
_GUESSES = 0.1  # share of guesses in the example of what careless answers would do


@dataclass(frozen=True)
class GuessExample:
    """How much careless answers could change the largest share."""

    guesses: float
    largest: float
    honest: float


@dataclass(frozen=True)
class Camps:
    """Two answers that more people give than the one in between, and by how much."""

    left: str
    between: str
    right: str
    depth: str


@dataclass(frozen=True)
class AnswerShares:
    """One question: a bar per answer, the mean, participation, and camps if people are divided."""

    task: TaskName
    bars: BarChart
    mean: str | None
    answered: str
    camps: Camps | None


@dataclass(frozen=True)
class DifferenceRow:
    """A difference between the mean answers of two groups."""

    task: TaskName
    group: str
    other: str
    chart: IntervalChart
    value: SortedNumber
    interval: SortedNumber


@dataclass(frozen=True)
class DifferenceTable:
    """All differences; `end` is where the charts end on either side."""

    end: str
    rows: tuple[DifferenceRow, ...]
    left_out: str | None


@dataclass(frozen=True)
class OpinionResults:
    """A survey's results; without an order of the answers there are no means."""

    example: GuessExample
    means: ValueTable | None
    counted_from: tuple[str, str] | None  # "0 (never)" and "4 (always)", where labels are words
    judged: bool  # is it known where people disagree?
    divided: tuple[TaskName, ...]
    questions: tuple[AnswerShares, ...]
    left_out: str | None
    differences: DifferenceTable | None


def opinion_results(
    truths: Truths, posterior: Posterior, wording: Wording, most_rows: int
) -> OpinionResults:
    """All that a survey's page shows of its results."""
    shares, valleys = posterior.shares, posterior.valleys
    assert shares is not None  # the estimand is opinion
    count = min(len(truths.tasks), _MOST_QUESTIONS)
    top = float(shares.high[:count].max())
    divided = np.flatnonzero(valleys.divided) if valleys else ()
    return OpinionResults(
        example=_example(shares),
        means=None if posterior.unordered else value_table(truths, wording, most_rows),
        counted_from=None if wording.is_numeric else _numbered(wording),
        judged=valleys is not None,
        divided=tuple(wording.task(truths.tasks[task]) for task in divided),
        questions=tuple(
            _question(truths, posterior, shares, wording, task, top) for task in range(count)
        ),
        left_out=left_out(_MOST_QUESTIONS, len(truths.tasks), "The first {} of {} questions"),
        differences=_differences(truths, wording),
    )


def _example(shares: Shares) -> GuessExample:
    largest = float(shares.estimate.max())
    guessed = _GUESSES / shares.estimate.shape[1]
    return GuessExample(_GUESSES, largest, min(1.0, (largest - guessed) / (1 - _GUESSES)))


def _numbered(wording: Wording) -> tuple[str, str]:
    scale, labels = wording.scale, wording.labels
    return f"{scale.low:g} ({labels[0]})", f"{scale.high:g} ({labels[-1]})"


def _question(
    truths: Truths, posterior: Posterior, shares: Shares, wording: Wording, task: int, top: float
) -> AnswerShares:
    rows = [
        Bar(label, float(share), percent_interval(share, low, high), (float(low), float(high)))
        for label, share, low, high in zip(
            wording.labels, shares.estimate[task], shares.low[task], shares.high[task]
        )
    ]
    low, mean, high = (
        on_scale(truths.scale, float(a[task])) for a in (truths.low, truths.estimate, truths.high)
    )
    valleys = posterior.valleys
    return AnswerShares(
        wording.task(truths.tasks[task]),
        bar_chart("share", rows, top),
        None if posterior.unordered else f"{mean} ({low} – {high})",
        percent_interval(
            shares.participation[task],
            shares.participation_low[task],
            shares.participation_high[task],
        ),
        _camps(valleys, wording, task) if valleys and valleys.divided[task] else None,
    )


def _camps(valleys: Valleys, wording: Wording, task: int) -> Camps:
    left, between, right = (wording.labels[code] for code in valleys.camps[task])
    points, low, high = (
        f"{100 * float(a[task]):.0f}" for a in (valleys.estimate, valleys.low, valleys.high)
    )
    return Camps(left, between, right, f"{points} ({low} – {high})")


def _differences(truths: Truths, wording: Wording) -> DifferenceTable | None:
    """Differences between the mean answers of groups of people."""
    if not truths.differences:
        return None
    width = max(max(abs(each.low), abs(each.high)) for each in truths.differences) or 1.0
    shown = truths.differences[:_MOST_DIFFERENCES]
    return DifferenceTable(
        on_scale(truths.scale, width),
        tuple(_difference(truths, each, width, wording) for each in shown),
        left_out(_MOST_DIFFERENCES, len(truths.differences), "The first {} of {} differences"),
    )


def _difference(truths: Truths, each: Difference, width: float, wording: Wording) -> DifferenceRow:
    low, value, high = (on_scale(truths.scale, v) for v in (each.low, each.estimate, each.high))
    return DifferenceRow(
        wording.task(each.task),
        each.group,
        each.other,
        interval_chart(each.low, each.estimate, each.high, (-width, 0.0, width)),
        number(value, each.estimate),
        number(f"{low} – {high}", each.high - each.low),
    )

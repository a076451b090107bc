"""A table of values on the scale: every task's estimate with its interval, as a dot plot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forsooth.report.charts import interval_chart
from forsooth.report.tables import left_out, number
from forsooth.report.words import on_scale

if TYPE_CHECKING:
    from forsooth.report.charts import IntervalChart
    from forsooth.report.tables import SortedNumber
    from forsooth.report.wording import TaskName, Wording
    from forsooth.truths import Truths


@dataclass(frozen=True)
class ValueRow:
    """One task's estimate; `nearest` is None where labels are numbers or none is the truth."""

    task: TaskName
    chart: IntervalChart
    value: SortedNumber
    nearest: str | None
    interval: SortedNumber
    reports: SortedNumber
    divided: bool


@dataclass(frozen=True)
class ValueTable:
    """True values, or mean answers, of all tasks."""

    what: str
    ends: tuple[str, str]
    nearest: bool
    rows: tuple[ValueRow, ...]
    left_out: str | None


def value_table(truths: Truths, wording: Wording, most: int) -> ValueTable:
    """A row per task, at most `most`."""
    valleys = truths.posterior.valleys if truths.posterior else None
    means = truths.posterior is not None and truths.posterior.shares is not None
    nearest = not (means or wording.is_numeric)
    scale, rows = truths.scale, []
    for task in range(min(len(truths.tasks), most)):
        low, value, high = (float(a[task]) for a in (truths.low, truths.estimate, truths.high))
        support = int(truths.support[task])
        rows.append(
            ValueRow(
                wording.task(truths.tasks[task]),
                interval_chart(low, value, high, scale.values),
                number(on_scale(scale, value), value),
                wording.nearest(value) if nearest else None,
                number(f"{on_scale(scale, low)} – {on_scale(scale, high)}", high - low),
                number(f"{support:,}", support),
                valleys is not None and bool(valleys.divided[task]),
            )
        )
    return ValueTable(
        "mean" if means else "truth",
        (wording.labels[0], wording.labels[-1]),
        nearest,
        tuple(rows),
        left_out(most, len(truths.tasks), "The first {} of {} tasks"),
    )

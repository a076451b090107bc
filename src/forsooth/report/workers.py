"""The workers of a campaign on its page: how accurate they are, as far as reports tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from forsooth.report.charts import Bar, bar_chart, interval_chart
from forsooth.report.tables import left_out, number
from forsooth.report.words import on_scale, percent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.report.charts import BarChart, IntervalChart
    from forsooth.report.tables import SortedNumber
    from forsooth.truths import Truths

    Floats = NDArray[np.float64]

# name           value  unit, reason
_MOST_WORKERS = 300  # rows: the page must be small enough for a mail
_BINS = 8  # of the histogram: what a phone shows at once


@dataclass(frozen=True)
class WorkerRow:
    """One worker; the interval is None without a posterior."""

    name: str
    chart: IntervalChart
    error: SortedNumber
    interval: SortedNumber | None


@dataclass(frozen=True)
class WorkerQuality:
    """The distances of the workers from the truths; without rows it says why there are none."""

    what: str
    modelled: bool
    private: bool
    histogram: BarChart | None = None
    end: str = ""
    rows: tuple[WorkerRow, ...] = ()
    left_out: str | None = None


def worker_quality(truths: Truths, *, private: bool) -> WorkerQuality | None:
    """None if nothing is known of any worker; without a histogram for `opinion`."""
    posterior = truths.posterior
    words = _Words(truths, posterior is not None and posterior.unordered)
    if posterior is not None and posterior.estimand == "opinion":
        return WorkerQuality(words.what, modelled=True, private=private)
    known = np.flatnonzero(~np.isnan(truths.deviation))
    if not known.size:
        return None
    order = _order(truths, known)
    bounds = truths.posterior.deviation_interval if truths.posterior else None
    largest = [truths.deviation[order].max(), bounds[1][order].max() if bounds else 0.0]
    top = float(max(largest)) or 1.0
    return WorkerQuality(
        words.what,
        modelled=posterior is not None,
        private=private,
        histogram=_histogram(truths.deviation[known], words),
        end=words.number(top),
        rows=tuple(_row(truths, bounds, index, top, words) for index in order),
        left_out=left_out(
            _MOST_WORKERS, known.size, "The {} most and least accurate of {} workers"
        ),
    )


@dataclass(frozen=True, eq=False)
class _Words:
    """How a deviation is written: on the scale, or as a share of wrong labels."""

    truths: Truths
    unordered: bool

    @property
    def what(self) -> str:
        return "share of wrong answers" if self.unordered else "typical error"

    def number(self, value: float) -> str:
        return percent(value) if self.unordered else on_scale(self.truths.scale, value)


def _histogram(deviations: Floats, words: _Words) -> BarChart:
    counts, edges = np.histogram(deviations, bins=_BINS, range=(0.0, deviations.max() or 1.0))
    shown = [words.number(edge) for edge in edges]
    rows = [
        Bar(f"{low} – {high}", float(count), f"{count:,}")
        for low, high, count in zip(shown, shown[1:], counts)
    ]
    return bar_chart("workers", rows)


def _order(truths: Truths, known: NDArray[np.intp]) -> NDArray[np.intp]:
    """The most accurate first; of many, the most and the least accurate."""
    order = known[np.argsort(truths.deviation[known], kind="stable")]
    if len(order) <= _MOST_WORKERS:
        return order
    half = _MOST_WORKERS // 2
    return np.concatenate([order[:half], order[-half:]])


def _row(
    truths: Truths, bounds: tuple[Floats, Floats] | None, index: int, top: float, words: _Words
) -> WorkerRow:
    value = float(truths.deviation[index])
    low, high = (float(bound[index]) for bound in bounds) if bounds else (value, value)
    both = number(f"{words.number(low)} – {words.number(high)}", high - low)
    return WorkerRow(
        truths.workers[index],
        interval_chart(low, value, high, (0.0, top)),
        number(words.number(value), value),
        both if bounds else None,
    )

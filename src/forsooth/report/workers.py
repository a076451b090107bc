"""The workers of a campaign on its page: how accurate they are, as far as reports tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from forsooth.report.look import Bar, bars, interval
from forsooth.report.tables import chart, ends, head, name, number, rest, table
from forsooth.report.words import on_scale, percent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.truths import Truths

# name           value  unit, reason
_MOST_WORKERS = 300  # rows: the page must be small enough for a mail
_BINS = 8  # of the histogram: what a phone shows at once

_TITLE = "<h2>Accuracy of the workers</h2>"
_OPINION = (
    "<p>The quality of workers is not estimated here, because careless people cannot be "
    "identified: any mix of honest answers and guesses is also a possible population.</p>"
)


def workers(truths: Truths, *, private: bool) -> str:
    """The distances of the workers from the truths; for `opinion` why there are none."""
    posterior = truths.posterior
    if posterior is not None and posterior.estimand == "opinion":
        return f"{_TITLE}\n{_OPINION}"
    known = np.flatnonzero(~np.isnan(truths.deviation))
    if not known.size:
        return ""
    words = _Words(truths, posterior is not None and posterior.unordered)
    note = f"The {words.what} of the workers."
    if posterior is None:
        note = "The distance of the workers' reports from the estimates, noise included."
    elif private:
        note += " Randomised reports tell little about a single person; that is their purpose."
    return (
        f"{_TITLE}\n<p>{note}</p>\n{_histogram(truths.deviation[known], words)}\n"
        f"<details><summary>List of workers</summary>\n{_list(truths, known, words)}"
        + rest(
            _MOST_WORKERS,
            known.size,
            "The {} most and least accurate of {} workers are shown",
            "--worker-output workers.csv",
        )
        + "</details>"
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


def _histogram(deviations: NDArray[np.float64], words: _Words) -> str:
    counts, edges = np.histogram(deviations, bins=_BINS, range=(0.0, deviations.max() or 1.0))
    shown = [words.number(edge) for edge in edges]
    rows = [
        Bar(f"{low} – {high}", float(count), f"{count:,}")
        for low, high, count in zip(shown, shown[1:], counts)
    ]
    return bars("workers", rows)


def _list(truths: Truths, known: NDArray[np.intp], words: _Words) -> str:
    """A row per worker, the most accurate first."""
    order = known[np.argsort(truths.deviation[known], kind="stable")]
    if len(order) > _MOST_WORKERS:
        half = _MOST_WORKERS // 2
        order = np.concatenate([order[:half], order[-half:]])
    bounds = truths.posterior.deviation_interval if truths.posterior else None
    largest = [truths.deviation[order].max(), bounds[1][order].max() if bounds else 0.0]
    top = float(max(largest)) or 1.0
    rows = []
    for index in order:
        value = float(truths.deviation[index])
        low, high = (float(bound[index]) for bound in bounds) if bounds else (value, value)
        cells = [
            name(truths.workers[index]),
            chart(interval(low, value, high, (0.0, top))),
            number(words.number(value), value),
        ]
        if bounds:
            both = f"{words.number(low)} – {words.number(high)}"
            cells.append(number(both, high - low, "range"))
        rows.append("".join(cells))
    heads = [head("worker"), ends("0", words.number(top)), head("error", "number")]
    heads += [head("90 % interval", "number")] if bounds else []
    return table(heads, rows)

"""The small charts of a page, as numbers: where every part is, in per cent of the width.

Charts are inline SVG, which `templates/charts.html` draws, so that they fill the width.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

# name         value  unit, reason
_MOST_TICKS = 21  # ticks of an axis: more are a blur on a phone
_EDGE = 3.0  # per cent of the width that stay free at either end, for dots
_GAP = 0.1  # of a column's room, free on either side
_THINNEST = 0.5  # per cent of the width: what can still be seen of an interval


@dataclass(frozen=True)
class IntervalChart:
    """A dot with its interval on an axis from the first tick to the last."""

    ticks: tuple[float, ...]
    left: float
    width: float
    dot: float
    spoken: str


@dataclass(frozen=True)
class ColumnChart:
    """One column per answer, as high as its probability; places are those of the columns."""

    places: tuple[float, ...]
    width: float
    shares: tuple[float, ...]
    axis: tuple[float, float]
    spoken: str


class Bar(NamedTuple):
    """A horizontal bar: its name, its length, the length in words, and an interval for it."""

    name: str
    value: float
    words: str
    bounds: tuple[float, float] | None = None


class DrawnBar(NamedTuple):
    """A bar with its length and the ends of its interval."""

    name: str
    words: str
    length: float
    whisker: tuple[float, float] | None


@dataclass(frozen=True)
class BarChart:
    """Horizontal bars below a heading."""

    heading: str
    bars: tuple[DrawnBar, ...]


def interval_chart(low: float, value: float, high: float, ticks: Sequence[float]) -> IntervalChart:
    """The chart of an estimate with its interval."""

    def place(number: float) -> float:
        inside = min(max(number, ticks[0]), ticks[-1])
        share = (inside - ticks[0]) / (ticks[-1] - ticks[0])
        return round(_EDGE + (100 - 2 * _EDGE) * share, 1)

    shown = ticks if len(ticks) <= _MOST_TICKS else (ticks[0], ticks[-1])
    left, right = place(low), place(high)
    return IntervalChart(
        ticks=tuple(place(tick) for tick in shown),
        left=left,
        width=round(max(_THINNEST, right - left), 1),
        dot=place(value),
        spoken=f"{value:.3g}, from {low:.3g} to {high:.3g}",
    )


def column_chart(shares: NDArray[np.float64], labels: Sequence[str]) -> ColumnChart:
    """The chart of a probability for each answer."""
    room = (100 - 2 * _EDGE) / len(labels)
    return ColumnChart(
        places=tuple(round(_EDGE + room * (each + _GAP), 2) for each in range(len(labels))),
        width=round((1 - 2 * _GAP) * room, 2),
        shares=tuple(round(float(share), 3) for share in shares),
        axis=(_EDGE, 100 - _EDGE),
        spoken=", ".join(f"{label} {share:.0%}" for label, share in zip(labels, shares)),
    )


def bar_chart(heading: str, rows: Sequence[Bar], top: float | None = None) -> BarChart:
    """Horizontal bars; `top` fills the whole width, by default the longest bar does."""
    longest = top or max(row.value for row in rows) or 1.0

    def place(value: float) -> float:
        return round(100 * value / longest, 1)

    return BarChart(
        heading,
        tuple(
            DrawnBar(
                row.name,
                row.words,
                place(row.value),
                None if row.bounds is None else (place(row.bounds[0]), place(row.bounds[1])),
            )
            for row in rows
        ),
    )

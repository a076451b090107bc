"""What the figures show, as data. `panels` builds it from results, `figures` draws it, and the same
data is the CSV behind a figure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forsooth.study.paper.results import Measured

EPSILON, SPARSITY = "ε per cell", "sparsity"
_TOWERS = 2.0  # times the second highest line: that one is cut off,
_ABOVE = 1.3  # and this much room is left above the others

Row = dict[str, object]


@dataclass(frozen=True)
class Line:
    """One line of a panel; `style` names how it is drawn."""

    style: str
    label: str
    points: tuple[tuple[float, Measured], ...]


@dataclass(frozen=True)
class Panel:
    """MAE change against one thing."""

    title: str
    against: str
    lines: tuple[Line, ...]
    what = "MAE change"

    @property
    def entries(self) -> int:
        """How many entries the key has."""
        return len(self.lines)

    def extents(self) -> list[tuple[float, float]]:
        """The lowest and the highest value of every line, with its standard error."""
        found = []
        for line in self.lines:
            spread = [(measured.value, measured.se or 0.0) for _, measured in line.points]
            found.append((min(v - e for v, e in spread), max(v + e for v, e in spread)))
        return found

    def rows(self) -> list[Row]:
        """One row per point."""
        x_name = self.against.partition(" ")[0].replace("ε", "epsilon")
        return [
            {
                "panel": self.title,
                "line": line.label,
                x_name: x,
                "mae_change": measured.value,
                "se": measured.se,
                "repeats": measured.repeats,
            }
            for line in self.lines
            for x, measured in line.points
        ]


@dataclass(frozen=True)
class Bars:
    """Shares per answer, for several series."""

    title: str
    answers: tuple[str, ...]
    series: dict[str, tuple[float, ...]]
    what = "Distribution of answers"

    @property
    def entries(self) -> int:
        """How many entries the key has."""
        return len(self.series)

    def extents(self) -> list[tuple[float, float]]:
        """From 0 to the largest share of every series."""
        return [(0.0, max(shares)) for shares in self.series.values()]

    def rows(self) -> list[Row]:
        """One row per answer."""
        return [
            {"panel": self.title, "answer": answer}
            | {name: shares[place] for name, shares in self.series.items()}
            for place, answer in enumerate(self.answers)
        ]


@dataclass(frozen=True)
class Histogram:
    """Shares of workers per bin of quality; a series has a style and a label."""

    title: str
    edges: tuple[float, ...]
    series: dict[tuple[str, str], tuple[float, ...]]
    what = "Distribution of worker quality"

    @property
    def entries(self) -> int:
        """How many entries the key has."""
        return len(self.series)

    def extents(self) -> list[tuple[float, float]]:
        """From 0 to the largest share of every series."""
        return [(0.0, max(shares)) for shares in self.series.values()]

    def rows(self) -> list[Row]:
        """One row per bin."""
        return [
            {"panel": self.title, "from": round(low, 6), "to": round(high, 6)}
            | {label: shares[place] for (_, label), shares in self.series.items()}
            for place, (low, high) in enumerate(zip(self.edges, self.edges[1:]))
        ]


AnyPanel = Panel | Bars | Histogram


@dataclass(frozen=True)
class Chart:
    """A figure: some panels and the words under it."""

    name: str
    caption: str
    panels: Sequence[AnyPanel]
    logarithmic: bool = False

    @property
    def limits(self) -> tuple[float, float]:
        """The vertical axis that all panels share, whether they are drawn together or apart.

        One line that towers above all others is cut off, so that the others can be told apart.
        """
        lows, highs = zip(*(extent for panel in self.panels for extent in panel.extents()))
        if self.logarithmic:
            return min(lows) / _ABOVE, max(highs) * _ABOVE
        low, (first, second) = min(0.0, *lows), sorted(highs)[:-3:-1]
        high = first if first < _TOWERS * second else _ABOVE * second
        margin = 0.04 * (high - low)
        return (low - margin if low < 0 else low), high + margin

    def rows(self) -> list[Row]:
        """The rows of the CSV behind it."""
        return [row for panel in self.panels for row in panel.rows()]

"""What the figures show, as data: the paper's panels, with the trivial guesses and our own default
drawn into each of them. `figures` draws it, and the same data is the CSV behind a figure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forsooth.study.paper.evidence import place
from forsooth.study.paper.plan import BUDGETS, HALF, SPARSE, large, small
from forsooth.study.paper.readings import (
    ALGORITHM_1,
    LP,
    MF_20,
    OURS,
    POSTERIOR,
    RR,
    TWO_LAYER,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from forsooth.study.paper.cells import DataSource
    from forsooth.study.paper.plan import Setup
    from forsooth.study.paper.results import Measured, Results

EPSILON, SPARSITY = "ε per cell", "sparsity"
_TOWERS = 2.0  # times the second highest line: that one is cut off,
_ABOVE = 1.3  # and this much room is left above the others


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

    def extents(self) -> list[tuple[float, float]]:
        """The lowest and the highest value of every line, with its standard error."""
        found = []
        for line in self.lines:
            spread = [(measured.value, measured.se or 0.0) for _, measured in line.points]
            found.append((min(v - e for v, e in spread), max(v + e for v, e in spread)))
        return found


@dataclass(frozen=True)
class Bars:
    """Shares per answer, for several series."""

    title: str
    answers: tuple[str, ...]
    series: dict[str, tuple[float, ...]]

    def extents(self) -> list[tuple[float, float]]:
        """From 0 to the largest share of every series."""
        return [(0.0, max(shares)) for shares in self.series.values()]


@dataclass(frozen=True)
class Chart:
    """A figure: one or two panels and the words under it."""

    name: str
    caption: str
    panels: tuple[Panel | Bars, ...]

    @property
    def limits(self) -> tuple[float, float]:
        """The vertical axis that all panels share, whether they are drawn together or apart.

        One line that towers above all others is cut off, so that the others can be told apart.
        """
        lows, highs = zip(*(extent for panel in self.panels for extent in panel.extents()))
        low, (first, second) = min(0.0, *lows), sorted(highs)[:-3:-1]
        high = first if first < _TOWERS * second else _ABOVE * second
        margin = 0.04 * (high - low)
        return (low - margin if low < 0 else low), high + margin


@dataclass(frozen=True)
class Figure:
    """How a chart is made, and which sweeps it shows."""

    sweeps: tuple[str, ...]
    build: Callable[[Results, Setup], Chart | None]


_LINES = (
    ("lp", LP, ALGORITHM_1, "LP"),
    ("lp", "lp", ALGORITHM_1, "LP"),  # on one's own data, where |Γ| may be too little noise
    ("rr", RR, ALGORITHM_1, "RR"),
    ("two-layer", TWO_LAYER, ALGORITHM_1, "2-Layer (2ε)"),
    *(("mf", f"mf:d={d}", ALGORITHM_1, f"MF, d = {d} (answers only)") for d in range(1, 6)),
    ("mf-20", MF_20, ALGORITHM_1, "MF, d = 20 (answers only)"),
    ("rr-posterior", RR, POSTERIOR, "same RR reports, posterior"),
    ("ours", OURS, POSTERIOR, "forsooth (its default)"),
)
_GUESSES = (
    ("constant", "mae_constant", "best constant"),
    ("middle", "mae_middle", "middle of the scale"),
)
_OURS_TOO = (
    " Grey: guesses that look at no data. Stars: forsooth's default (an adaptive channel, "
    "posterior inference), which protects everything that LP and RR protect."
)


def _lines(
    results: Results, points: Iterable[tuple[float, DataSource, float]], mirror: bool = False
) -> tuple[Line, ...]:
    """Every line that has been measured at some of the points (x, data, ε)."""
    listed = list(points)
    found: list[Line] = []
    for style, mechanism, method, label in _LINES:
        measured = tuple(
            (x, results.measured(source, mechanism, epsilon, method, mirror=mirror))
            for x, source, epsilon in listed
            if results.row(source, mechanism, epsilon, method, mirror)
        )
        if measured and label not in (line.label for line in found):
            found.append(Line(style, label, measured))
    for style, measure, label in _GUESSES:
        levels = tuple((x, results.baseline(source, measure, mirror)) for x, source, _ in listed)
        found.append(Line(style, label, levels))
    return tuple(found)


def _against_epsilon(
    results: Results,
    setup: Setup,
    source: DataSource,
    mirror: bool = False,
    title: str | None = None,
) -> Panel:
    points = [(epsilon, source, epsilon) for epsilon in setup.scope.epsilons]
    return Panel(title or place(source), EPSILON, _lines(results, points, mirror))


def _epsilon(results: Results, setup: Setup) -> Chart:
    panels = tuple(_against_epsilon(results, setup, small(s)) for s in (SPARSE, HALF))
    return Chart("epsilon", "MAE change against ε, 2,000 workers, 200 tasks." + _OURS_TOO, panels)


def _mirrored(results: Results, setup: Setup) -> Chart:
    panels = tuple(
        _against_epsilon(results, setup, small(s), True, f"{place(small(s))}, mirrored")
        for s in (SPARSE, HALF)
    )
    caption = (
        "Not in the paper: the same on the mirrored scale (a → 9 − a), where shrinking towards 0 "
        "cannot help."
    )
    return Chart("mirrored", caption + _OURS_TOO, panels)


def _sparsity(results: Results, setup: Setup) -> Chart:
    crowds = {sparsity: small(sparsity) for sparsity in setup.scope.sparsities}
    return _against_sparsity("sparsity", results, crowds)


def _large(results: Results, setup: Setup) -> Chart:
    crowds = {sparsity: large(sparsity) for sparsity in setup.scope.large_sparsities}
    return _against_sparsity("large", results, crowds)


def _against_sparsity(name: str, results: Results, crowds: dict[float, DataSource]) -> Chart:
    workers, tasks = crowds[SPARSE].workers, crowds[SPARSE].tasks
    panels = []
    for epsilon in BUDGETS:
        points = [(sparsity, crowd, epsilon) for sparsity, crowd in crowds.items()]
        title = f"{workers:,}×{tasks:,}, ε = {epsilon:g}"
        panels.append(Panel(title, SPARSITY, _lines(results, points)))
    caption = f"MAE change against sparsity, {workers:,} workers, {tasks:,} tasks."
    return Chart(name, caption + _OURS_TOO, tuple(panels))


def _real(results: Results, setup: Setup) -> Chart | None:
    panels = tuple(_against_epsilon(results, setup, source) for source in setup.real.values())
    caption = "MAE change against ε on real data." + _OURS_TOO
    return Chart("real", caption, panels) if panels else None


def _own(results: Results, setup: Setup) -> Chart | None:
    if setup.own is None:
        return None
    panel = _against_epsilon(results, setup, setup.own)
    return Chart("own", "MAE change against ε on your own data." + _OURS_TOO, (panel,))


def _answers(results: Results, setup: Setup) -> Chart | None:
    panels = []
    for name, source in setup.real.items():
        found = results.descriptions[name]
        answers, truths = found["answer_distribution"], found["truth_distribution"]
        series = {"answers": tuple(answers.values()), "known truths": tuple(truths.values())}
        panels.append(Bars(place(source), tuple(answers), series))
    caption = "Answer distributions of the real data sets, and their known truths."
    return Chart("answers", caption, tuple(panels)) if panels else None


FIGURES = {
    "answers": Figure(("descriptions",), _answers),
    "epsilon": Figure(("epsilon", "epsilon-ours"), _epsilon),
    "mirrored": Figure(("mirrored", "mirrored-ours"), _mirrored),
    "sparsity": Figure(("sparsity", "sparsity-ours"), _sparsity),
    "large": Figure(("large", "large-ours"), _large),
    "real": Figure(("real", "real-ours"), _real),
    "own": Figure(("own",), _own),
}


def table(chart: Chart) -> list[dict[str, object]]:
    """The rows of the CSV behind a chart."""
    rows: list[dict[str, object]] = []
    for panel in chart.panels:
        if isinstance(panel, Bars):
            for index, answer in enumerate(panel.answers):
                shares = {name: series[index] for name, series in panel.series.items()}
                rows.append({"panel": panel.title, "answer": answer, **shares})
            continue
        for line in panel.lines:
            for x, measured in line.points:
                rows.append(
                    {
                        "panel": panel.title,
                        "line": line.label,
                        panel.against.partition(" ")[0].replace("ε", "epsilon"): x,
                        "mae_change": measured.value,
                        "se": measured.se,
                        "repeats": measured.repeats,
                    }
                )
    return rows

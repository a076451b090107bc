"""Mean error against ε, one figure per estimand and promise: our default, our other entries, the
best rivals and the best constant. Every line has a colour, a marker and a stroke of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forsooth.io.files import replacing
from forsooth.study.figures import COLOURS, GREY, MARKERS
from forsooth.study.league.entries import PROMISES, Entry
from forsooth.study.paper.figures import INK, LIGHT, SETTINGS, themed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

    from forsooth.estimand import Estimand
    from forsooth.study.league.entries import Promise
    from forsooth.study.league.results import LeagueResults
    from forsooth.study.paper.results import Measured

ERROR = {"label": "share of wrong labels", "level": "MAE / range of the scale"}
_MOST_LINES = 6  # beside our default: more cannot be told apart
_STROKES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (6, 2, 1, 2)), (0, (1, 1.2)))


@dataclass(frozen=True)
class Curve:
    """The mean error of one entry against ε."""

    entry: Entry
    points: tuple[tuple[float, Measured], ...]


@dataclass(frozen=True)
class LeagueChart:
    """One figure; `constant` is the error of the best constant."""

    estimand: Estimand
    promise: Promise
    curves: tuple[Curve, ...]
    constant: float

    @property
    def name(self) -> str:
        """The file's name without ending."""
        return f"league-{self.estimand}-{self.promise}"

    @property
    def words(self) -> str:
        """For those who do not see it."""
        order = sorted(self.curves, key=lambda curve: curve.points[-1][1].value)
        names = ", ".join(curve.entry.label for curve in order)
        return f"Error against ε, {PROMISES[self.promise]}. At the largest ε, best first: " + names


def charts(results: LeagueResults) -> list[LeagueChart]:
    """Of every estimand and promise for which several ε were measured."""
    found = []
    for estimand in results.estimands:
        sets = results.sets(estimand)
        constant = sum(map(results.guess, sets)) / len(sets)
        for promise in PROMISES:
            curves = _curves(results, estimand, promise) if promise != "none" else ()
            if len(curves) > 1:
                found.append(LeagueChart(estimand, promise, curves, constant))
    return found


def _curves(results: LeagueResults, estimand: Estimand, promise: Promise) -> tuple[Curve, ...]:
    """Those that ran on all sets: our default first, then the others by their mean error."""
    curves = []
    for entry in results.entries(estimand, promise):
        means = [(e, results.mean(estimand, entry, e)) for e in results.epsilons()]
        complete = len(results.sets(estimand))
        points = [(e, mean[0]) for e, mean in means if mean and mean[1] == complete]
        if points:
            curves.append(Curve(entry, tuple(points)))

    def rank(curve: Curve) -> tuple[bool, bool, float]:
        total = sum(measured.value for _, measured in curve.points)
        return not curve.entry.is_default, not curve.entry.is_ours, total / len(curve.points)

    return tuple(sorted(curves, key=rank)[: 1 + _MOST_LINES])


def write(drawn: Sequence[LeagueChart], folder: Path) -> None:
    """PNG for the docs; SVG whose colours follow the page's."""
    from matplotlib import rc_context

    for chart in drawn:
        with rc_context(SETTINGS):
            figure = _figure(chart)
            with replacing(folder / f"{chart.name}.png") as temporary:
                figure.savefig(temporary, format="png", dpi=150)
            with replacing(folder / f"{chart.name}.svg") as temporary:
                temporary.write_text(themed(figure, chart.name), encoding="utf-8")


def _figure(chart: LeagueChart) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.6, 3.4 + 0.19 * len(chart.curves)), layout="constrained")
    axes = figure.subplots()
    for index, curve in enumerate(chart.curves):
        ours = curve.entry.is_default
        axes.errorbar(
            [epsilon for epsilon, _ in curve.points],
            [measured.value for _, measured in curve.points],
            yerr=[measured.se or 0.0 for _, measured in curve.points],
            color=INK if ours else COLOURS[(index - 1) % _MOST_LINES],
            marker="*" if ours else MARKERS[(index - 1) % len(MARKERS)],
            markersize=9 if ours else 5,
            linestyle=_STROKES[0 if ours else index % len(_STROKES)],
            linewidth=2.2 if ours else 1.4,
            elinewidth=0.8,
            capsize=2,
            label=f"{curve.entry.label} (forsooth's default)" if ours else curve.entry.label,
        )
    axes.axhline(
        chart.constant, color=GREY, linestyle=(0, (4, 4)), linewidth=1, label="best constant"
    )
    ticks = sorted({epsilon for curve in chart.curves for epsilon, _ in curve.points})
    axes.set_xscale("log")
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_xlabel("ε for a person" if chart.promise == "person" else "ε per cell")
    axes.set_ylabel(ERROR[chart.estimand])
    axes.set_ylim(bottom=0)
    axes.grid(axis="y", color=LIGHT, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower left", frameon=False, fontsize=9, handlelength=3)
    return figure

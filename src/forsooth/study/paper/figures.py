"""Charts drawn: PNG and SVG for the folder with a CSV behind each, and SVG for the page.

Colours are Okabe and Ito's, and every line has a marker and a stroke of its own, so that it can be
told from the others by any eye and in grey.
"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Any

from forsooth.io.files import replacing
from forsooth.study.figures import COLOURS, GREY
from forsooth.study.paper.charts import EPSILON, Bars, Histogram

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from forsooth.study.paper.charts import AnyPanel, Chart, Line, Panel

INK = "#1d2430"
LIGHT = "#d5dae2"
_OLIVE = COLOURS[7]
_BLUE, _VERMILION, _GREEN, _PURPLE, _ORANGE, _SKY = COLOURS[:6]

# colour, marker, stroke, width
_STYLES: dict[str, tuple[str, str, Any, float]] = {
    "lp": (_VERMILION, "s", (0, (5, 2)), 1.4),
    "rr": (_BLUE, "o", "-", 1.4),
    "two-layer": (_SKY, "P", (0, (1, 1.2)), 1.6),
    "mf": (_GREEN, "^", (0, (6, 2, 1, 2)), 1.4),
    "mf-20": (_PURPLE, "v", (0, (6, 2, 1, 2, 1, 2)), 1.4),
    "rr-lp": (_OLIVE, "X", (0, (3, 1.5)), 1.4),
    "label": (_ORANGE, "D", "-", 1.4),
    "adaptive": (INK, "p", (0, (1, 1.2)), 1.4),
    "ours": (INK, "*", "-", 2.2),
    "constant": (GREY, "", (0, (4, 4)), 1.0),
    "middle": (GREY, "", (0, (1, 3)), 1.0),
    "split-0": (_BLUE, "o", "-", 1.8),
    "split-1": (_SKY, "P", (0, (5, 2)), 1.4),
    "split-2": (_GREEN, "^", (0, (6, 2, 1, 2)), 1.4),
    "split-3": (_ORANGE, "D", (0, (3, 1.5)), 1.4),
    "split-4": (_VERMILION, "s", (0, (1, 1.2)), 1.6),
}
_COLUMNS = 3  # panels beside one another
SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,  # a file may be called $1.csv
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


def write(chart: Chart, folder: Path) -> None:
    """`<name>.png`, `<name>.svg` and `<name>.csv`."""
    figure = _figure(chart, chart.panels, width=4.6)
    for ending in ("png", "svg"):
        with replacing(folder / f"{chart.name}.{ending}") as temporary:
            _save(figure, temporary, ending)
    rows = chart.rows()
    with (
        replacing(folder / f"{chart.name}.csv") as temporary,
        temporary.open("w", encoding="utf-8", newline="") as file,
    ):
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def inline(chart: Chart, index: int) -> str:
    """One panel as SVG for the page: names of its own, colours that follow the page's."""
    figure = _figure(chart, (chart.panels[index],), width=4.5)
    return themed(figure, f"{chart.name}-{index}")


def themed(figure: Figure, prefix: str) -> str:
    """A figure as SVG for a page: names that begin with `prefix`, the page's colours."""
    buffer = io.BytesIO()
    _save(figure, buffer, "svg", transparent=True)
    text = buffer.getvalue().decode("utf-8")
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.S)
    text = re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", text).replace("xlink:href", "href")
    text = re.sub(r'(\sid="|href="#|url\(#)', rf"\g<1>{prefix}-", text)
    text = re.sub(r'(<svg[^>]*?)\swidth="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?)\sheight="[^"]*"', r"\1", text, count=1)
    for colour, name in PAGE_COLOURS.items():
        text = re.sub(colour, f"var(--{name})", text, flags=re.I)
    return text


PAGE_COLOURS = {
    INK: "ink",
    GREY: "soft",
    LIGHT: "line",
    _BLUE: "blue",
    _VERMILION: "vermilion",
    _GREEN: "green",
    _PURPLE: "purple",
    _ORANGE: "orange",
    _SKY: "sky",
    _OLIVE: "olive",
}


def _figure(chart: Chart, panels: Sequence[AnyPanel], *, width: float) -> Figure:
    """Some of the chart's panels side by side on one vertical axis, the key below."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    columns = min(len(panels), _COLUMNS)
    rows = -(-len(panels) // columns)
    key_rows = -(-max(panel.entries for panel in panels) // (2 * columns))
    with rc_context(SETTINGS):
        size = (width * columns, 3.3 * rows + 0.2 * key_rows)
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False, sharey=True).ravel()
        key: dict[str, Any] = {}
        for spare in axes[len(panels) :]:
            spare.remove()
        for each, panel in zip(axes, panels):
            each.set_title(panel.title, loc="left", fontsize=10)
            each.spines[["top", "right"]].set_visible(False)
            each.grid(axis="y", color=LIGHT, linewidth=0.6)
            each.set_axisbelow(True)
            if chart.logarithmic:
                each.set_yscale("log")
                each.yaxis.set_major_formatter("{x:g}")
            each.set_ylim(*chart.limits)
            match panel:
                case Bars():
                    _draw_bars(each, panel)
                case Histogram():
                    _draw_histogram(each, panel)
                case _:
                    _draw_lines(each, panel)
            handles, labels = each.get_legend_handles_labels()
            key |= dict(zip(labels, handles))
        figure.legend(
            list(key.values()),
            list(key),
            loc="outside lower center",
            ncols=2 * columns,
            frameon=False,
            fontsize=8.5,
            handlelength=3,
            columnspacing=1,
        )
    return figure


def _draw_lines(axes: Axes, panel: Panel) -> None:
    axes.axhline(0, color=INK, linewidth=0.8)
    for line in panel.lines:
        _draw_line(axes, line)
        _name_what_is_cut_off(axes, line)
    ticks = sorted({x for line in panel.lines for x, _ in line.points})
    if panel.against == EPSILON:
        axes.set_xscale("log")
        axes.set_xlabel("ε per cell (log scale)")
    else:
        axes.set_xlabel("sparsity (share of NULLs)")
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_ylabel("MAE change")


def _draw_line(axes: Axes, line: Line) -> None:
    colour, marker, stroke, width = _STYLES[line.style]
    axes.errorbar(
        [x for x, _ in line.points],
        [measured.value for _, measured in line.points],
        yerr=[measured.se or 0.0 for _, measured in line.points] if marker else None,
        color=colour,
        marker=marker or None,
        markersize=9 if marker == "*" else 5,
        linestyle=stroke,
        linewidth=width,
        elinewidth=0.8,
        capsize=2,
        label=line.label,
    )


def _name_what_is_cut_off(axes: Axes, line: Line) -> None:
    """Points above the axis: an arrow and the number."""
    top = axes.get_ylim()[1]
    for x, measured in line.points:
        if measured.value > top:
            axes.annotate(
                f"↑ {measured.value:.1f}",
                (x, top),
                xytext=(3, -3),
                textcoords="offset points",
                va="top",
                fontsize=8,
                color=_STYLES[line.style][0],
            )


def _draw_bars(axes: Axes, panel: Bars) -> None:
    width = 0.8 / len(panel.series)
    for index, (name, shares) in enumerate(panel.series.items()):
        axes.bar(
            [place + index * width for place in range(len(panel.answers))],
            shares,
            width,
            label=name,
            color=(_BLUE, _ORANGE)[index],
            edgecolor=INK,
            linewidth=0.6,
        )
    middle = (len(panel.series) - 1) * width / 2
    axes.set_xticks([place + middle for place in range(len(panel.answers))], panel.answers)
    axes.set_xlabel("answer")
    axes.set_ylabel("share")


def _draw_histogram(axes: Axes, panel: Histogram) -> None:
    """What is inferred from the answers as a filled area, the others as outlines."""
    for (style, label), shares in panel.series.items():
        if style == "before":
            axes.stairs(shares, panel.edges, fill=True, color=LIGHT, label=label)
        else:
            colour, _, stroke, width = _STYLES[style]
            axes.stairs(
                shares, panel.edges, color=colour, linestyle=stroke, linewidth=width, label=label
            )
    axes.set_xlabel("quality (1 = average)")
    axes.set_ylabel("share of workers")


def _save(figure: Figure, target: Any, ending: str, *, transparent: bool = False) -> None:
    from matplotlib import rc_context

    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    metadata = nothing if ending == "svg" else None
    with rc_context(SETTINGS):
        figure.savefig(target, format=ending, dpi=150, metadata=metadata, transparent=transparent)

"""Figures: MAE change against ε, one line per mechanism × method, trivial baselines dashed."""

from __future__ import annotations

from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from forsooth.errors import ForsoothError
from forsooth.io.files import check_writable, replacing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes

    from forsooth.study.evaluation import Run

# Okabe and Ito's palette: distinct for every kind of colour vision, and in grey by the markers.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999933")
MARKERS = "osD^vPX*"
GREY = "#666666"
FORMATS = (".png", ".svg", ".pdf")


def plot_against_epsilon(summary: list[Run], path: str | Path) -> None:
    """Draw a summary of `evaluate` and write it as PNG, SVG or PDF."""
    with drawing(path, (8.5, 4.4)) as axes:
        lines: dict[tuple[str, str, str], list[Run]] = {}
        for row in summary:
            lines.setdefault((row["mechanism"], row["method"], row["protects"]), []).append(row)
        for index, ((mechanism, method, protects), rows) in enumerate(lines.items()):
            note = "" if protects == "answers+participation" else ", answers only"
            epsilon = [row["epsilon"] for row in rows]
            axes.errorbar(
                epsilon,
                [row["mae_change"] for row in rows],
                yerr=[row["mae_change_se"] or 0.0 for row in rows],
                color=COLOURS[index % len(COLOURS)],
                marker=MARKERS[index % len(MARKERS)],
                capsize=2,
                label=f"{mechanism} · {method}{note}",
            )
        levels = {
            name: float(np.mean([row[measure] - row["mae_original"] for row in summary]))
            for measure, name in (
                ("mae_constant", "best constant"),
                ("mae_middle", "scale's middle"),
            )
        }
        for name, level in levels.items():
            upper = name == max(levels, key=lambda each: levels[each])  # labels never overlap
            axes.axhline(level, color=GREY, linestyle="--", linewidth=1)
            axes.annotate(
                name,
                (1, level),
                xycoords=("axes fraction", "data"),
                xytext=(-4, 3 if upper else -3),
                textcoords="offset points",
                ha="right",
                va="bottom" if upper else "top",
                color=GREY,
                fontsize=8,
            )
        _epsilon_axis(axes, sorted({row["epsilon"] for row in summary}))
        axes.set_ylabel("MAE change")
        mirrored = ", mirrored" if summary[0]["mirror"] else ""
        axes.set_title(f"{summary[0]['data']}{mirrored}", fontsize=9, color=GREY, loc="left")


def _epsilon_axis(axes: Axes, epsilons: list[float]) -> None:
    axes.set_xscale("log")
    axes.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
    axes.minorticks_off()
    axes.set_xlabel("ε per cell (log scale)")
    axes.axhline(0, color=GREY, linewidth=0.8)
    axes.grid(axis="y", color="#DDDDDD", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=9)


@contextmanager
def drawing(path: str | Path, size: tuple[float, float]) -> Iterator[Axes]:
    """Axes to draw on; on leaving, the figure is written to `path`, whole or not at all."""
    check_drawable(path)
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    yield figure.subplots()
    with rc_context({"svg.fonttype": "none"}), replacing(path) as temporary:
        figure.savefig(temporary, format=Path(path).suffix[1:].lower(), dpi=150)


def check_drawable(path: str | Path) -> None:
    """Refuse early, before any long work, a figure that cannot be drawn."""
    if Path(path).suffix.lower() not in FORMATS:
        raise ForsoothError(f"cannot draw into {path}: its ending must be {', '.join(FORMATS)}")
    if find_spec("matplotlib") is None:
        raise ForsoothError('figures need matplotlib: pip install "forsooth[plots]"')
    check_writable(path)

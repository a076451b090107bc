"""The figure of a result: an interval per task, or the shares of the answers. Needs matplotlib."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from forsooth.errors import ForsoothError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from forsooth.truths import Shares, Truths

MOST_TASKS = 40  # in one figure: more cannot be read
BLUE, GREY, LIGHT = "#0072B2", "#666666", "#DDDDDD"
ROW = 0.26  # inches per task
LONGEST_NAME = 28  # characters


def plot_truths(truths: Truths, axes: Axes | None = None, tasks: Any = None) -> Axes:
    """Draw estimates with their 90 % intervals, or for `opinion` the shares of the answers."""
    places = _places(truths, tasks)
    axes = axes or _new_axes(len(places))
    estimand = truths.posterior.estimand if truths.posterior else None
    if estimand == "opinion" and truths.posterior and truths.posterior.shares:
        _draw_shares(axes, truths, truths.posterior.shares, places)
    elif estimand == "label":
        _draw_labels(axes, truths, places)
    else:
        _draw_levels(axes, truths, places)
    names = [_shortened(truths.tasks[place]) for place in places]
    axes.set_yticks(range(len(places)), names)
    axes.set_ylim(len(places) - 0.4, -0.6)  # the first task is on top
    axes.spines[["top", "right"]].set_visible(False)
    if tasks is None and len(places) < len(truths.tasks):
        axes.set_ylabel(f"the first {len(places)} of {len(truths.tasks):,} tasks", color=GREY)
    return axes


def _places(truths: Truths, tasks: Any) -> list[int]:
    if tasks is None:
        return list(range(min(MOST_TASKS, len(truths.tasks))))
    if isinstance(tasks, str):
        tasks = [tasks]
    return [truths.place(task) for task in tasks]


def _new_axes(rows: int) -> Axes:
    if find_spec("matplotlib") is None:
        raise ForsoothError('plot() needs matplotlib: pip install "forsooth[plots]"')
    from matplotlib import pyplot

    size = (7.0, 1.3 + ROW * max(rows, 3))
    return pyplot.subplots(figsize=size, layout="constrained", facecolor="white")[1]


def _draw_levels(axes: Axes, truths: Truths, places: list[int]) -> None:
    estimate, rows = truths.estimate[places], np.arange(len(places))
    error = np.abs(np.stack([estimate - truths.low[places], truths.high[places] - estimate]))
    axes.errorbar(
        estimate, rows, xerr=error, fmt="o", color=BLUE, ecolor=BLUE, capsize=2, markersize=4
    )
    _scale_axis(axes, truths)
    axes.set_xlabel(f"estimate with 90 % interval ({truths.method})")


def _draw_labels(axes: Axes, truths: Truths, places: list[int]) -> None:
    """P(label) as the area of a square, the estimate in blue."""
    assert truths.posterior is not None
    mass, grid = truths.posterior.mass[places], truths.posterior.grid
    rows, columns = np.nonzero(mass > 0.005)  # less cannot be seen
    chosen = np.abs(truths.estimate[places][:, None] - grid).argmin(axis=1)
    colours = [BLUE if chosen[row] == column else GREY for row, column in zip(rows, columns)]
    axes.scatter(grid[columns], rows, s=120 * mass[rows, columns], c=colours, marker="s")
    for row, column in enumerate(chosen):
        axes.annotate(
            f"{100 * mass[row, column]:.0f} %",
            (1.01, row),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=8,
            color=BLUE,
        )
    _scale_axis(axes, truths)
    axes.set_xlabel("probability of each label (area), the likeliest in blue")


def _draw_shares(axes: Axes, truths: Truths, shares: Shares, places: list[int]) -> None:
    """One bar per task, stacked from the first answer to the last."""
    from matplotlib import colormaps

    labels, left = truths.scale.labels, np.zeros(len(places))
    for code, label in enumerate(labels):
        shade = colormaps["viridis"](code / max(1, len(labels) - 1))
        share = shares.estimate[places, code]
        axes.barh(range(len(places)), share, left=left, height=0.75, color=shade, label=label)
        left += share
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    axes.set_xlabel("estimated share of each answer")
    axes.legend(
        title="answer", loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=8
    )


def _scale_axis(axes: Axes, truths: Truths) -> None:
    scale = truths.scale
    margin = 0.04 * scale.range
    axes.set_xlim(scale.low - margin, scale.high + margin)
    if scale.size <= 12:
        axes.set_xticks(scale.values, [_shortened(label) for label in scale.labels])
    if not scale.is_numeric and scale.size > 4:
        axes.tick_params(axis="x", rotation=30)
    axes.grid(axis="x", color=LIGHT, linewidth=0.6)
    axes.set_axisbelow(True)


def _shortened(name: str) -> str:
    """Short enough for an axis; `$` would be read as a formula."""
    line = " ".join(name.split()).replace("$", r"\$")
    return line if len(line) <= LONGEST_NAME else f"{line[: LONGEST_NAME - 1]}…"

"""Time and memory against the number of cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forsooth.errors import ForsoothError
from forsooth.study.figures import COLOURS, GREY, drawing

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from forsooth.bench.rows import Row


def draw(rows: Iterable[Row], path: Path) -> None:
    """The rows of `scale`, both axes logarithmic; the dashed line is what linear would be."""
    found = [row.details for row in rows if "cells" in row.details]
    if not found:
        raise ForsoothError("the figure shows the benchmark scale, which did not come to a result")
    cells, last = [each["cells"] for each in found], found[-1]
    with drawing(path, (7.5, 4.2)) as axes:
        seconds, passes = ([each[name] for each in found] for name in ("seconds", "passes"))
        axes.loglog(cells, seconds, color=COLOURS[0], marker="o", label="seconds")
        axes.loglog(cells, passes, color=COLOURS[2], marker="D", label="of these, reading the file")
        linear = [last["passes"] * number / last["cells"] for number in cells]
        axes.loglog(cells, linear, color=GREY, linestyle="--", linewidth=1, label="linear")
        memory = [each["peak_memory"] / 1e9 for each in found]
        axes.loglog(cells, memory, color=COLOURS[1], marker="s", label="most memory, GB")
        axes.set_xlabel("cells (1,000 tasks, ever more workers)")
        axes.grid(color="#DDDDDD", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=9)
        axes.set_title("pooled posterior from Parquet", fontsize=9, color=GREY, loc="left")

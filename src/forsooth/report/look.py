"""How a campaign's page looks: its style, its only script, and its small charts.

Charts are inline SVG with places in per cent, so that they fill the width. Style and script are
constants, and the page's content security policy names their hashes: nothing else can run or be
fetched, whatever the name of a task is.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from html import escape
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

# name         value  unit, reason
_MOST_TICKS = 21  # ticks of an axis: more are a blur on a phone
_EDGE = 3.0  # per cent of the width that stay free at either end, for dots
_HIGH = 24.0  # pixels: a probability of 1 in a chart of columns, one row of the table

STYLE = """
:root { color-scheme: light dark; --ink: #1d2430; --soft: #5b6575; --line: #d5dae2; --paper: #fff;
  --tile: #f4f6f9; --blue: #0072b2; --yes: #00664b; --no: #a63c00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ebf0; --soft: #a3adbd; --line: #3a4352;
  --paper: #161a21; --tile: #1e242d; --blue: #56b4e9; --yes: #2fc79b; --no: #ff8a3d; } }
* { box-sizing: border-box; }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 62rem; margin: 0 auto; padding: 2rem 1rem 4rem; overflow-wrap: break-word; }
h1 { font-size: 1.7rem; line-height: 1.2; } h2 { margin-top: 2.4rem; font-size: 1.2rem; }
p { max-width: 46rem; } .soft { color: var(--soft); } .big { font-size: 1.1rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .6rem;
  margin: 1.4rem 0; padding: 0; }
.tiles div { background: var(--tile); border-radius: .5rem; padding: .6rem .8rem; }
.tiles dt { color: var(--soft); font-size: .85rem; }
.tiles dd { margin: 0; font-size: 1.25rem; font-weight: 600; }
.yes { color: var(--yes); } .no { color: var(--no); }
.note { background: var(--tile); border-radius: .5rem; padding: .6rem .8rem; max-width: none; }
.promise { border-left: .25rem solid var(--blue); padding-left: 1rem; }
.warning { border-left-color: var(--no); }
.scroll { overflow-x: auto; } .long { overflow-y: auto; max-height: 44rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--line); }
th { position: sticky; top: 0; background: var(--paper); color: var(--soft); font-size: .85rem;
  font-weight: 600; }
.number { text-align: right; } td.number { white-space: nowrap; }
.chart { padding-left: .2rem; padding-right: .2rem; width: 40%; min-width: 7.5rem; }
.name { min-width: 6.5rem; overflow-wrap: anywhere; }
summary { cursor: pointer; color: var(--blue); margin: .6rem 0; }
th.chart > span { display: flex; justify-content: space-between; gap: .3rem; }
th button { font: inherit; color: inherit; background: none; border: 0; padding: 0;
  cursor: pointer; text-align: inherit; }
th button::after { content: "\\a0↕"; opacity: .5; }
th[aria-sort=ascending] button::after { content: "\\a0↑"; opacity: 1; }
th[aria-sort=descending] button::after { content: "\\a0↓"; opacity: 1; }
th button:focus-visible { outline: 2px solid var(--blue); outline-offset: 2px; }
svg { display: block; width: 100%; } .axis { stroke: var(--line); }
.band { fill: var(--blue); opacity: .3; } .dot, .bar { fill: var(--blue); }
.legend { color: var(--soft); font-size: .85rem; } .pale { opacity: .45; }
.whisker { stroke: var(--ink); stroke-width: 1.5; }
.questions { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 27rem), 1fr));
  gap: 1rem 2.4rem; }
.question { min-width: 0; } .question p { margin: 0; } .question thead { display: none; }
.question h3 { font-size: 1rem; margin: .6rem 0 .1rem; overflow-wrap: anywhere; }
.question td { border: 0; padding-top: .1rem; padding-bottom: .1rem; }
.question .name { padding-left: 0; width: 26%; }
code { font: .9em ui-monospace, monospace; white-space: nowrap; }
@media (max-width: 34rem) { body { padding-top: 1rem; } h1 { font-size: 1.4rem; }
  th, td { padding: .3rem .35rem; font-size: .9rem; } .less { display: none; }
  td.range { white-space: normal; } .chart { min-width: 5rem; padding-left: 0; padding-right: 0; }
  .name { min-width: 5.5rem; } th:not([aria-sort]) button::after { content: none; } }
@media print { .long { max-height: none; } }
"""

SCRIPT = """
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.querySelector("button")?.addEventListener("click", () => {
    const falling = head.getAttribute("aria-sort") === "ascending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", falling ? "descending" : "ascending");
    const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
    const compare = head.classList.contains("number")
      ? (a, b) => value(a) - value(b)
      : (a, b) => value(a).localeCompare(value(b), undefined, { numeric: true });
    const rows = [...table.tBodies[0].rows].sort(compare);
    table.tBodies[0].append(...(falling ? rows.reverse() : rows));
  }));
}
"""


def document(title: str, body: str) -> str:
    """A whole page; the title is text, the body is HTML."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{escape(title)}</h1>
{body}
<script>{SCRIPT}</script>
</body>
</html>
"""


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


_POLICY = f"default-src 'none'; style-src {_hash(STYLE)}; script-src {_hash(SCRIPT)}; img-src data:"


def interval(low: float, value: float, high: float, ticks: Sequence[float]) -> str:
    """A dot with its interval on an axis from the first tick to the last."""

    def place(number: float) -> float:
        inside = min(max(number, ticks[0]), ticks[-1])
        share = (inside - ticks[0]) / (ticks[-1] - ticks[0])
        return round(_EDGE + (100 - 2 * _EDGE) * share, 1)

    shown = ticks if len(ticks) <= _MOST_TICKS else (ticks[0], ticks[-1])
    left, right = place(low), place(high)
    spoken = f"{value:.3g}, from {low:.3g} to {high:.3g}"
    return (
        f'<svg height="22" role="img" aria-label="{spoken}">'
        f'<line class="axis" x1="{_EDGE}%" y1="11" x2="{100 - _EDGE}%" y2="11"/>'
        + "".join(
            f'<line class="axis" x1="{place(tick)}%" y1="7" x2="{place(tick)}%" y2="15"/>'
            for tick in shown
        )
        + f'<rect class="band" x="{left}%" y="6" width="{max(0.5, right - left):.1f}%" '
        f'height="10"/><circle class="dot" cx="{place(value)}%" cy="11" r="4"/></svg>'
    )


def columns(shares: NDArray[np.float64], labels: Sequence[str]) -> str:
    """One column per answer, as high as its probability."""
    room = (100 - 2 * _EDGE) / len(labels)
    spoken = ", ".join(f"{escape(label)} {share:.0%}" for label, share in zip(labels, shares))
    drawn = "".join(
        f'<rect class="bar" x="{_EDGE + room * (place + 0.1):.2f}%" y="{_HIGH * (1 - share):.1f}" '
        f'width="{0.8 * room:.2f}%" height="{_HIGH * share:.1f}"/>'
        for place, share in enumerate(shares)
    )
    return (
        f'<svg height="26" role="img" aria-label="{spoken}">{drawn}'
        f'<line class="axis" x1="{_EDGE}%" y1="{_HIGH}" x2="{100 - _EDGE}%" y2="{_HIGH}"/></svg>'
    )


class Bar(NamedTuple):
    """A horizontal bar: its name, its length, the length in words, and an interval for it."""

    name: str
    value: float
    words: str
    bounds: tuple[float, float] | None = None


def bars(heading: str, rows: Sequence[Bar], top: float | None = None) -> str:
    """Horizontal bars; `top` fills the whole width, by default the longest bar does."""
    longest = top or max(row.value for row in rows) or 1.0
    body = "\n".join(
        f'<tr><td class="name">{escape(row.name)}</td><td class="chart">{_bar(row, longest)}</td>'
        f'<td class="number">{escape(row.words)}</td></tr>'
        for row in rows
    )
    return (
        '<div class="scroll"><table><thead><tr><th></th><th class="chart"></th>'
        f'<th class="number">{escape(heading)}</th></tr></thead>\n<tbody>\n{body}\n'
        "</tbody></table></div>"
    )


def _bar(row: Bar, longest: float) -> str:
    whisker = ""
    if row.bounds is not None:
        left, right = (f"{100 * bound / longest:.1f}%" for bound in row.bounds)
        whisker = "".join(
            f'<line class="whisker" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>'
            for x1, y1, x2, y2 in (
                (left, 9, right, 9),
                (left, 5, left, 13),
                (right, 5, right, 13),
            )
        )
    kind = "bar" if row.bounds is None else "bar pale"
    return (
        f'<svg height="18" aria-hidden="true"><rect class="{kind}" y="3" height="12" '
        f'width="{100 * row.value / longest:.1f}%"/>{whisker}</svg>'
    )

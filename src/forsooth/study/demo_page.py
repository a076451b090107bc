"""The demo's result as one self-contained page: no script, no external request, light and dark."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from forsooth.study.demo import SCALE, Demonstration, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable

_WIDTH = 260  # of the part of a row between the scale's ends, in pixels
_MARGIN = 12

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2430; --soft: #5b6575; --line: #d5dae2; --paper: #fff;
  --private: #0072b2; --open: #d55e00; --truth: #1d2430; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ebf0; --soft: #a3adbd; --line: #3a4352;
  --paper: #161a21; --private: #56b4e9; --open: #e69f00; --truth: #e8ebf0; } }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 62rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; } h2 { margin-top: 2.4rem; font-size: 1.2rem; }
.soft { color: var(--soft); } .big { font-size: 1.1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--soft); font-size: .85rem; }
td.number, th.number { text-align: right; white-space: nowrap; }
td.chart { padding: 0; width: 284px; }
svg { display: block; } .axis { stroke: var(--line); } .band { fill: var(--private); opacity: .25; }
.private { fill: var(--private); } .open { fill: none; stroke: var(--open); stroke-width: 2; }
.truth { stroke: var(--truth); stroke-width: 2; }
.ends { display: flex; justify-content: space-between; }
.key span { margin-right: 1.2rem; white-space: nowrap; }
"""


def page(demonstration: Demonstration) -> str:
    """The whole page."""
    private, hidden = demonstration.outcomes
    campaign = demonstration.campaign
    workers, tasks = len(campaign.answers.workers), len(campaign.answers.tasks)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>forsooth: a private campaign</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>{workers:,} people answered {tasks} delicate questions. Nobody learned their answers.</h1>
<p class="big">A made-up staff survey. Every person's answers were perturbed before they left that
person; what follows was computed from the perturbed reports alone. The true levels are known here
because the crowd is simulated.</p>
{_section(demonstration, private, "Each answer protected; which questions were answered is public")}
<p>On average the private result is off by <strong>{private.mae:.2f}</strong> of a step on a scale
of {SCALE.size} levels. With everybody's answers in the open it would be
{demonstration.open_mae:.2f}; guessing the same level for every question, even the best one, is off
by {campaign.constant_error():.2f}. Taking the perturbed reports for answers, as the paper does
(Algorithm 1), is off by {private.naive_mae:.2f}.</p>
{_section(demonstration, hidden, "Whether a question was answered protected too")}
<p>Off by <strong>{hidden.mae:.2f}</strong>. Skipped questions must look answered, so much of what
is sent is noise; Algorithm 1 on the very same reports is off by {hidden.naive_mae:.2f}. The
collector knows how the noise was made and takes it into account; that costs no privacy, since it
uses nothing but the reports.</p>
<h2>How to read this</h2>
<p class="soft">The bands are 90 % credible intervals of the true level given the reports. Run
<code>forsooth demo</code> again and the noise, which comes from the operating system, will be
different.</p>
</body>
</html>
"""


def _section(demonstration: Demonstration, outcome: Outcome, title: str) -> str:
    truths, campaign = outcome.truths, demonstration.campaign
    rows = zip(
        truths.tasks,
        campaign.truth.tolist(),
        demonstration.open_truths.estimate.tolist(),
        truths.estimate.tolist(),
        truths.low.tolist(),
        truths.high.tolist(),
    )
    body = "\n".join(_row(*row) for row in rows)
    first, last = escape(SCALE.labels[0]), escape(SCALE.labels[-1])
    guarantee = escape(outcome.mechanism.guarantee.describe(len(truths.tasks)))
    return f"""<h2>{escape(title)}</h2>
<p class="soft">Mechanism {escape(outcome.mechanism.name)}. {guarantee}.</p>
<p class="key">
<span>{_symbol('<line class="truth" x1="7" y1="2" x2="7" y2="14"/>')} true level</span>
<span>{_symbol('<circle class="open" cx="7" cy="8" r="5"/>')} without privacy</span>
<span>{_symbol('<circle class="private" cx="7" cy="8" r="5"/>')} from private reports, with
interval</span></p>
<div class="scroll"><table>
<thead><tr><th>question</th>
<th class="ends"><span>{first}</span><span>{last}</span></th>
<th class="number">true</th>
<th class="number">open</th><th class="number">private</th><th class="number">90 % interval</th>
</tr></thead>
<tbody>
{body}
</tbody></table></div>"""


def _row(
    question: str, truth: float, openly: float, privately: float, low: float, high: float
) -> str:
    numbers = "".join(
        f'<td class="number">{value:.2f}</td>' for value in (truth, openly, privately)
    )
    return (
        f'<tr><td>{escape(question)}</td><td class="chart">'
        f"{_chart(truth, openly, privately, low, high)}</td>{numbers}"
        f'<td class="number">{low:.2f} – {high:.2f}</td></tr>'
    )


def _chart(truth: float, openly: float, privately: float, low: float, high: float) -> str:
    """One row of a dot plot along the scale."""
    left, right = _x(low), _x(high)
    parts: Iterable[str] = (
        f'<line class="axis" x1="{_x(SCALE.low)}" y1="15" x2="{_x(SCALE.high)}" y2="15"/>',
        *(f'<line class="axis" x1="{_x(v)}" y1="11" x2="{_x(v)}" y2="19"/>' for v in SCALE.values),
        f'<rect class="band" x="{left}" y="10" width="{max(1.0, right - left):.1f}" height="10"/>',
        f'<line class="truth" x1="{_x(truth)}" y1="5" x2="{_x(truth)}" y2="25"/>',
        f'<circle class="open" cx="{_x(openly)}" cy="15" r="5"/>',
        f'<circle class="private" cx="{_x(privately)}" cy="15" r="4"/>',
    )
    size = f'width="{_WIDTH + 2 * _MARGIN}" height="30"'
    return f'<svg {size} role="img" aria-label="private {privately:.2f}">{"".join(parts)}</svg>'


def _symbol(shape: str) -> str:
    return f'<svg width="14" height="16" style="display:inline" aria-hidden="true">{shape}</svg>'


def _x(value: float) -> float:
    """A value's place, kept inside the picture."""
    inside = min(max(value, SCALE.low), SCALE.high)
    return round(_MARGIN + _WIDTH * (inside - SCALE.low) / SCALE.range, 1)

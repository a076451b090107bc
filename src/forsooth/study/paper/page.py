"""The report as one self-contained page: no script, no external request, light and dark."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from forsooth.study.paper import figures
from forsooth.study.paper.claims import CLAIMS
from forsooth.study.paper.comparison import CONSTANT, PAPERS
from forsooth.study.paper.readings import LP_READINGS, MF_READINGS, RR_LP, label
from forsooth.study.paper.verdicts import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from forsooth.study.paper.charts import Chart
    from forsooth.study.paper.claims import Claim
    from forsooth.study.paper.reproduction import Conclusion
    from forsooth.study.paper.verdicts import Check, Judgement, Number

_WORDS = {
    "reproduced": "reproduced",
    "with-condition": "under a condition",
    "differs-in-detail": "differs in detail",
    "contradicted": "contradicted",
    "not-run": "not run",
}

_TITLES = {
    "reproduced": "What held",
    "with-condition": "What held under a condition",
    "differs-in-detail": "What differs in detail",
    "contradicted": "What is contradicted",
    "not-run": "What could not be run",
}

STYLE = """
:root { color-scheme: light dark; --ink: #1d2430; --soft: #5b6575; --line: #d5dae2; --paper: #fff;
  --blue: #0072b2; --vermilion: #d55e00; --green: #009e73; --purple: #cc79a7; --orange: #e69f00;
  --sky: #56b4e9; --olive: #7a7a1f; --yes: #00664b; --partly: #8a5a00; --no: #a63c00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ebf0; --soft: #a3adbd; --line: #3a4352;
  --paper: #161a21; --blue: #3d9be0; --vermilion: #ff8a3d; --green: #2fc79b; --purple: #e29ac3;
  --orange: #f0b429; --sky: #8fd0f5; --olive: #c9c95a; --yes: #2fc79b; --partly: #f0b429;
  --no: #ff8a3d; } }
* { box-sizing: border-box; }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 66rem; margin: 0 auto; padding: 2rem 1rem 4rem; overflow-wrap: break-word; }
h1 { font-size: 1.7rem; line-height: 1.2; } h2 { margin-top: 2.6rem; font-size: 1.25rem; }
h3 { font-size: 1.02rem; margin: 0 0 .2rem; }
p { max-width: 46rem; } .soft { color: var(--soft); } .big { font-size: 1.1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--line);
  vertical-align: top; }
th { font-weight: 600; color: var(--soft); font-size: .85rem; }
td.number, th.number { text-align: right; white-space: nowrap; }
td.best { font-weight: 700; }
ul { padding-left: 1.2rem; } li { margin: .25rem 0; max-width: 46rem; }
.verdict { display: inline-block; font-size: .8rem; font-weight: 600; padding: .05rem .5rem;
  border: 1.5px solid; border-radius: 1rem; white-space: nowrap; }
.reproduced { color: var(--yes); } .with-condition { color: var(--partly); border-style: dashed; }
.differs-in-detail { color: var(--partly); border-style: dotted; }
.contradicted { color: var(--no); border-style: double; border-width: 3px; }
.not-run { color: var(--soft); border-style: dotted; }
.claim { border-top: 1px solid var(--line); padding: 1rem 0; }
.claim p { margin: .35rem 0; } .place { white-space: nowrap; }
.comparison { font-size: .88rem; } .comparison th.number { white-space: normal; }
.comparison td { padding: .15rem .5rem; }
details { margin-top: .4rem; font-size: .92rem; } summary { cursor: pointer; color: var(--blue); }
details td:first-child { min-width: 11rem; } details td:last-child { min-width: 14rem; }
details td.number { min-width: 0; }
figure { margin: 1.6rem 0 2.4rem; } figcaption { max-width: 46rem; color: var(--soft); }
.panels { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; }
.panel { flex: 1 1 320px; max-width: 31rem; min-width: 0; }
.panel svg { display: block; width: 100%; height: auto; }
a { color: var(--blue); }
code, pre { font: .9em ui-monospace, monospace; }
pre { overflow-x: auto; border: 1px solid var(--line); border-radius: .4rem; padding: .7rem .9rem; }
@media (max-width: 30rem) { body { padding-top: 1rem; } h1 { font-size: 1.4rem; }
  th, td { padding: .3rem .4rem; } }
"""


def page(conclusion: Conclusion) -> str:
    """The whole page."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>forsooth reproduce</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{_headline(conclusion.judgements)}</h1>
<p class="big">“Truth Inference on Sparse Crowdsourcing Data with Local Differential Privacy” (Sun,
Dong, Wang, Yu, Qin; 2018), recomputed from its text claim by claim. A verdict is computed from the
numbers by a stated rule; all numbers are in the details of each claim.</p>
{_summary(conclusion.judgements)}
{_comparison(conclusion)}
{_claims(conclusion.judgements)}
{_figures(conclusion.charts)}
{_methods(conclusion)}
</body>
</html>
"""


def _headline(judgements: Sequence[Judgement]) -> str:
    counts = [sum(each.verdict == verdict for each in judgements) for verdict in VERDICTS]
    held, partly, different, failed, skipped = counts
    parts = [
        f"{held} {'is' if held == 1 else 'are'} reproduced",
        f"{partly} under a condition",
        f"{different} {'differs' if different == 1 else 'differ'} in detail",
        f"{failed} {'is' if failed == 1 else 'are'} contradicted",
    ]
    if skipped:
        parts.append(f"{skipped} could not be run")
    return f"Of {len(judgements)} claims of the paper, {', '.join(parts)}."


def _summary(judgements: Sequence[Judgement]) -> str:
    """What held and what did not, one line each."""
    sections = []
    for verdict, title in _TITLES.items():
        items = "\n".join(
            f'<li><a href="#{escape(each.claim.id)}">{each.claim.number}. '
            f"{escape(each.claim.title)}</a>: "
            f"{escape(each.claim.statement if verdict == 'reproduced' else each.finding)}</li>"
            for each in judgements
            if each.verdict == verdict
        )
        if items:
            sections.append(f"<h2>{title}</h2>\n<ul>\n{items}\n</ul>")
    return "\n".join(sections)


def _comparison(conclusion: Conclusion) -> str:
    """Forsooth beside the paper's mechanisms, wherever its default was measured."""
    rows = conclusion.comparison
    if not rows:
        return ""
    head = "".join(f'<th class="number">{escape(name)}</th>' for name in rows[0].values)
    body = "\n".join(
        f'<tr><td class="place">{escape(row.where)}</td><td class="number">{row.epsilon:g}</td>'
        + "".join(
            f'<td class="number{" best" if value == row.smallest else ""}">'
            f"{'—' if value is None else f'{value:.2f}'}</td>"
            for value in row.values.values()
        )
        + "</tr>"
        for row in rows
    )
    won = sum(row.default_is_best for row in rows)
    theirs = sum(row.default_is_beaten_by(PAPERS) for row in rows)
    constant = sum(row.default_is_beaten_by((CONSTANT,)) for row in rows)
    return f"""<h2>forsooth beside the paper's mechanisms</h2>
<p>Every point at which forsooth's default was measured. In {won} of {len(rows)} rows the default
(<code>forsooth perturb</code> and <code>forsooth infer</code> without further options) has a
smaller error than all mechanisms of the paper and than the best constant. In {theirs} a mechanism
of the paper is as good or better, in {constant} the best constant, which looks at no data and
cannot be known beforehand. MAE change; negative means better than Algorithm 1
on the <em>unperturbed</em> answers. LP, RR, RR+LP and forsooth protect each answer and whether it
was given; MF protects answers only, and 2-Layer at ε protects as much as RR at 2ε. Bold: the
smallest error.</p>
<div class="scroll"><table class="comparison">
<thead><tr><th>data</th><th class="number">ε</th>{head}</tr></thead>
<tbody>
{body}
</tbody></table></div>"""


def _claims(judgements: Sequence[Judgement]) -> str:
    """A table of all, then each in full."""
    rows = (
        f'<tr><td class="number">{each.claim.number}</td>'
        f'<td><a href="#{escape(each.claim.id)}">{escape(each.claim.title)}</a></td>'
        f"<td>{each.claim.text}</td><td>{_badge(each)}</td>"
        f'<td class="number">{len(each.held)} of {len(each.counted)}</td></tr>'
        for each in judgements
    )
    overview = _table(("", "claim", "text", "verdict", "checks that hold"), rows)
    return f"<h2>The claims</h2>\n{overview}\n" + "\n".join(map(_claim, judgements))


def _badge(judgement: Judgement) -> str:
    return f'<span class="verdict {judgement.verdict}">{_WORDS[judgement.verdict]}</span>'


def _claim(judgement: Judgement) -> str:
    claim = judgement.claim
    reasons = "".join(f"<p>{escape(why)}</p>" for why in judgement.explanations)
    remarks = "".join(f'<p class="soft">{escape(remark)}</p>' for remark in judgement.remarks)
    return f"""<section class="claim" id="{escape(claim.id)}">
<h3>{claim.number}. {escape(claim.title)} {_badge(judgement)}</h3>
<p class="soft">{escape(claim.statement)}{_where(claim)}</p>
<p>{escape(judgement.finding)}</p>
{reasons}
{remarks}
<details><summary>How it was tested: {_count(judgement.checks, "check")},
{_count(judgement.numbers, "number")}</summary>
<p>{escape(claim.test)}</p>
{_checks(judgement)}
{_numbers(judgement.numbers)}
</details>
</section>"""


def _where(claim: Claim) -> str:
    return "" if claim.text == "printed" else " (In text that is commented out of the source.)"


def _count(things: Sequence[object], name: str) -> str:
    return f"{len(things)} {name}{'' if len(things) == 1 else 's'}"


def _checks(judgement: Judgement) -> str:
    rows = (
        f"<tr><td>{escape(check.name)}{_role(check)}</td>"
        f"<td>{'yes' if check.holds else 'no'}</td><td>{escape(check.found)}</td></tr>"
        for check in judgement.checks
    )
    return _table(("part or reading", "holds", "found"), rows)


def _role(check: Check) -> str:
    """What is said of checks that count in another way than most."""
    return " (beside the claim)" if check.beside else " (universal)" if check.universal else ""


def _numbers(numbers: Sequence[Number]) -> str:
    rows = (
        f'<tr><td>{escape(number.name)}</td><td class="number">{_value(number.value)}</td>'
        f'<td class="number">{"" if number.se is None else f"{number.se:.3f}"}</td>'
        f'<td class="number">{number.repeats or ""}</td>'
        f'<td class="number">{"" if number.printed is None else _value(number.printed)}</td></tr>'
        for number in numbers
    )
    return _table(("number", "value", "s.e.", "repeats", "printed"), rows)


def _value(value: float | str) -> str:
    if isinstance(value, str):
        return "∞" if value == "inf" else escape(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"


def _table(columns: Sequence[str], rows: Iterable[str]) -> str:
    listed = list(rows)
    if not listed:
        return ""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead>\n<tbody>\n'
        + "\n".join(listed)
        + "\n</tbody></table></div>"
    )


def _figures(charts: Sequence[Chart]) -> str:
    return "<h2>The figures</h2>\n" + "\n".join(map(_figure, charts)) if charts else ""


def _figure(chart: Chart) -> str:
    panels = "\n".join(
        f'<div class="panel" role="img" aria-label="{escape(f"{panel.what}: {panel.title}")}">'
        f"{figures.inline(chart, index)}</div>"
        for index, panel in enumerate(chart.panels)
    )
    return f"""<figure id="figure-{escape(chart.name)}">
<div class="panels">
{panels}
</div>
<figcaption>{escape(chart.caption)} Files: <code>figures/{escape(chart.name)}</code>.png, .svg and
the numbers in .csv.</figcaption>
</figure>"""


def _methods(conclusion: Conclusion) -> str:
    run = conclusion.run
    scope, seed = run.setup.scope, run.setting.seed
    readings = "\n".join(
        f"<li><code>{escape(name)}</code>: {escape(label(name))}</li>"
        for name in (*LP_READINGS, RR_LP, *MF_READINGS)
    )
    repeats = ", ".join(
        f"{scope.repeats[kind]} ({scope.posterior_repeats[kind]}) on {words}"
        for kind, words in (
            ("small", "2,000 × 200"),
            ("large", "10,000 × 1,000"),
            ("wsd", "Web"),
            ("adult", "AdultContent"),
        )
    )
    versions = ", ".join(f"{name} {number}" for name, number in conclusion.versions.items())
    chosen = [each.claim for each in conclusion.judgements]
    command = ["forsooth reproduce", *(claim.slug for claim in chosen if len(chosen) < len(CLAIMS))]
    command += ["--quick"] if scope.name == "quick" else []
    return f"""<h2>How it was done</h2>
<p>Synthetic crowds as in the paper: answers 0..9, truths drawn from N(0, 1) (or as stated) and
clipped to the scale, half of the workers with σ = 1 and half with σ = 5, every cell NULL with
probability “sparsity”; drawn again for every repeat. Web is the word-sense data of Snow et al.
(2008), whose statistics the paper's table has. MAE change = error of Algorithm 1 on the perturbed
answers − error of Algorithm 1 on the original answers. Repeats (of posterior inference):
{escape(repeats)}. The standard error is over repeats; on real data they differ in the noise only.
</p>
<p>Seed {seed}; every crowd and every draw of noise has a seed of its own derived from it, so that
the same version gives the same numbers. Where the text leaves a choice these readings were
measured:</p>
<ul>
{readings}
</ul>
<p>{len(run.cells):,} cells, {conclusion.seconds / 60:.1f} minutes of one core. {escape(versions)}.
</p>
<h2>Do it again</h2>
<pre>{escape(" ".join(command))} --seed {seed} -o DIR</pre>
<p class="soft">The real data sets are found through <code>--data-dir</code> or
<code>FORSOOTH_DATA</code>; <code>forsooth datasets list</code> says where to get them. A killed run
continues where it was.</p>"""

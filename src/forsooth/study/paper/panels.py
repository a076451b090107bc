"""The paper's figures from the results, with the trivial guesses and forsooth's own choices drawn
into each of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forsooth.study.paper.charts import (
    EPSILON,
    SPARSITY,
    Bars,
    Chart,
    Histogram,
    Line,
    Panel,
)
from forsooth.study.paper.evidence import place
from forsooth.study.paper.quality import BINS
from forsooth.study.paper.readings import (
    DEFAULT,
    LP,
    MF,
    MF_20,
    RR,
    RR_LP,
    SPLITS,
    TWO_LAYER,
    Pipeline,
    choices_of,
    label,
)
from forsooth.study.paper.scopes import (
    BUDGETS,
    CENTRE,
    CENTRE_BUDGETS,
    DENSE,
    HALF,
    SPARSE,
    TOP,
    large,
    large_panels,
    quality_sources,
    small,
    tiny,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from forsooth.study.paper.cells import DataSource
    from forsooth.study.paper.results import Results
    from forsooth.study.paper.scopes import Setup

Point = tuple[float, "DataSource", float]  # x, data, ε
Styled = tuple[str, str, Pipeline]  # style, label, what is drawn


@dataclass(frozen=True)
class Figure:
    """How a chart is made, and which sweeps it shows."""

    sweeps: tuple[str, ...]
    build: Callable[[Results, Setup], Chart | None]


_PAPERS: tuple[Styled, ...] = (
    ("lp", "LP", Pipeline(LP)),
    ("lp", "LP", Pipeline("lp")),  # on one's own data, where |Γ| may be too little noise
    ("rr", "RR", Pipeline(RR)),
    ("rr-lp", "RR+LP", Pipeline(RR_LP)),
    ("two-layer", "2-Layer (2ε)", Pipeline(TWO_LAYER)),
    *(("mf", f"MF, d = {d} (answers only)", Pipeline(f"mf:d={d}")) for d in range(1, 6)),
    ("mf-20", "MF, d = 20 (answers only)", Pipeline(MF_20)),
)
_SPLITS: tuple[Styled, ...] = tuple(
    (f"split-{place}", label(name), Pipeline(name)) for place, name in enumerate(SPLITS)
)
_GUESSES = (
    ("constant", "mae_constant", "best constant"),
    ("middle", "mae_middle", "middle of the scale"),
)
_OURS_TOO = (
    " Grey: guesses that look at no data. Stars: what forsooth perturb and forsooth infer do by "
    "default (randomized response, posterior inference), which protects everything that LP and RR "
    "protect. Other choices are named."
)


def _ours(source: DataSource) -> tuple[Styled, ...]:
    styles = {name: "adaptive" if "adaptive" in name else "label" for name in choices_of(source)}
    styles[DEFAULT] = "ours"
    return tuple((styles[name], name, each) for name, each in choices_of(source).items())


def _lines(results: Results, points: Iterable[Point]) -> tuple[Line, ...]:
    """Every line that has been measured at some of the points."""
    listed = list(points)
    found = _measured(results, listed, (*_PAPERS, *_ours(listed[0][1])))
    for style, measure, words in _GUESSES:
        levels = tuple((x, results.baseline(source, measure)) for x, source, _ in listed)
        found.append(Line(style, words, levels))
    return tuple(found)


def _measured(results: Results, points: Sequence[Point], lines: Iterable[Styled]) -> list[Line]:
    found: list[Line] = []
    for style, words, pipeline in lines:
        measured = tuple(
            (x, results.measured(source, pipeline, epsilon))
            for x, source, epsilon in points
            if results.row(source, pipeline, epsilon)
        )
        if measured and words not in (line.label for line in found):
            found.append(Line(style, words, measured))
    return found


def _over_epsilon(results: Results, source: DataSource, epsilons: Iterable[float]) -> Panel:
    points = [(epsilon, source, epsilon) for epsilon in epsilons]
    return Panel(place(source), EPSILON, _lines(results, points))


def _over_sparsity(
    name: str, results: Results, crowds: dict[float, DataSource], budgets: Iterable[float]
) -> Chart:
    """One panel per budget; the crowds differ in nothing but their sparsity."""
    size, _, truths = place(crowds[SPARSE]).partition(f", sparsity {SPARSE:g}")
    panels = []
    for budget in budgets:
        points = [(sparsity, crowd, budget) for sparsity, crowd in crowds.items()]
        title = f"{size}, ε = {budget:g}{truths}"
        panels.append(Panel(title, SPARSITY, _lines(results, points)))
    return Chart(name, f"MAE change against sparsity, {size}{truths}.{_OURS_TOO}", panels)


def _epsilon(results: Results, setup: Setup) -> Chart:
    epsilons = setup.scope.epsilons
    panels = [_over_epsilon(results, small(s), epsilons) for s in (SPARSE, HALF)]
    return Chart("epsilon", "MAE change against ε, 2,000 workers, 200 tasks." + _OURS_TOO, panels)


def _sparsity(results: Results, setup: Setup) -> Chart:
    crowds = {sparsity: small(sparsity) for sparsity in setup.scope.sparsities}
    return _over_sparsity("sparsity", results, crowds, BUDGETS)


def _large(results: Results, setup: Setup) -> Chart:
    crowds = {sparsity: large(sparsity) for sparsity in setup.scope.large_sparsities}
    return _over_sparsity("large", results, crowds, BUDGETS)


def _centre(results: Results, setup: Setup) -> Chart:
    epsilons = setup.scope.epsilons
    panels = [_over_epsilon(results, small(s, CENTRE), epsilons) for s in (SPARSE, HALF, DENSE)]
    caption = "Truths from N(4, 1): MAE change against ε, 2,000 workers, 200 tasks."
    return Chart("centre", caption + _OURS_TOO, panels)


def _large_centre(results: Results, setup: Setup) -> Chart:
    scope = setup.scope
    panels = [
        _over_epsilon(results, large(s, CENTRE), scope.large_epsilons) for s in large_panels(scope)
    ]
    caption = "Truths from N(4, 1): MAE change against ε, 10,000 workers, 1,000 tasks."
    return Chart("large-centre", caption + _OURS_TOO, panels)


def _centre_sparsity(results: Results, setup: Setup) -> Chart:
    crowds = {sparsity: small(sparsity, CENTRE) for sparsity in setup.scope.sparsities}
    return _over_sparsity("centre-sparsity", results, crowds, CENTRE_BUDGETS)


def _large_centre_sparsity(results: Results, setup: Setup) -> Chart:
    crowds = {sparsity: large(sparsity, CENTRE) for sparsity in setup.scope.large_sparsities}
    return _over_sparsity("large-centre-sparsity", results, crowds, CENTRE_BUDGETS)


def _top(results: Results, setup: Setup) -> Chart:
    epsilons = setup.scope.epsilons
    panels = [_over_epsilon(results, small(s, TOP), epsilons) for s in (SPARSE, HALF)]
    caption = (
        "Truths from N(9, 1), the mirror image of N(0, 1): here shrinking towards 0 cannot help. "
        "MAE change against ε, 2,000 workers, 200 tasks."
    )
    return Chart("top", caption + _OURS_TOO, panels)


def _splits(results: Results, setup: Setup) -> Chart:
    panels = []
    for sparsity in (SPARSE, HALF, DENSE):
        points = [(epsilon, tiny(sparsity), epsilon) for epsilon in setup.scope.epsilons]
        lines = tuple(_measured(results, points, _SPLITS))
        panels.append(Panel(place(tiny(sparsity)), EPSILON, lines))
    caption = (
        "RR+LP with several splits of ε: ε₁ tells whether a cell is answered, ε₂ = ε − ε₁ is for "
        "the value. MAE change (logarithmic) against ε, 200 workers, 20 tasks, truths from N(0, 1)."
    )
    return Chart("splits", caption, panels, logarithmic=True)


def _real(results: Results, setup: Setup) -> Chart | None:
    panels = [
        _over_epsilon(results, source, setup.scope.epsilons_of(name))
        for name, source in setup.real.items()
    ]
    caption = "MAE change against ε on real data." + _OURS_TOO
    return Chart("real", caption, panels) if panels else None


def _own(results: Results, setup: Setup) -> Chart | None:
    if setup.own is None:
        return None
    panel = _over_epsilon(results, setup.own, setup.scope.epsilons)
    return Chart("own", "MAE change against ε on your own data." + _OURS_TOO, [panel])


def _quality(results: Results, setup: Setup) -> Chart:
    panels = []
    for epsilon in setup.scope.quality_epsilons:
        for source in quality_sources(setup).values():
            before = results.quality_shares(source, LP, epsilon, "before")
            series = {("before", "from the answers"): before}
            for style, mechanism in (("lp", LP), ("rr", RR), ("mf", MF)):
                shares = results.quality_shares(source, mechanism, epsilon, "after")
                series[style, f"after {label(mechanism)}"] = shares
            panels.append(Histogram(f"{place(source)}, ε = {epsilon:g}", tuple(BINS), series))
    caption = (
        "Worker quality as Algorithm 1 infers it from the answers (grey) and after perturbation: "
        "the share of workers per tenth of the average quality. The last bin is open."
    )
    return Chart("quality", caption, panels)


def _answers(results: Results, setup: Setup) -> Chart | None:
    panels = []
    for name, source in setup.real.items():
        found = results.descriptions[name]
        answers, truths = found["answer_distribution"], found["truth_distribution"]
        series = {"answers": tuple(answers.values()), "known truths": tuple(truths.values())}
        panels.append(Bars(place(source), tuple(answers), series))
    caption = "Answer distributions of the real data sets, and their known truths."
    return Chart("answers", caption, panels) if panels else None


FIGURES = {
    "answers": Figure(("descriptions",), _answers),
    "epsilon": Figure(("epsilon", "epsilon-ours"), _epsilon),
    "sparsity": Figure(("sparsity", "sparsity-ours"), _sparsity),
    "large": Figure(("large", "large-ours"), _large),
    "real": Figure(("real", "real-ours"), _real),
    "splits": Figure(("splits",), _splits),
    "centre": Figure(("centre", "centre-ours"), _centre),
    "centre-sparsity": Figure(("centre-sparsity", "centre-sparsity-ours"), _centre_sparsity),
    "large-centre": Figure(("large-centre", "large-centre-ours"), _large_centre),
    "large-centre-sparsity": Figure(
        ("large-centre-sparsity", "large-centre-sparsity-ours"), _large_centre_sparsity
    ),
    "top": Figure(("top", "top-ours"), _top),
    "quality": Figure(("quality",), _quality),
    "own": Figure(("own",), _own),
}

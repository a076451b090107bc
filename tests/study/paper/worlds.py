"""Made-up results: worlds in which the paper is right, and worlds in which it is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from forsooth.study.paper.cells import AuditCell, Cell, DataSource, DescriptionCell, ErrorCell
from forsooth.study.paper.claims import CLAIMS, Claim
from forsooth.study.paper.facts import PRINTED
from forsooth.study.paper.judges import judge
from forsooth.study.paper.plan import SWEEPS, plan
from forsooth.study.paper.quality import BINS, QualityCell
from forsooth.study.paper.readings import LP, RR, SPLITS
from forsooth.study.paper.results import Results
from forsooth.study.paper.scopes import QUICK, Setup
from forsooth.study.paper.verdicts import Judgement

REAL = {
    "wsd": DataSource("wsd", 34, 177, estimand="label"),
    "adult": DataSource("adult", 825, 11_040, estimand="label"),
}
SETUP = Setup(QUICK, REAL)
CELLS = plan(SETUP, SWEEPS)
Change = Callable[[ErrorCell], float]


def claim(slug: str) -> Claim:
    return next(each for each in CLAIMS if each.slug == slug)


def sparsity_of(cell: ErrorCell) -> float:
    return float(cell.source.data.partition("sparsity=")[2].partition(",")[0] or 0.9)


def is_central(cell: ErrorCell) -> bool:
    return "truth-mean=4" in cell.source.data


def is_large(cell: ErrorCell) -> bool:
    return cell.source.workers == 10_000


def paper_is_right(cell: ErrorCell) -> float:
    """The MAE change as the paper's text has it."""
    kind, epsilon = cell.mechanism.partition(":")[0], cell.epsilon
    if cell.mechanism in SPLITS and cell.source.workers == 200:
        return SPLITS[cell.mechanism]
    if is_central(cell) and kind != "mf":
        return 0.6 if epsilon < 2 else 0.05
    if kind in ("lp", "rr-lp"):
        noise = 0.0 if epsilon >= 1 else 0.5 if is_large(cell) else 0.8
        return 2.5 * sparsity_of(cell) + noise
    if kind in ("rr", "two-layer"):
        if cell.source.data in REAL:
            return 1.2 if epsilon <= 3 else 0.5
        return 3 - epsilon / 2 + 0.2 * sparsity_of(cell)
    return 0.1  # mf and whatever we do


def run(cell: ErrorCell, change: Change) -> dict[str, Any]:
    value = change(cell) + 0.001 * cell.repeat
    return {
        "data": cell.source.data,
        "mirror": False,
        "mechanism": cell.mechanism,
        "method": cell.method,
        "protects": "answers+participation",
        "guarantee": cell.epsilon,
        "epsilon": cell.epsilon,
        "repeat": cell.repeat,
        "mae": value + 0.5,
        "mae_original": 0.5,
        "mae_change": value,
        "mae_constant": 0.4,
        "mae_middle": 4.0,
        "coverage": 0.9,
        "estimand": cell.estimand,
    }


def quality(cell: QualityCell, correlation: float | None = None) -> dict[str, Any]:
    destroyed = cell.mechanism == LP or (cell.mechanism == RR and cell.source.data in REAL)
    bins = [1 / (len(BINS) - 1)] * (len(BINS) - 1)
    return {
        "before": bins,
        "after": bins,
        "above_before": 0.5,
        "above_after": 0.5,
        "correlation": (0.0 if destroyed else 0.5) if correlation is None else correlation,
        "right_side": 1.0,
    }


def audited(cell: AuditCell, exact: object = 1.0) -> dict[str, Any]:
    return {
        "mechanism": cell.mechanism,
        "exact": {"value": exact, "participation": exact},
        "sampled": {"value": 0.9, "participation": 0.9, "draws": cell.draws},
        "witness": None,
    }


def described(cell: DescriptionCell) -> dict[str, Any]:
    printed = PRINTED[cell.source.data]
    return {
        **{key: int(printed[key]) for key in ("workers", "tasks", "answers")},
        "sparsity": {key: printed[key] for key in ("max", "min", "average")},
        "answer_distribution": {"0": 0.8, "1": 0.2, "2": 0.0, "3": 0.0, "4": 0.0},
        "truth_distribution": {"0": 0.75, "1": 0.25, "2": 0.0, "3": 0.0, "4": 0.0},
        "tasks_with_truth": 100,
        "correct_answers": 0.9,
    }


def result_of(cell: Cell, change: Change = paper_is_right) -> dict[str, Any]:
    if isinstance(cell, ErrorCell):
        return run(cell, change)
    if isinstance(cell, AuditCell):
        return audited(cell)
    if isinstance(cell, QualityCell):
        return quality(cell)
    assert isinstance(cell, DescriptionCell)
    return described(cell)


def world(change: Change = paper_is_right) -> Results:
    return Results((cell, result_of(cell, change)) for cell in CELLS)


def judged(slug: str, results: Results, setup: Setup = SETUP) -> Judgement:
    return judge(claim(slug), results, setup)

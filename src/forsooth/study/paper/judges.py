"""Every claim and its rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forsooth.study.paper import commented, facts, judging
from forsooth.study.paper.evidence import ClaimEvidence
from forsooth.study.paper.verdicts import Judgement

if TYPE_CHECKING:
    from collections.abc import Callable

    from forsooth.study.paper.claims import Claim
    from forsooth.study.paper.results import Results
    from forsooth.study.paper.scopes import Setup
    from forsooth.study.paper.verdicts import Check

RULES: dict[str, Callable[[ClaimEvidence], list[Check]]] = {
    "datasets": facts.dataset_table,
    "distributions": facts.distributions,
    "mf-smallest": judging.mf_smallest,
    "lp-drop": judging.lp_drop,
    "rr-falls": judging.rr_falls,
    "lp-sparsity": judging.lp_sparsity,
    "mf-sparsity": judging.mf_sparsity,
    "growth": judging.growth,
    "size": judging.size,
    "real-mf": judging.real_mf,
    "two-layer": judging.two_layer,
    "adult-drop": judging.adult_drop,
    "bounds": facts.worked_bounds,
    "privacy": facts.guarantees,
    "split": commented.split,
    "centre-advantage": commented.centre_advantage,
    "centre-rr": commented.centre_rr,
    "centre-sparsity": commented.centre_sparsity,
    "centre-dense": commented.centre_dense,
    "top": commented.top,
    "quality": commented.quality,
    "quality-after": commented.quality_after,
    "quality-real": commented.quality_real,
}


def judge(claim: Claim, results: Results, setup: Setup) -> Judgement:
    """The verdict on one claim, or that its data is missing."""
    if missing := tuple(name for name in claim.data if name not in setup.real):
        return Judgement(claim, missing=missing)
    evidence = ClaimEvidence(results, setup, claim.tolerance)
    checks = RULES[claim.slug](evidence)
    numbers, remarks = tuple(evidence.numbers.values()), tuple(evidence.remarks)
    return Judgement(claim, tuple(checks), numbers, remarks)

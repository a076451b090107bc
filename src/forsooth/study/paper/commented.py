"""The rules of the claims that stand in comments of the paper's source."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from forsooth.study.paper.evidence import place
from forsooth.study.paper.judging import at_most, margin
from forsooth.study.paper.readings import LP, MF, MF_20, MF_READINGS, RR, RR_LP, SPLITS
from forsooth.study.paper.scopes import (
    BUDGETS,
    CENTRE,
    CENTRE_BUDGETS,
    DENSE,
    HALF,
    QUALITY_CROWD,
    QUALITY_EPSILON,
    SPARSE,
    TOP,
    large,
    large_panels,
    small,
    tiny,
)
from forsooth.study.paper.verdicts import Check

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from forsooth.study.paper.cells import DataSource
    from forsooth.study.paper.evidence import ClaimEvidence
    from forsooth.study.paper.results import Measured
    from forsooth.study.paper.scopes import Scope

_STRAW_MEN = {LP: "LP", RR: "RR", RR_LP: "RR+LP"}
_SMALL, _LARGE = "2,000×200", "10,000×1,000"

_FLOOD = (
    "With ε₁ = 0.1ε step 1 reports 38 % of the NULLs as answers even at ε = 5. On sparse data "
    "these invented answers outnumber the true ones, however small the noise of step 2 is; a "
    "larger ε₁ leaves fewer of them."
)
_NOISE = (
    "At ε = 0.1 the noise of one cell is many times as wide as the scale. What is left of it in "
    "the mean over a task's reports decides the error."
)
_NEAR_THE_MIDDLE = (
    "What replaces a NULL has the mean 4.5, near these truths but not the same for all of them: "
    "the sparser the data, the more the estimates of all tasks are alike."
)
_MF_SMOOTHS = (
    "MF predicts almost the same for all tasks and shrinks it towards 0. Its MAE change hardly "
    "depends on ε, and the others pass it where their reports say enough."
)
_TOWARDS_ZERO = (
    "MF shrinks what it predicts towards 0. That helps where the truths lie at 0, and hurts at the "
    "other end of the scale."
)
_ALIKE = (
    "At this ε the reports of good and bad workers look alike: their distances to the estimates "
    "say almost nothing about the workers."
)


def split(evidence: ClaimEvidence) -> list[Check]:
    """Claim 15."""
    checks, (stated, *_) = [], SPLITS
    for (words, low, high), sparsity in product(
        (("ε up to 1", 0, 1), ("ε above 1", 1, 5)), (DENSE, HALF, SPARSE)
    ):
        gaps = {}
        for epsilon in (each for each in evidence.setup.scope.epsilons if low < each <= high):
            changes = {
                name: evidence.change(tiny(sparsity), name, epsilon).value for name in SPLITS
            }
            gaps[tiny(sparsity), epsilon] = changes[stated] - min(changes.values())
        part, what = f"sparsity {sparsity:g}", "ε₁ = 0.1ε − the best split"
        checks.append(at_most(words, what, gaps, evidence, _FLOOD, part))
    return checks


def centre_advantage(evidence: ClaimEvidence) -> list[Check]:
    """Claim 16."""
    scope = evidence.setup.scope
    checks = []
    for mf, size, crowd in _readings(scope):
        epsilons = scope.epsilons if size == _SMALL else BUDGETS
        losses = {
            epsilon: margin(evidence, (crowd(SPARSE, CENTRE), epsilon), mf, tuple(_STRAW_MEN))
            - margin(evidence, (crowd(SPARSE, 0), epsilon), mf, tuple(_STRAW_MEN))
            for epsilon in epsilons
        }
        least = min(losses, key=lambda epsilon: losses[epsilon])
        checks.append(
            Check(
                f"{MF_READINGS[mf]}, {size}",
                losses[least] >= evidence.tolerance,
                f"smaller by {min(losses.values()):.2f} to {max(losses.values()):.2f}; least at "
                f"ε = {least:g}",
                _MF_SMOOTHS,
            )
        )
    return checks


def centre_rr(evidence: ClaimEvidence) -> list[Check]:
    """Claim 17."""
    checks = []
    for (mf, size, crowd), sparsity in product(
        _readings(evidence.setup.scope), (SPARSE, HALF, DENSE)
    ):
        epsilons = [epsilon for epsilon in _epsilons(evidence, size) if epsilon > 4]
        if size == _LARGE and sparsity not in large_panels(evidence.setup.scope):
            continue
        gaps = {}
        for epsilon in epsilons:
            point = (crowd(sparsity, CENTRE), epsilon)
            gaps[point] = -margin(evidence, point, mf, (RR,))
        reading = f"{MF_READINGS[mf]}, {size}"
        part = f"sparsity {sparsity:g}"
        checks.append(at_most(reading, "RR − MF", gaps, evidence, _NEAR_THE_MIDDLE, part))
    return checks


def centre_sparsity(evidence: ClaimEvidence) -> list[Check]:
    """Claim 18."""
    scope, checks = evidence.setup.scope, []
    for (size, crowd, sparsities), (mechanism, words) in product(
        ((_SMALL, small, scope.sparsities), (_LARGE, large, scope.large_sparsities)),
        _STRAW_MEN.items(),
    ):
        for epsilon in CENTRE_BUDGETS:
            values = [
                evidence.change(crowd(sparsity, CENTRE), mechanism, epsilon).value
                for sparsity in sorted(sparsities)
            ]
            checks.append(
                Check(
                    f"{words}, {size}",
                    max(values) - min(values) <= evidence.tolerance,
                    f"{values[0]:.2f} at sparsity {min(sparsities):g}, {values[-1]:.2f} at "
                    f"{max(sparsities):g}",
                    _NOISE if mechanism != RR and epsilon < 1 else _NEAR_THE_MIDDLE,
                    f"ε = {epsilon:g}",
                )
            )
    dense, sparse = (evidence.change(small(each), LP, 1.0) for each in (DENSE, SPARSE))
    evidence.remarks.append(
        f"With truths from N(0, 1) LP's MAE change at ε = 1 is {dense} at sparsity {DENSE:g} and "
        f"{sparse} at {SPARSE:g}."
    )
    return checks


def centre_dense(evidence: ClaimEvidence) -> list[Check]:
    """Claim 19."""
    checks = []
    for mf, size, crowd in _readings(evidence.setup.scope):
        gains = {
            epsilon: min(
                margin(evidence, (crowd(DENSE, CENTRE), epsilon), mf, (other,))
                for other in _STRAW_MEN
            )
            for epsilon in _epsilons(evidence, size)
            if epsilon >= 2
        }
        least = min(gains, key=lambda epsilon: gains[epsilon])
        checks.append(
            Check(
                f"{MF_READINGS[mf]}, {size}",
                gains[least] > evidence.tolerance,
                f"MF − the worst of the others {gains[least]:+.2f} at least, at ε = {least:g}",
                _MF_SMOOTHS,
            )
        )
    return checks


def top(evidence: ClaimEvidence) -> list[Check]:
    """Claim 20."""
    epsilons, sparsities = evidence.setup.scope.epsilons, (SPARSE, HALF)
    checks = []
    for mf in (MF, MF_20):
        margins = {
            (small(sparsity, TOP), epsilon): margin(
                evidence, (small(sparsity, TOP), epsilon), mf, (LP, RR)
            )
            for sparsity, epsilon in product(sparsities, epsilons)
        }
        reading, what = f"MF, {MF_READINGS[mf]}, best", "MF − the better of LP and RR"
        checks.append(at_most(reading, what, margins, evidence, _TOWARDS_ZERO))
    for mechanism in (LP, RR):
        gaps = {
            (small(sparsity, TOP), epsilon): abs(
                evidence.change(small(sparsity, TOP), mechanism, epsilon).value
                - evidence.change(small(sparsity), mechanism, epsilon).value
            )
            for sparsity, epsilon in product(sparsities, epsilons)
            if mechanism == RR or epsilon >= 1
        }
        checks.append(at_most(f"{_STRAW_MEN[mechanism]} as around 0", "difference", gaps, evidence))
    return checks


def quality(evidence: ClaimEvidence) -> list[Check]:
    """Claim 21."""
    point = (QUALITY_CROWD, LP, QUALITY_EPSILON)  # what is inferred from the answers is the same
    above = evidence.results.quality(*point, "above_before")
    right = evidence.results.quality(*point, "right_side")
    evidence.note("share of workers of at least average quality", above.value)
    evidence.note("share of workers on the right side of the average", right.value)
    return [
        Check(
            "Algorithm 1 on the answers",
            abs(above.value - 0.5) <= evidence.tolerance,
            f"{above.value:.1%} of the workers are at least average",
            part="one half above average",
        ),
        Check(
            "Algorithm 1 on the answers",
            right.value >= 1 - evidence.tolerance,
            f"{right.value:.1%} of the workers",
            part="the right half",
        ),
    ]


def quality_after(evidence: ClaimEvidence) -> list[Check]:
    """Claim 22."""
    return [
        _kept(evidence, QUALITY_CROWD, mechanism, epsilon, beside=epsilon != QUALITY_EPSILON)
        for epsilon in evidence.setup.scope.quality_epsilons
        for mechanism in (LP, RR, MF, MF_20)
    ]


def quality_real(evidence: ClaimEvidence) -> list[Check]:
    """Claim 23."""
    checks = []
    for mf, source in product((MF, MF_20), evidence.setup.real.values()):
        for epsilon in evidence.setup.scope.quality_epsilons:
            left, *others = (_left(evidence, source, each, epsilon) for each in (mf, LP, RR))
            kept = left.value >= evidence.tolerance
            checks.append(
                Check(
                    f"{MF_READINGS[mf]}, {place(source)}",
                    kept and all(other.value < evidence.tolerance for other in others),
                    f"rank correlation {left} after MF, {others[0]} after LP, {others[1]} after RR",
                    "" if kept else _ALIKE,
                    f"ε = {epsilon:g}",
                )
            )
    return checks


def _kept(
    evidence: ClaimEvidence,
    source: DataSource,
    mechanism: str,
    epsilon: float,
    *,
    beside: bool = False,
) -> Check:
    """Is as much of the order of the workers left as is claimed for this mechanism?"""
    found = _left(evidence, source, mechanism, epsilon)
    kept = found.value >= evidence.tolerance
    named = _STRAW_MEN.get(mechanism) or f"MF, {MF_READINGS[mechanism]},"
    return Check(
        f"{named} {'destroys it' if mechanism == LP else 'keeps some'}",
        kept == (mechanism != LP),
        f"rank correlation {found}",
        "" if kept else _ALIKE,
        f"{place(source)}, ε = {epsilon:g}",
        beside=beside,
    )


def _left(evidence: ClaimEvidence, source: DataSource, mechanism: str, epsilon: float) -> Measured:
    """How much of the order of the workers is left."""
    words = "rank correlation of worker quality before and after"
    return evidence.quality(source, mechanism, epsilon, "correlation", words)


def _epsilons(evidence: ClaimEvidence, size: str) -> tuple[float, ...]:
    scope = evidence.setup.scope
    return scope.epsilons if size == _SMALL else scope.large_epsilons


def _readings(
    scope: Scope,
) -> Iterator[tuple[str, str, Callable[[float, float], DataSource]]]:
    """Every reading of MF on either size of crowd, as far as it is measured."""
    for mf in (MF, MF_20):
        yield mf, _SMALL, small
    for mf in scope.large_mf:
        yield mf, _LARGE, large

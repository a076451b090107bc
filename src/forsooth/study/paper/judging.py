"""The rules of the printed claims about MAE change, one function each: numbers in, checks out."""

from __future__ import annotations

from itertools import pairwise, product
from typing import TYPE_CHECKING

from forsooth.study.paper.evidence import place
from forsooth.study.paper.plan import real_mf_readings
from forsooth.study.paper.readings import (
    LP,
    LP_READINGS,
    LP_ZERO,
    MF,
    MF_DESCENT,
    MF_READINGS,
    RR,
    TWO_LAYER,
    label,
)
from forsooth.study.paper.scopes import BUDGETS, HALF, SPARSE, TOP, large, small
from forsooth.study.paper.verdicts import Check

if TYPE_CHECKING:
    from collections.abc import Mapping

    from forsooth.study.paper.cells import DataSource
    from forsooth.study.paper.evidence import ClaimEvidence

Point = tuple["DataSource", float]

_NO_MINIMUM = (
    "On a row with fewer than d answers MF's noisy loss has no minimum: gradient descent walks off "
    "along the noise, the further the more steps it is allowed and the smaller ε is."
)
_SHARED_NOISE = (
    "V has only d rows: all tasks share d noisy directions, so that the noise of a small ε does "
    "not average out over the tasks, and differs from one crowd to the next."
)
_SHRINKAGE = (
    "The fewer answers a worker gives, the more MF shrinks what it predicts towards 0, where this "
    "crowd's truths lie: it gains by sparsity."
)
NEARLY_CONSTANT = (
    "MF predicts almost the same for all tasks, whatever ε is. The others become better as ε grows "
    "and pass it."
)
_ZERO_IS_THE_TRUTH = (
    "This crowd's truths lie at 0. With NULL → 0 LP predicts almost the constant 0, and beats MF "
    "at the larger ε by doing the same thing more thoroughly."
)
_STILL_UNIFORM = (
    "At small ε RR's report is nearly uniform over eleven symbols, whatever the answer is (it is "
    "kept with 10 % at ε = 0.1, 21 % at ε = 1): Algorithm 1 sees little else than that."
)
_INVENTED_ANSWERS = (
    "A 2-Layer worker's budget is uniform on (0, 2ε). At large ε RR keeps nearly all NULLs, but "
    "the 2-Layer workers with small budgets still flood the tasks with invented answers."
)
_REPLACEMENT_RULES = (
    "What NULL is replaced by decides LP's error: most cells are NULL, and after the replacement "
    "they outweigh the answers."
)


def mf_smallest(evidence: ClaimEvidence) -> list[Check]:
    """Claim 3."""
    epsilons = evidence.setup.scope.epsilons
    points = list(product((small(SPARSE), small(HALF)), epsilons))

    checks = []
    for mf, words in MF_READINGS.items():
        margins = {point: margin(evidence, point, mf, (LP, RR)) for point in points}
        why = _NO_MINIMUM if mf == MF_DESCENT else NEARLY_CONSTANT
        checks.append(at_most(words, "MF − the better of LP and RR", margins, evidence, why))
    best = {
        point: min(margin(evidence, point, mf, (LP_ZERO, RR)) for mf in MF_READINGS)
        for point in points
    }
    checks.append(
        at_most(
            "the best MF against LP with NULL → 0",
            "MF − the better of LP and RR",
            best,
            evidence,
            _ZERO_IS_THE_TRUTH,
            beside=True,
        )
    )
    _remark_on_constants(evidence, points)
    _remark_on_the_other_end(evidence)
    return checks


def _remark_on_constants(evidence: ClaimEvidence, points: list[Point]) -> None:
    beaten = sum(
        evidence.results.baseline(source, "mae_constant").value
        <= evidence.change(source, MF, epsilon).value
        for source, epsilon in points
    )
    evidence.remarks.append(
        f"The best constant, which looks at no data, is at least as good as MF with d = 5 at "
        f"{beaten} of {len(points)} points."
    )


def _remark_on_the_other_end(evidence: ClaimEvidence) -> None:
    crowds = (small(SPARSE, TOP), small(HALF, TOP))
    margins = [
        margin(evidence, point, MF, (LP, RR))
        for point in product(crowds, evidence.setup.scope.epsilons)
    ]
    best = sum(value <= evidence.tolerance for value in margins)
    here, there = (evidence.change(small(SPARSE, mean), MF, 1.0) for mean in (0, TOP))
    evidence.remarks.append(
        f"Where the truths lie at 9, the mirror image of this crowd, shrinking towards 0 cannot "
        f"help: MF with d = 5 is best at {best} of {len(margins)} points, and at sparsity 0.9 and "
        f"ε = 1 its MAE change is {there} instead of {here}."
    )


def lp_drop(evidence: ClaimEvidence) -> list[Check]:
    """Claim 4."""
    checks = []
    for reading, sparsity in product(LP_READINGS, (SPARSE, HALF)):
        source = small(sparsity)
        start, one = (evidence.change(source, reading, epsilon) for epsilon in (0.1, 1.0))
        later = [
            abs(evidence.change(source, reading, epsilon).value - one.value)
            for epsilon in evidence.setup.scope.epsilons
            if epsilon > 1
        ]
        fall = start.value - one.value
        checks.append(
            Check(
                LP_READINGS[reading],
                fall >= evidence.tolerance and max(later) <= evidence.tolerance,
                f"{start} at ε = 0.1, {one} at ε = 1, then within {max(later):.3f} of it",
                _REPLACEMENT_RULES,
                f"sparsity {sparsity:g}",
                beside=reading != LP,
            )
        )
    return checks


def rr_falls(evidence: ClaimEvidence) -> list[Check]:
    """Claim 5."""
    checks = []
    for (low, high), sparsity in product(pairwise((0.1, 1.0, 3.0, 5.0)), (SPARSE, HALF)):
        before, after = (evidence.change(small(sparsity), RR, epsilon) for epsilon in (low, high))
        share = _fall(before.value, after.value)
        checks.append(
            Check(
                f"ε from {low:g} to {high:g}",
                share >= evidence.tolerance,
                f"{before} → {after} ({-share:+.0%})",
                _STILL_UNIFORM if high <= 1 else "",
                f"sparsity {sparsity:g}",
            )
        )
    return checks


def lp_sparsity(evidence: ClaimEvidence) -> list[Check]:
    """Claim 6."""
    checks = []
    for reading, words in LP_READINGS.items():
        gains = {
            epsilon: evidence.change(small(SPARSE), reading, epsilon).value
            - evidence.change(small(HALF), reading, epsilon).value
            for epsilon in evidence.setup.scope.epsilons
        }
        worst = min(gains, key=lambda epsilon: gains[epsilon])
        checks.append(
            Check(
                words,
                gains[worst] >= evidence.tolerance,
                f"smaller by {min(gains.values()):.2f} to {max(gains.values()):.2f}; "
                f"least at ε = {worst:g}",
                _REPLACEMENT_RULES,
                beside=reading != LP,
            )
        )
    return checks


def mf_sparsity(evidence: ClaimEvidence) -> list[Check]:
    """Claim 7."""
    checks = []
    for mf, words in MF_READINGS.items():
        descent = mf == MF_DESCENT
        at = {
            (small(sparsity), epsilon): evidence.change(small(sparsity), mf, epsilon).value
            for sparsity, epsilon in product(evidence.setup.scope.sparsities, BUDGETS)
        }
        worst = max(at, key=lambda point: at[point])
        checks.append(
            Check(
                words,
                at[worst] <= 0.5,
                f"at most {at[worst]:.2f}, at {_words(worst)}",
                _NO_MINIMUM if descent else _SHARED_NOISE,
                "at most 0.5",
            )
        )
        spreads = {
            epsilon: max(values) - min(values)
            for epsilon in BUDGETS
            if (values := [value for point, value in at.items() if point[1] == epsilon])
        }
        checks.append(
            Check(
                words,
                max(spreads.values()) <= evidence.tolerance,
                "largest − smallest: "
                + ", ".join(f"{spreads[epsilon]:.2f} at ε = {epsilon:g}" for epsilon in BUDGETS),
                _NO_MINIMUM if descent else _SHRINKAGE,
                "alike at all sparsities",
            )
        )
    return checks


def growth(evidence: ClaimEvidence) -> list[Check]:
    """Claim 8."""
    checks = []
    for mechanism, epsilon in product((LP, RR), BUDGETS):
        values = [
            evidence.change(small(sparsity), mechanism, epsilon)
            for sparsity in sorted(evidence.setup.scope.sparsities)
        ]
        first, last = values[0], values[-1]
        down = max(before.value - after.value for before, after in pairwise(values))
        checks.append(
            Check(
                "LP" if mechanism == LP else "RR",
                last.value - first.value >= evidence.tolerance and down <= evidence.tolerance,
                f"{first} → {last}",
                _STILL_UNIFORM if mechanism == RR else "",
                f"ε = {epsilon:g}",
            )
        )
    return checks


def size(evidence: ClaimEvidence) -> list[Check]:
    """Claim 9."""
    sparsities, checks = evidence.setup.scope.large_sparsities, []
    for mechanism in (LP, RR, *evidence.setup.scope.large_mf):
        gaps = {
            (large(sparsity), epsilon): abs(
                evidence.change(large(sparsity), mechanism, epsilon).value
                - evidence.change(small(sparsity), mechanism, epsilon).value
            )
            for sparsity, epsilon in product(sparsities, BUDGETS)
            if (mechanism, epsilon) != (LP, 0.1)  # of which the paper says that it differs
        }
        words = "LP at ε = 1" if mechanism == LP else label(mechanism)
        checks.append(at_most(f"{words} alike", "difference", gaps, evidence))
    gains = {
        sparsity: evidence.change(small(sparsity), LP, 0.1).value
        - evidence.change(large(sparsity), LP, 0.1).value
        for sparsity in sparsities
    }
    checks.append(
        Check(
            "LP at ε = 0.1 better on the larger data",
            min(gains.values()) > 0,
            f"smaller by {min(gains.values()):.2f} to {max(gains.values()):.2f}",
        )
    )
    return checks


def real_mf(evidence: ClaimEvidence) -> list[Check]:
    """Claim 10."""
    checks = []
    for mf, (name, source) in product(MF_READINGS, evidence.setup.real.items()):
        if mf not in real_mf_readings(name):
            continue
        epsilons = evidence.setup.scope.epsilons_of(name)
        margins = {e: margin(evidence, (source, e), mf, (LP, RR, TWO_LAYER)) for e in epsilons}
        best = [epsilon for epsilon in epsilons if margins[epsilon] <= evidence.tolerance]
        where = ", ".join(f"{epsilon:g}" for epsilon in best) or "none"
        checks.append(
            Check(
                MF_READINGS[mf],
                len(best) > len(epsilons) / 2,
                f"best at {len(best)} of {len(epsilons)} ε ({where})",
                _NO_MINIMUM if mf == MF_DESCENT else NEARLY_CONSTANT,
                place(source),
            )
        )
    for source in evidence.setup.real.values():
        constant = evidence.results.baseline(source, "mae_constant")
        evidence.remarks.append(
            f"{place(source)}: the best constant has a MAE change of {constant}, MF with d = 5 at "
            f"ε = 1 {evidence.change(source, MF, 1.0)}."
        )
    return checks


def two_layer(evidence: ClaimEvidence) -> list[Check]:
    """Claim 11."""
    checks = []
    for (words, low, high), (name, source) in product(
        (("ε up to 2", 0, 2), ("ε above 2", 2, 5)), evidence.setup.real.items()
    ):
        gaps = {
            (source, epsilon): abs(
                evidence.change(source, TWO_LAYER, epsilon).value
                - evidence.change(source, RR, epsilon).value
            )
            for epsilon in evidence.setup.scope.epsilons_of(name)
            if low < epsilon <= high
        }
        checks.append(
            at_most(words, "difference", gaps, evidence, _INVENTED_ANSWERS, place(source))
        )
    return checks


def adult_drop(evidence: ClaimEvidence) -> list[Check]:
    """Claim 12."""
    source = evidence.setup.real["adult"]
    first, three, five = (evidence.change(source, RR, epsilon) for epsilon in (0.1, 3.0, 5.0))
    fall, before = three.value - five.value, first.value - three.value
    return [
        Check(
            "RR from ε = 3 to 5",
            _fall(three.value, five.value) >= evidence.tolerance and fall > before,
            f"{first} at ε = 0.1, {three} at 3, {five} at 5",
        )
    ]


def margin(evidence: ClaimEvidence, point: Point, mf: str, others: tuple[str, ...]) -> float:
    """How far MF is above the best of the others; negative where it is the best."""
    source, epsilon = point
    mine, *theirs = (
        evidence.change(source, mechanism, epsilon).value for mechanism in (mf, *others)
    )
    return mine - min(theirs)


def at_most(
    reading: str,
    what: str,
    values: Mapping[Point, float],
    evidence: ClaimEvidence,
    why: str = "",
    part: str = "",
    *,
    beside: bool = False,
) -> Check:
    """None of the values exceeds the tolerance."""
    worst = max(values, key=lambda point: values[point])
    within = sum(value <= evidence.tolerance for value in values.values())
    return Check(
        reading,
        within == len(values),
        f"{what} at most {values[worst]:+.2f}, at {_words(worst)}; within "
        f"{evidence.tolerance:g} at {within} of {len(values)} points",
        why,
        part,
        beside=beside,
    )


def _words(point: Point) -> str:
    source, epsilon = point
    return f"{place(source)}, ε = {epsilon:g}"


def _fall(before: float, after: float) -> float:
    """By which share of itself a value falls; a value that is already 0 has nothing to lose."""
    return (before - after) / before if before > 0 else 0.0

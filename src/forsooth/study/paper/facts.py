"""The rules of the claims that need no perturbation: data sets, bounds, guarantees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forsooth.planning.bounds import lp_bound, mf_bound, rr_bound
from forsooth.scale import Scale
from forsooth.study.paper.evidence import place
from forsooth.study.paper.plan import AUDIT_EPSILON
from forsooth.study.paper.readings import LP, MF, RR, TWO_LAYER
from forsooth.study.paper.scopes import EXAMPLE, EXAMPLE_EPSILON, EXAMPLE_MF
from forsooth.study.paper.verdicts import Check

if TYPE_CHECKING:
    from forsooth.study.paper.evidence import ClaimEvidence

PRINTED: dict[str, dict[str, float]] = {
    "wsd": {
        "workers": 34,
        "tasks": 177,
        "answers": 770,
        "max": 0.903955,
        "min": 0,
        "average": 0.705882,
    },
    "adult": {
        "workers": 825,
        "tasks": 11_040,
        "answers": 89_796,
        "max": 0.999909,
        "min": 0.316033,
        "average": 0.993666,
    },
}
PRINTED_BOUNDS = {"LP": 14.13, "RR": 3.551, "MF": 1.8}
TRUTH_SHARE = 0.72

_WHY_DIFFERENT = {
    ("wsd", "answers"): "All 177 word senses have ten answers: 1,770. The table lost a digit.",
    ("adult", "answers"): "We count every (worker, task) pair of the file once; where a worker "
    "labelled a page twice the last label counts.",
    ("adult", "average"): "The mean over the 825 workers of their share of NULLs; it is also "
    "1 − answers / (workers × tasks). We do not know how the paper took its average.",
}
_OTHER_DATA = (
    "Only some of its tasks have a known truth, and what can be counted is the share among them. "
    "The printed share is that of Web."
)
_AS_PRINTED = "formula with weights as printed"
_NOT_NORMALISED = (
    "The weights 𝒩(x; μ, σ) are densities at the points of Γ and do not sum to 1 there; the "
    "printed example must have been computed with weights that do."
)
_NULL_IS_NOT_ZERO = (
    "The theorem is wrong for RR: Σ y / (e^ε + |Γ|) takes a report that says NULL for the answer "
    "0. Algorithm 1 leaves such reports out, and the mean of those that are left is nearer to the "
    "middle of the scale, 4.5, than to the 3.54 of the formula."
)
_SAME_CELLS = (
    "The proof takes the same answered cells on both sides. With one cell answered or not, the "
    "matrix that MF inverts changes, and with it the density of the report, without bound."
)


def dataset_table(evidence: ClaimEvidence) -> list[Check]:
    """Claim 1."""
    checks = []
    for name, source in evidence.setup.real.items():
        found = evidence.results.descriptions[name]
        values = {key: found[key] for key in ("workers", "tasks", "answers")} | found["sparsity"]
        for key, printed in PRINTED[name].items():
            part = key if key in found else f"{key} sparsity"
            evidence.note(f"{place(source)}: {part}", values[key], printed=printed)
            same = abs(values[key] - printed) <= evidence.tolerance
            shown = f"{values[key]:,}" if key in found else f"{values[key]:.6f}"
            checks.append(
                Check(
                    place(source),
                    same,
                    shown if same else f"{shown}, printed {printed:,}",
                    _WHY_DIFFERENT.get((name, key), ""),
                    part,
                )
            )
    return checks


def distributions(evidence: ClaimEvidence) -> list[Check]:
    """Claim 2."""
    checks = []
    for name, source in evidence.setup.real.items():
        found, words = evidence.results.descriptions[name], place(source)
        answers: dict[str, float] = found["answer_distribution"]
        truths: dict[str, float] = found["truth_distribution"]
        commonest = max(answers, key=lambda label: answers[label])
        zero = next(iter(truths.values()))
        evidence.note(f"{words}: share of the commonest answer", answers[commonest])
        evidence.note(f"{words}: share of right answers", found["correct_answers"])
        evidence.note(f"{words}: share of truths that are 0", zero, printed=TRUTH_SHARE)
        checks += [
            Check(
                words,
                answers[commonest] >= evidence.tolerance / len(answers),
                f"{answers[commonest]:.1%} of the answers are {commonest}",
                part="skewed",
            ),
            Check(
                words,
                found["correct_answers"] > 0.5,
                f"{found['correct_answers']:.1%} of the answers are right",
                part="mostly right",
            ),
            Check(
                words,
                zero > TRUTH_SHARE,
                f"{zero:.1%} of {found['tasks_with_truth']:,} known truths",
                _OTHER_DATA if name == "adult" else "",
                "truth 0 for more than 72 %",
            ),
        ]
    return checks


def worked_bounds(evidence: ClaimEvidence) -> list[Check]:
    """Claim 13."""
    scale, epsilon = Scale.parse("0..9"), EXAMPLE_EPSILON
    example: dict[str, Any] = {"answered": 0.1, "sigma": 1, "truth": 0}
    computed = (
        ("LP", "formula", lp_bound(scale, epsilon, **example)),
        ("RR", "formula with weights normalised over Γ", rr_bound(scale, epsilon, **example)),
        ("RR", _AS_PRINTED, rr_bound(scale, epsilon, **example, normalised=False)),
        ("MF", "formula", mf_bound(scale, epsilon, tasks=EXAMPLE.tasks, d=100)),
    )
    checks = []
    for mechanism, part, bound in computed:
        printed = PRINTED_BOUNDS[mechanism]
        evidence.note(f"bound: {mechanism}, {part}", bound, printed=printed)
        checks.append(
            Check(
                mechanism,
                abs(bound - printed) <= evidence.tolerance * printed,
                f"{bound:.4g}, printed {printed:g}",
                _NOT_NORMALISED if part == _AS_PRINTED else "",
                part,
            )
        )
    for mechanism, name in (("LP", LP), ("RR", RR), ("MF", EXAMPLE_MF)):
        error = evidence.error(EXAMPLE, name, epsilon)
        checks.append(
            Check(
                mechanism,
                error.value <= PRINTED_BOUNDS[mechanism],
                f"measured {error}, bound {PRINTED_BOUNDS[mechanism]:g}",
                _NULL_IS_NOT_ZERO if mechanism == "RR" else "",
                "measured error below the bound",
                universal=True,
            )
        )
    return checks


def guarantees(evidence: ClaimEvidence) -> list[Check]:
    """Claim 14."""
    checks = []
    for words, mechanism in (("LP", LP), ("RR", RR), ("MF", MF)):
        found = evidence.results.audits[mechanism]
        for kind in ("value", "participation"):
            exact, sampled = float(found["exact"][kind]), found["sampled"][kind]
            evidence.note(f"exact ε: {words}, {kind}", found["exact"][kind], printed=AUDIT_EPSILON)
            evidence.note(f"sampled lower bound: {words}, {kind}", sampled)
            failed = exact > AUDIT_EPSILON + evidence.tolerance
            proof = f"{_shown(found['witness'])}; " if failed and found["witness"] else ""
            checks.append(
                Check(
                    words,
                    exact <= AUDIT_EPSILON + evidence.tolerance and sampled <= AUDIT_EPSILON,
                    f"exact ε {_number(exact)}; {proof}{found['sampled']['draws']:,} draws per "
                    f"input prove at least {sampled:.3f}",
                    _SAME_CELLS if words == "MF" and kind == "participation" else "",
                    f"neighbours in {kind}",
                    universal=True,
                )
            )
    two_layer = evidence.results.audits[TWO_LAYER]["exact"]
    evidence.remarks.append(
        f"2-Layer, the compared method, has an exact ε of {_number(float(two_layer['value']))} at "
        f"ε = {AUDIT_EPSILON:g}: a worker's other cells reveal their own budget."
    )
    return checks


def _shown(witness: dict[str, Any]) -> str:
    """The counterexample: two neighbours, and how differently they make one report."""
    one, other = (
        ", ".join("NULL" if answer is None else f"{answer:g}" for answer in answers[:2])
        for answers in witness["inputs"]
    )
    return (
        f"answers ({one}, …) and ({other}, …), all others equal, make a report whose densities "
        f"differ by a factor of e^{witness['log_ratio']:.2f}"
    )


def _number(epsilon: float) -> str:
    return "∞" if epsilon == float("inf") else f"{epsilon:.4g}"

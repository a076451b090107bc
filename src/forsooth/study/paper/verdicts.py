"""From checks to a verdict, by one rule for all claims.

A claim is taken apart into checks: for each reading under which it can be tested (or each subject
that it is about), one for each part of what it says. A reading holds if all its parts do. A check
may be *universal*: a theorem or a guarantee, which a single counterexample refutes. A check may be
*beside* the claim: a variant of the paper's own experiment, which is shown and does not count.

1. All checks hold: **reproduced**.
2. A universal check fails: **contradicted**.
3. At least one reading holds: reproduced **with a condition**, namely the readings that hold.
4. No reading holds entirely, but at least half of the checks do: **differs in detail**.
5. Otherwise: **contradicted**.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forsooth.study.paper.claims import Claim

Verdict = Literal["reproduced", "with-condition", "differs-in-detail", "contradicted", "not-run"]
VERDICTS: tuple[Verdict, ...] = (
    "reproduced",
    "with-condition",
    "differs-in-detail",
    "contradicted",
    "not-run",
)


@dataclass(frozen=True)
class Check:
    """One reading of a claim, or a part of one: did it hold, what came out, and, if it did not
    hold, why we think so.
    """

    reading: str
    holds: bool
    found: str
    why: str = ""
    part: str = ""
    universal: bool = False
    beside: bool = False

    @property
    def name(self) -> str:
        """The reading and the part."""
        return f"{self.reading}, {self.part}" if self.part else self.reading

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        why = {} if self.holds else {"why": self.why}
        kind = {"counts": not self.beside, "universal": self.universal}
        return {"name": self.name, "holds": self.holds, "found": self.found} | kind | why


@dataclass(frozen=True)
class Number:
    """A number that a verdict rests on. `printed` is what the paper has."""

    name: str
    value: float | str
    se: float | None = None
    repeats: int | None = None
    printed: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        fields = vars(self)
        return {key: fields[key] for key in fields if key in _ALWAYS or fields[key] is not None}


_ALWAYS = ("name", "value", "se")
_SHOWN = 3  # checks in a sentence; all of them are in the details


@dataclass(frozen=True)
class Judgement:
    """A claim's verdict with all that it rests on."""

    claim: Claim
    checks: tuple[Check, ...] = ()
    numbers: tuple[Number, ...] = ()
    remarks: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()  # data sets that are not here

    @property
    def verdict(self) -> Verdict:
        """By the rule above; *not run* where data is missing."""
        return "not-run" if self.missing else verdict_of(self.checks)

    @property
    def counted(self) -> tuple[Check, ...]:
        """The checks on which the verdict rests."""
        return tuple(check for check in self.checks if not check.beside)

    @property
    def held(self) -> tuple[Check, ...]:
        """Those of them that hold."""
        return tuple(check for check in self.counted if check.holds)

    @property
    def failed(self) -> tuple[Check, ...]:
        """Those of them that do not."""
        return tuple(check for check in self.counted if not check.holds)

    @property
    def counterexamples(self) -> tuple[Check, ...]:
        """What contradicts the claim: the universal checks that fail, or all that do."""
        if self.verdict != "contradicted":
            return ()
        return tuple(check for check in self.failed if check.universal) or self.failed

    @property
    def finding(self) -> str:
        """The outcome in one or two sentences."""
        held = "; ".join(holding(self.counted))
        match self.verdict:
            case "not-run":
                return f"Not run: data missing ({', '.join(self.missing)})."
            case "reproduced":
                return f"Holds for {held}."
            case "with-condition":
                return f"Holds for {held}. Not for {self._exceptions()}."
            case "differs-in-detail":
                count = f"{len(self.held)} of {len(self.counted)}"
                return f"{count} checks hold. Different: {_listed(self.failed)}."
            case _:
                holds = f" Holds for {held}." if held else ""
                return f"Does not hold. {_listed(self.counterexamples)}.{holds}"

    @property
    def explanations(self) -> tuple[str, ...]:
        """Why we think that what failed did, each once."""
        return tuple(dict.fromkeys(check.why for check in self.failed if check.why))

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "id": self.claim.id,
            "title": self.claim.title,
            "text": self.claim.text,
            "verdict": self.verdict,
            "statement": self.claim.statement,
            "test": self.claim.test,
            "tolerance": self.claim.tolerance,
            "finding": self.finding,
            "counterexamples": [check.name for check in self.counterexamples],
            "explanations": list(self.explanations),
            "remarks": list(self.remarks),
            "checks": [check.to_dict() for check in self.checks],
            "numbers": [number.to_dict() for number in self.numbers],
        }

    def _exceptions(self) -> str:
        """The readings that do not hold, with the parts that are to blame unless all are."""
        words = []
        for reading in dict.fromkeys(check.reading for check in self.failed):
            parts = [check.part for check in self.failed if check.reading == reading]
            whole = len(parts) == sum(check.reading == reading for check in self.counted)
            words.append(reading if whole else f"{reading} ({', '.join(parts)})")
        return "; ".join(words)


def verdict_of(checks: Sequence[Check]) -> Verdict:
    """The rule of all rules."""
    counted = [check for check in checks if not check.beside]
    failed = [check for check in counted if not check.holds]
    if not failed:
        return "reproduced"
    if any(check.universal for check in failed):
        return "contradicted"
    if holding(counted):
        return "with-condition"
    return "differs-in-detail" if 2 * len(failed) <= len(counted) else "contradicted"


def holding(checks: Sequence[Check]) -> list[str]:
    """The readings of which every part holds."""
    failed = {check.reading for check in checks if not check.holds}
    return list(dict.fromkeys(c.reading for c in checks if c.reading not in failed))


def _listed(checks: Sequence[Check]) -> str:
    """The first of them in full, and how many more there are."""
    shown = "; ".join(f"{check.name}: {check.found}" for check in checks[:_SHOWN])
    more = len(checks) - _SHOWN
    return f"{shown}; and {more} more" if more > 0 else shown

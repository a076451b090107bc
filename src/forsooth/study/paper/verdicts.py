"""From checks to a verdict, by one rule for all claims.

A claim is taken apart into checks: for each reading under which it can be tested (or each subject
that it is about), one for each part of what it says. A reading holds if all its parts do. If all
readings hold, the claim is *reproduced*; if none does, *not reproduced*; if some do, it is
reproduced *with a condition*, namely those. Nothing else enters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forsooth.study.paper.claims import Claim

Verdict = Literal["reproduced", "with-condition", "not-reproduced", "not-run"]
VERDICTS: tuple[Verdict, ...] = ("reproduced", "with-condition", "not-reproduced", "not-run")


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

    @property
    def name(self) -> str:
        """The reading and the part."""
        return f"{self.reading}, {self.part}" if self.part else self.reading

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        why = {} if self.holds else {"why": self.why}
        return {"name": self.name, "holds": self.holds, "found": self.found} | why


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
    def held(self) -> tuple[Check, ...]:
        """The checks that hold."""
        return tuple(check for check in self.checks if check.holds)

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that do not."""
        return tuple(check for check in self.checks if not check.holds)

    @property
    def finding(self) -> str:
        """The outcome in one or two sentences."""
        match self.verdict:
            case "not-run":
                return f"Not run: data missing ({', '.join(self.missing)})."
            case "reproduced":
                return f"Holds for {'; '.join(holding(self.checks))}."
            case "not-reproduced":
                found = "; ".join(f"{check.name}: {check.found}" for check in self.failed)
                return f"Does not hold. {found}."
            case _:
                held = "; ".join(holding(self.checks))
                return f"Holds for {held}. Not for {self._exceptions()}."

    @property
    def explanations(self) -> tuple[str, ...]:
        """Why we think that what failed did, each once."""
        return tuple(dict.fromkeys(check.why for check in self.failed if check.why))

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "id": self.claim.id,
            "title": self.claim.title,
            "verdict": self.verdict,
            "statement": self.claim.statement,
            "test": self.claim.test,
            "tolerance": self.claim.tolerance,
            "finding": self.finding,
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
            whole = len(parts) == sum(check.reading == reading for check in self.checks)
            words.append(reading if whole else f"{reading} ({', '.join(parts)})")
        return "; ".join(words)


def verdict_of(checks: Sequence[Check]) -> Verdict:
    """All readings, some, or none."""
    if not holding(checks):
        return "not-reproduced"
    return "reproduced" if all(check.holds for check in checks) else "with-condition"


def holding(checks: Sequence[Check]) -> list[str]:
    """The readings of which every part holds."""
    failed = {check.reading for check in checks if not check.holds}
    return list(dict.fromkeys(c.reading for c in checks if c.reading not in failed))

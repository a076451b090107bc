"""The ledger: what one worker has spent over repeated campaigns, and when to stop.

Sequential composition: reports of several campaigns together are Σε-private, however their answers
are related. The same report sent again costs nothing; a fresh one would (see `permanent.py`).
Sums are exact: ε is a float, hence a rational number, and no rounding hides a spend.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from forsooth.errors import ForsoothError
from forsooth.io import strict
from forsooth.privacy import check_epsilon

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Ledger:
    """One worker's spending, by campaign, under a cap. Frozen: a spend gives a new ledger."""

    cap: float
    spent: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_epsilon(self.cap)
        for epsilon in self.spent.values():
            check_epsilon(epsilon)
        if self._sum() > Fraction(self.cap):
            raise ForsoothError(f"this ledger has spent more than its cap of {self.cap:g}")

    @property
    def total(self) -> float:
        """All that was spent so far, rounded to a float."""
        return float(self._sum())

    @property
    def remaining(self) -> float:
        """What may still be spent, rounded to a float."""
        return float(Fraction(self.cap) - self._sum())

    def spend(self, campaign: str, epsilon: float) -> Ledger:
        """The ledger after one more campaign; refused if it would exceed the cap.

        `epsilon` is the worker's total for the campaign (`Privacy.worker_total`), not one cell's.
        A campaign that is already in the ledger is refused: its report exists and can be resent.
        """
        check_epsilon(epsilon)
        if campaign in self.spent:
            raise ForsoothError(
                f"campaign {campaign!r} is already in the ledger (ε = {self.spent[campaign]:g}): "
                "send the same report again, a fresh one would be a second spend"
            )
        if self._sum() + Fraction(epsilon) > Fraction(self.cap):
            raise ForsoothError(
                f"campaign {campaign!r} asks for ε = {epsilon:g}; of the cap of {self.cap:g} "
                f"only {self.remaining:g} is left"
            )
        return Ledger(self.cap, {**self.spent, campaign: epsilon})

    def to_json(self) -> str:
        """One JSON object."""
        return json.dumps({"cap": self.cap, "spent": dict(self.spent)})

    @staticmethod
    def from_json(text: str | bytes) -> Ledger:
        """Read a ledger; one that has overspent is refused."""
        try:
            data = strict.loads(text)
            spent = {name: strict.number(eps, "ε") for name, eps in data["spent"].items()}
            return Ledger(strict.number(data["cap"], "cap"), spent)
        except (KeyError, TypeError, AttributeError) as error:
            raise ForsoothError(f"this is not a ledger of forsooth ({error!r})") from error

    def _sum(self) -> Fraction:
        return sum((Fraction(epsilon) for epsilon in self.spent.values()), Fraction(0))

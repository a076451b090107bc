"""The ledger: what was drawn for each question over all campaigns, what it cost, when to stop.

For a question, a rule and its words for the answers there is one draw, ever. Asked again by any
campaign, the same value is sent again, whatever the answer is by then, and costs nothing. Another
rule is a fresh draw: ε adds up over the draws of a question, and over all questions (sequential
composition). Sums are exact: ε is a float, hence a rational number, and no rounding hides a spend.

The default caps are about repeats: a question that was never answered may exceed its cap once, and
so may the first campaign its cap, because the campaign's own promise says how weak it is. A cap
that is named holds for the first ones too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING

from forsooth.errors import ForsoothError
from forsooth.privacy import check_epsilon

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from forsooth.client.question import AskedCell

# ε, rounded down from the limits of `odds`; memory.js has the same
QUESTION_CAP = 1.09  # repeats of one question stay "strong" together: odds of 3 to 1 at most
TOTAL_CAP = 6.9  # beyond "weak", odds of 999 to 1, nearly everything can be concluded


@dataclass(frozen=True)
class Drawn:
    """What was drawn; the value is None for a share of a sketch, which cannot be sent again."""

    epsilon: float
    value: str | None

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)


@dataclass(frozen=True)
class Ledger:
    """One person's draws, by question and by draw. Frozen: a spend gives a new ledger."""

    drawn: Mapping[str, Mapping[str, Drawn]] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """ε for all that was sent so far, rounded up."""
        return _rounded_up(_sum(self._all()))

    def value(self, cell: AskedCell) -> str | None:
        """What was sent for this cell before, if it can be sent again."""
        drawn = self.drawn.get(cell.question, {}).get(cell.draw)
        return drawn.value if drawn else None

    def spend(
        self,
        values: Mapping[AskedCell, str | None],
        *,
        cap: float | None = None,
        question_cap: float | None = None,
    ) -> Ledger:
        """The ledger after these cells are sent; refused if fresh draws would exceed a cap."""
        fresh = sorted((cell for cell in values if not self._has(cell)), key=lambda c: c.question)
        for question, group in groupby(fresh, key=lambda cell: cell.question):
            cells, before = list(group), list(self.drawn.get(question, {}).values())
            if _is_beyond(before, cells, QUESTION_CAP, question_cap):
                raise ForsoothError(
                    f"“{cells[0].text}” was answered before, under another rule "
                    f"(ε = {_shown(before)}). A fresh report would make that "
                    f"ε = {_shown([*before, *cells])}, and your limit for one question is "
                    f"{question_cap or QUESTION_CAP:.3g}: nothing was sent"
                )
        if _is_beyond(self._all(), fresh, TOTAL_CAP, cap):
            raise ForsoothError(
                f"your answers so far have ε = {_shown(self._all())} in all. With this campaign it "
                f"would be {_shown([*self._all(), *fresh])}, and your limit is "
                f"{cap or TOTAL_CAP:.3g}: nothing was sent"
            )
        drawn = {question: dict(draws) for question, draws in self.drawn.items()}
        for cell in fresh:
            drawn.setdefault(cell.question, {})[cell.draw] = Drawn(cell.epsilon, values[cell])
        return Ledger(drawn)

    def _has(self, cell: AskedCell) -> bool:
        return cell.draw in self.drawn.get(cell.question, {})

    def _all(self) -> list[Drawn]:
        return [drawn for draws in self.drawn.values() for drawn in draws.values()]


def _is_beyond(
    before: list[Drawn], fresh: list[AskedCell], default: float, named: float | None
) -> bool:
    if not fresh or (named is None and not before):
        return False
    return _sum([*before, *fresh]) > Fraction(default if named is None else named)


def _sum(draws: Iterable[Drawn | AskedCell]) -> Fraction:
    return sum((Fraction(draw.epsilon) for draw in draws), Fraction(0))


def _shown(draws: Iterable[Drawn | AskedCell]) -> str:
    return f"{float(_sum(draws)):.3g}"


def _rounded_up(exact: Fraction) -> float:
    near = float(exact)
    return near if Fraction(near) >= exact else math.nextafter(near, math.inf)

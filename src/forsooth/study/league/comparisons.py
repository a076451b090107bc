"""Our default against the best rival under the same promise, on every set and at every ε.

The rival is chosen after the fact as the one with the least error, which favours the rivals.
A difference counts if it is larger than two standard errors over the repeats, and than
half a per cent of the range (levels) or of the labels. Where neither of the two is that much better
than the best constant, nobody wins: both have learned nothing that is of use.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from forsooth.study.league.entries import DEFAULTS, PROMISES, Entry, Promise

if TYPE_CHECKING:
    from collections.abc import Iterable

    from forsooth.estimand import Estimand
    from forsooth.study.league.results import LeagueResults, LeagueScore

Verdict = Literal["win", "tie", "loss", "neither"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
STANDARD_ERRORS = 2.0  # beyond which a difference is not called chance
SMALLEST = 0.005  # difference that matters


@dataclass(frozen=True)
class Comparison:
    """The two scores, the error of the best constant, and how the same set ended without noise."""

    ours: LeagueScore
    rival: LeagueScore
    constant: float
    plain: Verdict | None

    @property
    def difference(self) -> float:
        """Our error minus the rival's."""
        return self.ours.error.value - self.rival.error.value

    @property
    def verdict(self) -> Verdict:
        """Who has the smaller error, if the difference counts and one of them is of use."""
        if min(self.ours.error.value, self.rival.error.value) > self.constant - SMALLEST:
            return "neither"
        se = math.hypot(self.ours.error.se or 0.0, self.rival.error.se or 0.0)
        if abs(self.difference) <= max(STANDARD_ERRORS * se, SMALLEST):
            return "tie"
        return "win" if self.difference < 0 else "loss"

    @property
    def reason(self) -> str:
        """Why it was lost, by what else was measured; empty if it was not lost."""
        if self.verdict != "loss":
            return ""
        if self.ours.entry.promise == "none":
            return "the model: its assumptions fit this crowd less well than the rival's"
        if self.plain == "loss":
            return "the model: on the plain answers of this set we lose, too"
        if self.plain is None:
            return "not known: the plain answers of this set were not measured"
        return "the noise: on the plain answers of this set we do not lose"


def compare(results: LeagueResults, estimand: Estimand, promise: Promise) -> list[Comparison]:
    """All of an estimand under a promise."""
    found = []
    for source in results.sets(estimand):
        for epsilon in [0.0] if promise == "none" else results.epsilons():
            ours = results.get(source, _default(promise), epsilon)
            rivals = [
                score
                for entry in results.entries(estimand, promise)
                if not entry.is_ours and (score := results.get(source, entry, epsilon))
            ]
            if ours and rivals:
                best = min(rivals, key=lambda each: each.error.value)
                plain = None if promise == "none" else _plain(results, ours)
                found.append(Comparison(ours, best, results.guess(source), plain))
    return found


def all_comparisons(results: LeagueResults) -> list[Comparison]:
    """Of all estimands and promises."""
    return [
        each
        for estimand in results.estimands
        for promise in PROMISES
        for each in compare(results, estimand, promise)
    ]


def counted_verdicts(found: Iterable[Comparison]) -> Counter[Verdict]:
    """How many of each."""
    return Counter(each.verdict for each in found)


def _default(promise: Promise) -> Entry:
    return Entry(DEFAULTS[promise], "posterior")


def _plain(results: LeagueResults, ours: LeagueScore) -> Verdict | None:
    """How the set ended on plain answers, if they were part of the league."""
    same = compare(results, ours.source.estimand, "none")
    return next((each.verdict for each in same if each.ours.source == ours.source), None)

"""What came out: means over the repeats, by set, entry and ε, and over the sets of an estimand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from forsooth.study.league.cells import MEASURES
from forsooth.study.league.entries import CONSTANT, GUESS, Entry
from forsooth.study.paper.results import Measured

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from forsooth.estimand import Estimand
    from forsooth.study.league.cells import LeagueCell
    from forsooth.study.league.entries import Promise
    from forsooth.study.league.sets import LeagueSet


@dataclass(frozen=True)
class FinishedRun:
    """A finished run: its measures, and the processor time that it took."""

    cell: LeagueCell
    measures: dict[str, Any]
    seconds: float


@dataclass(frozen=True)
class LeagueScore:
    """One entry on one set at one ε: means over the repeats."""

    source: LeagueSet
    entry: Entry
    epsilon: float
    measures: dict[str, Measured | None]
    seconds: float

    @property
    def error(self) -> Measured:
        """Every run has one."""
        found = self.measures["error"]
        assert found is not None
        return found


class LeagueResults:
    """All scores of a league."""

    def __init__(self, runs: Iterable[FinishedRun]) -> None:
        self.runs = tuple(runs)
        groups: dict[tuple[LeagueSet, Entry, float], list[FinishedRun]] = {}
        for run in self.runs:
            groups.setdefault((run.cell.source, run.cell.entry, run.cell.epsilon), []).append(run)
        self._scores = {key: _score(*key, members) for key, members in groups.items()}

    @property
    def scores(self) -> list[LeagueScore]:
        """In the order in which they were planned."""
        return list(self._scores.values())

    @property
    def estimands(self) -> list[Estimand]:
        """Those of the sets."""
        return sorted({each.source.estimand for each in self.scores})

    def sets(self, estimand: Estimand) -> list[LeagueSet]:
        """The sets with this estimand, by name."""
        found = {each.source for each in self.scores if each.source.estimand == estimand}
        return sorted(found, key=lambda each: each.name)

    def epsilons(self) -> list[float]:
        """Those that were measured."""
        return sorted({each.epsilon for each in self.scores if each.epsilon})

    def entries(self, estimand: Estimand, promise: Promise) -> list[Entry]:
        """What competed under a promise, without guesses."""
        found = [each.entry for each in self.scores if each.source.estimand == estimand]
        return [e for e in dict.fromkeys(found) if e.promise == promise and e.mechanism != GUESS]

    def get(self, source: LeagueSet, entry: Entry, epsilon: float) -> LeagueScore | None:
        """One score; guesses and plain answers have ε = 0."""
        return self._scores.get((source, entry, epsilon))

    def guess(self, source: LeagueSet, method: str = CONSTANT) -> float:
        """The error of a guess on a set."""
        score = self.get(source, Entry(GUESS, method), 0.0)
        assert score is not None, "every set has its guesses"
        return score.error.value

    def mean(
        self, estimand: Estimand, entry: Entry, epsilon: float, measure: str = "error"
    ) -> tuple[Measured, int] | None:
        """The mean over the sets on which the entry ran, and their number."""
        scores = [self.get(source, entry, epsilon) for source in self.sets(estimand)]
        found = [each.measures[measure] for each in scores if each]
        return _mean_of([each for each in found if each is not None])


def _mean_of(found: Sequence[Measured]) -> tuple[Measured, int] | None:
    if not found:
        return None
    errors = [each.se for each in found if each.se is not None]
    se = float(np.hypot.reduce(errors)) / len(found) if errors else None
    value = float(np.mean([each.value for each in found]))
    return Measured(value, se, min(each.repeats for each in found)), len(found)


def _score(
    source: LeagueSet, entry: Entry, epsilon: float, members: Sequence[FinishedRun]
) -> LeagueScore:
    measures = {name: _measured([run.measures[name] for run in members]) for name in MEASURES}
    return LeagueScore(
        source, entry, epsilon, measures, float(np.mean([run.seconds for run in members]))
    )


def _measured(values: Sequence[float | None]) -> Measured | None:
    found = [value for value in values if value is not None]
    if not found:
        return None
    se = float(np.std(found, ddof=1) / len(found) ** 0.5) if len(found) > 1 else None
    return Measured(float(np.mean(found)), se, len(found))

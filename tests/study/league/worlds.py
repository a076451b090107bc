"""Finished runs with planted errors."""

from __future__ import annotations

from collections.abc import Sequence

from forsooth.study.league import sets
from forsooth.study.league.cells import MEASURES, LeagueCell
from forsooth.study.league.entries import Entry
from forsooth.study.league.results import FinishedRun

(SOURCE,) = sets.find(["synthetic-low"], None, 0)


def world(
    errors: dict[tuple[str, str], float],
    repeats: Sequence[float] = (-0.001, 0.001),
    source: sets.LeagueSet = SOURCE,
) -> list[FinishedRun]:
    """Mechanism and method with their error; `repeats` are added to it, run by run."""
    found = []
    for (mechanism, method), error in errors.items():
        epsilon = 0.0 if mechanism in ("plain", "guess") else 1.0
        for repeat, more in enumerate(repeats):
            cell = LeagueCell(source, Entry(mechanism, method), epsilon, repeat)
            measures = dict.fromkeys(MEASURES) | {"error": error + more, "mae": 9 * error}
            found.append(FinishedRun(cell, measures, 0.5))
    return found

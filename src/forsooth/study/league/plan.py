"""Which runs belong to a league: a quick one on small sets, or a full one on all of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from forsooth.study.league import sets
from forsooth.study.league.cells import LeagueCell
from forsooth.study.league.entries import (
    ALGORITHM_1,
    GUESS,
    GUESSES,
    MECHANISMS,
    OWN,
    PLAIN,
    POSTERIOR,
    Entry,
)
from forsooth.study.rivals import INFERENCE, PRIVATE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from forsooth.study.league.sets import LeagueSet


@dataclass(frozen=True)
class LeagueScope:
    """How much is measured. `largest` is the number of cells of the largest set that is used.

    `methods` are those on our reports, by mechanism; a mechanism that is missing has the posterior.
    """

    name: str
    epsilons: tuple[float, ...]
    repeats: int
    largest: int
    methods: Mapping[str, tuple[str, ...]]


_PAPER = {"lp": (ALGORITHM_1,), "two-layer": (ALGORITHM_1,), "mf": (ALGORITHM_1,)}
_SIMPLE = ("median", "majority", ALGORITHM_1, "dawid-skene")
QUICK = LeagueScope(
    name="quick",
    epsilons=(1.0, 2.0, 4.0),
    repeats=5,
    largest=200_000,
    methods=_PAPER
    | {
        PLAIN: (POSTERIOR, *INFERENCE),
        "rr": (POSTERIOR, *_SIMPLE, "ebcc"),
        "grr": (POSTERIOR, *INFERENCE),
    },
)
FULL = LeagueScope(
    name="full",
    epsilons=(0.5, 1.0, 2.0, 3.0, 4.0, 5.0),
    repeats=10,
    largest=100_000_000,
    methods=_PAPER
    | {
        PLAIN: (POSTERIOR, *INFERENCE),
        "rr": (POSTERIOR, *_SIMPLE, "ebcc"),
        "grr": (POSTERIOR, *INFERENCE),
    },
)


@dataclass(frozen=True)
class Choice:
    """What a user asked for; None leaves it to the scope."""

    data: tuple[str, ...] | None = None
    epsilons: tuple[float, ...] | None = None
    mechanisms: tuple[str, ...] | None = None
    methods: tuple[str, ...] | None = None
    repeats: int | None = None


def chosen_sets(
    choice: Choice, scope: LeagueScope, data_dir: str | None, seed: int
) -> list[LeagueSet]:
    """The sets that were named, or all that are here and not too large."""
    if choice.data is not None:
        return sets.find(choice.data, data_dir, seed)
    found = sets.find(sets.known(data_dir), data_dir, seed)
    return [each for each in found if each.size <= scope.largest]


def cells(choice: Choice, scope: LeagueScope, sources: Sequence[LeagueSet]) -> list[LeagueCell]:
    """All runs, those on the same data side by side, the largest data first."""
    found = []
    for source in sorted(sources, key=lambda each: -each.size):
        for repeat in range(choice.repeats or scope.repeats):
            for entry, epsilon in _entered(choice, scope):
                repeated = source.drawn or entry.promise != "none"
                if entry.suits(source) and (repeated or repeat == 0):
                    found.append(LeagueCell(source, entry, epsilon, repeat))
    return found


def _entered(choice: Choice, scope: LeagueScope) -> list[tuple[Entry, float]]:
    """Every entry with every ε; guesses and plain answers have none, which is written as 0."""
    found = [(Entry(GUESS, guess), 0.0) for guess in GUESSES]
    for mechanism in choice.mechanisms or MECHANISMS:
        epsilons = (0.0,) if mechanism == PLAIN else choice.epsilons or scope.epsilons
        methods = choice.methods or scope.methods.get(mechanism, (POSTERIOR,))
        if mechanism in PRIVATE:
            methods = (OWN,)
        found += [(Entry(mechanism, each), e) for each, e in product(methods, epsilons)]
    return found

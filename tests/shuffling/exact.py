"""What shuffling really gives, by enumerating all outputs: for a few people and small tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import combinations_with_replacement, permutations

import numpy as np

from forsooth.mechanisms import Channel
from forsooth.mechanisms.channel import TOTAL

Row = tuple[float, ...]
Histogram = tuple[int, ...]
Law = dict[Histogram, float]


def rows(channel: Channel) -> tuple[Row, ...]:
    return tuple(tuple(weight / TOTAL for weight in row) for row in channel.weights)


def product(table: Sequence[Row], cells: int) -> tuple[Row, ...]:
    """The table of whole reports: a row per vector of inputs, a column per vector of symbols."""
    found = np.ones((1, 1))
    for _ in range(cells):
        found = np.kron(found, np.array(table))
    return tuple(map(tuple, found))


@cache
def shuffled(table: tuple[Row, ...], inputs: tuple[int, ...]) -> Law:
    """The law of the histogram of symbols, which is all that random order leaves."""
    if not inputs:
        return {(0,) * len(table[0]): 1.0}
    found: defaultdict[Histogram, float] = defaultdict(float)
    for histogram, probability in shuffled(table, inputs[1:]).items():
        for symbol, share in enumerate(table[inputs[0]]):
            more = tuple(count + (place == symbol) for place, count in enumerate(histogram))
            found[more] += probability * share
    return dict(found)


def hockey_stick(one: Law, other: Law, epsilon: float) -> float:
    keys = list(one)
    first, second = (np.array([law[key] for key in keys]) for law in (one, other))
    return float(np.maximum(first - np.exp(epsilon) * second, 0.0).sum())


def worst_delta(
    table: tuple[Row, ...],
    people: int,
    epsilons: Iterable[float],
    pairs: Iterable[tuple[int, int]] | None = None,
) -> list[float]:
    """δ at each ε for the worst neighbours and the worst inputs of all other people."""
    inputs = range(len(table))
    crowds = list(combinations_with_replacement(inputs, people - 1))
    both = [
        (shuffled(table, (one, *crowd)), shuffled(table, (other, *crowd)))
        for one, other in pairs or permutations(inputs, 2)
        for crowd in crowds
    ]
    return [max(hockey_stick(*pair, epsilon) for pair in both) for epsilon in epsilons]

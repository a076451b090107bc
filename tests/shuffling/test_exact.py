"""The certificate against exact enumeration: never below it, and hardly above it."""

from __future__ import annotations

from functools import partial
from itertools import permutations

import numpy as np
import pytest

from forsooth import mechanisms
from forsooth.mechanisms import Channel, ChannelMechanism
from forsooth.mechanisms.channel import TOTAL, nearest_table
from forsooth.shuffling import sums
from forsooth.shuffling.blanket import Blanket, PairLaw
from forsooth.shuffling.composition import PrivacyLoss
from tests.shuffling.exact import Law, hockey_stick, product, rows, shuffled, worst_delta

TOLERANCE = 1e-12
SHARES = (0.0, 0.1, 0.3, 0.5, 0.8, 0.95)  # of the local ε


def built(name: str, scale: str, epsilon: float) -> Channel:
    mechanism = mechanisms.build(name, scale, epsilon, tasks=1)
    assert isinstance(mechanism, ChannelMechanism)
    return mechanism.channel


def uneven(seed: int, inputs: int, symbols: int) -> Channel:
    """A table without any symmetry."""
    random = np.random.default_rng(seed)
    table = random.uniform(0.05, 1, (inputs, symbols)) ** 2
    return nearest_table(table / table.sum(axis=1, keepdims=True), 20.0)


TABLES = {
    "binary": (built("grr", "0..1", 1.0), 8),
    "binary, weak": (built("grr", "0..1", 4.0), 8),
    "rr": (built("rr", "0..1", 2.0), 8),
    "rr of four": (built("rr", "0..2", 1.0), 5),
    "two-step": (built("two-step", "0..1", 2.0), 8),
    "two-step in halves": (built("two-step:first=0.5", "0..1", 3.0), 6),
    "staircase": (built("staircase:density=0.1", "0..2", 1.0), 5),
    "staircase, sparse": (built("staircase:density=0.02,noise=0.3", "0..2", 2.0), 5),
    "uneven": (uneven(1, 3, 3), 6),
    "uneven, wide": (uneven(2, 3, 4), 5),
    "uneven, tall": (uneven(3, 4, 2), 7),
}


def certified(channel: Channel, people: int, epsilon: float) -> float:
    blanket = Blanket.of(channel)
    assert blanket is not None
    return sums.delta(blanket.law(), people, epsilon, TOLERANCE)


@pytest.mark.parametrize("name", TABLES)
def test_the_certificate_is_never_below_the_truth(name: str) -> None:
    channel, most = TABLES[name]
    epsilons = [share * channel.epsilon() for share in SHARES]
    for people in {1, 2, 3, most}:
        exact = worst_delta(rows(channel), people, epsilons)
        for epsilon, truth in zip(epsilons, exact):
            assert certified(channel, people, epsilon) >= truth


def test_it_is_hardly_above_the_truth() -> None:
    """For rr the bound is the truth, but for what hides in the others' other reports."""
    channel, most = TABLES["rr"]
    for share in (0.1, 0.3, 0.5):
        epsilon = share * channel.epsilon()
        (truth,) = worst_delta(rows(channel), most, [epsilon])
        assert truth > 1e-3
        assert certified(channel, most, epsilon) < 1.1 * truth


def test_too_many_honest_people_are_noticed() -> None:
    """The comparison would find an accountant that counts one person too many."""
    channel, most = TABLES["binary"]
    (truth,) = worst_delta(rows(channel), most, [0.3])
    assert certified(channel, 2 * most, 0.3) < truth


@pytest.mark.parametrize("name", ["binary", "rr", "two-step", "uneven"])
@pytest.mark.parametrize("changed", [1, 2])
def test_whole_reports(name: str, changed: int) -> None:
    """Two cells that stay together; the neighbours differ in one of them, or in both."""
    channel, _ = TABLES[name]
    size, blanket = channel.inputs, Blanket.of(channel)
    assert blanket is not None
    table = product(rows(channel), 2)
    pairs = [
        pair
        for pair in permutations(range(size**2), 2)
        if changed == 2 or pair[0] // size == pair[1] // size
    ]
    epsilons = [share * changed * channel.epsilon() for share in SHARES]
    people = 3 if len(table[0]) < 9 else 2
    exact = worst_delta(table, people, epsilons, pairs)
    for epsilon, truth in zip(epsilons, exact):
        assert sums.delta(blanket.law(2, changed), people, epsilon, TOLERANCE) >= truth


@pytest.mark.parametrize("name", ["binary", "rr", "two-step", "uneven"])
def test_counts_of_two_tasks_of_one_person(name: str) -> None:
    """Both tasks are shuffled by themselves; all inputs of the others, all changes of both."""
    channel, _ = TABLES[name]
    table, blanket, people = rows(channel), Blanket.of(channel), 3
    assert blanket is not None
    one_task = partial(sums.delta, blanket.law(), people, tolerance=TOLERANCE)
    loss = PrivacyLoss.of(one_task, channel.epsilon()).times(2, TOLERANCE)
    crowds = [(first, second) for first in range(len(table)) for second in range(first + 1)]
    pairs = [
        tuple(np.array(list(shuffled(table, (one, *crowd)).values())) for one in both)
        for both in permutations(range(len(table)), 2)
        for crowd in crowds
    ]
    for share in SHARES:
        epsilon = 2 * share * channel.epsilon()
        truth = max(
            float(np.maximum(np.outer(a, c) - np.exp(epsilon) * np.outer(b, d), 0).sum())
            for a, b in pairs
            for c, d in pairs
        )
        assert loss.delta(epsilon) >= truth


@pytest.mark.parametrize("name", TABLES)
def test_the_law_dominates_every_pair(name: str) -> None:
    """Lemma 2: for convex functions of gA − hB, the four points are worse than any two inputs."""
    channel, _ = TABLES[name]
    blanket = Blanket.of(channel)
    assert blanket is not None
    law, weights = blanket.law(), np.array(channel.weights, float)
    least = weights.min(axis=0)
    for one, other in permutations(range(channel.inputs), 2):
        pair = PairLaw(
            weights[one] / least, weights[other] / least, least / TOTAL, 1 - least.sum() / TOTAL
        )
        for g, h in ((1, 1), (1, 2.5), (3, 1), (1, 0)):
            for kink in np.linspace(-5, 5, 21):
                worse, better = (
                    (each.mass * np.maximum(g * each.first - h * each.second - kink, 0)).sum()
                    + each.rest * max(-kink, 0)
                    for each in (law, pair)
                )
                assert worse >= better - 1e-9


def test_counting_only_two_symbols_would_be_wrong() -> None:
    """Why the blanket keeps all symbols: the others' reports hide a person there, too, but not as
    well as if nobody could see them."""
    channel, epsilon = built("grr", "0..3", 1.0), 0.5
    one, other = (shuffled(rows(channel), (victim, 2, 2, 2)) for victim in (0, 1))
    truth = hockey_stick(one, other, epsilon)
    assert truth > 1.1 * hockey_stick(_first_two(one), _first_two(other), epsilon)
    assert truth < certified(channel, 4, epsilon)


def _first_two(law: Law) -> Law:
    """The law of the counts of the first two symbols."""
    counts: Law = {}
    for histogram, probability in law.items():
        counts[histogram[:2]] = counts.get(histogram[:2], 0.0) + probability
    return counts

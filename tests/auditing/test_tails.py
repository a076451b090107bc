"""Tails and distributions that the audit of black boxes relies on, against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from forsooth.auditing.discrete_laplace import WINDOW, DiscreteLaplace
from forsooth.auditing.tails import most_improbable


@pytest.mark.parametrize(
    "chances",
    [[0.5] * 30, [0.02] * 40, [0.01, 0.2, 0.9, 0.5] * 8, [0.001] * 20 + [0.999] * 20],
    ids=["fair", "rare", "mixed", "certain"],
)
def test_p_is_a_valid_p_value_for_chances_that_differ(chances: list[float]) -> None:
    """P(p ≤ level) is never above the level, for every level: by convolution, no sampling."""
    law = np.ones(1)
    for chance in chances:
        law = np.convolve(law, [1 - chance, chance])
    values = [most_improbable([c], [len(chances)], [sum(chances)]).p for c in range(len(law))]
    for level in values:
        if level < 1:
            assert sum(p for p, value in zip(law, values) if value <= level) <= level * (1 + 1e-9)
    assert min(values) < 1e-6


def test_all_counts_are_paid_for_and_the_worst_is_named() -> None:
    counts = np.full((3, 4), 250.0)
    counts[1, 2] = 400
    found = most_improbable(counts, 1000, np.full((3, 4), 250.0))
    alone = most_improbable([400], [1000], [250.0])
    assert found.place == (1, 2)
    assert found.number == 12
    assert found.p == pytest.approx(12 * alone.p)
    assert str(found).startswith("400 of 1,000, expected 250, p = ")


def test_counts_without_draws_do_not_count() -> None:
    assert most_improbable([[5, 0]], [[10, 0]], [[5.0, 0.0]]).number == 1


def test_what_cannot_happen_is_found() -> None:
    assert most_improbable([3], [1000], [0.0]).p < 1e-20
    assert most_improbable([997], [1000], [1000.0]).p < 1e-20


def weights(rate: float, reach: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    steps = np.arange(-reach, reach + 1)
    chances = np.exp(-rate * np.abs(steps))
    return steps, chances / chances.sum()


@pytest.mark.parametrize("rate", [0.02, 0.3, 3.0])
def test_the_distribution_of_noise(rate: float) -> None:
    law, (steps, chances) = DiscreteLaplace(rate), weights(rate, 3000)
    assert np.abs(law.at_most(steps) - np.cumsum(chances)).max() < 1e-12
    for first in (0, 1, 4):
        for centre in (0, 7, -3, 1000):
            bits = np.bincount((steps + centre >> first) & 15, chances, 1 << WINDOW)
            assert np.abs(law.bits(first, np.array([centre]))[0] - bits).max() < 1e-12


@pytest.mark.parametrize("rate", [0.02, 0.3, 3.0])
def test_sixteenths_of_a_mixture(rate: float) -> None:
    steps, chances = weights(rate, 3000)
    centres = np.array([0, 40, 400])
    edges, parts = DiscreteLaplace(rate).quantiles(centres, 16)
    found = sum(
        np.bincount(np.searchsorted(edges, steps + centre), chances / 3, 16) for centre in centres
    )
    assert np.abs(found - parts).max() < 1e-12
    assert (np.diff(edges) >= 0).all()
    if rate == 0.02:
        assert np.abs(parts - 1 / 16).max() < 0.01

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from numpy.typing import NDArray

from forsooth import ForsoothError, Scale
from forsooth.auditing import ALPHA, count_reports, epsilon_lower_bound, goodness_of_fit
from forsooth.mechanisms import rr
from forsooth.mechanisms.channel import draw
from forsooth.mechanisms.randomness import SimulatedRandomness

SCALE = Scale.parse("0..4")
CHANNEL = rr(SCALE, 1.0).channel
NULL = SCALE.null


class Sampler:
    """rr as a black box, with room for a planted bug."""

    def __init__(self, seed: int = 1) -> None:
        self.random = SimulatedRandomness(seed)

    def __call__(self, row: int, draws: int) -> NDArray[np.integer]:
        return draw(CHANNEL.thresholds, np.full(draws, row), self.random)


class KeepsNullTooOften(Sampler):
    def __call__(self, row: int, draws: int) -> NDArray[np.integer]:
        symbols = super().__call__(row, draws)
        return np.where((row == NULL) & (np.arange(draws) % 20 == 0), NULL, symbols)


class StopsEarly(Sampler):
    def __call__(self, row: int, draws: int) -> NDArray[np.integer]:
        return draw(CHANNEL.thresholds[:-1], np.full(draws, row), self.random)


class MovedWeight(Sampler):
    """One weight moved by 1 %: a hundredth of "keep" goes to the next symbol."""

    def __call__(self, row: int, draws: int) -> NDArray[np.integer]:
        symbols = super().__call__(row, draws)
        moved = (row == 0) & (symbols == 0) & (np.arange(draws) % 100 == 0)
        return np.where(moved, 1, symbols)


def test_the_bound_is_below_the_truth_and_close_to_it() -> None:
    counts = count_reports(Sampler(), 6, 6, 1_000_000)
    bound = epsilon_lower_bound(counts)
    assert 0.97 < bound.epsilon <= 1
    assert bound.inputs[0] != bound.inputs[1]
    assert goodness_of_fit(counts, CHANNEL.weights) > ALPHA


def test_a_correct_sampler_is_not_accused() -> None:
    """A hundred audits at α = 0.01 of a sampler whose ε is exactly 1."""
    accused = sum(
        epsilon_lower_bound(count_reports(Sampler(seed), 6, 6, 2000), alpha=0.01).epsilon > 1
        for seed in range(100)
    )
    assert accused <= 4  # binomial(100, 0.01): more than 4 with probability 0.004 at most


@pytest.mark.parametrize("bug", [KeepsNullTooOften, StopsEarly, MovedWeight])
def test_planted_bugs_do_not_fit_the_table(bug: type[Sampler]) -> None:
    counts = count_reports(bug(), 6, 6, 1_000_000)
    assert goodness_of_fit(counts, CHANNEL.weights) < ALPHA


def test_a_planted_leak_is_convicted() -> None:
    """Keeping NULL in 5 % more of the cases is a larger ε than the table's."""
    counts = count_reports(KeepsNullTooOften(), 6, 6, 1_000_000)
    assert epsilon_lower_bound(counts).epsilon > 1


def test_clopper_pearson_by_hand() -> None:
    """Two inputs, two outputs: the bound against the binomial distribution itself."""
    from scipy.stats import binom

    counts = np.array([[900, 100], [500, 500]])
    bound = epsilon_lower_bound(counts, alpha=0.08)
    level = 0.08 / 8
    grid = np.linspace(0.001, 0.999, 99_801)
    lower = grid[binom.sf(499, 1000, grid) > level][0]
    upper = grid[binom.cdf(100, 1000, grid) > level][-1]
    assert bound.epsilon == pytest.approx(math.log(lower / upper), abs=1e-4)
    assert (bound.inputs, bound.output) == ((1, 0), 1)


def test_pairs_can_be_restricted() -> None:
    counts = np.array([[999_000, 1000], [500_000, 500_000], [1000, 999_000]])
    pairs = np.zeros((3, 3), bool)
    pairs[0, 1] = pairs[1, 0] = True
    assert epsilon_lower_bound(counts, pairs=pairs).inputs in ((0, 1), (1, 0))


def test_a_million_draws_per_input_in_about_a_second() -> None:
    start = time.perf_counter()
    count_reports(Sampler(), 6, 6, 1_000_000)
    assert time.perf_counter() - start < 10  # about 0.2 s here; a loop per draw would take minutes


def test_bad_black_boxes() -> None:
    with pytest.raises(ForsoothError, match="reports from 0 to 5"):
        count_reports(lambda row, draws: np.full(draws, 6), 6, 6, 10)
    with pytest.raises(ForsoothError, match="reports from 0 to 5"):
        count_reports(lambda row, draws: np.zeros(draws - 1, int), 6, 6, 10)
    with pytest.raises(ForsoothError, match="draws for every input"):
        epsilon_lower_bound([[1, 2], [0, 0]])

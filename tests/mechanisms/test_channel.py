from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from forsooth import ForsoothError, Mechanism, Scale
from forsooth.mechanisms import Channel, ChannelMechanism, grr, rr, two_step
from forsooth.mechanisms.channel import TOTAL, draw, nearest_table
from forsooth.mechanisms.randomness import SecureRandomness, SimulatedRandomness
from tests.samples import ALPHA, count, goodness_of_fit

EPSILONS = [0.001, 0.1, 1.0, 5.0, 10.0]
SIZES = [2, 5, 10, 50]
DRAWS = 300_000


def of_size(size: int) -> Scale:
    return Scale.parse(f"0..{size - 1}")


def slow_epsilon(channel: Channel) -> float:
    """The definition, in floats: every pair of inputs, every symbol."""
    return max(
        math.log(one[symbol] / other[symbol])
        for one in channel.weights
        for other in channel.weights
        for symbol in range(channel.symbols)
    )


def slow_draw(weights: tuple[int, ...], word: int) -> int:
    """Walk the row: the readable twin of `draw`."""
    for symbol, weight in enumerate(weights):
        if word < weight:
            return symbol
        word -= weight
    raise AssertionError


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_promise_is_kept_and_nearly_used_up(epsilon: float, size: int) -> None:
    for mechanism in (rr(of_size(size), epsilon), grr(of_size(size), epsilon)):
        exact = mechanism.channel.epsilon()
        assert exact <= epsilon
        assert exact == pytest.approx(slow_epsilon(mechanism.channel), abs=1e-12)
        if epsilon >= 0.1:
            assert exact >= epsilon * (1 - 1e-6)
    for protects in ("answers+participation", "answers"):
        assert two_step(of_size(size), epsilon, protects=protects).channel.epsilon() <= epsilon


@settings(deadline=None)
@given(st.floats(1e-6, 40), st.integers(2, 60))
def test_the_promise_is_kept_for_any_epsilon(epsilon: float, size: int) -> None:
    assert rr(of_size(size), epsilon).channel.epsilon() <= epsilon


def test_the_paper_s_probabilities() -> None:
    """Equation 5: keep with e^ε / (|Γ| + e^ε), each other symbol 1 / (|Γ| + e^ε)."""
    table = np.array(rr(of_size(10), 1.0).channel.weights) / TOTAL
    expected = np.full((11, 11), 1 / (10 + math.e)) + np.eye(11) * (math.e - 1) / (10 + math.e)
    np.testing.assert_allclose(table, expected, atol=1e-8)


def test_two_step_follows_its_equation() -> None:
    """The five cases of the paper's two-step table, ε₁ = 0.1, ε₂ = 0.9, NULL last."""
    size, first, second = 5, math.exp(0.1), math.exp(0.9)
    table = np.array(two_step(of_size(size), 1.0).channel.weights) / TOTAL
    assert table[size, size] == pytest.approx(first / (1 + first), abs=1e-8)
    assert table[size, 0] == pytest.approx(1 / size / (1 + first), abs=1e-8)
    assert table[0, size] == pytest.approx(1 / (1 + first), abs=1e-8)
    assert table[0, 1] == pytest.approx(first / (1 + first) / (size - 1 + second), abs=1e-8)
    assert table[0, 0] == pytest.approx(
        first / (1 + first) * second / (size - 1 + second), abs=1e-8
    )


@pytest.mark.parametrize(
    "mechanism",
    [rr(of_size(5), 1.0), grr(of_size(10), 0.5), two_step(of_size(3), 2.0), rr(of_size(300), 3.0)],
    ids=["rr", "grr", "two-step", "wide"],
)
def test_every_row_is_drawn_as_the_table_says(mechanism: ChannelMechanism) -> None:
    channel, random = mechanism.channel, SimulatedRandomness(3)
    for row, weights in list(enumerate(channel.weights))[:: max(1, channel.inputs // 12)]:
        symbols = draw(channel.thresholds, np.full(DRAWS, row), random)
        assert goodness_of_fit(count(symbols, channel.symbols), weights) > ALPHA


def test_secure_draws_fit_too() -> None:
    channel = rr(of_size(5), 1.0).channel
    symbols = draw(channel.thresholds, np.full(DRAWS, 5), SecureRandomness())
    assert goodness_of_fit(count(symbols, 6), channel.weights[5]) > ALPHA


def test_planted_bugs_are_caught() -> None:
    """NULL kept 5 % too often, one weight moved by 1 %, a walk that stops one symbol early."""
    channel = rr(of_size(5), 1.0).channel
    symbols = draw(channel.thresholds, np.full(DRAWS, 5), SimulatedRandomness(4))
    kept = np.where(np.arange(DRAWS) % 20 == 0, 5, symbols)
    assert goodness_of_fit(count(kept, 6), channel.weights[5]) < ALPHA
    moved = list(channel.weights[5])
    moved[0], moved[5] = moved[0] - moved[5] // 100, moved[5] + moved[5] // 100
    assert goodness_of_fit(count(symbols, 6), moved) < ALPHA
    early = draw(channel.thresholds[:-1], np.full(DRAWS, 5), SimulatedRandomness(4))
    assert goodness_of_fit(count(early, 6), channel.weights[5]) < ALPHA


@settings(deadline=None)
@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=50), st.integers(0, 5))
def test_the_fast_walk_is_the_slow_walk(words: list[int], row: int) -> None:
    channel = two_step(of_size(5), 1.5).channel

    class Given:
        def words(self, count: int) -> NDArray[np.uint32]:
            assert count == len(words)
            return np.array(words, np.uint32)

    symbols = draw(channel.thresholds, np.full(len(words), row), Given())
    assert symbols.tolist() == [slow_draw(channel.weights[row], word) for word in words]


def test_edges_of_the_walk() -> None:
    """The first and the last word of every symbol's stretch."""
    weights = rr(of_size(5), 1.0).channel.weights[2]
    edges = np.concatenate([[0], np.cumsum(weights)])
    for symbol in range(6):
        assert slow_draw(weights, int(edges[symbol])) == symbol
        assert slow_draw(weights, int(edges[symbol + 1]) - 1) == symbol


@pytest.mark.parametrize(
    ("weights", "complaint"),
    [
        (((TOTAL - 1, 2), (1, TOTAL - 1)), "row 0 of the table sums to"),
        (((TOTAL, 0), (1, TOTAL - 1)), "row 0 of the table never sends symbol 1"),
        (((TOTAL + 1, -1), (1, TOTAL - 1)), "row 0 of the table never sends symbol 1"),
        (((1, TOTAL - 1), (1,)), "equally many integers"),
        (((0.5, TOTAL - 0.5), (1, TOTAL - 1)), "equally many integers"),
    ],
)
def test_bad_tables_are_refused(weights: tuple[tuple[int, ...], ...], complaint: str) -> None:
    with pytest.raises(ForsoothError, match=complaint):
        Channel(weights)


def test_a_table_that_breaks_its_promise_cannot_be_made() -> None:
    mechanism = rr(of_size(2), 1.0, protects="answers")
    honest = mechanism.to_json()
    assert Mechanism.from_json(honest) == mechanism
    keep, other = mechanism.channel.weights[0]
    forged = honest.replace(f"[[{keep}, {other}]", f"[[{keep + 9}, {other - 9}]")
    assert forged != honest
    with pytest.raises(ForsoothError, match="symbol 1, rows 1 and 0: weights"):
        Mechanism.from_json(forged)


def test_a_table_of_the_wrong_size_is_refused() -> None:
    small = rr(of_size(2), 1.0)
    with pytest.raises(ForsoothError, match="needs a table of 6 rows"):
        ChannelMechanism("x", of_size(5), 1.0, "answers+participation", small.channel, (1.0,))


def test_rounding_keeps_the_promise() -> None:
    random = np.random.default_rng(0)
    for _ in range(50):
        epsilon = float(random.uniform(0.01, 3))
        columns = np.where(random.random((4, 7)) < 0.5, 1.0, math.exp(epsilon))
        rows = columns / columns.sum(axis=1, keepdims=True)
        true = max(math.log(max(c) / min(c)) for c in rows.T)
        channel = nearest_table(rows, true)
        assert channel.epsilon() <= true
        np.testing.assert_allclose(np.array(channel.weights) / TOTAL, rows, atol=1e-6)


def test_an_epsilon_that_integers_cannot_express() -> None:
    with pytest.raises(ForsoothError):
        rr(of_size(5), 1e-12)

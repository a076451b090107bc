from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from forsooth import ForsoothError, Scale
from forsooth.mechanisms.base import Mechanism
from forsooth.mechanisms.channel import TOTAL, Channel
from forsooth.mechanisms.design import (
    Beliefs,
    best_channel,
    best_weights,
    column_information,
    every_column,
    exact_table,
    information,
    interval_columns,
    probabilities,
    worst_participation,
)
from forsooth.mechanisms.randomized_response import rr
from forsooth.mechanisms.staircase_channel import (
    beliefs,
    designed,
    noise_levels,
    staircase,
    truth_prior,
)

TEN = Scale.parse("0..9")
CROWDS = [
    {"density": 0.1},
    {"density": 0.1, "truth": "normal:0,1", "noise": "1,5"},
    {"density": 0.9, "truth": "normal:4,1"},
    {"density": 1.0},
]


def of_size(size: int) -> Scale:
    return Scale.parse(f"0..{size - 1}")


def slow_information(expected: Beliefs, table: NDArray[np.float64]) -> float:
    """Σ_θ Σ_y π P(y|θ) ln(P(y|θ) / P(y)), one term after the other."""
    inputs = expected.given_truth()
    truths, symbols = range(len(expected.prior)), range(table.shape[1])
    p = [
        [sum(inputs[t, x] * table[x, y] for x in range(len(table))) for y in symbols]
        for t in truths
    ]
    total = 0.0
    for y in symbols:
        mean = sum(expected.prior[t] * p[t][y] for t in truths)
        for t in truths:
            total += expected.prior[t] * p[t][y] * math.log(p[t][y] / mean)
    return total


def some_beliefs(random: np.random.Generator, answers: int, density: float | None) -> Beliefs:
    prior, model = random.dirichlet(np.ones(6)), random.dirichlet(np.ones(answers), 6)
    return Beliefs(prior, model, density)


def worth(expected: Beliefs, channel: Channel) -> float:
    return worst_participation(expected, probabilities(channel))[1]


@pytest.mark.parametrize("options", CROWDS)
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
def test_information_is_what_the_double_loop_says(epsilon: float, options: dict[str, str]) -> None:
    expected = beliefs(of_size(5), **options)  # type: ignore[arg-type]
    _, design = designed(of_size(5), epsilon, **options)  # type: ignore[arg-type]
    response = probabilities(rr(of_size(5), epsilon).channel)
    assert design.information_rr == pytest.approx(slow_information(expected, response), rel=1e-8)
    slow = slow_information(expected, probabilities(design.channel))
    assert design.information == pytest.approx(slow, rel=1e-8)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_randomized_response_is_the_best_for_two_inputs(epsilon: float) -> None:
    """Kairouz et al.: for binary inputs no prior or answer model has a better channel."""
    design = best_channel(some_beliefs(np.random.default_rng(1), 2, None), epsilon)
    table = probabilities(rr(of_size(2), epsilon, protects="answers").channel)
    found = probabilities(design.channel)
    if found[0, 0] < found[1, 0]:
        found = found[:, ::-1]
    np.testing.assert_allclose(found, table, atol=1e-8)
    assert design.ratio == pytest.approx(1, abs=1e-6)


def test_the_optimum_of_three_inputs_by_brute_force() -> None:
    """Public participation: vertices of the polytope are tables of at most three columns."""
    expected, epsilon = some_beliefs(np.random.default_rng(5), 3, None), 1.3
    columns = np.where(every_column(3, null=False), 1.0, math.exp(-epsilon))
    worth_of = column_information(expected, columns)
    best = 0.0
    for chosen in permutations(range(6), 3):
        part = columns[:, chosen]
        weights = np.linalg.lstsq(part, np.ones(3), rcond=None)[0]
        if (weights > -1e-12).all() and np.allclose(part @ weights, 1):
            best = max(best, float(weights @ worth_of[list(chosen)]))
    assert best_channel(expected, epsilon).information == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("density", [0.1, 0.7, None])
def test_no_other_channel_is_better(density: float | None) -> None:
    """Neither rr nor any table that is the best for somebody else."""
    random = np.random.default_rng(2)
    for epsilon in (0.3, 1.0, 3.0):
        expected = some_beliefs(random, 4, density)
        design = best_channel(expected, epsilon)
        assert design.guaranteed >= design.guaranteed_rr * (1 - 1e-6)
        assert design.guaranteed <= design.information * (1 + 1e-9)
        patterns = every_column(4, density is not None)
        for _ in range(8):
            weights = best_weights(
                some_beliefs(random, 4, density), patterns, epsilon * random.uniform(0.5, 1)
            )
            used = weights > 1e-7
            other = exact_table(patterns[:, used], weights[used], epsilon)
            assert worth(expected, other) <= design.guaranteed * (1 + 1e-3)


def test_the_worst_participation_is_the_worst() -> None:
    random = np.random.default_rng(3)
    expected = some_beliefs(random, 4, 0.3)
    table = probabilities(best_channel(expected, 1.0).channel)
    density, least = worst_participation(expected, table)
    assert density is not None
    assert ((density >= 0.15 - 1e-9) & (density <= 0.6 + 1e-9)).all()
    for _ in range(300):
        near = np.clip(density + random.normal(0, 0.02, 6), 0.15, 0.6)
        for other in (near, random.uniform(0.15, 0.6, 6)):
            assert information(expected, table, other) >= least * (1 - 1e-6)


@pytest.mark.parametrize("options", CROWDS)
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0])
def test_value_and_presence_stay_apart(epsilon: float, options: dict[str, str]) -> None:
    """Few answers and another truth change the symbols' frequencies in different directions."""
    mechanism, design = designed(TEN, epsilon, **options)  # type: ignore[arg-type]
    table = probabilities(design.channel)
    expected = beliefs(TEN, **options)  # type: ignore[arg-type]
    answered = expected.answers @ table[:-1] - table[-1]  # what the density scales
    heavy = answered[expected.prior > 1e-3]
    low, high = heavy[0] / np.linalg.norm(heavy[0]), heavy[-1] / np.linalg.norm(heavy[-1])
    assert low @ high < 0.95
    assert None in mechanism.reads_as
    assert any(reading is not None for reading in mechanism.reads_as)


def test_without_the_adversary_value_and_presence_are_confused() -> None:
    """Why the design plays against participation: the density as if it were known."""
    expected = beliefs(TEN, density=0.1, truth="normal:0,1", noise="1,5")
    known = Beliefs(expected.prior, expected.answers, 0.1, spread=1.0)
    naive, robust = best_channel(known, 0.5), best_channel(expected, 0.5)
    assert naive.channel.symbols == 2
    assert worth(expected, naive.channel) < 0.05 * robust.guaranteed
    assert robust.information > 0.9 * naive.information


@pytest.mark.parametrize("truth", ["flat", "normal:2,1"])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_a_mirrored_scale_gives_a_mirrored_design(epsilon: float, truth: str) -> None:
    mirrored = truth.replace("2,1", "7,1")
    one = designed(TEN, epsilon, density=0.2, truth=truth)[1]
    other = designed(TEN, epsilon, density=0.2, truth=mirrored)[1]
    assert one.guaranteed == pytest.approx(other.guaranteed, rel=1e-3)
    assert one.information_rr == pytest.approx(other.information_rr, rel=1e-6)


def test_the_order_of_inputs_and_of_symbols_does_not_matter() -> None:
    random = np.random.default_rng(4)
    expected = some_beliefs(random, 5, 0.4)
    order = random.permutation(5)
    shuffled = Beliefs(expected.prior, expected.answers[:, order], 0.4)
    one, other = best_channel(expected, 1.0), best_channel(shuffled, 1.0)
    assert one.guaranteed == pytest.approx(other.guaranteed, rel=1e-3)
    table = probabilities(one.channel)
    swapped = table[:, random.permutation(table.shape[1])]
    assert information(expected, swapped) == pytest.approx(one.information, rel=1e-12)


@pytest.mark.parametrize("size", [2, 3, 5, 10, 12, 50])
@pytest.mark.parametrize("epsilon", [0.001, 0.1, 1.0, 3.0, 10.0])
def test_the_promise_is_kept_and_used_up(epsilon: float, size: int) -> None:
    mechanism, design = designed(of_size(size), epsilon, density=0.2, noise="1,3")
    exact = design.channel.epsilon()
    assert exact <= epsilon
    assert exact >= epsilon * (1 - 1e-5)
    assert abs(design.lost) <= 1e-4 * design.information
    assert design.guaranteed_ratio >= 1 - 1e-3
    assert all(sum(row) == TOTAL for row in design.channel.weights)
    assert Mechanism.from_json(mechanism.to_json()) == mechanism


@settings(deadline=None, max_examples=25)
@given(st.floats(1e-3, 30), st.integers(2, 8), st.floats(0.01, 1), st.booleans())
def test_the_promise_is_kept_for_anything(
    epsilon: float, size: int, density: float, public: bool
) -> None:
    protects = "answers" if public else "answers+participation"
    mechanism = staircase(of_size(size), epsilon, density=density, protects=protects)  # type: ignore[arg-type]
    assert mechanism.channel.epsilon() <= epsilon
    assert mechanism.channel.inputs == size + (not public)


def test_columns_are_staircases_and_none_is_said_twice() -> None:
    table = probabilities(staircase(TEN, 1.0, density=0.1).channel)
    scaled = table / table.min(axis=0)
    assert (np.minimum(np.abs(scaled - 1), np.abs(scaled - math.e)) < 1e-6).all()
    assert len(np.unique((scaled > 2).T, axis=0)) == table.shape[1]


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_intervals_are_almost_as_good_as_all_columns(epsilon: float) -> None:
    for options in CROWDS[:2]:
        expected = beliefs(TEN, **options)  # type: ignore[arg-type]
        exact = designed(TEN, epsilon, **options)[1]  # type: ignore[arg-type]
        patterns = interval_columns(10, null=True)
        weights = best_weights(expected, patterns, epsilon)
        used = weights > 1e-7
        restricted = worth(expected, exact_table(patterns[:, used], weights[used], epsilon))
        assert exact.guaranteed * 0.99 <= restricted <= exact.guaranteed * 1.001


def test_the_families() -> None:
    assert every_column(2, null=True).shape == (3, 6)
    family = {tuple(column) for column in interval_columns(4, null=True).T.tolist()}
    assert (False, True, True, False, True) in family  # an interval with NULL
    assert (True, False, False, True, False) in family  # its complement
    assert (False, False, False, False, True) in family  # NULL alone
    assert len(family) == interval_columns(4, null=True).shape[1]
    assert not any(len(set(column)) == 1 for column in family)


def test_a_scale_of_a_hundred_and_one() -> None:
    mechanism, design = designed(of_size(101), 1.0, density=0.1, noise="5")
    assert not design.exhaustive
    assert mechanism.channel.epsilon() <= 1
    assert design.ratio > 10


def test_symbols_go_from_low_to_high_and_null_comes_last() -> None:
    for protects in ("answers", "answers+participation"):
        read = staircase(TEN, 2.0, density=0.1, protects=protects).reads_as
        numbers = [reading for reading in read if reading is not None]
        assert numbers == sorted(numbers)
        assert list(read[: len(numbers)]) == numbers
        assert (len(numbers) < len(read)) == (protects != "answers")


def test_what_must_be_shown() -> None:
    for options in CROWDS[:2]:
        design = designed(TEN, 1.0, **options)[1]  # type: ignore[arg-type]
        assert design.ratio >= 2.5
        assert design.guaranteed_ratio >= 2.5


def test_words_for_beliefs() -> None:
    assert noise_levels("1,5") == noise_levels("1/5") == (1.0, 5.0)
    grid = np.linspace(0, 9, 37)
    np.testing.assert_array_equal(truth_prior(grid, "normal:0,1"), truth_prior(grid, "normal/0/1"))
    prior = truth_prior(grid, "normal:0,1")
    assert prior[0] == pytest.approx(0.5 + 0.0497, abs=1e-3)  # all that lies below the scale
    assert truth_prior(grid, "normal:-2,1") @ grid < prior @ grid
    assert staircase(TEN, 1.0, noise="1,5", truth="normal:0,1") == staircase(
        TEN, 1.0, noise="1/5", truth="normal/0/1"
    )


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"density": 0.0}, "density must lie above 0"),
        ({"density": 1.1}, "density must lie above 0"),
        ({"density": math.nan}, "density must lie above 0"),
        ({"noise": "0"}, "standard deviation above 0"),
        ({"noise": "1,nan"}, "standard deviation above 0"),
        ({"noise": "inf"}, "standard deviation above 0"),
        ({"noise": ""}, "standard deviation above 0"),
        ({"truth": "bimodal"}, "flat or normal:MEAN,SD"),
        ({"truth": "normal:1"}, "flat or normal:MEAN,SD"),
        ({"truth": "normal:0,0"}, "flat or normal:MEAN,SD"),
        ({"truth": "normal:99,1"}, "nothing to learn"),
        ({"epsilon": 1e-9}, "too small for a table"),
        ({"epsilon": 0.0}, "ε must be"),
        ({"protects": "nothing"}, "protects must be"),
    ],
)
def test_bad_input(options: dict[str, object], complaint: str) -> None:
    given = {"epsilon": 1.0, **options}
    with pytest.raises(ForsoothError, match=complaint):
        staircase(TEN, **given)  # type: ignore[arg-type]


def test_bad_beliefs() -> None:
    half = np.array([0.5, 0.5])
    with pytest.raises(ForsoothError, match="prior of beliefs"):
        Beliefs(half * 2, np.array([half, half]), 0.5)
    with pytest.raises(ForsoothError, match="a row of answer probabilities per truth"):
        Beliefs(half, half, 0.5)
    with pytest.raises(ForsoothError, match="spread"):
        Beliefs(half, np.array([half, half]), 0.5, spread=0.5)

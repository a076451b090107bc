"""Frequency oracles against the formulas of their papers. False alarms: 5 standard errors."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import comb, exp, log

import numpy as np
import pytest

from forsooth import Answers
from forsooth.study.rivals import PRIVATE, grr, olh, oue, subset_selection
from forsooth.study.rivals.frequency_oracle import FrequencyOracle, aggregated, projected
from forsooth.study.synthetic import SyntheticCrowd

SYMBOLS = 5
EPSILONS = (0.5, 1.0, 3.0)
ORACLES = {
    module.__name__.rpartition(".")[2]: FrequencyOracle(module.probabilities, module.supports)
    for module in (grr, oue, olh, subset_selection)
}


def of_unary_encoding(size: int, epsilon: float) -> float:
    return 4 * exp(epsilon) / (exp(epsilon) - 1) ** 2


PUBLISHED: dict[str, Callable[[int, float], float]] = {  # n · Var of a rare value
    "grr": lambda size, epsilon: (size - 2 + exp(epsilon)) / (exp(epsilon) - 1) ** 2,
    "oue": of_unary_encoding,
    "olh": of_unary_encoding,
}


@pytest.mark.parametrize("epsilon", [log(2), log(3), log(20)])  # g is a whole number
@pytest.mark.parametrize("name", PUBLISHED)
def test_the_variance_is_the_published_one(name: str, epsilon: float) -> None:
    p, q = ORACLES[name].probabilities(SYMBOLS, epsilon)
    assert q * (1 - q) / (p - q) ** 2 == pytest.approx(PUBLISHED[name](SYMBOLS, epsilon))


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_subset_selection_by_enumeration(epsilon: float) -> None:
    """Over all reports: their probabilities, p, q and the ratio e^ε."""
    width = subset_selection.width(SYMBOLS, epsilon)
    weight = {
        subset: exp(epsilon) if 0 in subset else 1.0
        for subset in combinations(range(SYMBOLS), width)
    }
    total = sum(weight.values())
    p, q = (sum(w for s, w in weight.items() if x in s) / total for x in (0, 1))
    assert subset_selection.probabilities(SYMBOLS, epsilon) == pytest.approx((p, q))
    inside, outside = p / comb(SYMBOLS - 1, width - 1), (1 - p) / comb(SYMBOLS - 1, width)
    assert log(inside / outside) == pytest.approx(epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("name", ORACLES)
def test_reports_support_as_often_as_they_should(name: str, epsilon: float) -> None:
    """Also the variance of a rare value's count, which says that reports are independent."""
    oracle, random, count = ORACLES[name], np.random.default_rng(7), 200_000
    codes = np.full(count, 2, np.uint8)
    supports = oracle.supports(codes, SYMBOLS, epsilon, random)
    p, q = oracle.probabilities(SYMBOLS, epsilon)
    for symbol in range(SYMBOLS):
        expected = p if symbol == 2 else q
        error = (expected * (1 - expected) / count) ** 0.5
        assert abs(supports[:, symbol].mean() - expected) < 5 * error, symbol
    batches = supports[:, 0].reshape(2_000, 100).sum(axis=1)
    assert batches.var() / (100 * q * (1 - q)) == pytest.approx(1, abs=5 * (2 / 2_000) ** 0.5)


@pytest.mark.parametrize("name", ORACLES)
def test_frequencies_are_unbiased(name: str) -> None:
    rows = {f"w{w}": {"q": w % 3} for w in range(3_000)} | {f"n{w}": {"r": 0} for w in range(1_000)}
    answers = Answers.of(rows, "0..2")
    found = ORACLES[name].frequencies(answers, 2.0, np.random.default_rng(3))
    assert found.shape == (2, 4)
    assert found[0] == pytest.approx([0.25, 0.25, 0.25, 0.25], abs=0.12)
    assert found[1] == pytest.approx([0.25, 0, 0, 0.75], abs=0.12)


def test_projection_by_hand() -> None:
    """0.6, 0.5, −0.1: δ = −0.05 for the two that stay above 0."""
    given = np.array([[0.6, 0.5, -0.1], [0.2, 0.3, 0.5], [-1.0, -1.0, 3.0]])
    wanted = [[0.55, 0.45, 0.0], [0.2, 0.3, 0.5], [0.0, 0.0, 1.0]]
    assert projected(given) == pytest.approx(np.array(wanted))


def test_null_is_left_out_of_mean_and_mode() -> None:
    answers = Answers.of({"a": {"q": 1}}, "1..3")
    found = aggregated(np.array([[0.1, 0.0, 0.3, 0.6], [0, 0, 0, 1.0]]), answers.scale)
    assert found.level == pytest.approx([2.5, 2.0])
    assert found.label[0] == 3


@pytest.mark.parametrize("rival", PRIVATE.values(), ids=list(PRIVATE))
def test_every_private_rival_finds_the_truth_where_privacy_is_weak(rival: object) -> None:
    """And the same seed gives the same result, another seed another one."""
    from forsooth.study.rivals import PrivateRival

    assert isinstance(rival, PrivateRival)
    crowd = SyntheticCrowd(workers=2_000, tasks=10, sparsity=0.5, truth_mean=4.5, truth_sd=2)
    dataset = crowd.draw(5)
    one, two, other = (
        rival.run(dataset.answers, 12.0, np.random.default_rng(seed)).level for seed in (1, 1, 2)
    )
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)
    assert np.abs(one - dataset.truth).mean() < 0.5 * dataset.constant_error()

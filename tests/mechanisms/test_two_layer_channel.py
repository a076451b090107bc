from __future__ import annotations

import numpy as np
import pytest

from forsooth import Answers, ForsoothError, Mechanism, Scale
from forsooth.mechanisms import two_layer
from forsooth.mechanisms.randomness import SimulatedRandomness
from forsooth.mechanisms.two_layer_channel import LEVELS
from tests.samples import ALPHA, count, goodness_of_fit

SCALE = Scale.parse("0..4")


def test_the_guarantee_is_twice_epsilon() -> None:
    mechanism = two_layer(SCALE, 1.0)
    assert mechanism.guarantee.epsilon == 2.0
    exact = [channel.epsilon() for channel in mechanism.channels]
    assert max(exact) <= 2.0
    assert max(exact) == pytest.approx(2.0, rel=1e-6)
    np.testing.assert_allclose(exact, np.linspace(0, 2, LEVELS), atol=1e-6)


def test_budgets_are_uniform_and_belong_to_the_worker() -> None:
    levels = two_layer(SCALE, 1.0).secrets(200_000, SimulatedRandomness(5))
    assert goodness_of_fit(count(levels, LEVELS), np.ones(LEVELS)) > ALPHA


def test_cells_are_drawn_from_the_budget_s_table() -> None:
    mechanism, random = two_layer(SCALE, 2.0), SimulatedRandomness(6)
    for level in (0, 20, LEVELS - 1):
        secret = np.full(200_000, level, np.uint8)
        symbols = mechanism.randomise_codes(np.full(200_000, SCALE.null), secret, random)
        weights = mechanism.channels[level].weights[SCALE.null]
        assert goodness_of_fit(count(symbols, 6), weights) > ALPHA


def test_a_worker_s_cells_share_one_budget() -> None:
    """With ε = 20 a large budget keeps every cell, a small one loses most."""
    rows = {f"w{i:03}": {f"t{j:02}": 3 for j in range(40)} for i in range(300)}
    reports = two_layer(SCALE, 20.0).perturb(Answers.of(rows, SCALE), simulation_seed=1)
    kept = (reports.values == 3).mean(axis=1)
    assert (kept == 1).mean() > 0.5
    assert (kept < 0.5).mean() > 0.01


def test_forged_levels_are_refused() -> None:
    honest = two_layer(SCALE, 1.0)
    forged = honest.to_json().replace(str(honest.keep[-1]), str(honest.keep[-1] + 10_000))
    with pytest.raises(ForsoothError, match="does not keep its promise"):
        Mechanism.from_json(forged)

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from forsooth import Answers, ForsoothError, Mechanism, Scale
from forsooth.mechanisms import lp
from forsooth.mechanisms.randomness import SimulatedRandomness
from tests.samples import ALPHA, count, goodness_of_fit

SCALE = Scale.parse("0..9")


def all_null(workers: int, tasks: int) -> Answers:
    names = [f"t{task:03}" for task in range(tasks)]
    return Answers.of({f"w{i:04}": {} for i in range(workers)}, SCALE, tasks=names)


def test_epsilon_is_met_exactly() -> None:
    """rate × (largest distance of two answers in grid steps) = ε, as rational numbers."""
    for epsilon in (0.1, 1.0, 1 / 3):
        mechanism = lp(SCALE, epsilon)
        spread = max(mechanism.positions) - min(mechanism.positions)
        assert mechanism.rate * spread == Fraction(epsilon)


def test_the_paper_s_sensitivity_is_an_option_where_it_is_safe() -> None:
    assert lp(SCALE, 1.0, sensitivity="size").rate * 10 == lp(SCALE, 1.0).rate * 9
    with pytest.raises(ForsoothError, match="does not keep its promise"):
        lp(Scale.parse("0,100"), 1.0, sensitivity="size")


def test_null_becomes_uniform_or_a_constant() -> None:
    codes = np.full(100_000, SCALE.null)
    drawn = lp(SCALE, 1.0)._replacements(len(codes), SimulatedRandomness(1))
    assert goodness_of_fit(count(drawn, 10), np.ones(10)) > ALPHA
    constant = lp(SCALE, 1.0, null="7").perturb(all_null(200, 100), simulation_seed=2)
    assert constant.cells().value.mean() == pytest.approx(7, abs=0.5)
    uniform = lp(SCALE, 1.0).perturb(all_null(200, 100), simulation_seed=2)
    assert uniform.cells().value.mean() == pytest.approx(4.5, abs=0.5)


def test_the_noise_has_the_right_size() -> None:
    """E|Lap(9)| = 9; the standard error over 20,000 cells is 0.064, six of them allowed."""
    reports = lp(SCALE, 1.0, null="0").perturb(all_null(200, 100), simulation_seed=3)
    assert np.abs(reports.cells().value).mean() == pytest.approx(9, abs=0.4)


def test_fractional_scales_lie_on_the_grid() -> None:
    scale = Scale.parse("0,0.1,0.25,1")
    mechanism = lp(scale, 2.0)
    exact = np.ldexp(np.array(mechanism.positions, float), mechanism.grid)
    np.testing.assert_allclose(exact, scale.values, atol=1e-4)


def test_public_participation_sends_answered_cells_only(answers: Answers) -> None:
    reports = lp(answers.scale, 1.0, protects="answers").perturb(answers)
    assert reports.values.shape == (answers.size,)


@pytest.mark.parametrize("options", [{"null": "12"}, {"null": ""}, {"sensitivity": "wide"}])
def test_bad_options(options: dict[str, str]) -> None:
    with pytest.raises(ForsoothError):
        lp(SCALE, 1.0, **options)  # type: ignore[arg-type]


def test_forged_noise_is_refused() -> None:
    honest = lp(SCALE, 1.0)
    with pytest.raises(ForsoothError, match="does not keep its promise"):
        replace(honest, sensitivity=honest.sensitivity - 1)
    assert Mechanism.from_json(honest.to_json()) == honest

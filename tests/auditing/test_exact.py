from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from forsooth import Privacy, Scale
from forsooth.auditing import exact_epsilon
from forsooth.auditing.exact import mf_witness
from forsooth.mechanisms import (
    ChannelMechanism,
    MatrixFactorization,
    TwoLayer,
    build,
    lp,
    mf,
    mf_safe,
    two_layer,
    two_step,
)

SCALE = Scale.parse("0..4")


@pytest.mark.parametrize("size", [2, 5, 10, 50])
@pytest.mark.parametrize("epsilon", [0.001, 0.1, 1.0, 5.0, 10.0])
@pytest.mark.parametrize("name", ["rr", "grr", "two-step", "lp", "mf-safe"])
def test_never_above_the_promise(name: str, epsilon: float, size: int) -> None:
    scale = Scale.parse(f"0..{size - 1}")
    for protects in ("answers+participation", "answers"):
        mechanism = build(name, scale, epsilon, tasks=20, protects=protects)
        exact = exact_epsilon(mechanism)
        assert exact.value <= epsilon
        if protects == "answers+participation":
            assert exact.participation <= epsilon
        if name == "rr" and epsilon >= 0.1:
            assert exact.value >= epsilon * (1 - 1e-6)


def slow_table(mechanism: ChannelMechanism) -> tuple[float, float]:
    """Every pair of each kind and every symbol, in floats."""
    weights, null = mechanism.channel.weights, mechanism.scale.null
    found = {True: 0.0, False: 0.0}
    for i, one in enumerate(weights):
        for j, other in enumerate(weights):
            for a, b in zip(one, other):
                value_pair = i != null and j != null
                if value_pair or i != j:
                    found[value_pair] = max(found[value_pair], abs(math.log(a / b)))
    return found[True], found[False]


def test_tables_per_kind_of_neighbours() -> None:
    for epsilon in (0.3, 2.0):
        mechanism = two_step(SCALE, epsilon)
        exact = exact_epsilon(mechanism)
        value, presence = slow_table(mechanism)
        assert exact.value == pytest.approx(value, abs=1e-12)
        assert exact.participation == pytest.approx(presence, abs=1e-12)
        assert exact.value == pytest.approx(0.9 * epsilon, abs=1e-6)


def test_a_table_s_witness_can_be_looked_up() -> None:
    mechanism = two_step(SCALE, 1.0)
    for witness in (
        exact_epsilon(mechanism).value_witness,
        exact_epsilon(mechanism).participation_witness,
    ):
        assert witness is not None
        rows = [SCALE.null if v[0] is None else int(v[0]) for v in witness.inputs]
        column = int(witness.output[0])
        one, other = (mechanism.channel.weights[row][column] for row in rows)
        assert math.log(one / other) == pytest.approx(witness.log_ratio)


def test_lp_with_a_constant_and_with_a_mixture() -> None:
    assert exact_epsilon(lp(SCALE, 1.0)).value == 1.0
    assert exact_epsilon(lp(SCALE, 1.0, null="0")).participation == 1.0
    assert exact_epsilon(lp(SCALE, 1.0, null="2")).participation == 0.5
    mixed = exact_epsilon(lp(SCALE, 1.0)).participation
    grid = np.linspace(-10, 14, 4801)
    density = np.array([np.exp(-np.abs(grid - x) / 4) for x in range(5)])
    assert mixed == pytest.approx(np.abs(np.log(density.mean(axis=0) / density)).max(), abs=1e-6)


def test_two_layer_is_two_epsilon_over_whole_vectors() -> None:
    mechanism = two_layer(SCALE, 1.0)
    exact = exact_epsilon(mechanism)
    for epsilon in (exact.value, exact.participation):
        assert epsilon <= 2
        assert epsilon == pytest.approx(2, abs=1e-6)
    for witness in (exact.value_witness, exact.participation_witness):
        assert witness is not None
        assert 1.9 < witness.log_ratio <= 2
        assert witness.log_ratio == pytest.approx(log_ratio_of_vectors(mechanism, *witness.inputs))


def log_ratio_of_vectors(
    mechanism: TwoLayer, one: list[float | None], other: list[float | None]
) -> float:
    """ln P(all cells reported as 0 | one) / P(… | other), summed over budgets in the log domain."""
    logs = []
    for vector in (one, other):
        rows = [SCALE.null if a is None else int(a) for a in vector]
        per_budget = [
            sum(math.log(channel.weights[row][0]) for row in rows) for channel in mechanism.channels
        ]
        logs.append(float(np.logaddexp.reduce(per_budget)))
    return logs[0] - logs[1]


@pytest.mark.parametrize(
    ("scale", "tasks", "d", "ridge"),
    [("0..4", 20, 5, 1.0), ("1..5", 2, 1, 0.01), ("0..9", 8, 8, 10.0), ("0,0.5,1", 3, 2, 1.0)],
)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_the_mf_witness_recomputed_independently(
    scale: str, tasks: int, d: int, ridge: float, epsilon: float
) -> None:
    """From the definition: u's density is the noise's at η = b − Au times |det A|."""
    mechanism = mf(Scale.parse(scale), epsilon, tasks=tasks, d=d, ridge=ridge)
    exact = exact_epsilon(mechanism)
    assert exact.participation == math.inf
    assert exact.value <= epsilon
    witness = exact.participation_witness
    assert witness is not None
    one, other = witness.inputs
    assert sum(a != b for a, b in zip(one, other)) == 1
    log_ratio = log_density(mechanism, one, witness.output) - log_density(
        mechanism, other, witness.output
    )
    assert log_ratio > epsilon
    assert log_ratio == pytest.approx(witness.log_ratio, rel=1e-6)


def log_density(
    mechanism: MatrixFactorization, answers: list[float | None], u: list[float]
) -> float:
    given = [j for j, a in enumerate(answers) if a is not None]
    v = np.array(mechanism.profiles, float)[given].T / 2**20
    a = np.array([answers[j] for j in given], float)
    matrix = v @ v.T + mechanism.ridge * np.eye(mechanism.d)
    noise = v @ a - matrix @ np.array(u)
    laplace = stats.laplace(scale=mechanism.scale.range / mechanism.epsilon)
    return float(laplace.logpdf(noise).sum() + np.log(np.linalg.det(matrix)))


def test_the_witness_goes_past_any_bound() -> None:
    mechanism = mf(SCALE, 1.0, tasks=5, d=2)
    assert mf_witness(mechanism, 1000.0).log_ratio > 2000


def test_mf_values_follow_the_profiles() -> None:
    """A column of V with a smaller 1-norm spends less."""
    mechanism = mf(SCALE, 1.0, tasks=3, d=2)
    halved = tuple(tuple(entry // 2 for entry in profile) for profile in mechanism.profiles)
    assert exact_epsilon(replace(mechanism, profiles=halved)).value == pytest.approx(0.5, abs=1e-5)


def test_mf_safe_is_exact_for_both() -> None:
    exact = exact_epsilon(mf_safe(SCALE, 1.0, tasks=9))
    assert (exact.value, exact.participation) == (1.0, 1.0)


@pytest.mark.parametrize("sampled", [1, 3, 7])
def test_the_worker_as_unit(sampled: int) -> None:
    mechanism = build("rr", SCALE, 1.0, tasks=20, unit="worker", sampled=sampled)
    exact = exact_epsilon(mechanism)
    for epsilon in (exact.value, exact.participation):
        assert 1 - 1e-5 < epsilon <= 1
    assert mechanism.guarantee == Privacy(mechanism.guarantee.epsilon, cells=sampled)

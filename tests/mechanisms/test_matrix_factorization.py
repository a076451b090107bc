from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize, stats

from forsooth import Answers, ForsoothError, Mechanism, Scale
from forsooth.mechanisms import mf
from forsooth.mechanisms.matrix_factorization import UNIT, MatrixFactorization
from forsooth.study.synthetic import SyntheticCrowd
from tests.samples import ALPHA

SCALE = Scale.parse("0..9")


@pytest.fixture(scope="module")
def crowd() -> Answers:
    return SyntheticCrowd(workers=400, tasks=30, sparsity=0.6).draw(1).answers


def gram_and_sketch(
    mechanism: MatrixFactorization, answers: Answers, worker: int
) -> tuple[np.ndarray, np.ndarray]:
    """G + λI and b of one worker, written out."""
    codes = answers.rows(worker, worker + 1)[0]
    gram, sketch = mechanism.ridge * np.eye(mechanism.d), np.zeros(mechanism.d)
    for task in np.flatnonzero(codes != SCALE.null):
        v = mechanism.matrix[:, task]
        gram += np.outer(v, v)
        sketch += SCALE.values[codes[task]] * v
    return gram, sketch


def test_v_is_public_non_negative_and_of_norm_one() -> None:
    mechanism = mf(SCALE, 1.0, tasks=50, d=7)
    profiles = np.array(mechanism.profiles)
    assert profiles.min() >= 0
    assert (profiles.sum(axis=1) == UNIT).all()
    assert mf(SCALE, 1.0, tasks=50, d=7) == mechanism
    assert mf(SCALE, 1.0, tasks=50, d=7, seed=1) != mechanism


def test_the_noise_behind_u_is_laplace_on_the_grid(crowd: Answers) -> None:
    """η = b − (G + λI)u, recovered from every report, lies on the grid and is Laplace(9/ε)."""
    mechanism = mf(SCALE, 0.5, tasks=30, d=4)
    u = mechanism.perturb(crowd, simulation_seed=1).values
    noise = []
    for worker in range(len(crowd.workers)):
        gram, sketch = gram_and_sketch(mechanism, crowd, worker)
        noise.append((sketch - gram @ u[worker]) * UNIT)
    steps = np.concatenate(noise)
    assert np.abs(steps - np.rint(steps)).max() < 0.01
    assert stats.kstest(steps / UNIT, stats.laplace(scale=9 / 0.5).cdf).pvalue > ALPHA


def test_u_is_the_minimum_of_the_paper_s_loss(crowd: Answers) -> None:
    mechanism = mf(SCALE, 1.0, tasks=30, d=3, ridge=0.5)
    u = mechanism.perturb(crowd, simulation_seed=2).values[0]
    gram, sketch = gram_and_sketch(mechanism, crowd, 0)
    eta = sketch - gram @ u
    codes = crowd.rows(0, 1)[0]
    answered = np.flatnonzero(codes != SCALE.null)

    def loss(profile: np.ndarray) -> float:
        misfit = np.array(SCALE.values)[codes[answered]] - profile @ mechanism.matrix[:, answered]
        return float(misfit @ misfit + 0.5 * profile @ profile + 2 * profile @ eta)

    found = optimize.minimize(loss, np.zeros(3), tol=1e-12)
    np.testing.assert_allclose(found.x, u, rtol=1e-3, atol=1e-3)


def test_gradient_descent_arrives_where_the_closed_form_is(crowd: Answers) -> None:
    """The same seed draws the same noise for both solvers."""
    closed = mf(SCALE, 1.0, tasks=30, d=3)
    descent = mf(SCALE, 1.0, tasks=30, d=3, solver="gradient-descent", steps=3000)
    np.testing.assert_allclose(
        descent.perturb(crowd, simulation_seed=3).values,
        closed.perturb(crowd, simulation_seed=3).values,
        rtol=1e-4,
        atol=1e-4,
    )


def test_without_a_ridge_sparse_rows_walk_off() -> None:
    """Fewer answers than d: the loss falls without end, and u grows with the step limit."""
    answers = SyntheticCrowd(workers=100, tasks=30, sparsity=0.95).draw(2).answers

    def reach(steps: int) -> float:
        mechanism = mf(SCALE, 1.0, tasks=30, d=8, ridge=0, solver="gradient-descent", steps=steps)
        return float(np.median(np.abs(mechanism.perturb(answers, simulation_seed=4).values)))

    assert reach(4000) > 5 * reach(400) > 10 * reach(40)


def test_it_protects_answers_only() -> None:
    mechanism = mf(SCALE, 1.0, tasks=20)
    assert mechanism.guarantee.protects == "answers"
    with pytest.raises(ForsoothError, match="protects answers only"):
        replace(mechanism, protects="answers+participation")


def test_every_worker_sends_d_numbers(crowd: Answers) -> None:
    reports = mf(SCALE, 1.0, tasks=30, d=6).perturb(crowd)
    assert reports.values.shape == (400, 6)
    assert reports.cells().value.size == 400 * 30


def test_labels_and_fractions() -> None:
    for scale in (Scale.parse("G,P,R"), Scale.parse("0,0.5,1")):
        answers = Answers.of({"a": {"x": scale.labels[1], "y": scale.labels[2]}}, scale)
        mechanism = mf(scale, 1e6, tasks=2, d=2, ridge=1e-6)
        readings = mechanism.perturb(answers).cells().value
        np.testing.assert_allclose(readings, scale.values[1:], atol=1e-2)


@pytest.mark.parametrize(
    "options",
    [{"d": 0}, {"d": 21}, {"ridge": -1}, {"ridge": 0}, {"steps": 0}, {"solver": "magic"}],
)
def test_bad_options(options: dict[str, object]) -> None:
    with pytest.raises(ForsoothError, match="mf"):
        mf(SCALE, 1.0, tasks=20, **options)  # type: ignore[arg-type]


def test_a_forged_v_is_refused() -> None:
    honest = mf(SCALE, 1.0, tasks=3, d=2)
    assert Mechanism.from_json(honest.to_json()) == honest
    with pytest.raises(ForsoothError, match="column 0 of V"):
        replace(honest, profiles=((UNIT, 1), *honest.profiles[1:]))
    with pytest.raises(ForsoothError, match="made for 3 tasks"):
        honest.width(4)

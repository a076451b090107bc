"""How diligent workers are, and what the most diligent of them can do to the truths."""

from __future__ import annotations

import numpy as np
import pytest

from forsooth import Answers, Scale, infer, mechanisms
from forsooth.inference.posterior.diligence import levels_of, merged
from forsooth.inference.posterior.evidence import evidence_of
from tests.inference.test_posterior_crowds import answers_of

SCALE = Scale.parse("0..4")


def with_one_who_answers_most(seed: int, *, favourite: bool) -> Answers:
    """Sixty workers answer a few of 500 tasks, and one of them answers 450."""
    random = np.random.default_rng(seed)
    rates = np.append(0.9, random.uniform(0.01, 0.1, 59))
    codes = random.choice(5, (60, 500), p=[0.4, 0.2, 0.1, 0.1, 0.2])
    if favourite:
        codes[0] = 1
    return answers_of(codes, random.random(codes.shape) < rates[:, None], SCALE)


def everybody(answers: Answers) -> np.ndarray:
    """How all answers together are spread."""
    return np.bincount(answers.code, minlength=5) / len(answers.code)


def most_diligent(rates: np.ndarray, shares: np.ndarray) -> tuple[float, float]:
    """How many workers answer more than three in ten tasks, in sixtieths, and how many these do."""
    many = rates > 0.3
    return 60 * shares[many].sum(), float(np.average(rates[many], weights=shares[many]))


@pytest.mark.parametrize("favourite", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_who_answers_most_has_a_level_of_his_own(seed: int, favourite: bool) -> None:
    answers = with_one_who_answers_most(seed, favourite=favourite)
    reports = mechanisms.rr(SCALE, 2.0).perturb(answers, simulation_seed=seed)
    rates, shares = levels_of(evidence_of(reports), everybody(answers))
    number, rate = most_diligent(rates, shares)
    assert number == pytest.approx(1, abs=0.2)
    assert rate == pytest.approx(0.9, abs=0.2)
    assert shares.sum() == pytest.approx(1)
    assert rates @ shares == pytest.approx(len(answers.code) / (60 * 500), abs=0.02)


def test_public_participation_has_one_level() -> None:
    answers = with_one_who_answers_most(0, favourite=False)
    rates, shares = levels_of(evidence_of(answers), everybody(answers))
    assert rates.tolist() == shares.tolist() == [1.0]


def test_merging_keeps_workers_and_their_answers() -> None:
    rates, shares = np.geomspace(1e-3, 1, 20), np.random.default_rng(1).dirichlet(np.ones(20))
    fewer, theirs = merged(rates, shares, 5)
    assert len(fewer) == len(theirs) == 5
    assert theirs.sum() == pytest.approx(1)
    assert fewer @ theirs == pytest.approx(rates @ shares)
    assert (np.diff(fewer) > 0).all()


def test_nearest_levels_become_one() -> None:
    rates, shares = merged(np.array([0.1, 0.11, 0.5, 0.9]), np.array([0.4, 0.4, 0.1, 0.1]), 3)
    np.testing.assert_allclose(rates, [0.105, 0.5, 0.9])
    np.testing.assert_allclose(shares, [0.8, 0.1, 0.1])


def flat_truths_and_favourites(seed: int) -> tuple[Answers, np.ndarray]:
    """Six answers per task, unequal and biased workers; two who answer most say 0 to everything."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 5, 800).astype(float)
    rates = np.append([0.7, 0.5], random.lognormal(-4, 0.8, 118))
    felt = truth + random.normal(0, 0.7, (120, 1))
    felt += random.uniform(0.6, 1.6, (120, 1)) * random.normal(size=felt.shape)
    codes = np.clip(np.rint(felt), 0, 4)
    codes[:2] = 0
    return answers_of(codes, random.random(codes.shape) < rates[:, None], SCALE), truth


def test_favourites_of_diligent_workers_are_no_truths() -> None:
    """From the pooled solution alone the error is 1.6."""
    errors = []
    for seed in range(3):
        answers, truth = flat_truths_and_favourites(seed)
        reports = mechanisms.grr(SCALE, 1.5).perturb(answers, simulation_seed=seed)
        errors.append([infer(reports, each).error(truth) for each in ("posterior", "algorithm1")])
    ours, algorithm1 = np.mean(errors, axis=0)
    assert ours < algorithm1 + 0.02

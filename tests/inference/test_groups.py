"""How many answers a task has may tell of its truth, where everybody can count them."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from forsooth import Answers, Scale, infer, mechanisms
from forsooth.inference.estimates import Rules
from forsooth.inference.posterior import Model as Kind
from forsooth.inference.posterior.evidence import campaign_of
from forsooth.inference.posterior.model import Crowd as Model
from forsooth.inference.posterior.pooled import Pooled, fit_pooled
from tests.inference.test_posterior_crowds import answers_of, noisy

SCALE = Scale.parse("0..4")
POOLED = sys.modules[Pooled.__module__]


def crowd(seed: int, *, telling: bool) -> tuple[Answers, np.ndarray]:
    """400 tasks; if `telling`, those with few answers have a truth of 0 or 1, nearly always."""
    random = np.random.default_rng(seed)
    popular = random.random(400) < 0.5
    low = random.choice(5, 400, p=[0.7, 0.2, 0.05, 0.03, 0.02])
    truth = np.where(popular | (not telling), random.integers(0, 5, 400), low).astype(float)
    codes = np.clip(noisy(random, truth, 100, 0.8), 0, 4)
    keep = random.random(codes.shape) < np.where(popular, 0.12, 0.05)
    return answers_of(codes, keep, SCALE), truth


def groups_of(answers: Answers, name: str, epsilon: float) -> int:
    mechanism = mechanisms.build(name, SCALE, epsilon, tasks=len(answers.tasks))
    campaign = campaign_of([mechanism.perturb(answers, simulation_seed=1)])
    none = np.full(len(answers.tasks), -1)
    return fit_pooled(Model(SCALE), campaign.evidence, none, Rules())[0].groups


def test_groups_are_seen_where_there_are_some_and_only_there() -> None:
    assert all(groups_of(crowd(seed, telling=True)[0], "grr", 2.0) > 1 for seed in range(5))
    assert all(groups_of(crowd(seed, telling=False)[0], "grr", 2.0) == 1 for seed in range(20))


def test_participation_that_is_hidden_tells_nothing() -> None:
    assert groups_of(crowd(1, telling=True)[0], "rr", 4.0) == 1


@pytest.mark.parametrize("model", ["pooled", "auto"])
def test_a_prior_for_every_group_helps(model: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    errors = []
    for seed in range(5):
        answers, truth = crowd(seed, telling=True)
        reports = mechanisms.grr(SCALE, 1.5).perturb(answers, simulation_seed=seed)
        ours = infer(reports, model=model).error(truth)
        with monkeypatch.context() as patch:
            patch.setattr(POOLED, "_GROUPS", 1)
            errors.append((ours, infer(reports, model=model).error(truth)))
    ours, alike = np.mean(errors, axis=0)
    assert ours < 0.93 * alike


def test_groups_are_about_equally_large_and_in_order() -> None:
    answers, _ = crowd(3, telling=False)
    campaign = campaign_of([answers])
    none = np.full(len(answers.tasks), -1)
    pooled, _ = fit_pooled(Model(SCALE), campaign.evidence, none, Rules())
    tally = pooled.tally.grouped(pooled.public_answers, 4)
    sizes = tally.times @ tally.group
    assert len(sizes) == 4
    assert sizes.min() > 60
    number = np.bincount(answers.task, minlength=400)
    group = tally.group.argmax(axis=1)[tally.place]
    order = np.argsort(number, kind="stable")
    assert (np.diff(group[order]) >= 0).all()
    same = pooled.tally.grouped(np.full(len(tally.times), 7.0), 4)
    assert same.group.shape[1] == 1

"""How many answers a task has may tell of its truth, where everybody can count them."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from forsooth import Answers, Scale, infer, mechanisms
from forsooth.inference.checkpoint import Checkpoint
from forsooth.inference.estimates import Rules
from forsooth.inference.posterior.classes import fit_classes
from forsooth.inference.posterior.evidence import campaign_of
from forsooth.inference.posterior.labels import Labels
from forsooth.inference.posterior.model import Crowd as Model
from forsooth.inference.posterior.pooled import Pooled, fit_pooled
from forsooth.mechanism import Mechanism
from tests.inference.test_posterior_crowds import answers_of, noisy

SCALE = Scale.parse("0..4")
POOLED = sys.modules[Pooled.__module__]


def crowd(seed: int, *, telling: bool, levels: int = 5) -> tuple[Answers, np.ndarray]:
    """400 tasks; if `telling`, those with few answers are at the low end, nearly always."""
    random = np.random.default_rng(seed)
    popular = random.random(400) < 0.5
    low = random.choice(5, 400, p=[0.7, 0.2, 0.05, 0.03, 0.02])
    any_level = random.integers(0, levels, 400)
    truth = np.where(popular | (not telling), any_level, low).astype(float)
    codes = np.clip(noisy(random, truth, 100, 0.16 * levels), 0, levels - 1)
    keep = random.random(codes.shape) < np.where(popular, 0.12, 0.05)
    return answers_of(codes, keep, Scale.parse(f"0..{levels - 1}")), truth


def pooled_of(answers: Answers, mechanism: Mechanism) -> tuple[Pooled, np.ndarray]:
    campaign = campaign_of([mechanism.perturb(answers, simulation_seed=1)])
    none = np.full(len(answers.tasks), -1)
    pooled, ascent = fit_pooled(Model(answers.scale), campaign.evidence, none, Rules())
    return pooled, ascent.point


def groups_of(answers: Answers) -> int:
    return pooled_of(answers, mechanisms.grr(SCALE, 2.0))[0].groups


def test_groups_are_seen_where_there_are_some_and_only_there() -> None:
    assert all(groups_of(crowd(seed, telling=True)[0]) > 1 for seed in range(5))
    assert all(groups_of(crowd(seed, telling=False)[0]) == 1 for seed in range(20))


def test_participation_that_is_hidden_tells_nothing() -> None:
    """Tasks are sampled, so that some have more reports than others; answers are not known."""
    answers, _ = crowd(1, telling=True)
    mechanism = mechanisms.build("rr", SCALE, 40.0, tasks=400, unit="worker", sampled=40)
    pooled, _ = pooled_of(answers, mechanism)
    assert np.ptp(pooled.parts[0].per_task.sum(axis=1)) > 0
    assert not pooled.public_answers.any()
    assert pooled.groups == 1


@pytest.mark.parametrize(("levels", "epsilon"), [(5, 1.5), (21, 3.0)])
def test_a_prior_for_every_group_helps(
    levels: int, epsilon: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors = []
    for seed in range(5):
        answers, truth = crowd(seed, telling=True, levels=levels)
        reports = mechanisms.grr(answers.scale, epsilon).perturb(answers, simulation_seed=seed)
        ours = infer(reports, model="pooled").error(truth)
        with monkeypatch.context() as patch:
            patch.setattr(POOLED, "_GROUPS", 1)
            errors.append((ours, infer(reports, model="pooled").error(truth)))
    ours, alike = np.mean(errors, axis=0)
    assert ours < 0.93 * alike


def test_worker_classes_learn_a_prior_for_every_group() -> None:
    """Group by group, the mean truth of the learned prior is that of the group's tasks."""
    answers, truth = crowd(2, telling=True)
    pooled, point = pooled_of(answers, mechanisms.grr(SCALE, 4.0))
    fit = fit_classes(pooled, point, Rules(), Checkpoint())
    assert (np.diff(fit.history) > -0.1).all()
    learned = fit.weights @ pooled.crowd.shapes @ pooled.crowd.grid
    groups = [truth[pooled.group == group].mean() for group in range(pooled.groups)]
    assert groups[-1] - groups[0] > 0.7
    np.testing.assert_allclose(learned, groups, atol=0.25)


def test_labels_without_an_order_have_no_groups() -> None:
    """Their codes mean nothing, so nothing may depend on which label comes first."""
    answers, _ = crowd(1, telling=True)
    reports = mechanisms.grr(SCALE, 2.0).perturb(answers, simulation_seed=1)
    none = np.full(len(answers.tasks), -1)
    labels = fit_pooled(Labels(SCALE), campaign_of([reports]).evidence, none, Rules())[0]
    assert labels.groups == 1


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

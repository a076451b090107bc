"""Truths that are answers, and how workers confuse them: learned through the channel."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from forsooth import Answers, Reports, Scale, infer, mechanisms
from forsooth.inference.checkpoint import Checkpoint
from forsooth.inference.estimates import Rules
from forsooth.inference.posterior.classes import ClassFit, fit_classes, fit_confusions
from forsooth.inference.posterior.evidence import campaign_of
from forsooth.inference.posterior.kernels import ClassSums
from forsooth.inference.posterior.labels import Levels
from forsooth.inference.posterior.model import Crowd as Model
from forsooth.inference.posterior.pooled import Pooled, fit_pooled
from forsooth.study.synthetic import Crowd
from tests.inference.test_posterior_crowds import answers_of

# What adult content is taken for: most of what is mildly offensive passes as harmless.
CONFUSION = np.array([[0.9, 0.08, 0.02], [0.55, 0.35, 0.1], [0.1, 0.2, 0.7]])


def confused(seed: int, workers: int = 200, tasks: int = 400) -> tuple[Answers, np.ndarray]:
    random = np.random.default_rng(seed)
    truth = random.choice(3, tasks, p=[0.5, 0.3, 0.2])
    chance = np.cumsum(CONFUSION, axis=1)[truth]
    codes = (random.random((workers, tasks, 1)) >= chance).sum(axis=2)
    keep = random.random((workers, tasks)) < 0.1
    return answers_of(codes, keep, Scale.parse("0..2")), truth.astype(float)


def fits(data: Answers, **gold: int) -> tuple[Pooled, ClassFit, ClassFit]:
    campaign = campaign_of([data])
    pinned = np.full(len(data.tasks), -1)
    for task, place in gold.items():
        pinned[data.tasks.index(task)] = place
    pooled, ascent = fit_pooled(Model(data.scale), campaign.evidence, pinned, Rules())
    fit = fit_classes(pooled, ascent.point, Rules(), Checkpoint())
    levels = Levels(data.scale)
    return pooled, fit, fit_confusions(pooled, levels, fit, Rules(), -np.inf, Checkpoint())


def without_confusions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[Levels.__module__], "SHORT", 0)


def test_confusions_are_learned_and_raise_the_evidence() -> None:
    answers, _ = confused(1)
    _, before, after = fits(answers)
    assert after.converged
    assert after.bound > before.bound + 50
    assert (np.diff(after.history) > -0.1).all()
    classes = after.classes[0]
    learned = np.average(
        classes.answers[classes.row], axis=0, weights=classes.shares
    )  # over all kinds of workers
    np.testing.assert_allclose(learned, CONFUSION, atol=0.06)


@pytest.mark.parametrize(("name", "epsilon"), [("grr", 2.0), ("rr", 4.0)])
def test_the_pooled_model_learns_one_matrix_through_the_channel(name: str, epsilon: float) -> None:
    answers, _ = confused(3, workers=600, tasks=1000)
    mechanism = mechanisms.build(name, answers.scale, epsilon, tasks=len(answers.tasks))
    found = infer(mechanism.perturb(answers, simulation_seed=1), model="pooled")
    assert found.converged
    assert found.posterior is not None
    learned = found.posterior.answers[Model(answers.scale).nearest(np.arange(3.0))]
    np.testing.assert_allclose(learned, CONFUSION, atol=0.08)


def test_gold_between_the_answers_rules_confusions_out() -> None:
    """Truths that cannot be answers must not be forced onto them, however much gold there is."""
    dataset = Crowd(workers=200, tasks=100, sparsity=0.9, truth_mean=4, truth_sd=3).draw(1)
    scale, known = dataset.answers.scale, dict(zip(dataset.answers.tasks, dataset.truth))
    reports = mechanisms.grr(scale, 2.0).perturb(dataset.answers, simulation_seed=1)
    gold = {task: round(2 * truth) / 2 for task, truth in list(known.items())[:40]}
    for model in ("pooled", "auto"):
        found = infer(reports, gold=gold, model=model)
        assert found.posterior is not None
        assert (found.low <= found.estimate).all()
        assert (found.estimate <= found.high).all()
        on_answers = np.isclose(found.posterior.grid % 1, 0)
        assert found.posterior.mass[40:, ~on_answers].sum() > 10


def test_a_step_is_expected_counts_of_answers() -> None:
    """Beside the sum over every task, symbol and class, written out."""
    answers, _ = confused(2, workers=15, tasks=6)
    reports = mechanisms.rr(answers.scale, 1.5).perturb(answers, simulation_seed=1)
    campaign = campaign_of([reports])
    pooled, ascent = fit_pooled(Model(answers.scale), campaign.evidence, np.full(6, -1), Rules())
    fit = fit_classes(pooled, ascent.point, Rules(max_iterations=1), Checkpoint())
    part, classes = pooled.parts[0], fit.classes[0]
    random = np.random.default_rng(3)
    counts = random.random((6, part.symbols, len(classes.shares)))
    old, kinds = classes.answers.copy(), len(classes.expected)
    expected = 10.0 * classes.expected
    for index, (row, rates) in enumerate(zip(classes.row, classes.rates)):
        if row >= kinds:
            continue
        for place in range(old.shape[1]):
            chance = rates[0] * old[row, place] @ part.table[:-1]
            chance += (1 - rates[0]) * part.table[-1]
            for task in range(6):
                weight = fit.mass[task, 0, place] * counts[task, :, index] / chance
                expected[row, place] += rates[0] * old[row, place] * (part.table[:-1] @ weight)
    classes.learn_answers(part, fit.mass, ClassSums(counts, np.ones(1), 0.0))
    np.testing.assert_allclose(
        classes.answers[:kinds], expected / expected.sum(axis=2, keepdims=True), rtol=1e-9
    )
    np.testing.assert_array_equal(classes.answers[kinds:], old[kinds:])


@pytest.mark.parametrize(("name", "epsilon"), [("plain", 0.0), ("grr", 4.0), ("rr", 6.0)])
def test_errors_that_go_one_way_are_understood(
    name: str, epsilon: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most who see a 1 say 0; a symmetric model believes them."""
    errors = []
    for seed in (11, 12, 13):
        answers, truth = confused(seed)
        data: Answers | Reports = answers
        if name != "plain":
            mechanism = mechanisms.build(name, answers.scale, epsilon, tasks=len(answers.tasks))
            data = mechanism.perturb(answers, simulation_seed=seed)
        ours = infer(data).error(truth)
        with monkeypatch.context() as patch:
            without_confusions(patch)
            errors.append((ours, infer(data).error(truth)))
    ours, symmetric = np.mean(errors, axis=0)
    assert ours < 0.9 * symmetric


def test_truths_between_the_answers_are_not_forced_onto_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dataset = Crowd(workers=500, tasks=150, sparsity=0.7, truth_mean=4, truth_sd=2).draw(4)
    reports = mechanisms.grr(dataset.answers.scale, 3.0).perturb(dataset.answers, simulation_seed=1)
    ours = infer(reports).error(dataset.truth)
    without_confusions(monkeypatch)
    assert ours == pytest.approx(infer(reports).error(dataset.truth), abs=0.02)


def test_few_answers_do_not_make_truths_answers() -> None:
    """A free matrix explains thirty answers to each of forty tasks well, by chance alone."""
    scale, errors = Scale.parse("0..4"), []
    for seed in range(8):
        random = np.random.default_rng(seed)
        truth = random.random(40) * 4
        codes = np.clip(np.rint(truth + random.normal(size=(60, 40))), 0, 4)
        errors.append(
            infer(answers_of(codes, random.random(codes.shape) < 0.5, scale)).error(truth)
        )
    assert np.mean(errors) < 0.22


def test_gold_stays_gold() -> None:
    answers, _ = confused(5, workers=40, tasks=30)
    top = len(Model(answers.scale).grid) - 1
    _, _, fit = fits(answers, t0000=top)
    np.testing.assert_allclose(fit.mass[0, 0], [0, 0, 1], atol=1e-12)


def test_confusions_that_explain_nothing_are_given_up() -> None:
    answers, _ = confused(6, workers=40, tasks=30)
    pooled, fit, _ = fits(answers)
    unreachable = fit.bound + 1e6
    found = fit_confusions(pooled, Levels(answers.scale), fit, Rules(), unreachable, Checkpoint())
    assert len(found.history) <= 3

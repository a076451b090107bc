"""Crowds that the model's first version got wrong: favourites, fine scales, unordered labels."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from forsooth import Answers, ForsoothError, Scale, infer, mechanisms
from forsooth.inference.checkpoint import Checkpoint
from forsooth.inference.estimates import Rules
from forsooth.inference.posterior.classes import ClassFit, fit_classes, worker_kinds
from forsooth.inference.posterior.evidence import evidence_of
from forsooth.inference.posterior.labels import Labels
from forsooth.inference.posterior.members import Classes
from forsooth.inference.posterior.model import Crowd
from forsooth.inference.posterior.pooled import Pooled
from forsooth.inference.posterior.tally import Tally, recover_moments
from forsooth.study import synthetic


def answers_of(
    codes: np.ndarray, keep: np.ndarray, scale: Scale, worker: str = "w", task: str = "t"
) -> Answers:
    """A workers × tasks table of answers, of which `keep` were given."""
    rows, columns = np.nonzero(keep)
    workers, tasks = codes.shape
    return Answers(
        scale,
        tuple(f"{worker}{i:04}" for i in range(workers)),
        tuple(f"{task}{j:04}" for j in range(tasks)),
        rows.astype(np.int32),
        columns.astype(np.int32),
        codes[rows, columns].astype(np.uint8),
    )


def noisy(random: np.random.Generator, truth: np.ndarray, workers: int, sigma: float) -> np.ndarray:
    return np.rint(truth + random.normal(0, sigma, (workers, len(truth))))


def fitted(answers: Answers) -> tuple[Pooled, np.ndarray]:
    crowd, evidence = Crowd(answers.scale), (evidence_of(answers),)
    moments = recover_moments(crowd, evidence, Rules())
    pooled = Pooled(
        crowd, evidence, moments, Tally.of(evidence, np.full(len(answers.tasks), -1, np.intp))
    )
    return pooled, pooled.shrunk(pooled.fit(Rules()).point)


def test_workers_with_a_favourite_are_not_believed() -> None:
    """Sixteen of forty workers say nothing but 0; the truths are flat."""
    random = np.random.default_rng(1)
    truth = random.integers(0, 5, 200).astype(float)
    codes = np.clip(noisy(random, truth, 40, 0.8), 0, 4)
    codes[:16] = 0
    answers = answers_of(codes, random.random(codes.shape) < 0.2, Scale.parse("0..4"))
    truths = infer(answers)
    assert truths.error(truth) < 0.75 * infer(answers, "algorithm1").error(truth)
    assert truths.quality[16:].min() > truths.quality[:16].max()


def test_adversaries_are_read_the_other_way_round() -> None:
    """Truths between the answers, and every fourth worker turns the scale round.

    Without a kind for them, matrices explain their answers best, and force truths onto answers.
    """
    random, scale = np.random.default_rng(3), Scale.parse("0..4")
    truth = random.uniform(0, 4, 150)
    codes = noisy(random, truth, 40, 0.8)
    codes[::4] = 4 - codes[::4]
    answers = answers_of(np.clip(codes, 0, 4), random.random(codes.shape) < 0.5, scale)
    truths = infer(answers)
    assert truths.error(truth) < 0.65 * infer(answers, "algorithm1").error(truth)  # matrices: 1.5
    assert truths.quality[::4].max() < 0.2
    covered = (truths.low <= truth) & (truth <= truths.high)
    assert covered.mean() > 0.75  # with matrices 0.37


def test_workers_who_draw_a_budget_are_not_taken_for_careless_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two-layer, ε = 2: budgets go from 0 to 4, and a worker's is the same in all of his cells.

    With the mean table for everybody, classes take small budgets for bad or busy workers.
    """
    crowd = synthetic.Crowd(workers=1000, tasks=100, sparsity=0.8, truth_mean=3).draw(seed=2)
    reports = mechanisms.two_layer(crowd.answers.scale, 2.0).perturb(
        crowd.answers, simulation_seed=2
    )
    aware = infer(reports).error(crowd.truth)
    monkeypatch.setattr(sys.modules[evidence_of.__module__], "_BUDGETS", 1)
    unaware = infer(reports).error(crowd.truth)
    assert aware < infer(reports, model="pooled").error(crowd.truth)
    assert aware < 0.7 * unaware


def test_biased_workers_are_known_by_their_whole_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    """To a third of them every truth seems a step higher, and to a sixth a step lower."""
    errors, module = [], sys.modules[Classes.__module__]
    for seed in range(4):
        random = np.random.default_rng(seed)
        truth = random.integers(0, 5, 300).astype(float)
        bias = random.choice([1, 0, -1], (90, 1), p=[1 / 3, 1 / 2, 1 / 6])
        codes = np.clip(np.rint(truth + bias + 0.5 * random.normal(size=(90, 300))), 0, 4)
        answers = answers_of(codes, random.random(codes.shape) < 0.07, Scale.parse("0..4"))
        reports = mechanisms.grr(answers.scale, 3.0).perturb(answers, simulation_seed=seed)
        ours = infer(reports).error(truth)
        with monkeypatch.context() as patch:
            patch.setattr(module, "_biases", lambda _: ())
            errors.append((ours, infer(reports).error(truth)))
    ours, without = np.mean(errors, axis=0)
    assert ours < 0.95 * without


def test_a_truth_of_a_fine_scale_lies_anywhere() -> None:
    random = np.random.default_rng(2)
    truth = random.uniform(2, 18, 150)
    codes = np.clip(noisy(random, truth, 40, 2.0), 0, 20)
    answers = answers_of(codes, random.random(codes.shape) < 0.3, Scale.parse("0..20"))
    truths = infer(answers)
    assert truths.error(truth) < infer(answers, "algorithm1").error(truth) + 0.02
    covered = (truths.low <= truth) & (truth <= truths.high)
    assert 0.8 < covered.mean() <= 1  # 150 truths: below 0.8 has a chance under 1e-3


def test_no_worker_of_a_fine_scale_is_nearly_exact() -> None:
    assert Crowd(Scale.parse("0..4")).deviations[0] == 0.25
    assert Crowd(Scale.parse("0..20")).deviations[0] == pytest.approx(1.2)


def test_a_finer_scale_measures_the_same() -> None:
    """Of a hundred steps a worker means twenty: the same kinds of errors, the same shapes."""
    twenty, hundred = Crowd(Scale.parse("0..20")), Crowd(Scale.parse("0..100"))
    np.testing.assert_allclose(hundred.deviations[:-1], 5 * twenty.deviations[:-1])
    np.testing.assert_allclose(hundred.centres, 5 * twenty.centres)
    for crowd in (twenty, hundred):
        assert len(crowd.shapes) == 2 + 21 + 1
        np.testing.assert_allclose(crowd.shapes.sum(axis=1), 1)
        assert crowd.shapes[0, 0] == crowd.shapes[1, -1] == 1
        spread = crowd.base(np.eye(crowd.scale.size)[0])
        assert spread.sum() == pytest.approx(1)
        assert spread[2] == 0.9


def test_equal_tasks_are_counted_once_and_nothing_is_lost() -> None:
    random = np.random.default_rng(3)
    codes = np.clip(noisy(random, random.integers(0, 3, 400).astype(float), 12, 0.5), 0, 2)
    answers = answers_of(codes, random.random(codes.shape) < 0.3, Scale.parse("0..2"))
    evidence = (evidence_of(answers),)
    tally = Tally.of(evidence, np.full(400, -1, np.intp))
    assert len(tally.times) < 200
    assert tally.times.sum() == 400
    np.testing.assert_array_equal(tally.counts[0][tally.place], evidence[0].per_task)


def test_very_many_tasks_climb_to_the_same_top(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(4)
    codes = np.clip(noisy(random, random.integers(0, 5, 300).astype(float), 60, 0.8), 0, 4)
    answers = answers_of(codes, random.random(codes.shape) < 0.3, Scale.parse("0..4"))
    pooled, point = fitted(answers)
    monkeypatch.setattr(sys.modules[Pooled.__module__], "_MANY", 80)
    again = pooled.shrunk(pooled.fit(Rules()).point)
    assert pooled.expected(again)[0] == pytest.approx(pooled.expected(point)[0], abs=0.05)


def test_classes_that_nobody_is_of_go() -> None:
    random = np.random.default_rng(5)
    truth = random.integers(0, 5, 150).astype(float)
    answers = answers_of(
        np.clip(noisy(random, truth, 80, 0.8), 0, 4), np.ones((80, 150), bool), Scale.parse("0..4")
    )
    pooled, point = fitted(answers)
    fit = fit_classes(pooled, point, Rules(), Checkpoint())
    kinds = worker_kinds(fit, 0, pooled.parts[0], len(pooled.crowd.deviations))
    np.testing.assert_allclose(kinds.sum(axis=1), 1)
    assert (np.diff(fit.history)[:2] > 0).all()
    assert kinds[:, 1:3].sum(axis=1).mean() > 0.9  # σ of 0.6 or 1.2 steps


def test_very_many_cells_climb_to_the_same_top(monkeypatch: pytest.MonkeyPatch) -> None:
    """A third of the workers first: nearly the same evidence, in fewer passes over all."""
    random = np.random.default_rng(7)
    truth, sigma = random.integers(0, 5, 120).astype(float), random.choice([0.4, 2.0], 600)
    codes = np.clip(np.rint(truth + sigma[:, None] * random.normal(size=(600, 120))), 0, 4)
    answers = answers_of(codes, random.random(codes.shape) < 0.4, Scale.parse("0..4"))
    pooled, point = fitted(answers)
    whole = fit_classes(pooled, point, Rules(), Checkpoint())
    monkeypatch.setattr(sys.modules[ClassFit.__module__], "_CELLS", pooled.cells / 3)
    fit = fit_classes(pooled, point, Rules(), Checkpoint())
    assert fit.converged
    assert len(fit.history) <= len(whole.history)
    assert fit.bound == pytest.approx(whole.bound, abs=0.02 * 600)
    grid = pooled.crowd.grid
    np.testing.assert_allclose(fit.mass[:, 0] @ grid, whole.mass[:, 0] @ grid, atol=0.05)


def test_the_interval_of_a_workers_deviation_narrows_with_answers() -> None:
    random = np.random.default_rng(6)
    truth = random.integers(0, 5, 200).astype(float)
    codes = np.clip(noisy(random, truth, 60, 0.8), 0, 4)
    share = np.where(np.arange(60) < 30, 0.01, 0.5)[:, None]
    answers = answers_of(codes, random.random(codes.shape) < share, Scale.parse("0..4"))
    truths = infer(answers)
    assert truths.posterior is not None
    low, high = truths.posterior.deviation_interval
    assert (low <= high).all()
    assert (high - low)[:30].mean() > (high - low)[30:].mean()
    assert {"low", "high"} <= set(truths.worker_columns())


# Labels without an order


def test_unordered_labels_are_inferred_through_the_channel() -> None:
    """Labels a < b < c < d mixed up at random: their order says nothing, their identity all."""
    random = np.random.default_rng(7)
    scale = Scale.parse("a,b,c,d")
    truth = random.integers(0, 4, 120)
    right = random.random((300, 120)) < 0.7
    codes = np.where(right, truth, random.integers(0, 4, (300, 120)))
    answers = answers_of(codes, random.random(codes.shape) < 0.2, scale)
    reports = mechanisms.rr(scale, 2.0).perturb(answers, simulation_seed=1)
    truths = infer(reports, unordered=True)
    accuracy = (truths.estimate == truth).mean()
    assert accuracy > 0.95
    assert accuracy >= (infer(reports, "majority").estimate == truth).mean()
    np.testing.assert_array_equal(truths.low, truths.estimate)
    assert truths.converged


def test_a_label_model_is_a_table_of_probabilities() -> None:
    for text in ("0..1", "a,b,c", "0..9"):
        labels = Labels(Scale.parse(text))
        np.testing.assert_allclose(labels.answers.sum(axis=2), 1)
        np.testing.assert_allclose(labels.shapes.sum(axis=1), 1)
        assert (np.diff(labels.deviations) > 0).all()


def test_unordered_is_for_the_posterior_only(answers: Answers) -> None:
    with pytest.raises(ForsoothError, match="unordered labels are for posterior"):
        infer(answers, "algorithm1", unordered=True)

"""Answers held out: what a model says of them, what means say, and who is right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from forsooth import Answers, Scale, infer, mechanisms
from forsooth.inference.estimates import Rules
from forsooth.inference.posterior import Options
from forsooth.inference.posterior.evidence import Evidence, evidence_of
from forsooth.inference.posterior.heldout import Means, _weights, _without, pooled_sources
from forsooth.inference.posterior.model import Crowd
from forsooth.inference.posterior.pooled import fit_pooled
from forsooth.inference.state import PooledState
from forsooth.report_files import ReportFiles
from tests.inference.test_posterior_crowds import answers_of

if TYPE_CHECKING:
    from pathlib import Path

SCALE = Scale.parse("0..20")


def normal(seed: int, tasks: int = 200) -> tuple[Answers, np.ndarray]:
    """What the model takes a crowd for: normal errors, of three sizes, on flat truths."""
    random = np.random.default_rng(seed)
    truth, sigma = random.uniform(0, 20, tasks), random.choice([1.2, 2.4, 5.0], (60, 1))
    codes = np.clip(np.rint(truth + sigma * random.normal(size=(60, tasks))), 0, 20)
    return answers_of(codes, random.random(codes.shape) < 0.15, SCALE), truth


def of_two_kinds(seed: int) -> tuple[Answers, np.ndarray]:
    """Truths around 5 and 15 and answers far from them: a model does better than any mean."""
    random = np.random.default_rng(seed)
    truth = random.choice([5, 15], 200) + 0.5 * random.normal(size=200)
    codes = np.clip(np.rint(truth + 4 * random.normal(size=(60, 200))), 0, 20)
    return answers_of(codes, random.random(codes.shape) < 0.1, SCALE), truth


def of_two_sides(seed: int) -> tuple[Answers, np.ndarray]:
    """Of seven questions on −10..10 six can only be above 0, where most truths are."""
    random = np.random.default_rng(seed)
    one_sided = np.arange(420) % 7 > 0
    small, strong = 0.6 * random.random(420), random.exponential(2.2, 420)
    truth = np.where(random.random(420) < 0.5, small, strong)
    truth = np.where(one_sided, truth, random.choice([-1, 1], 420) * random.exponential(3.5, 420))
    felt = truth * random.lognormal(0, 0.35, (38, 1))
    felt += random.uniform(0.8, 2.2, (38, 1)) * random.normal(size=(38, 420))
    felt = np.where(one_sided, np.maximum(felt, 0), felt)
    said = np.where(np.abs(felt) < random.uniform(0, 3, (38, 1)), 0, np.clip(felt, -10, 10))
    keep = random.random(said.shape) < 0.26
    return answers_of(np.rint(said) + 10, keep, SCALE), np.clip(truth, -10, 10) + 10


def pooled(answers: Answers) -> tuple[Crowd, tuple[Evidence], np.ndarray, np.ndarray]:
    """The pooled model of normal errors: P(θ | reports) and P(a | θ)."""
    crowd, parts = Crowd(answers.scale), (evidence_of(answers),)
    model, ascent = fit_pooled(crowd, parts, np.full(len(answers.tasks), -1), Rules())
    picture = model.picture(ascent)
    return crowd, parts, picture.mass, picture.answers


def share_of_means(answers: Answers, spoil: float = 0.0) -> float:
    """How much of the means is in the posterior; `spoil` draws truths to the middle, or away."""
    crowd, parts, mass, tables = pooled(answers)
    mass = mass * np.exp(-spoil * (crowd.grid - 10) ** 2)
    mass /= mass.sum(axis=1, keepdims=True)
    means = Means.of(crowd, parts, mass, tables, alike=False)
    return means.share(mass, pooled_sources(parts, tables), np.arange(len(mass)))


def test_without_an_answer_is_as_if_it_had_not_been_given() -> None:
    answers, _ = normal(1, tasks=30)
    crowd, _, _, tables = pooled(answers)
    prior, counts = np.linspace(1, 2, len(crowd.grid)), evidence_of(answers).per_task

    def posterior(of: np.ndarray) -> np.ndarray:
        mass = prior * np.exp(of @ np.log(tables).T)
        return np.asarray(mass / mass.sum(axis=-1, keepdims=True))

    expected = tables @ np.asarray(SCALE.values)
    found = _without(posterior(counts), tables, expected)
    for task, symbol in np.argwhere(counts > 0):
        fewer = counts[task] - np.eye(SCALE.size)[symbol]
        assert found[task, symbol] == pytest.approx(posterior(fewer) @ expected, rel=1e-6)


def test_a_model_that_is_right_is_left_alone() -> None:
    """λ passes two standard errors by chance in one of forty crowds; two of ten would be rare.

    P(two or more of ten) is 0.025, for seeds that stay the same.
    """
    assert sum(share_of_means(of_two_kinds(seed)[0]) > 0.05 for seed in range(10)) < 2


def test_a_model_that_says_the_same_as_means_loses_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    crowds = [normal(seed) for seed in range(4)]
    ours = np.mean([infer(answers).error(truth) for answers, truth in crowds])
    monkeypatch.setattr(Means, "share", lambda *_: 0.0)
    assert ours < 1.02 * np.mean([infer(answers).error(truth) for answers, truth in crowds])


@pytest.mark.parametrize("spoil", [0.15, -0.1])
def test_a_model_that_is_wrong_is_noticed(spoil: float) -> None:
    """Truths drawn to the middle of the scale, or away from it."""
    for seed in range(3):
        assert share_of_means(normal(seed)[0], spoil) > 0.5


def test_workers_are_judged_by_other_tasks() -> None:
    answers, truth = normal(2)
    part = evidence_of(answers)
    errors = (np.arange(21) - truth[:, None]) ** 2
    errors /= np.average(errors, weights=part.per_task)
    weights = _weights(part, errors)
    even, odd = np.arange(200) % 2 == 0, np.arange(200) % 2 == 1
    right = np.where(odd[:, None], errors, 0)  # whatever they say to even tasks
    np.testing.assert_array_equal(_weights(part, right)[even], weights[even])
    assert (
        _weights(part, right)[odd & (part.per_task.sum(axis=1) > 0)] > weights[odd]
    ).mean() > 0.2
    near = np.abs(np.arange(21) - truth[:, None]) < 1
    given = part.per_task > 0
    assert weights[given & near].mean() > 1.25 * weights[given & ~near].mean()  # 1 / σ, not 1 / σ²


def test_two_sided_and_one_sided_questions_on_one_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing in a model says that some tasks cannot be below 0; answers held out do."""
    crowds = [of_two_sides(seed) for seed in range(4)]
    ours = np.mean([infer(answers).error(truth) for answers, truth in crowds])
    algorithm1 = np.mean([infer(answers, "algorithm1").error(truth) for answers, truth in crowds])
    assert ours < 1.05 * algorithm1
    monkeypatch.setattr(Means, "share", lambda *_: 0.0)
    model = np.mean([infer(answers).error(truth) for answers, truth in crowds])
    assert ours < 0.95 * model


def test_what_is_known_or_was_not_asked_does_not_change() -> None:
    answers, _ = of_two_sides(1)
    keep = np.flatnonzero(answers.task != 3)
    worker, task, code = answers.worker[keep], answers.task[keep], answers.code[keep]
    left = Answers(SCALE, answers.workers, answers.tasks, worker, task, code)
    crowd, parts, mass, tables = pooled(left)
    means = Means.of(crowd, parts, mass, tables, alike=True)
    known = np.arange(len(mass)) == 5
    found = means.beside(mass, pooled_sources(parts, tables), known)
    changed = np.flatnonzero((found != mass).any(axis=1))
    np.testing.assert_array_equal(changed, np.delete(np.arange(len(mass)), [3, 5]))
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_gold_stays_gold() -> None:
    answers, truth = of_two_sides(2)
    found = infer(answers, gold={answers.tasks[7]: 12.37})
    assert found.estimate[7] == found.low[7] == found.high[7] == 12.37
    assert found.error(truth) < 0.6


def test_the_pooled_model_needs_no_reports_again(tmp_path: Path) -> None:
    """A state has counts only, and says the same."""
    answers, _ = of_two_sides(3)
    reports = mechanisms.grr(SCALE, 8.0).perturb(answers, simulation_seed=1)
    reports.write(tmp_path / "reports.parquet")
    files = ReportFiles.open([tmp_path / "reports.parquet"])
    options = Options(model="pooled")
    found = PooledState().with_reports(files).infer(options)
    np.testing.assert_array_equal(found.estimate, infer(reports, model="pooled").estimate)


def one_way(seed: int) -> tuple[Answers, np.ndarray]:
    """Names: two thirds of the workers say the one below more often than the true one."""
    random = np.random.default_rng(seed)
    truth, right, below = random.choice(4, 400), np.eye(4), np.eye(4)[[0, 0, 1, 2]]
    kinds = np.array([0.35 * right + 0.55 * below, 0.8 * right + 0.1 * below]) + 0.1 / 4
    tables = kinds[(random.random(30) < 1 / 3).astype(int)]
    each = np.array([[random.dirichlet(10 * row) for row in table] for table in tables])
    said = (random.random((30, 400, 1)) >= each.cumsum(axis=2)[:, truth]).sum(axis=2)
    keep = random.random(said.shape) < 0.3
    return answers_of(np.minimum(said, 3), keep, Scale.parse("0..3")), truth.astype(float)


def test_where_confusions_are_known_means_are_not_believed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is answered on average is a step too low; the model that knows so is asked."""
    crowds = [one_way(seed) for seed in range(4)]
    ours = np.mean([infer(answers).error(truth) for answers, truth in crowds])
    means = np.mean([infer(answers, "mean").error(truth) for answers, truth in crowds])
    assert means > 0.3
    monkeypatch.setattr(Means, "share", lambda *_: 0.0)
    model = np.mean([infer(answers).error(truth) for answers, truth in crowds])
    assert ours < model + 0.01


def test_a_part_without_answers_is_left_out() -> None:
    answers, truth = one_way(1)
    silent = Answers.of({"nobody": {}}, answers.scale, tasks=answers.tasks)
    reports = mechanisms.grr(answers.scale, 9.0).perturb(answers, simulation_seed=1)
    nothing = mechanisms.grr(answers.scale, 1.0).perturb(silent, simulation_seed=1)
    assert infer([reports, nothing]).error(truth) == pytest.approx(infer(reports).error(truth), 0.1)


def test_hidden_participation_and_two_answers_are_not_held_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(*_: object, **__: object) -> Means:
        raise AssertionError

    monkeypatch.setattr(Means, "of", refused)
    answers, _ = normal(4, tasks=40)
    infer(mechanisms.rr(SCALE, 5.0).perturb(answers, simulation_seed=1))
    names = answers_of(np.ones((5, 20)), np.ones((5, 20), bool), Scale.parse("0..1"))
    infer(names)
    with pytest.raises(AssertionError):
        infer(answers)

"""Tasks that the same people have answered may be alike in their truths."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.special import gammaln

from forsooth import Answers, Scale, infer, mechanisms
from forsooth.inference.from_files import infer_files
from forsooth.inference.posterior import Options
from forsooth.inference.posterior.batches import _LADDER, Batches
from forsooth.inference.posterior.evidence import campaign_of
from forsooth.inference.state import PooledState
from forsooth.report_files import ReportFiles
from tests.inference.test_posterior_crowds import answers_of, noisy

if TYPE_CHECKING:
    from pathlib import Path

SCALE = Scale.parse("0..4")
BATCHES = 12


def pages(seed: int, *, alike: bool) -> tuple[Answers, np.ndarray]:
    """Pages of 20 tasks, each for 8 of 40 workers; if `alike`, most truths of one are the same."""
    random = np.random.default_rng(seed)
    page = np.repeat(np.arange(BATCHES), 20)
    common = random.integers(0, 5, BATCHES)[page]
    same = random.random(len(page)) < (0.8 if alike else 0.0)
    truth = np.where(same, common, random.integers(0, 5, len(page)))
    codes = np.clip(noisy(random, truth.astype(float), 40, 0.5), 0, 4)
    given = np.array([random.permutation(40) < 8 for _ in range(BATCHES)])
    return answers_of(codes, given[page].T, SCALE), truth.astype(float)


def batches_of(answers: Answers) -> Batches | None:
    return Batches.of(campaign_of([answers]).evidence)


def without_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[Batches.__module__], "_LEAST", 10**6)


def test_batches_are_seen() -> None:
    found = batches_of(pages(1, alike=False)[0])
    assert found is not None
    np.testing.assert_array_equal(np.diff(found.starts), np.full(BATCHES - 1, 20))
    pieces = np.split(found.task, found.starts[1:])
    assert sorted(piece.min() for piece in pieces) == list(range(0, 20 * BATCHES, 20))
    assert all(np.ptp(piece) == 19 for piece in pieces)


def test_whoever_chooses_his_tasks_makes_no_batches() -> None:
    random = np.random.default_rng(1)
    codes = random.integers(0, 5, (60, 100))
    assert batches_of(answers_of(codes, random.random(codes.shape) < 0.2, SCALE)) is None
    assert batches_of(answers_of(codes, np.ones(codes.shape, bool), SCALE)) is None


def test_batches_are_not_seen_where_participation_is_hidden() -> None:
    answers, _ = pages(1, alike=True)
    reports = mechanisms.rr(SCALE, 1.0).perturb(answers, simulation_seed=1)
    assert Batches.of(campaign_of([reports]).evidence) is None


def exactly(of_shapes: np.ndarray, usual: np.ndarray, c: float) -> tuple[float, np.ndarray]:
    """Of one batch: ln P(reports | c) and P(shape) of every task, over all assignments."""
    total, shares = 0.0, np.zeros(of_shapes.shape)
    for chosen in product(range(len(usual)), repeat=len(of_shapes)):
        counts = np.bincount(chosen, minlength=len(usual))
        log = gammaln(c) - gammaln(c + len(chosen))
        log += (gammaln(c * usual + counts) - gammaln(c * usual)).sum()
        weight = np.exp(log) * of_shapes[np.arange(len(chosen)), chosen].prod()
        total += weight
        shares[np.arange(len(chosen)), chosen] += weight
    return float(np.log(total)), shares / total


@pytest.mark.parametrize(("c", "tolerance"), [(1.0, 0.6), (2.0, 0.3), (10.0, 0.08)])
def test_a_batch_is_the_sum_over_all_assignments(c: float, tolerance: float) -> None:
    """Up to the expectations in the evidence, and to chance in 3,200 draws of the shapes."""
    random, usual = np.random.default_rng(2), np.array([0.5, 0.3, 0.2])
    of_shapes = random.random((13, 3)) ** 4
    of_shapes /= (of_shapes @ usual)[:, None]
    batches, all_usual = Batches(np.arange(13), np.array([0, 7])), np.tile(usual, (13, 1))
    (one, its), (other, of_other) = (
        exactly(each, usual, c) for each in (of_shapes[:7], of_shapes[7:])
    )
    evidence = batches._evidence(of_shapes, all_usual, c)
    assert evidence == pytest.approx(one + other, abs=tolerance)
    drawn = batches._drawn(of_shapes, all_usual, (np.array(_LADDER) == c).astype(float))
    np.testing.assert_allclose(drawn, np.concatenate([its, of_other]), atol=0.04)


def test_what_a_batch_tells_of_its_tasks_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    errors, covered = [], []
    for seed in range(5):
        answers, truth = pages(seed, alike=True)
        reports = mechanisms.grr(SCALE, 1.5).perturb(answers, simulation_seed=seed)
        found = infer(reports)
        covered.append(np.mean((found.low <= truth) & (truth <= found.high)))
        with monkeypatch.context() as patch:
            without_batches(patch)
            errors.append((found.error(truth), infer(reports).error(truth)))
    ours, alone = np.mean(errors, axis=0)
    assert ours < 0.8 * alone
    assert np.mean(covered) > 0.85


def test_workers_with_a_favourite_are_not_taken_for_batches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Pages of 20 for 3 workers; a fifth of them say the same to everything."""
    errors = []
    for seed in range(4):
        random = np.random.default_rng(seed)
        page = np.repeat(np.arange(30), 20)
        truth = random.integers(0, 5, len(page)).astype(float)
        codes = np.clip(noisy(random, truth, 40, 0.5), 0, 4)
        codes[::5] = random.integers(0, 5, (8, 1))
        given = np.array([random.permutation(40) < 3 for _ in range(30)])
        answers = answers_of(codes, given[page].T, SCALE)
        reports = mechanisms.grr(SCALE, 2.0).perturb(answers, simulation_seed=seed)
        ours = infer(reports).error(truth)
        with monkeypatch.context() as patch:
            without_batches(patch)
            errors.append((ours, infer(reports).error(truth)))
    ours, alone = np.mean(errors, axis=0)
    assert ours < alone + 0.02


def test_tasks_that_nobody_answered_are_no_batch() -> None:
    answers, _ = pages(1, alike=True)
    none = np.isin(answers.task, np.arange(0, 40))
    left = Answers(
        SCALE, answers.workers, answers.tasks,
        answers.worker[~none], answers.task[~none], answers.code[~none],
    )  # fmt: skip
    found = batches_of(left)
    assert found is not None
    assert found.task.min() == 40


def test_the_class_model_hears_of_batches_too() -> None:
    """Workers are many and unequal, so that classes decide; and batches are alike."""
    errors = []
    for seed in range(4):
        answers, truth = pages(seed, alike=True)
        chosen = np.random.default_rng(seed).random(len(answers.code)) < 0.5
        careless = (answers.worker % 2 == 0) & chosen
        code = np.where(careless, (answers.code + 2) % 5, answers.code).astype(np.uint8)
        unequal = replace(answers, code=code)
        reports = mechanisms.grr(SCALE, 4.0).perturb(unequal, simulation_seed=seed)
        found = infer(reports)
        assert found.posterior is not None
        errors.append((found.error(truth), infer(reports, model="pooled").error(truth)))
        assert found.posterior.model == "worker classes"
    ours, pooled = np.mean(errors, axis=0)
    assert ours < pooled


def test_batches_that_mean_nothing_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(5):
        answers, truth = pages(seed, alike=False)
        reports = mechanisms.grr(SCALE, 1.5).perturb(answers, simulation_seed=seed)
        ours = infer(reports).error(truth)
        with monkeypatch.context() as patch:
            without_batches(patch)
            assert ours == pytest.approx(infer(reports).error(truth), abs=0.03)


def test_gold_tells_of_its_batch() -> None:
    """Of three tasks in each page of twenty the truth is known; reports say hardly anything."""
    answers, truth = pages(3, alike=True)
    reports = mechanisms.grr(SCALE, 0.3).perturb(answers, simulation_seed=1)
    gold = {answers.tasks[task]: truth[task] for task in range(len(truth)) if task % 20 < 3}
    others = np.array([task % 20 >= 3 for task in range(len(truth))])
    found = infer(reports, gold=gold, model="pooled").estimate
    unknown = infer(reports, model="pooled").estimate
    error, before = (np.abs(each - truth)[others].mean() for each in (found, unknown))
    assert error < 0.7 * before


def test_files_and_a_state_see_the_same_batches(tmp_path: Path) -> None:
    answers, _ = pages(4, alike=True)
    parts, paths = [], []
    for number, some in enumerate(np.array_split(np.arange(40), 3)):
        part = answers.of_workers(some)
        parts.append(mechanisms.grr(SCALE, 2.0).perturb(part, simulation_seed=number))
        paths.append(tmp_path / f"{number}.parquet")
        parts[-1].write(paths[-1])
    options, expected = Options(model="pooled"), infer(parts, model="pooled").estimate
    found = infer_files(ReportFiles.open(paths), options=options)
    np.testing.assert_array_equal(found.estimate, expected)
    for path in paths:
        state = PooledState.read(tmp_path / "state").with_reports(ReportFiles.open([path]))
        state.write(tmp_path / "state")
    found = PooledState.read(tmp_path / "state").infer(options)
    np.testing.assert_array_equal(found.estimate, expected)

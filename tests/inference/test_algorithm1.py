from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forsooth import Answers, Truths, infer
from forsooth.cells import Cells
from forsooth.study.synthetic import SyntheticCrowd


def slow_algorithm1(answers: Answers, iterations: int) -> tuple[list[float], list[float]]:
    """The paper's loop, cell by cell, without smoothing: the readable twin."""
    cells = answers.cells()
    triples = list(zip(cells.worker.tolist(), cells.task.tolist(), cells.value.tolist()))
    quality = [1 / cells.workers] * cells.workers
    truth = [0.0] * cells.tasks
    for _ in range(iterations):
        for j in range(cells.tasks):
            given = [(quality[i], a) for i, t, a in triples if t == j]
            truth[j] = sum(q * a for q, a in given) / sum(q for q, _ in given)
        for i in range(cells.workers):
            squares = [(a - truth[t]) ** 2 for w, t, a in triples if w == i]
            quality[i] = 1 / (sum(squares) / len(squares)) ** 0.5
        total = sum(quality)
        quality = [q / total for q in quality]
    return truth, quality


@pytest.fixture(scope="module")
def small() -> Answers:
    return SyntheticCrowd(workers=30, tasks=8, sparsity=0.5).draw(3).answers


def test_it_is_the_paper_s_loop(small: Answers) -> None:
    truths = infer(small, "algorithm1")
    assert truths.converged
    truth, quality = slow_algorithm1(small, truths.iterations + 50)
    np.testing.assert_allclose(truths.estimate, truth, atol=1e-4)
    np.testing.assert_allclose(truths.quality, quality, atol=1e-4)


def test_step_by_step(small: Answers) -> None:
    for iterations in (1, 2, 5):
        truths = infer(small, "algorithm1", max_iterations=iterations, tolerance=1e-300)
        assert truths.iterations == iterations
        assert not truths.converged
        np.testing.assert_allclose(
            truths.estimate, slow_algorithm1(small, iterations)[0], atol=1e-6
        )


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10**6), st.floats(0.3, 0.95), st.integers(1, 40), st.integers(1, 20))
def test_the_objective_never_rises(seed: int, sparsity: float, workers: int, tasks: int) -> None:
    """F(μ) = Σ |T_i| σ_i is convex and reweighting descends on it, whatever the data."""
    answers = SyntheticCrowd(workers=workers, tasks=tasks, sparsity=sparsity).draw(seed).answers
    history = np.array(infer(answers, "algorithm1").history)
    assert (np.diff(history) <= 1e-9 * history[0]).all()


def test_a_better_worker_gets_more_weight() -> None:
    dataset = SyntheticCrowd(workers=400, tasks=100, sparsity=0.3, truth_mean=4.5).draw(1)
    truths = infer(dataset.answers, "algorithm1")
    spread = np.array([np.std(r[r < 10]) for r in dataset.answers.rows(0, 400).astype(float)])
    good = spread < np.median(spread)
    assert truths.quality[good].mean() > 1.5 * truths.quality[~good].mean()
    assert truths.quality.sum() == pytest.approx(1)
    assert truths.error(dataset.truth) < infer(dataset.answers, "mean").error(dataset.truth)


def test_relabelling_workers_and_tasks_changes_nothing(small: Answers) -> None:
    cells, random = small.cells(), np.random.default_rng(0)
    worker_to, task_to = random.permutation(cells.workers), random.permutation(cells.tasks)
    order = np.argsort(worker_to[cells.worker], kind="stable")
    shuffled = Answers(
        small.scale,
        small.workers,
        small.tasks,
        worker_to[cells.worker][order].astype(np.int32),
        task_to[cells.task][order].astype(np.int32),
        small.code[order],
    )
    plain, other = infer(small, "algorithm1"), infer(shuffled, "algorithm1")
    np.testing.assert_allclose(other.estimate[task_to], plain.estimate, atol=1e-9)
    np.testing.assert_allclose(other.quality[worker_to], plain.quality, atol=1e-9)


def finite(truths: Truths) -> bool:
    parts = (truths.estimate, truths.low, truths.high, truths.quality)
    return all(np.isfinite(part).all() for part in parts) and bool(
        (truths.low <= truths.estimate).all() and (truths.estimate <= truths.high).all()
    )


@pytest.mark.parametrize("method", ["algorithm1", "mean", "median", "majority"])
def test_the_hard_cases(method: str) -> None:
    perfect = Answers.of({"a": {"x": 1, "y": 3}, "b": {"x": 1, "y": 3}, "c": {"x": 0}}, "0..4")
    truths = infer(perfect, method)
    assert finite(truths)
    if method == "algorithm1":
        np.testing.assert_allclose(truths.estimate, [1, 3], atol=1e-4)

    nobody = Answers.of({"a": {"x": 1}, "b": {"x": 3}}, "0..4", tasks=["x", "y", "z"])
    truths = infer(nobody, method)
    assert finite(truths)
    assert truths.support.tolist() == [2, 0, 0]
    assert truths.estimate[1] == truths.estimate[0] == 2
    assert (truths.low[1], truths.high[1]) == (0, 4)

    alone = Answers.of({"a": {"x": 1, "y": 4}}, "0..4")
    truths = infer(alone, method)
    assert finite(truths)
    assert truths.estimate.tolist() == [1, 4]
    assert truths.quality.tolist() == [1]

    silent = Answers.of({"a": {}, "b": {}}, "0..4", tasks=["x"])
    truths = infer(silent, method)
    assert finite(truths)
    assert truths.estimate.tolist() == [2]
    assert truths.converged

    idle = Answers.of({"a": {"x": 1}, "b": {}}, "0..4", tasks=["x"])
    assert infer(idle, method).quality.tolist() == [1, 0]


@pytest.mark.parametrize(("workers", "tasks", "sparsity"), [(500, 2000, 0.9), (10, 500, 0.5)])
def test_intervals_cover_on_a_fair_crowd(workers: int, tasks: int, sparsity: float) -> None:
    """90 % intervals cover between 80 and 95 % of the truths where the model is right."""
    crowd = SyntheticCrowd(workers, tasks, sparsity, truth_mean=4.5, truth_sd=0.5, good=1.0)
    dataset = crowd.draw(5)
    for method in ("algorithm1", "mean"):
        truths = infer(dataset.answers, method)
        covered = (truths.low <= dataset.truth) & (dataset.truth <= truths.high)
        assert 0.8 <= covered.mean() <= 0.95


def test_one_cell_says_nothing_of_its_own_spread() -> None:
    answers = Answers.of({"a": {"x": 3, "y": 1}, "b": {"x": 2}, "c": {"x": 4}}, "0..4")
    for method in ("algorithm1", "mean", "median"):
        truths = infer(answers, method)
        assert (truths.low[1], truths.high[1]) == (0, 4)
        assert truths.high[0] - truths.low[0] > 0.1


def test_sums_over_cells_are_a_dense_table_s() -> None:
    random = np.random.default_rng(0)
    rows = np.where(random.random((50, 40)) < 0.5, random.normal(size=(50, 40)), np.nan)
    cells = Cells.from_rows(rows)
    np.testing.assert_allclose(cells.per_task(cells.value), np.nansum(rows, axis=0))
    np.testing.assert_allclose(cells.per_worker(cells.value), np.nansum(rows, axis=1))

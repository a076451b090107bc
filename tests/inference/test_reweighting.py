from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forsooth import Scale
from forsooth.cells import Cells
from forsooth.inference import reweighting
from forsooth.inference.algorithm1 import algorithm1
from forsooth.inference.catd import catd
from forsooth.inference.estimates import Rules
from forsooth.inference.reweighting import Penalty, sweep_over, sweep_twin

SCALE = Scale.parse("0..9")


def odd_cells(seed: int, workers: int, tasks: int, density: float) -> Cells:
    """Workers and tasks without cells, and numbers off the scale, are all to be expected."""
    random = np.random.default_rng(seed)
    rows = random.normal(4, 3, (workers, tasks))
    rows[random.random((workers, tasks)) >= density * random.random((workers, 1))] = np.nan
    return Cells.from_rows(rows)


crowds = st.builds(
    odd_cells, st.integers(0, 10**6), st.integers(1, 30), st.integers(1, 20), st.floats(0, 1.5)
)


def test_the_sweep_is_compiled_here() -> None:
    """Otherwise the tests below compare the twin with itself."""
    assert reweighting._compiled() is not None


@settings(deadline=None)
@given(crowds, st.sampled_from(["root", "log"]), st.integers(0, 10**6))
def test_the_sweep_is_its_twin(cells: Cells, penalty: Penalty, seed: int) -> None:
    random = np.random.default_rng(seed)
    importance, truth = random.random(cells.workers), random.normal(4, 2, cells.tasks)
    truth[cells.per_task() == 0] = np.nan
    squares, sums = sweep_over(cells, importance, 1e-10, penalty)(truth)
    expected = sweep_twin(cells, importance, 1e-10, penalty, truth)
    np.testing.assert_allclose(squares, expected[0], rtol=1e-12)
    np.testing.assert_allclose(sums, expected[1], rtol=1e-12, atol=1e-12)


@settings(deadline=None)
@given(crowds, st.booleans(), st.integers(1, 12))
def test_results_are_those_of_the_twin(cells: Cells, with_gold: bool, iterations: int) -> None:
    """Not after many rounds: where two workers disagree, each doubles the last digit's rounding."""
    compare(cells, with_gold, iterations)


@pytest.mark.parametrize("seed", range(10))
def test_results_are_those_of_the_twin_after_many_rounds(seed: int) -> None:
    """Where every task has many answers, the truths are not on a knife's edge."""
    compare(odd_cells(seed, 30, 20, 1.5), seed % 2 == 0, 30)


def compare(cells: Cells, with_gold: bool, iterations: int) -> None:
    gold = np.full(cells.tasks, np.nan)
    gold[: cells.tasks // 3 if with_gold else 0] = 4.5
    for method in (algorithm1, catd):
        rules = Rules(1e-300, iterations)
        fast = method(cells, SCALE, rules, gold)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(reweighting, "_compiled", lambda: None)
            slow = method(cells, SCALE, rules, gold)
        for name in ("truth", "low", "high", "deviation"):
            np.testing.assert_allclose(getattr(fast, name), getattr(slow, name), atol=1e-9)
        shared = min(len(fast.history), len(slow.history))  # one may stand still a little sooner
        np.testing.assert_allclose(fast.history[:shared], slow.history[:shared], rtol=1e-9)


def test_a_worker_s_cells_begin_where_they_stand() -> None:
    nothing = np.nan
    cells = Cells.from_rows(
        np.array([[nothing, nothing], [1, 2], [nothing, nothing], [3, nothing]])
    )
    assert cells.starts.tolist() == [0, 0, 2, 2, 3]

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forsooth import Scale
from forsooth.cells import Cells
from forsooth.inference import confusion
from forsooth.inference.dawid_skene import dawid_skene
from forsooth.inference.estimates import Rules


def odd_votes(seed: int, workers: int, tasks: int, density: float, classes: int) -> Cells:
    """Workers and tasks without votes, and answers that nobody gave, are all to be expected."""
    random = np.random.default_rng(seed)
    rows = random.integers(0, classes, (workers, tasks)).astype(float)
    rows[random.random((workers, tasks)) >= density * random.random((workers, 1))] = np.nan
    return Cells.from_rows(rows)


def test_the_passes_are_compiled_here() -> None:
    """Otherwise the test below compares the twins with themselves."""
    assert confusion._compiled(2) is not None


@settings(deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(1, 30),
    st.integers(1, 20),
    st.floats(0, 1.5),
    st.sampled_from([2, 5, 11]),
    st.booleans(),
    st.integers(1, 15),
)
def test_results_are_those_of_the_twins(
    seed: int,
    workers: int,
    tasks: int,
    density: float,
    classes: int,
    with_gold: bool,
    iterations: int,
) -> None:
    cells = odd_votes(seed, workers, tasks, density, classes)
    scale, rules = Scale.parse(f"0..{classes - 1}"), Rules(1e-300, iterations)
    gold = np.full(tasks, np.nan)
    gold[: tasks // 3 if with_gold else 0] = 0.6
    fast = dawid_skene(cells, scale, rules, gold)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(confusion, "_compiled", lambda classes: None)
        slow = dawid_skene(cells, scale, rules, gold)
    for name in ("truth", "low", "high", "deviation"):
        np.testing.assert_allclose(getattr(fast, name), getattr(slow, name), atol=1e-9)
    shared = min(len(fast.history), len(slow.history))  # one may stand still a little sooner
    np.testing.assert_allclose(fast.history[:shared], slow.history[:shared], rtol=1e-9)

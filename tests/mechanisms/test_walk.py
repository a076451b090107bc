from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from forsooth import ForsoothError, Scale
from forsooth.mechanisms import rr, two_layer, walk
from forsooth.mechanisms.channel import draw, symbol_dtype
from forsooth.mechanisms.randomness import SimulatedRandomness

CELLS = 5_001


def weights(symbols: int, rows: int = 7) -> NDArray[np.uint32]:
    """Cumulative weights at random, the smallest and the largest possible among them."""
    random = np.random.default_rng(symbols)
    thresholds = np.sort(random.integers(1, 2**32, (symbols - 1, rows), np.uint32), axis=0)
    thresholds[:1, 0], thresholds[-1:, 1] = 1, 2**32 - 1
    return thresholds


def words(thresholds: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Words at random, and both sides of every threshold."""
    beside = np.concatenate([thresholds.ravel(), thresholds.ravel() - np.uint32(1)])
    ends = np.array([0, 2**31 - 1, 2**31, 2**32 - 1], np.uint32)
    found = np.random.default_rng(0).integers(0, 2**32, CELLS, np.uint32)
    some = np.concatenate([ends, beside])[:CELLS]
    found[: len(some)] = some
    return found


@pytest.mark.parametrize("symbols", [1, 2, 3, 6, 8, 9, 10, 16, 17, 18, 300])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.intp])
def test_the_compiled_walk_is_its_twin(symbols: int, dtype: type[np.integer]) -> None:
    compiled = walk._compiled()
    if compiled is None:
        pytest.skip("numba is not here: there is nothing to compare")
    thresholds = weights(symbols)
    given, guided = words(thresholds), walk.Guided.of(thresholds)
    for seed in range(3):
        rows = np.random.default_rng(seed).integers(0, thresholds.shape[1], CELLS).astype(dtype)
        fast, slow = (np.full(CELLS, 9, symbol_dtype(symbols)) for _ in range(2))
        compiled(guided.guide, guided.table, guided.steps, given, rows, fast)
        walk.walk_twin(thresholds, given, rows, slow)
        assert np.array_equal(fast, slow)


def test_thresholds_that_lie_close_together_need_more_steps() -> None:
    """The smallest weights possible: a hundred thresholds begin with the same bits."""
    compiled = walk._compiled()
    if compiled is None:
        pytest.skip("numba is not here: there is nothing to compare")
    thresholds = np.arange(1, 101, dtype=np.uint32)[:, None] + np.array([0, 2**31], np.uint32)
    guided = walk.Guided.of(thresholds)
    assert guided.steps == 100
    given = words(thresholds)
    rows = np.arange(CELLS) % 2
    fast, slow = (np.full(CELLS, 9, np.uint8) for _ in range(2))
    compiled(guided.guide, guided.table, guided.steps, given, rows, fast)
    walk.walk_twin(thresholds, given, rows, slow)
    assert np.array_equal(fast, slow)


def test_many_cells_and_few_are_drawn_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same words give the same symbols, whichever walk they take, in any shape."""
    channel, stacked = rr(Scale.parse("0..4"), 1.0).channel, two_layer(Scale.parse("0..9"), 1.0)
    for thresholds in (channel.thresholds, stacked._stacked):
        codes = np.random.default_rng(1).integers(0, thresholds.shape[1], (600, 500))
        fast = draw(thresholds, codes, SimulatedRandomness(2))
        with monkeypatch.context() as patch:
            patch.setattr(walk, "_compiled", lambda: None)
            slow = draw(thresholds, codes, SimulatedRandomness(2))
        assert fast.shape == codes.shape
        assert np.array_equal(fast, slow)


@pytest.mark.parametrize("cells", [10, 2**18])
@pytest.mark.parametrize("wrong", [6, -1])
def test_an_input_without_a_row_is_refused(cells: int, wrong: int) -> None:
    codes = np.zeros(cells, np.int64)
    codes[7] = wrong
    with pytest.raises(ForsoothError, match="an input has no row"):
        draw(rr(Scale.parse("0..4"), 1.0).channel.thresholds, codes, SimulatedRandomness(1))

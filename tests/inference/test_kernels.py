"""The compiled passes against their NumPy twins, and the sums over blocks."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from forsooth.inference.posterior import kernels
from forsooth.inference.posterior.blocks import Block, Held
from forsooth.inference.posterior.kernels import (
    ToWorkers,
    TypeSums,
    count_tasks,
    count_tasks_twin,
    fold,
    softmax,
    typed_pass,
    typed_pass_twin,
    worker_states,
    worker_states_twin,
)

Pass = Callable[[Block, ToWorkers], TypeSums]
TASKS, SYMBOLS, KINDS, TYPES = 7, 6, 4, 3
WORKERS = 1100  # more than two groups of the compiled pass
# ln m is summed in single precision over 64 cells at most: 64 · 2⁻²⁴ · |ln m| ≈ 1e-5.
SINGLE = 2e-5

every_shape = pytest.mark.parametrize(
    ("dense", "secrets", "hidden"), list(product((True, False), (1, 8), (True, False)))
)


def block_of(dense: bool, workers: int = WORKERS, seed: int = 0) -> Block:
    """Cells at random; without `dense` some workers have none."""
    random = np.random.default_rng(seed)
    there = random.random((workers, TASKS)) < (1.0 if dense else 0.4)
    worker, task = np.nonzero(there)
    starts = np.searchsorted(worker, np.arange(workers + 1)).astype(np.int64)
    named = np.empty(0, np.int32) if dense else task.astype(np.int32)
    return Block(TASKS, starts, named, random.integers(0, SYMBOLS, len(task)).astype(np.uint8))


def messages(secrets: int, hidden: bool, types: int = TYPES) -> ToWorkers:
    random = np.random.default_rng(1)
    rates = np.array([0.1, 0.4, 0.7]) if hidden else np.ones(1)
    states = len(rates) * KINDS * secrets
    logs = np.log(random.dirichlet(np.ones(SYMBOLS), (types + 1, TASKS, states)))
    return ToWorkers(
        np.moveaxis(np.maximum(logs, -6), -1, 2).astype(np.float32).copy(),
        random.dirichlet(np.ones(states)),
        rates,
        secrets,
        np.sqrt(random.dirichlet(np.full(states, 0.3), types)).astype(np.float32),
    )


def halves(block: Block) -> list[Block]:
    """The same workers in two blocks."""
    middle = block.workers // 3
    cut = block.starts[middle]
    parts = []
    for workers, cells in (
        (slice(0, middle + 1), slice(0, cut)),
        (slice(middle, None), slice(cut, None)),
    ):
        starts = block.starts[workers] - block.starts[workers][0]
        parts.append(Block(block.tasks, starts, block.task[cells], block.symbol[cells]))
    return parts


def close(ours: TypeSums, other: TypeSums, tolerance: float) -> None:
    """Relative to the largest number."""
    np.testing.assert_array_equal(ours.number, other.number)
    np.testing.assert_array_equal(ours.size, other.size)
    for one, two in ((ours.folded, other.folded), (ours.states, other.states)):
        np.testing.assert_allclose(one, two, rtol=0, atol=tolerance * two.max())


@pytest.fixture
def numba() -> None:
    pytest.importorskip("numba")


@every_shape
@pytest.mark.usefixtures("numba")
def test_a_compiled_pass_is_its_twin(dense: bool, secrets: int, hidden: bool) -> None:
    block, to = block_of(dense), messages(secrets, hidden)
    close(typed_pass(block, to), typed_pass_twin(block, to), SINGLE)
    np.testing.assert_allclose(
        worker_states(block, to), worker_states_twin(block, to), rtol=0, atol=SINGLE
    )


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.usefixtures("numba")
def test_compiled_counts_are_their_twins(dense: bool) -> None:
    block = block_of(dense)
    np.testing.assert_array_equal(count_tasks(block, SYMBOLS), count_tasks_twin(block, SYMBOLS))


@every_shape
@pytest.mark.parametrize("run", [typed_pass, typed_pass_twin])
def test_passes_add_over_blocks(dense: bool, secrets: int, hidden: bool, run: Pass) -> None:
    block, to = block_of(dense), messages(secrets, hidden)
    first, second = (run(part, to) for part in halves(block))
    close(first + second, run(block, to), 1e-10)
    states = np.concatenate([worker_states(part, to) for part in halves(block)])
    np.testing.assert_allclose(states, worker_states(block, to), atol=1e-10)


def test_blocks_in_memory_are_summed() -> None:
    block = block_of(False)
    blocks = Held(halves(block))
    assert blocks.workers == WORKERS
    total = blocks.total(lambda each: count_tasks(each, SYMBOLS))
    np.testing.assert_array_equal(total, count_tasks(block, SYMBOLS))
    assert total.sum() == len(block.symbol)


@every_shape
def test_every_worker_and_cell_is_counted_once(dense: bool, secrets: int, hidden: bool) -> None:
    block, to = block_of(dense), messages(secrets, hidden)
    sums = typed_pass(block, to)
    assert sums.size.sum() == WORKERS
    np.testing.assert_array_equal(sums.number.sum(axis=0), count_tasks(block, SYMBOLS))
    np.testing.assert_allclose(sums.folded.sum(axis=3), sums.number)  # a fold sums to 1
    np.testing.assert_allclose(sums.states.sum(axis=1), sums.size)


def test_states_by_hand() -> None:
    """One worker, two cells; the second time with the messages to the own type."""
    to = messages(1, False)
    block = Block(TASKS, np.array([0, 2]), np.array([1, 4], np.int32), np.array([5, 0], np.uint8))
    q = to.prior * np.exp(to.logs[0, 1, 5] + to.logs[0, 4, 0])
    kind = int((to.codes @ np.sqrt(q)).argmax())
    q = to.prior * np.exp(to.logs[1 + kind, 1, 5] + to.logs[1 + kind, 4, 0])
    np.testing.assert_allclose(worker_states(block, to)[0], q / q.sum(), atol=SINGLE)


def test_a_worker_without_cells_is_the_prior() -> None:
    to = messages(8, True)
    none = np.empty(0, np.int32)
    block = Block(TASKS, np.zeros(2, np.int64), none, none.astype(np.uint8))
    np.testing.assert_allclose(worker_states(block, to)[0], to.prior)


def test_the_first_pass_has_one_table_for_everybody() -> None:
    """Before the types are known, all of them get the same messages."""
    to = messages(1, True, types=TYPES)
    only = ToWorkers(to.logs[:1], to.prior, to.rates, to.secrets, to.codes)
    every = ToWorkers(
        np.repeat(to.logs[:1], TYPES + 1, axis=0), to.prior, to.rates, to.secrets, to.codes
    )
    block = block_of(True)
    close(typed_pass(block, only), typed_pass(block, every), 1e-10)


@pytest.mark.parametrize("secrets", [1, 8])
def test_folds_are_what_the_states_say(secrets: int) -> None:
    random, rates = np.random.default_rng(2), np.array([0.2, 0.9])
    states = random.dirichlet(np.ones(2 * KINDS * secrets), 5)
    folded = fold(states, rates, secrets)
    wanted: NDArray[np.float64] = np.zeros((5, KINDS * secrets + secrets))
    for row, rate, kind, secret in product(range(5), range(2), range(KINDS), range(secrets)):
        chance = states[row, (rate * KINDS + kind) * secrets + secret]
        wanted[row, kind * secrets + secret] += rates[rate] * chance
        wanted[row, KINDS * secrets + secret] += (1 - rates[rate]) * chance
    np.testing.assert_allclose(folded, wanted)


def test_softmax_of_very_small_numbers() -> None:
    np.testing.assert_allclose(
        softmax(np.array([[-1e4, -1e4], [0.0, -1e4]])), [[0.5, 0.5], [1.0, 0.0]]
    )


def test_without_numba_the_twins_run(monkeypatch: pytest.MonkeyPatch) -> None:
    block, to = block_of(True), messages(1, True)
    monkeypatch.setattr(kernels, "_compiled", lambda: None)
    close(typed_pass(block, to), typed_pass_twin(block, to), 0)
    np.testing.assert_array_equal(worker_states(block, to), worker_states_twin(block, to))
    np.testing.assert_array_equal(count_tasks(block, SYMBOLS), count_tasks_twin(block, SYMBOLS))

"""The passes over all cells, block by block, compiled if numba is there; and their NumPy twins.

A pass of belief propagation in its typed form reads every worker's cells once:

    ln q_i(c) = ln prior(c) + Σ_j ln m[j, y_ij, c]            (what worker i is)
    type d    = the code nearest to q_i (Hellinger)
    ln q_i(c) = ln prior(c) + Σ_j ln m_d[j, y_ij, c]          (again, by the messages to the type)
    V[d, j, y] += fold(q_i),  N[d, j, y] += 1  for each cell (j, y)

V, N, the types' sizes and Σ q per type are all that leaves a block, whatever its number of workers.
`fold` sums a worker's states (rates × kinds × secrets) to P(kind and secret, answered), then
P(secret, not answered).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from types import ModuleType

    from numpy.typing import NDArray

    from forsooth.inference.posterior.blocks import Block

    Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ToWorkers:
    """What workers are judged by in a pass; states are rates × kinds."""

    logs: NDArray[np.float32]  # ln m to anybody, then to every type: × tasks × symbols × states
    prior: Array  # states
    rates: Array
    secrets: int
    codes: NDArray[np.float32]  # types × states: √ of the types' mean q


@dataclass(frozen=True, eq=False)
class TypeSums:
    """What a pass returns of a block, or of all blocks together."""

    folded: Array  # V: types × tasks × symbols × folded states
    number: Array  # N: types × tasks × symbols
    states: Array  # Σ q: types × states
    size: Array  # workers per type

    def __add__(self, other: TypeSums) -> TypeSums:
        return TypeSums(
            self.folded + other.folded,
            self.number + other.number,
            self.states + other.states,
            self.size + other.size,
        )


def count_tasks(block: Block, symbols: int) -> NDArray[np.int64]:
    """How often each symbol occurs in each task."""
    if compiled := _compiled():
        counts = np.zeros((block.tasks, symbols), np.int64)
        compiled.tasks(block.starts, block.task, block.symbol, counts)
        return counts
    return count_tasks_twin(block, symbols)


def count_tasks_twin(block: Block, symbols: int) -> NDArray[np.int64]:
    """By bincount."""
    _, task = block.coordinates()
    flat = np.bincount(task * symbols + block.symbol, minlength=block.tasks * symbols)
    return flat.reshape(block.tasks, symbols)


def typed_pass(block: Block, to: ToWorkers) -> TypeSums:
    """One pass of belief propagation over a block."""
    if (compiled := _compiled()) is None:
        return typed_pass_twin(block, to)
    _, tasks, symbols, states = to.logs.shape
    types, width = len(to.codes), states // len(to.rates) + to.secrets
    folded, number = np.zeros((types, tasks, symbols, width)), np.zeros((types, tasks, symbols))
    sums, size = np.zeros((types, states)), np.zeros(types)
    compiled.typed(
        block.starts, block.task, block.symbol, to.logs, np.log(to.prior), to.rates, to.secrets,
        to.codes, folded, number, sums, size,
    )  # fmt: skip
    return TypeSums(folded, number, sums, size)


def typed_pass_twin(block: Block, to: ToWorkers) -> TypeSums:
    """The same with bincount."""
    _, tasks, symbols, _ = to.logs.shape
    (q, nearest), types = _judged_twin(block, to), len(to.codes)
    worker, task = block.coordinates()
    slot = (nearest[worker] * tasks + task) * symbols + block.symbol
    shape, slots = (types, tasks, symbols), types * tasks * symbols
    folded = fold(q, to.rates, to.secrets).T
    summed = np.stack([np.bincount(slot, each[worker], slots) for each in folded], 1).astype(float)
    number = np.bincount(slot, minlength=slots).astype(float).reshape(shape)
    sums = np.zeros((types, q.shape[1]))
    np.add.at(sums, nearest, q)
    size = np.bincount(nearest, minlength=types).astype(float)
    return TypeSums(summed.reshape(*shape, -1), number, sums, size)


def worker_states(block: Block, to: ToWorkers) -> Array:
    """q_i: workers × states."""
    if (compiled := _compiled()) is None:
        return worker_states_twin(block, to)
    found = np.empty((block.workers, len(to.prior)))
    cells = block.starts, block.task, block.symbol
    compiled.states(*cells, to.logs, np.log(to.prior), to.codes, found)
    return found


def worker_states_twin(block: Block, to: ToWorkers) -> Array:
    """State by state with bincount."""
    return _judged_twin(block, to)[0]


def _judged_twin(block: Block, to: ToWorkers) -> tuple[Array, NDArray[np.intp]]:
    """q_i, and every worker's type."""
    worker, task = block.coordinates()
    table = np.zeros(block.workers, np.intp)
    for again in range(2):
        logs = np.tile(np.log(to.prior), (block.workers, 1))
        for state in range(len(to.prior)):
            each = to.logs[table[worker], task, block.symbol, state]
            logs[:, state] += np.bincount(worker, each, minlength=block.workers)
        q = softmax(logs)
        if again == 0:
            nearest = (np.sqrt(q) @ to.codes.T.astype(float)).argmax(axis=1)
            table = np.minimum(1 + nearest, len(to.logs) - 1)
    return q, nearest


def softmax(logs: Array) -> Array:
    """e^logs, rows summing to 1."""
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    rows: Array = weights / weights.sum(axis=1, keepdims=True)
    return rows


def fold(states: Array, rates: Array, secrets: int) -> Array:
    """Rows of states to P(kind and secret, answered), then P(secret, not answered)."""
    by_rate = states.reshape(len(states), len(rates), -1)
    answered = np.einsum("irk,r->ik", by_rate, rates)
    silent = by_rate.sum(axis=1) - answered
    return np.hstack([answered, silent.reshape(len(states), -1, secrets).sum(axis=1)])


@cache
def _compiled() -> ModuleType | None:
    """The compiled passes, if numba is there."""
    try:
        from forsooth.inference.posterior import compiled
    except ImportError:
        return None
    return compiled

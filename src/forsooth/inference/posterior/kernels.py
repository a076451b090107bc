"""The passes over all cells, block by block, compiled if numba is there; and their readable twins.

A round of the class model is one pass. For every worker i of a block

    s_i[k] = ln ω_k + Σ_j T[j, y_ij, k]                      (how well class k explains worker i)
    q_i(k) ∝ e^s_i[k]                                        (what he is; a trace counts as 0)
    N[j, y, k] += q_i(k)  for each of his cells (j, y)       (how often, weighted by classes)

and while his symbols are still in the processor's cache. N, Σ_i q_i and Σ_i Σ_k q_i ln q_i are all
that leaves the block, whatever the number of workers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from forsooth.assignment import mixed
from forsooth.inference.posterior.model import normalised_exp

if TYPE_CHECKING:
    from types import ModuleType

    from numpy.typing import NDArray

    from forsooth.inference.posterior.blocks import Block

NOBODY = 1e-3  # a worker is not of a class with a smaller probability


@dataclass(frozen=True, eq=False)
class ClassSums:
    """What a round of the class model needs of a block, or of all blocks together."""

    counts: NDArray[np.float64]  # N: tasks × symbols × classes
    members: NDArray[np.float64]  # Σ_i q_i
    entropy: float  # −Σ_i Σ_k q_i ln q_i

    def __add__(self, other: ClassSums) -> ClassSums:
        return ClassSums(
            self.counts + other.counts,
            self.members + other.members,
            self.entropy + other.entropy,
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


def count_cells(block: Block, symbols: int, hidden: bool) -> NDArray[np.int64]:
    """How often each symbol occurs in each task, and then, where it is public, who answered it."""
    counts = count_tasks(block, symbols)
    return counts if hidden else np.column_stack([counts, _answered_by(block)])


def _answered_by(block: Block) -> NDArray[np.int64]:
    """A number for each task: the sum of those of the workers who answered it (modulo 2⁶⁴).

    A worker's number is made of the tasks that he answered, so that nobody's name is needed. Tasks
    have the same number if they were answered by the same workers.
    """
    worker, task = block.coordinates()
    own = np.zeros(block.workers, np.uint64)
    np.add.at(own, worker, mixed(task.astype(np.uint64)))
    seen = np.zeros(block.tasks, np.uint64)
    np.add.at(seen, task, mixed(own)[worker])
    return seen.view(np.int64)


def count_workers(block: Block, symbols: int, every: int) -> NDArray[np.int64]:
    """How often each symbol occurs in the report of every so manieth worker."""
    chosen = range(0, block.workers, every)
    reports = (block.symbol[block.starts[who] : block.starts[who + 1]] for who in chosen)
    counts = [np.bincount(report, minlength=symbols) for report in reports]
    return np.array(counts, np.int64).reshape(-1, symbols)


def class_pass(block: Block, scores: NDArray[np.float32], shares: NDArray[np.float64]) -> ClassSums:
    """A round: `scores` is T, tasks × symbols × classes; `shares` is ω.

    T is in single precision, which halves its memory; sums are in double.
    """
    if (compiled := _compiled()) is None:
        return class_pass_twin(block, scores, shares)
    counts, members = np.zeros(scores.shape), np.zeros(len(shares))
    cells = block.starts, block.task, block.symbol
    entropy = compiled.classes(*cells, scores, np.log(shares), counts, members)
    return ClassSums(counts, members, entropy)


def class_pass_twin(
    block: Block, scores: NDArray[np.float32], shares: NDArray[np.float64]
) -> ClassSums:
    """Class by class with bincount."""
    members = worker_classes_twin(block, scores, shares)
    worker, task = block.coordinates()
    tasks, symbols, _ = scores.shape
    flat = task * symbols + block.symbol
    counts = np.empty((tasks * symbols, len(shares)))
    for kind, each in enumerate(members.T):
        counts[:, kind] = np.bincount(flat, each[worker], minlength=len(counts))
    entropy = -float((members * np.log(np.maximum(members, 1e-300))).sum())
    return ClassSums(counts.reshape(scores.shape), members.sum(axis=0), entropy)


def worker_classes(
    block: Block, scores: NDArray[np.float32], shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """q_i(k): workers × classes."""
    if (compiled := _compiled()) is None:
        return worker_classes_twin(block, scores, shares)
    members = np.empty((block.workers, len(shares)))
    compiled.workers(block.starts, block.task, block.symbol, scores, np.log(shares), members)
    return members


def worker_classes_twin(
    block: Block, scores: NDArray[np.float32], shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Class by class with bincount."""
    worker, task = block.coordinates()
    logs = np.tile(np.log(shares), (block.workers, 1))
    for kind in range(len(shares)):
        each = scores[:, :, kind][task, block.symbol]
        logs[:, kind] += np.bincount(worker, each, minlength=block.workers)
    members, _ = normalised_exp(logs)
    members[members < NOBODY] = 0
    certain: NDArray[np.float64] = members / members.sum(axis=1, keepdims=True)
    return certain


@cache
def _compiled() -> ModuleType | None:
    """The compiled passes, if numba is there."""
    try:
        from forsooth.inference.posterior import compiled
    except ImportError:
        return None
    return compiled

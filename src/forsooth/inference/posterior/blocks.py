"""Reports in blocks of workers: the one shape in which every engine hands them to the kernels.

A pass over a campaign is the same work on every block and the sum of what comes out. Whether the
blocks are in memory, are read from files one after the other, or lie on many machines, the work is
the same function, so the results are the same numbers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Block:
    """The symbols of some workers, one worker after the other.

    `task` holds the task of every symbol; it is empty where every worker reports on all tasks.
    """

    tasks: int
    starts: NDArray[np.int64]  # where each worker's symbols begin; one more number than workers
    task: NDArray[np.int32]
    symbol: NDArray[np.unsignedinteger[Any]]

    @property
    def workers(self) -> int:
        """How many workers there are."""
        return len(self.starts) - 1

    def coordinates(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The worker's and the task's index of every symbol."""
        counts = np.diff(self.starts)
        worker = np.repeat(np.arange(self.workers), counts)
        named = len(self.task) == len(self.symbol)
        task = self.task if named else np.tile(np.arange(self.tasks), self.workers)
        return worker, task.astype(np.intp)


class Blocks(ABC):
    """The blocks of one mechanism's reports, wherever they are."""

    workers: int

    @abstractmethod
    def each(self, work: Callable[[Block], T]) -> Iterator[T]:
        """What `work` makes of every block, in order."""

    def total(self, work: Callable[[Block], T]) -> T:
        """The sum of what `work` makes of the blocks, of which there is at least one."""
        return reduce(add, self.each(work))


class Held(Blocks):
    """Blocks in memory; or, of reports that were only counted, the number of `workers`."""

    def __init__(self, blocks: Sequence[Block], workers: int = 0) -> None:
        self.blocks = blocks
        self.workers = workers + sum(block.workers for block in blocks)

    def each(self, work: Callable[[Block], T]) -> Iterator[T]:
        """One after the other."""
        return map(work, self.blocks)

"""What every rival of inference gets, gives back, and says of itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from forsooth.cells import Cells

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from forsooth.answers import Answers
    from forsooth.estimand import Estimand
    from forsooth.reports import Reports
    from forsooth.scale import Scale

    Array = NDArray[np.float64]

_TIE = 1e-9  # probabilities closer than this are equal


@dataclass(frozen=True, eq=False)
class Annotations:
    """Who gave which answer to which task: plain answers, or reports read as if they were answers.

    `cells` has the numbers; `code` the place on the scale of the answer nearest to each number.
    """

    cells: Cells
    scale: Scale

    @classmethod
    def of(cls, *parts: Answers | Reports) -> Annotations:
        """From answers, or from one or several reports of one campaign."""
        return cls(Cells.stack([part.cells() for part in parts]), parts[0].scale)

    @cached_property
    def code(self) -> NDArray[np.intp]:
        """Of every cell, the place of its answer on the scale."""
        return self.nearest(self.cells.value)

    @property
    def tasks(self) -> int:
        """The number of tasks."""
        return self.cells.tasks

    @property
    def workers(self) -> int:
        """The number of workers."""
        return self.cells.workers

    @property
    def task(self) -> NDArray[np.intp]:
        """Of every cell, its task."""
        return self.cells.task

    @property
    def worker(self) -> NDArray[np.intp]:
        """Of every cell, its worker; cells stand in the order of workers."""
        return self.cells.worker

    @property
    def values(self) -> Array:
        """The numbers that the answers stand for."""
        return np.asarray(self.scale.values)

    def nearest(self, numbers: Array) -> NDArray[np.intp]:
        """The place of the nearest answer; halfway, the lower one."""
        return np.searchsorted((self.values[1:] + self.values[:-1]) / 2, numbers)

    def per_answer(self, amounts: Array | None = None) -> Array:
        """Tasks × answers: the sums of `amounts` (one per cell; by default 1)."""
        size = self.scale.size
        flat = np.bincount(self.task * size + self.code, amounts, minlength=self.tasks * size)
        return flat.reshape(self.tasks, size).astype(np.float64)

    @cached_property
    def vote_shares(self) -> Array:
        """Tasks × answers: the shares of votes; all equal for a task without any."""
        votes = self.per_answer()
        votes[votes.sum(axis=1) == 0] = 1
        shares: Array = votes / votes.sum(axis=1, keepdims=True)
        return shares


@dataclass(frozen=True, eq=False)
class Aggregated:
    """What a rival found for every task.

    `level` is a number on the scale, `label` one of the answers. `probability` is P(answer) of
    every task and answer, None if the rival has no such thing.
    """

    level: Array
    label: Array
    probability: Array | None = None

    @classmethod
    def from_probability(cls, probability: Array, data: Annotations) -> Aggregated:
        """The median, which has the least expected distance, and the mode; of ties the lowest."""
        below = np.cumsum(probability, axis=1)
        median = np.count_nonzero(below < below[:, -1:] / 2 - _TIE, axis=1)
        mode = (probability > probability.max(axis=1, keepdims=True) - _TIE).argmax(axis=1)
        return cls(data.values[median], data.values[mode], probability)

    @classmethod
    def from_level(cls, level: Array, data: Annotations) -> Aggregated:
        """The label is the answer nearest to the level."""
        return cls(level, data.values[data.nearest(level)])

    def estimate(self, estimand: Estimand) -> Array:
        """The number or the answer, as the estimand asks."""
        return self.label if estimand == "label" else self.level


@dataclass(frozen=True)
class Rival:
    """A published method of inference, and the estimands that it is meant for."""

    name: str
    estimands: tuple[Estimand, ...]
    infer: Callable[[Annotations], Aggregated]
    citation: str

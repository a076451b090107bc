"""What the pooled model knows of a campaign: counts of symbols, per task and altogether."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from forsooth.inference.posterior.ascent import climb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from forsooth.inference.estimates import Rules
    from forsooth.inference.posterior.evidence import Evidence
    from forsooth.inference.posterior.model import Crowd


@dataclass(frozen=True, eq=False)
class Moments:
    """The distribution of all answers and the share of answered cells, through the channel."""

    answers: NDArray[np.float64]
    participation: float


def recover_moments(crowd: Crowd, parts: Sequence[Evidence], rules: Rules) -> Moments:
    """Maximum likelihood of (answers, NULL) from all symbols together; concave, so it arrives."""
    size = crowd.scale.size
    totals = [part.per_task.sum(axis=0) for part in parts]
    hidden = any(part.hidden for part in parts)

    def expected(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        given = point[:size] / point[:size].sum()
        objective, counts = 0.5 * float(np.log(point).sum()), np.full(len(point), 0.5)
        for part, total in zip(parts, totals):
            rows = point if part.hidden else given
            chance = rows @ part.table
            objective += float(total @ np.log(chance))
            counts[: len(rows)] += rows * (part.table @ (total / chance))
        return objective, counts

    start = np.full(size + hidden, 1 / (size + hidden))
    point = climb(expected, (len(start),), start, max_iterations=rules.max_iterations).point
    share = float(point[:size].sum())
    return Moments(point[:size] / share, share)


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of symbols per task; tasks with the same counts are one, with a multiplicity."""

    counts: list[NDArray[np.float64]]  # for every part, different tasks × symbols
    pinned: NDArray[np.intp]  # the grid point of a gold task, −1 elsewhere
    times: NDArray[np.float64]  # how many tasks are like this
    place: NDArray[np.intp]  # where each task of the campaign stands
    group: NDArray[np.float64]  # different tasks × groups: a one where it belongs

    @cached_property
    def together(self) -> NDArray[np.float64]:
        """A one for its group's prior, and all counts: one product gives all likelihoods."""
        return np.column_stack([self.group, *self.counts])

    @staticmethod
    def of(
        parts: Sequence[Evidence], pinned: NDArray[np.intp], group: NDArray[np.intp] | None = None
    ) -> Tally:
        """Count, and merge what is the same; all tasks are of one group, if none is given."""
        group = np.zeros_like(pinned) if group is None else group
        counts = [part.per_task for part in parts]
        rows, place, times = np.unique(
            np.column_stack([*counts, pinned, group]),
            axis=0,
            return_inverse=True,
            return_counts=True,
        )
        *merged, labels = np.split(rows, np.cumsum([each.shape[1] for each in counts]), axis=1)
        pins, groups = labels.T.astype(np.intp)
        belongs = np.eye(groups.max() + 1)[groups]
        return Tally(merged, pins, times.astype(float), place.ravel(), belongs)

    def thinned(self, number: int) -> Tally:
        """About `number` of the different tasks, evenly chosen."""
        every = slice(None, None, max(1, len(self.times) // number))
        counts = [each[every] for each in self.counts]
        pinned, times, group = self.pinned[every], self.times[every], self.group[every]
        return Tally(counts, pinned, times, self.place[:0], group)

    def grouped(self, number: NDArray[np.float64], groups: int) -> Tally:
        """Tasks in about as many groups of the same size, by a number that each of them has."""
        order = np.argsort(number, kind="stable")
        reached = np.cumsum(self.times[order]) / self.times.sum()
        cuts = number[order][np.searchsorted(reached, np.arange(1, groups) / groups)]
        met, group = np.unique(np.searchsorted(cuts, number), return_inverse=True)
        return replace(self, group=np.eye(len(met))[group])

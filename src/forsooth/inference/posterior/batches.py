"""Tasks that the same people have answered: their truths may be alike, too.

Tasks are handed out in batches, and a page of twenty often comes from one source. Where
participation is public, everybody sees the batches: their tasks were answered by the same workers.
So every batch may have weights of its own for the shapes of the prior, which are Dirichlet(c·w),
where w are those of all tasks. A batch's weights v and its tasks' shapes s are drawn in turn, each
given the other (Gibbs sampling, in many chains at once):

    P(s | v, reports) ∝ v_s·P(reports | s),   v | s ~ Dirichlet(c·w + how many are of each shape).

One estimate of v would be too sure of itself: the tasks that it moves speak for it in turn, and a
page of zeros and twos ends with twos only. The evidence for c multiplies what every task's reports
are given, when of the tasks before it only expectations are known, in several orders. c is averaged
over a ladder by this evidence; the ladder's last step is c = ∞: batches mean nothing.

The tasks of a batch have the same workers, too: who always says the same makes a page look alike.
So the evidence should come from a model that tells workers apart, and small batches are let alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from forsooth.inference.posterior.model import normalised_exp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from forsooth.inference.posterior.evidence import Evidence

    Array = NDArray[np.float64]

_LEAST = 10  # tasks of a batch; of fewer, what is alike may as well be the workers
_LADDER = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0)  # what w counts in a batch, in tasks
_DRAWS = 2**19  # of shapes, weighed in a sweep of all chains
_CHAINS = (16, 32)  # at least and at most
_FORGOTTEN = 50  # sweeps after which a chain does not remember where it began
_SWEEPS = 100  # after these
_ORDERS = 5  # in which evidence is computed: the mean depends little on how tasks are numbered
_NEGLIGIBLE = 1e-3  # what batches tell with a smaller probability changes nothing


@dataclass(frozen=True, eq=False)
class Batches:
    """The tasks of all batches, one batch after the other, the largest first."""

    task: NDArray[np.intp]
    starts: NDArray[np.intp]  # where each batch begins

    @staticmethod
    def of(parts: Sequence[Evidence]) -> Batches | None:
        """What can be seen of batches, if anything."""
        seen = [part.answered_by for part in parts if part.answered_by is not None]
        if not seen:
            return None
        numbers = sum(seen)
        _, batch, sizes = np.unique(numbers, return_inverse=True, return_counts=True)
        size = np.where(numbers == 0, 0, sizes[batch])  # 0: nobody has answered
        task = np.lexsort((batch, -size))
        task = task[size[task] >= _LEAST]
        starts = np.flatnonzero(np.diff(batch[task], prepend=-1))
        return Batches(task, starts) if len(starts) > 1 else None

    def chances(self, mass: Array, weights: Array, shapes: Array) -> Array:
        """P(c | reports) over the ladder, by a model in which P(θ | its own reports) is `mass`.

        Of every task: over the grid, and the `weights` of the shapes in its prior.
        """
        _, of_shapes = self._likelihoods(mass, weights, shapes)
        evidence = [self._evidence(of_shapes, weights[self.task], c) for c in _LADDER]
        return normalised_exp(np.array([*evidence, 0.0]))[0]

    def told(self, mass: Array, weights: Array, shapes: Array, chances: Array) -> Array:
        """P(θ | all reports), tasks × grid, with these chances of every c."""
        if chances[-1] > 1 - _NEGLIGIBLE:
            return mass
        likelihood, of_shapes = self._likelihoods(mass, weights, shapes)
        drawn = self._drawn(of_shapes, weights[self.task], chances[:-1])
        each = drawn / np.maximum(of_shapes, 1e-300) @ shapes * likelihood
        alike = chances[-1] * mass[self.task] + (1 - chances[-1]) * each
        told = mass.copy()
        told[self.task] = _normalised(alike)
        return told

    def _likelihoods(self, mass: Array, weights: Array, shapes: Array) -> tuple[Array, Array]:
        """Of θ and of the shapes, for the tasks of batches."""
        prior = np.maximum(weights[self.task] @ shapes, 1e-300)
        likelihood = mass[self.task] / prior
        return likelihood, likelihood @ shapes.T

    @cached_property
    def _sizes(self) -> NDArray[np.intp]:
        return np.diff(self.starts, append=len(self.task))

    def _drawn(self, of_shapes: Array, usual: Array, chances: Array) -> Array:
        """P(s | all reports), tasks × shapes: the mean over chains, with every c in its share."""
        random, chains = np.random.default_rng(0), _DRAWS // of_shapes.size
        chains = int(np.clip(chains, *_CHAINS))
        reached = np.cumsum(chances) / chances.sum()
        c = np.array(_LADDER)[np.searchsorted(reached, (np.arange(chains) + 0.5) / chains)]
        before = c[:, None, None] * usual[self.starts]
        own = np.broadcast_to(usual[self.starts], before.shape)  # v: chains × batches × shapes
        total = np.zeros_like(of_shapes)
        for sweep in range(_FORGOTTEN + _SWEEPS):
            shares = _normalised(np.repeat(own, self._sizes, axis=1) * of_shapes)
            if sweep >= _FORGOTTEN:
                total += shares.mean(axis=0)
            reached = np.cumsum(shares, axis=2)
            place = random.random((*reached.shape[:2], 1)) * reached[..., -1:]
            shape = np.diff(reached > place, axis=2, prepend=False)
            met = np.add.reduceat(shape, self.starts, axis=1, dtype=float)
            own = _normalised(np.maximum(random.standard_gamma(before + met), 1e-300))
        return total / _SWEEPS

    def _evidence(self, of_shapes: Array, usual: Array, c: float) -> float:
        """Ln P(reports | c), less the same for c = ∞: one task after the other, in all batches."""
        random = np.random.default_rng(0)
        batch = np.repeat(np.arange(len(self.starts)), self._sizes)
        totals = []
        for _ in range(_ORDERS):
            shuffled = of_shapes[np.lexsort((random.random(len(batch)), batch))]
            known, total = c * usual[self.starts], 0.0
            for position in range(self._sizes.max()):
                longer = np.count_nonzero(self._sizes > position)  # they stand first
                joint = _normalised(known[:longer]) * shuffled[self.starts[:longer] + position]
                total += float(np.log(joint.sum(axis=1)).sum())
                known[:longer] += _normalised(joint)
            totals.append(total)
        return float(np.mean(totals))


def _normalised(rows: Array) -> Array:
    normalised: Array = rows / rows.sum(axis=-1, keepdims=True)
    return normalised

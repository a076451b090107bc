"""Minimax conditional entropy for ordinal labels: workers and tasks confuse neighbouring answers.

    P(a_ij = l | z_j = k) ∝ exp(S_i[k, l] + T_j[k, l])
    S_i[k, l] = Σ_s σ_i[s, k ≥ s, l ≥ s],   T_j[k, l] = Σ_s τ_j[s, k ≥ s, l ≥ s],   s = 2…K

Every answer s > 1 splits the scale in two; a worker has four numbers per split (is the truth above
it, is the answer above it), and a task has four, too. So answers are confused in proportion to how
far they are apart. This is the dual of: choose the answers' distribution with the highest
conditional entropy that keeps the counts of every worker and of every task for every split, and the
truths for which that entropy is least. The counts need not be kept exactly, hence the penalty of

    Σ_j ln Σ_k Π_i P(a_ij | z_j = k) − ½ λ Σ_i |σ_i|² − ½ λ' Σ_j |τ_j|²
    λ = γ·K²,   λ' = λ·(answers per worker)/(answers per task)

The authors alternate: P(z_j) given σ and τ; then σ and τ given P(z_j), from the shares of votes.
Here the first σ and τ are theirs, too; from there on the penalised likelihood is climbed directly:
its gradient is that of their second step, with P(z_j) of the same σ and τ.

D. Zhou, Q. Liu, J. Platt, C. Meek: Aggregating Ordinal Labels from Crowds by Minimax Conditional
Entropy. ICML 2014. http://proceedings.mlr.press/v32/zhouc14.html
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import log_softmax, logsumexp

from forsooth.study.rivals.base import Aggregated, Rival

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.study.rivals.base import Annotations

    Array = NDArray[np.float64]

FIRMNESS = 0.25  # γ: the value of the survey of Zheng et al. (2017)
_STEPS = 100  # at most, of each of both climbs


def minimax(data: Annotations, firmness: float = FIRMNESS) -> Aggregated:
    """P(answer) of every task where the climb ends."""
    model = Ordinal(data, firmness)
    point = np.zeros((data.workers + data.tasks) * len(model.splits))
    options = {"maxiter": _STEPS}
    for truths in (data.vote_shares, None):
        found = minimize(model.loss, point, (truths,), "L-BFGS-B", jac=True, options=options)
        point = found.x
    return Aggregated.from_probability(np.exp(log_softmax(model.log_joint(point)[0], axis=1)), data)


@dataclass(frozen=True, eq=False)
class Ordinal:
    """The penalised likelihood; a point is all σ_i, then all τ_j."""

    data: Annotations
    firmness: float

    @cached_property
    def splits(self) -> Array:
        """Which cells of a confusion matrix every number is added to: numbers × K·K."""
        size = self.data.scale.size
        above = np.arange(size) >= np.arange(1, size)[:, None]  # splits × answers
        sides = np.stack([above, ~above])
        cells = sides[:, None, :, :, None] & sides[None, :, :, None, :]
        return cells.reshape(-1, size * size).astype(np.float64)

    @cached_property
    def penalty(self) -> Array:
        """λ of every number of a point."""
        data = self.data
        weight = self.firmness * data.scale.size**2
        sizes = np.array([data.workers, data.tasks]) * len(self.splits)
        return np.repeat([weight, weight * data.tasks / data.workers], sizes)

    @cached_property
    def _of_worker(self) -> csr_array:
        return self._incidence(self.data.worker, self.data.workers)

    @cached_property
    def _of_task(self) -> csr_array:
        return self._incidence(self.data.task, self.data.tasks)

    @staticmethod
    def _incidence(row: NDArray[np.intp], rows: int) -> csr_array:
        cells = np.arange(row.size)
        return csr_array((np.ones(row.size), (row, cells)), shape=(rows, row.size))

    def log_joint(self, point: Array) -> tuple[Array, Array]:
        """Ln P(answers of task j | z_j = k); ln P(l | z_j = k) of every cell."""
        data, size = self.data, self.data.scale.size
        matrices = point.reshape(-1, len(self.splits)) @ self.splits
        of_worker, of_task = matrices[: data.workers], matrices[data.workers :]
        logits = (of_worker[data.worker] + of_task[data.task]).reshape(-1, size, size)
        logs = log_softmax(logits, axis=2)
        given = logs[np.arange(data.code.size), :, data.code]
        return self._of_task @ given, logs

    def loss(self, point: Array, truths: Array | None) -> tuple[float, Array]:
        """The negative penalised likelihood and its gradient; given P(z_j), its expectation."""
        data, size = self.data, self.data.scale.size
        joint, logs = self.log_joint(point)
        evidence = logsumexp(joint, axis=1)
        beliefs = np.exp(joint - evidence[:, None]) if truths is None else truths
        value = evidence.sum() if truths is None else (truths * joint).sum()
        excess = -np.exp(logs) * beliefs[data.task][:, :, None]
        excess[np.arange(data.code.size), :, data.code] += beliefs[data.task]
        flat = excess.reshape(-1, size * size)
        slope = np.vstack([self._of_worker @ flat, self._of_task @ flat]) @ self.splits.T
        penalised = self.penalty * point
        return float(0.5 * penalised @ point - value), penalised - slope.ravel()


MINIMAX = Rival(
    "minimax-ordinal",
    ("level", "label"),
    minimax,
    "Zhou, Liu, Platt and Meek, ICML 2014, http://proceedings.mlr.press/v32/zhouc14.html",
)

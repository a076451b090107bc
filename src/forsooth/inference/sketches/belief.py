"""What is believed of the tasks' mean answers while reports come in: normal and linear."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_LEAST = 1e-9  # the share of a variance that is left at least: rounding may leave nothing


class Belief(NamedTuple):
    """m_j ~ N(mean_j, variance_j); `level` is the mean of all tasks that it began with.

    `log` is the log-likelihood of all that was seen. Of how the errors of two tasks depend on each
    other only what one observation needs is kept: those of many tasks at once must come last.
    """

    level: float
    mean: Array
    variance: Array
    log: float = 0.0

    def told(self, value: Array, gain: float | Array, noise: float) -> Belief:
        """Having seen value_j = gain_j·m_j + N(0, noise), of every task one."""
        gap, noise = value - gain * self.mean, max(noise, 0.0)
        total = gain**2 * self.variance + noise
        step = gain * self.variance / total
        left = np.maximum(noise / total, _LEAST) * self.variance
        log = self.log - 0.5 * float((gap**2 / total + np.log(total)).sum())
        return Belief(self.level, self.mean + step * gap, left, log)

    def told_together(self, value: Array, gains: Array, noise: Array) -> Belief:
        """Having seen value = gains·m + N(0, noise), fewer numbers than tasks."""
        seen = gains * self.variance
        total, gap = seen @ gains.T + noise, value - gains @ self.mean
        solved = np.linalg.solve(total, np.column_stack([seen, gap]))
        mean = self.mean + gap @ solved[:, :-1]
        explained = (seen * solved[:, :-1]).sum(axis=0)
        left = np.maximum(self.variance - explained, _LEAST * self.variance)
        log = self.log - 0.5 * float(gap @ solved[:, -1] + np.linalg.slogdet(total)[1])
        return Belief(self.level, mean, left, log)


class Hypothesis(Protocol):
    """One way in which reports may depend on the mean answers."""

    @property
    def weight(self) -> float:
        """Its probability."""

    @property
    def participation(self) -> float:
        """The share of cells that were answered."""

    @property
    def spread(self) -> float:
        """The standard deviation of all answers."""

    def tell(self, belief: Belief) -> Belief:
        """What is believed after these reports."""

"""Models in which every truth is one of the answers.

On an ordered scale (`Levels`) answers stray as in the other model, to begin with; then the class
model learns how they are confused. Without an order (`Labels`) a worker is right, or wrong in any
way alike, to begin with: the confusion matrix of a worker of accuracy p has p on the diagonal and
(1 − p)/(K − 1) elsewhere. Learning them makes it Dawid and Skene's model, with a matrix for every
kind of worker instead of every single one, which is what noisy reports can still tell. The pooled
model can learn one for all of them (`Confusions`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from forsooth.inference.posterior.model import SHORT, Crowd

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ACCURACIES = (0.97, 0.85, 0.7, 0.5)
PRIOR_ANSWERS = 10.0  # what is expected of a truth's answers counts as much as so many
PER_SHARE = 2.0  # nats that every share of a learned P(a | θ) costs: a crude Occam factor
_LEARNED = 0.9  # the share of the prior that follows the answers, the rest is uniform


class Levels(Crowd):
    """The fixed parts of the model where every truth is an answer."""

    @property
    def learns_answers(self) -> bool:
        """On a short scale, where a confusion matrix is not longer than the reports."""
        return self.scale.size <= SHORT

    @cached_property
    def grid(self) -> NDArray[np.float64]:
        """The answers themselves."""
        return np.asarray(self.scale.values)

    @cached_property
    def shapes(self) -> NDArray[np.float64]:
        """Every answer, and all of them alike."""
        return np.vstack([np.eye(self.scale.size), np.full(self.scale.size, 1 / self.scale.size)])

    def base(self, answers: NDArray[np.float64]) -> NDArray[np.float64]:
        """As answers are spread, a little flatter."""
        return np.append(_LEARNED * answers, 1 - _LEARNED)


@dataclass(frozen=True, eq=False)
class Confusions(Levels):
    """One confusion matrix for all workers, of which only the `expected` one is fixed.

    P(a | θ) is a mixture of all pairs (θ, a), with shares that sum to one for every θ.
    """

    expected: NDArray[np.float64]  # P(a | θ)

    @cached_property
    def answers(self) -> NDArray[np.float64]:
        """Certainly a if θ is the truth, for every pair: pairs × truths × answers."""
        size = self.scale.size
        return np.eye(size * size).reshape(-1, size, size)

    @property
    def choices(self) -> tuple[int, ...]:
        """An answer for every truth."""
        return (self.scale.size,) * self.scale.size

    @property
    def beforehand(self) -> NDArray[np.float64]:
        """As many answers to every truth as the class model adds."""
        return PRIOR_ANSWERS * self.expected.ravel()

    @property
    def price(self) -> float:
        """Nats per share of the matrix."""
        return PER_SHARE


class Labels(Levels):
    """The fixed parts of the model for labels; "deviation" is the share of wrong answers."""

    @property
    def ordered(self) -> bool:
        """Labels have no order, only names."""
        return False

    @cached_property
    def deviations(self) -> NDArray[np.float64]:
        """P(wrong) of every kind of worker; the last answers at random."""
        guessing = 1 - 1 / self.scale.size
        wrong = [1 - accuracy for accuracy in _ACCURACIES if 1 - accuracy < 0.9 * guessing]
        return np.array([*wrong, guessing])

    @cached_property
    def answers(self) -> NDArray[np.float64]:
        """P(answer | truth, kind of worker), kinds × labels × labels."""
        wrong, right = self.deviations[:, None, None], np.eye(self.scale.size)
        chances: NDArray[np.float64] = (1 - wrong) * right + wrong * (1 - right) / (
            self.scale.size - 1
        )
        return chances

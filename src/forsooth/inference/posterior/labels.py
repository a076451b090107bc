"""Models in which every truth is one of the answers (`Levels`), as it is for names (`Labels`).

A worker who gives labels is right, or wrong in any way alike: the confusion matrix of one of
accuracy p has p on the diagonal and (1 − p)/(K − 1) elsewhere. How labels are really confused can
be learned as on a scale with an order (`confusions.py`).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from forsooth.inference.posterior.model import Crowd

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ACCURACIES = (0.97, 0.85, 0.7, 0.5)
_LEARNED = 0.9  # the share of the prior that follows the answers, the rest is uniform


class Levels(Crowd):
    """The fixed parts of the model where every truth is an answer."""

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

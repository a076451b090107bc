"""What every private rival is: a whole pipeline from answers through private reports to estimates.

Reports are simulated with a seeded generator, for studies only: they give no privacy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from forsooth.answers import Answers
    from forsooth.estimand import Estimand
    from forsooth.privacy import Protects, Unit
    from forsooth.scale import Scale
    from forsooth.study.rivals.base import Aggregated

    Array = NDArray[np.float64]
    Codes = NDArray[np.unsignedinteger]

BOTH: Protects = "answers+participation"
_BLOCK = 2**21  # numbers in memory at once, so that large campaigns fit


@dataclass(frozen=True)
class PrivateRival:
    """A published private pipeline, with the estimands it is meant for and what ε protects.

    `unit` "cell": ε covers one cell, as in our mechanisms; "worker": all that one person says.
    """

    name: str
    estimands: tuple[Estimand, ...]
    protects: Protects
    unit: Unit
    run: Callable[[Answers, float, np.random.Generator], Aggregated]
    citation: str

    def suits(self, estimand: Estimand, scale: Scale) -> bool:
        """With two labels a mean tells which of them is more frequent, too."""
        return estimand in self.estimands or (estimand == "label" and scale.size == 2)


def blocks(answers: Answers, numbers: int) -> Iterator[Codes]:
    """The table in blocks of workers: codes, NULL as the last; `numbers` are needed per cell."""
    some = max(1, _BLOCK // (len(answers.tasks) * numbers))
    for start in range(0, len(answers.workers), some):
        yield answers.rows(start, min(start + some, len(answers.workers)))


def signed(scale: Scale) -> Array:
    """The scale's values on [−1, 1]."""
    return (2 * np.asarray(scale.values) - scale.low - scale.high) / scale.range


def from_signed(number: Array, scale: Scale) -> Array:
    """Back from [−1, 1]; what lies outside is clipped, what is unknown becomes the middle."""
    return scale.middle + np.clip(np.nan_to_num(number), -1, 1) * scale.range / 2

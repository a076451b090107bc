"""What a pooled model says of a campaign, and what several of them say together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from forsooth.inference.posterior.model import normalised_exp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Picture:
    """The truths, the workers as one, and ln P(reports | model)."""

    mass: NDArray[np.float64]  # P(θ | reports), tasks × grid
    answers: NDArray[np.float64]  # P(a | θ), grid × answers
    participation: float
    evidence: float
    iterations: int = 0
    converged: bool = True


def averaged(pictures: Sequence[Picture]) -> Picture:
    """The average over the models, each with the weight that the reports give it."""
    weights, total = normalised_exp(np.array([each.evidence for each in pictures]))
    return Picture(
        mass=sum(w * each.mass for w, each in zip(weights, pictures)),
        answers=sum(w * each.answers for w, each in zip(weights, pictures)),
        participation=float(weights @ [each.participation for each in pictures]),
        evidence=float(total),
        iterations=sum(each.iterations for each in pictures),
        converged=all(each.converged for each in pictures),
    )

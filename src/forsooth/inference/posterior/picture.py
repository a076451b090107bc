"""What a pooled model says of a campaign, and what several of them say together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from forsooth.inference.posterior.model import normalised_exp
from forsooth.inference.posterior.names import as_names, by_agreement, log_chances, of_one_model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from forsooth.inference.posterior.model import Crowd

_NEGLIGIBLE = 1e-3  # a model with less weight changes nothing


@dataclass(frozen=True, eq=False)
class Picture:
    """The truths, the workers as one, and ln P(reports | model)."""

    mass: NDArray[np.float64]  # P(θ | reports), tasks × grid
    answers: NDArray[np.float64]  # P(a | θ), grid × answers
    participation: float
    evidence: float
    iterations: int = 0
    converged: bool = True

    def apart(self, crowd: Crowd) -> tuple[Picture, Picture]:
        """As a model of names, and as one of means: what is answered to θ is the truth, not θ."""
        names, means = log_chances(of_one_model(self.as_names(crowd)))
        double = self.as_means(crowd)
        return (
            replace(self, evidence=self.evidence + float(names)),
            replace(double, evidence=self.evidence + float(means)),
        )

    def as_names(self, crowd: Crowd) -> NDArray[np.float64]:
        """The nats that speak for names."""
        return as_names(crowd, self.mass.mean(axis=0), self.answers)

    def by_agreement(self, crowd: Crowd) -> NDArray[np.float64]:
        """Those of them that do not depend on where the truths are."""
        return by_agreement(crowd, self.mass.mean(axis=0), self.answers)

    def as_means(self, crowd: Crowd) -> Picture:
        """The same model, but what is answered to θ on average is the truth, and not θ itself."""
        means = np.maximum.accumulate(self.answers @ np.asarray(crowd.scale.values))
        moved = np.eye(len(crowd.grid))[crowd.nearest(means)]
        answers = [np.interp(crowd.grid, means, column) for column in self.answers.T]
        return replace(self, mass=self.mass @ moved, answers=np.column_stack(answers))


def averaged(pictures: Sequence[Picture]) -> Picture:
    """The average over models that are alike likely beforehand."""
    weights, total = normalised_exp(np.array([each.evidence for each in pictures]))
    heard = [each for weight, each in zip(weights, pictures) if weight > _NEGLIGIBLE]
    return Picture(
        mass=sum(w * each.mass for w, each in zip(weights, pictures)),
        answers=sum(w * each.answers for w, each in zip(weights, pictures)),
        participation=float(weights @ [each.participation for each in pictures]),
        evidence=float(total - np.log(len(pictures))),
        iterations=sum(each.iterations for each in pictures),
        converged=all(each.converged for each in heard),
    )

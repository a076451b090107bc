"""Frequency oracles: the answers of a task and NULL are the values of one categorical question.

Every worker reports on every task, so that ε protects the answer and whether it was given. With
p = P(report supports x | x) and q = P(report supports x | other), the unbiased estimate of the
share of x among n workers is f̂(x) = (C(x)/n − q)/(p − q), C(x) being the number of reports that
support x (Wang, Blocki, Li and Jha, USENIX Security 2017). For rare values
Var f̂(x) = q(1 − q)/(n(p − q)²).

Label: the answer with the largest f̂. Level: the mean answer of those who answered; for that the
shares are first projected to the simplex (Norm-Sub of Wang et al., NDSS 2020).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from forsooth.study.rivals.base import Aggregated
from forsooth.study.rivals.private import BOTH, PrivateRival, blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from forsooth.answers import Answers
    from forsooth.scale import Scale
    from forsooth.study.rivals.private import Array, Codes

    Probabilities = Callable[[int, float], tuple[float, float]]
    Supports = Callable[[Codes, int, float, np.random.Generator], NDArray[np.bool_]]


@dataclass(frozen=True)
class FrequencyOracle:
    """(p, q) for a number of symbols and ε, and reports as the sets of symbols they support."""

    probabilities: Probabilities
    supports: Supports

    def frequencies(self, answers: Answers, epsilon: float, random: np.random.Generator) -> Array:
        """f̂ of every task and symbol, NULL as the last."""
        size = answers.scale.size + 1
        count = np.zeros((len(answers.tasks), size))
        for codes in blocks(answers, size):
            count += self.supports(codes, size, epsilon, random).sum(axis=0)
        p, q = self.probabilities(size, epsilon)
        estimate: Array = (count / len(answers.workers) - q) / (p - q)
        return estimate

    def run(self, answers: Answers, epsilon: float, random: np.random.Generator) -> Aggregated:
        """Perturb, count and estimate."""
        return aggregated(self.frequencies(answers, epsilon, random), answers.scale)

    def rival(self, name: str, citation: str) -> PrivateRival:
        """As an entry of the league."""
        return PrivateRival(name, ("level", "label"), BOTH, "cell", self.run, citation)


def aggregated(frequency: Array, scale: Scale) -> Aggregated:
    """Mean and mode of the answers, NULL (the last column) left out."""
    values = np.asarray(scale.values)
    share = projected(frequency)[:, :-1]
    total = share.sum(axis=1)
    mean = np.full(len(share), scale.middle)
    np.divide(share @ values, total, out=mean, where=total > 0)
    return Aggregated(mean, values[frequency[:, :-1].argmax(axis=1)])


def projected(frequency: Array) -> Array:
    """Every row moved to the nearest point of the simplex: max(f + δ, 0) with sum 1."""
    falling = -np.sort(-frequency, axis=1)
    shift = (1 - np.cumsum(falling, axis=1)) / np.arange(1, frequency.shape[1] + 1)
    last = np.count_nonzero(falling + shift > 0, axis=1) - 1
    moved: Array = np.maximum(frequency + np.take_along_axis(shift, last[:, None], 1), 0)
    return moved

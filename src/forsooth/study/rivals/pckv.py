"""PCKV: locally private key-value data with correlated perturbation; NULL is part of the input.

A key is a task, its value the answer on [−1, 1]; a task that was not answered is a key that the
worker does not have. The worker pads the own keys to ℓ with dummies (or has more than ℓ), samples
one of them, turns its value into ±1 with the right mean, and reports it perturbed: a real sampled
key comes through with probability a, with the sign kept with probability p; any other key appears
with probability b and a random sign. The collector has n₁ and n₂ reports of a key with +1 and −1:

    f̂ = ℓ((n₁ + n₂)/n − b)/(a − b)                            clipped to [1/n, 1]
    n̂₁, n̂₂ = [ap − b/2, a(1 − p) − b/2; a(1 − p) − b/2, ap − b/2]⁻¹ (n₁ − nb/2, n₂ − nb/2)
                                                              clipped to [0, nf̂/ℓ]
    mean = ℓ(n̂₁ − n̂₂)/(nf̂)

The paper's ε covers all that a person says, in one report on one sampled key. Here it is run in
two ways: `person` is the paper's, ℓ being the 90th percentile of the numbers of answers, which is
taken from the answers themselves (an advantage for the rival). `cell` gives every cell a protocol
of its own, with one key and ℓ = 1, so that ε is per cell as in our mechanisms.

Gu, Li, Cheng, Xiong and Cao: PCKV: Locally Differentially Private Correlated Key-Value Data
Collection with Optimized Utility. USENIX Security 2020.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from forsooth.study.rivals.base import Aggregated, Annotations
from forsooth.study.rivals.private import BOTH, PrivateRival, blocks, from_signed, signed

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from forsooth.answers import Answers
    from forsooth.study.rivals.private import Array

CITATION = "Gu et al., USENIX Security 2020"
_PADDED = 0.9  # quantile of the numbers of answers, from the paper's section 5.4


@dataclass(frozen=True)
class Chances:
    """a, b and p of the docstring; `length` is ℓ."""

    a: float
    b: float
    p: float
    length: int


@dataclass(frozen=True)
class KeyValueProtocol:
    """`chances` from ε, the number of keys and ℓ; `counts` of n₁ and n₂ of every key, from the
    sampled key and sign of every worker.
    """

    chances: Callable[[float, int, int], Chances]
    counts: Callable[[NDArray[np.intp], Array, int, Chances, np.random.Generator], Array]

    def by_cell(self, answers: Answers, epsilon: float, random: np.random.Generator) -> Aggregated:
        """Every cell has a protocol of its own; its only key is sampled if it is answered."""
        chances = self.chances(epsilon, 1, 1)
        value = np.append(signed(answers.scale), 0.0)
        counts = np.zeros((len(answers.tasks), 2))
        for codes in blocks(answers, 4):
            sign = signs(value[codes], random)
            counts += tally(observed(codes != answers.scale.null, sign, chances, random))
        return _aggregated(counts, answers, chances)

    def by_person(
        self, answers: Answers, epsilon: float, random: np.random.Generator
    ) -> Aggregated:
        """Every worker reports once, on one sampled key."""
        tasks = len(answers.tasks)
        length = max(1, round(float(np.quantile(np.diff(answers.starts), _PADDED))))
        chances = self.chances(epsilon, tasks, length)
        key, value = sampled(answers, length, random)
        counts = self.counts(key, signs(value, random), tasks, chances, random)
        return _aggregated(counts, answers, chances)

    def rivals(self, name: str) -> tuple[PrivateRival, PrivateRival]:
        """As entries of the league: ε per cell, and ε for a person."""
        person = f"{name}-person"
        return (
            PrivateRival(name, ("level",), BOTH, "cell", self.by_cell, CITATION),
            PrivateRival(person, ("level",), BOTH, "worker", self.by_person, CITATION),
        )


def signs(value: Array, random: np.random.Generator) -> Array:
    """±1 with mean `value`."""
    return np.where(random.random(value.shape) < (1 + value) / 2, 1.0, -1.0)


def observed(
    sampled: NDArray[np.bool_], sign: Array, chances: Chances, random: np.random.Generator
) -> Array:
    """What is reported of a key: +1, −1 or, if it does not appear, 0."""
    appears = random.random(sampled.shape) < np.where(sampled, chances.a, chances.b)
    kept = random.random(sampled.shape) < np.where(sampled, chances.p, 0.5)
    return np.where(appears, np.where(kept, sign, -sign), 0.0)


def tally(reports: Array) -> Array:
    """n₁ and n₂ of every column."""
    return np.stack([(reports > 0).sum(axis=0), (reports < 0).sum(axis=0)], axis=1, dtype=float)


def estimated(counts: Array, workers: int, chances: Chances) -> Array:
    """The mean of every key from n₁ and n₂, the columns of `counts`."""
    a, b, p, length = chances.a, chances.b, chances.p, chances.length
    frequency = length * (counts.sum(axis=1) / workers - b) / (a - b)
    frequency = np.clip(frequency, 1 / workers, 1)
    same, other = a * p - b / 2, a * (1 - p) - b / 2
    true = (counts - workers * b / 2) @ np.linalg.inv([[same, other], [other, same]])
    limit = workers * frequency / length
    true = np.clip(true, 0, limit[:, None])
    mean: Array = (true[:, 0] - true[:, 1]) / limit
    return mean


def sampled(
    answers: Answers, length: int, random: np.random.Generator
) -> tuple[NDArray[np.intp], Array]:
    """One key of every worker and its value; dummies are numbered after the tasks, with value 0."""
    given = np.diff(answers.starts)
    place = (random.random(len(given)) * np.maximum(given, length)).astype(np.intp)
    real = place < given
    dummy = len(answers.tasks) + random.integers(0, length, len(given))
    chosen = np.where(real, answers.starts[:-1] + place, 0)
    value = signed(answers.scale)[answers.code[chosen]]
    return np.where(real, answers.task[chosen], dummy), np.where(real, value, 0.0)


def _aggregated(counts: Array, answers: Answers, chances: Chances) -> Aggregated:
    mean = estimated(counts, len(answers.workers), chances)
    return Aggregated.from_level(from_signed(mean, answers.scale), Annotations.of(answers))

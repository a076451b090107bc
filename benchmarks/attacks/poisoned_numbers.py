"""One report of 3,000 changes no result by more than 5 % of the scale, whatever numbers are in it.

Reports of `lp`, `rr-lp`, `mf` and `mf-safe` are numbers. One worker sends 2⁶¹ in every place: this
must be refused. Then they send the largest numbers that are accepted, with the signs of their
public profile where there is one, so that all tasks are pushed the same way. The seeds are fixed,
so there are no false alarms.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.attacks import Outcome
from forsooth import Mechanism, Reports, infer, mechanisms
from forsooth.mechanisms import SafeFactorization
from forsooth.study.synthetic import SyntheticCrowd

WORKERS, TASKS, EPSILON, SEED = 3000, 12, 5.0, 21
MOST = 0.05  # of the scale
LARGEST = 2**61


def attack() -> Outcome:
    """The largest change of an estimate, for each mechanism that sends numbers."""
    crowd = SyntheticCrowd(WORKERS, TASKS, sparsity=0.6, truth_mean=4.5, sigma_bad=1.0).draw(SEED)
    scale, worst, shown = crowd.answers.scale, 0.0, []
    for name in ("lp", "rr-lp", "mf", "mf-safe"):
        mechanism = mechanisms.build(name, scale, EPSILON, tasks=TASKS)
        honest = mechanism.perturb(crowd.answers, simulation_seed=SEED)
        if accepts(mechanism, LARGEST):
            return Outcome(False, f"{name} accepts 2^61")
        before = infer(honest).estimate
        pushed = max(
            float(np.abs(infer(poisoned(honest, sign)).estimate - before).max()) for sign in (-1, 1)
        )
        worst = max(worst, pushed / scale.range)
        shown.append(f"{name} {pushed / scale.range:.1%}")
    return Outcome(worst <= MOST, "largest change of an estimate: " + ", ".join(shown))


def accepts(mechanism: Mechanism, number: int) -> bool:
    """Is a report accepted that has this number in all its places?"""
    values = np.full((1, mechanism.width(TASKS)), number, mechanism.dtype)
    return not mechanism.check(values, TASKS).any()


def poisoned(honest: Reports, sign: int) -> Reports:
    """The same reports, but the first is as extreme as is accepted."""
    mechanism, low, high = honest.mechanism, 0, LARGEST
    while high - low > max(1, low // 1000):
        middle = (low + high) // 2
        low, high = (middle, high) if accepts(mechanism, middle) else (low, middle)
    values = honest.values.copy()
    values[0] = sign * low * signs(honest)
    return replace(honest, values=values)


def signs(honest: Reports) -> NDArray[np.int64]:
    """In which direction each number of the first worker pushes most of its tasks."""
    mechanism = honest.mechanism
    if not isinstance(mechanism, SafeFactorization):
        return np.ones(honest.values.shape[1], np.int64)
    place, sign = mechanism.profiles(honest.workers[:1], TASKS)
    total = np.bincount(place[0], weights=sign[0], minlength=mechanism.d)
    return np.tile(np.where(total < 0, -1, 1), 2)

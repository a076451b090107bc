"""Unbiased reports of numbers in [−1, 1]: a task's estimate is the mean of its reports, clipped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forsooth.inference.estimates import per_answered
from forsooth.study.rivals.base import Aggregated, Annotations
from forsooth.study.rivals.private import PrivateRival, from_signed, signed

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from forsooth.answers import Answers
    from forsooth.study.rivals.private import Array


def mean_rival(
    name: str, perturbed: Callable[[Array, float, np.random.Generator], Array], citation: str
) -> PrivateRival:
    """The pipeline of a mechanism that reports one number per answer."""

    def run(answers: Answers, epsilon: float, random: np.random.Generator) -> Aggregated:
        data = Annotations.of(answers)
        reports = perturbed(signed(answers.scale)[answers.code], epsilon, random)
        mean = per_answered(data.cells.per_task(reports), data.cells.per_task())
        return Aggregated.from_level(from_signed(mean, answers.scale), data)

    return PrivateRival(name, ("level",), "answers", "cell", run, citation)

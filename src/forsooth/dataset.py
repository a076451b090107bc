"""A data set: answers together with the truths that are known, and what describes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from forsooth.errors import ForsoothError
from forsooth.io import tables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from forsooth.answers import Answers
    from forsooth.estimand import Estimand
    from forsooth.scale import Scale


@dataclass(frozen=True, eq=False)
class Dataset:
    """Answers and, for some or all tasks, the truth (NaN where it is not known).

    `estimand` says what that truth is; None where it is not stated.
    """

    name: str
    answers: Answers
    truth: NDArray[np.float64]
    estimand: Estimand | None = None

    def __post_init__(self) -> None:
        if np.isnan(self.truth).all():
            raise ForsoothError(f"{self.name}: none of its tasks has a known truth")

    @property
    def known(self) -> NDArray[np.float64]:
        """The truths that are known."""
        return self.truth[~np.isnan(self.truth)]

    def mirrored(self) -> Dataset:
        """The same crowd on the mirrored scale, a → max + min − a."""
        scale = self.answers.scale
        truth = scale.low + scale.high - self.truth
        return Dataset(self.name, self.answers.mirrored(), truth, self.estimand)

    def constant_error(self) -> float:
        """MAE of the best constant, the median of the known truths."""
        return float(np.mean(np.abs(self.known - np.median(self.known))))

    def middle_error(self) -> float:
        """MAE of always saying the middle of the scale."""
        return float(np.mean(np.abs(self.known - self.answers.scale.middle)))

    def describe(self) -> dict[str, Any]:
        """Size, sparsity per worker (the share of NULLs), distribution of answers and truths."""
        answers, scale = self.answers, self.answers.scale
        sparsity = 1 - np.diff(answers.starts) / len(answers.tasks)
        nearest = [scale.nearest_label(value) for value in self.known]
        return {
            "name": self.name,
            "workers": len(answers.workers),
            "tasks": len(answers.tasks),
            "answers": answers.size,
            "sparsity": {
                "max": float(sparsity.max()),
                "min": float(sparsity.min()),
                "average": float(sparsity.mean()),
            },
            "answer_distribution": _shares(np.bincount(answers.code, minlength=scale.size), scale),
            "truth_distribution": _shares(
                np.array([nearest.count(label) for label in scale.labels]), scale
            ),
            "tasks_with_truth": len(self.known),
            "estimand": self.estimand,
        }


def _shares(counts: NDArray[np.intp], scale: Scale) -> dict[str, float]:
    total = int(counts.sum())
    return {label: float(count / total) for label, count in zip(scale.labels, counts)}


def read_truth(source: object, answers: Answers) -> NDArray[np.float64]:
    """Truths (`task, truth`) in the order of the answers' tasks; NaN where none is given."""
    return align(read_truths(source, answers.scale), answers, tables.read(source).name)


def read_truths(source: object, scale: Scale) -> dict[str, float]:
    """Truths (`task, truth`) as numbers on the scale."""
    table = tables.read(source)
    tasks = table.identifiers("task").to_pylist()
    truths = table.column("truth").to_pylist()
    value_of: dict[str, float] = {}
    for row, (task, truth) in enumerate(zip(tasks, truths)):
        if task in value_of:
            raise ForsoothError(f"{table.where(row)}: task {task!r} has a second truth")
        value_of[task] = _value(truth, scale, table, row)
    return value_of


def read_groups(source: object) -> dict[str, str]:
    """The group of every worker (`worker, group`)."""
    table = tables.read(source)
    workers = table.identifiers("worker").to_pylist()
    group_of: dict[str, str] = {}
    for row, (worker, group) in enumerate(
        zip(workers, table.identifiers("group", "group").to_pylist())
    ):
        if group_of.setdefault(worker, group) != group:
            raise ForsoothError(f"{table.where(row)}: worker {worker!r} has a second group")
    return group_of


def align(truth: Mapping[str, float], answers: Answers, name: str) -> NDArray[np.float64]:
    """A mapping of truths as an array in the order of the tasks."""
    values = np.array([truth.get(task, np.nan) for task in answers.tasks])
    if np.isnan(values).all():
        raise ForsoothError(f"{name}: none of its tasks occurs among the answers")
    return values


def _value(truth: object, scale: Scale, table: tables.Source, row: int) -> float:
    """A truth may lie between two answers of a numeric scale, but not outside it."""
    if (code := scale.code(truth)) is not None:
        return scale.values[code]
    try:
        value = float(str(truth)) if scale.is_numeric else np.nan
    except ValueError:
        value = np.nan
    if not scale.low <= value <= scale.high:
        raise ForsoothError(f"{table.where(row)}: the truth {truth!r} is not on the scale {scale}")
    return value

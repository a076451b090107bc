"""Cells: the independent pieces of work of a reproduction.

A cell is described by plain data, and the description alone (with the run's seed) decides its
result. That is what lets a cell be kept on disk under a digest of its description, be shared by
several claims, and never be computed twice.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from forsooth import mechanisms
from forsooth.auditing import audit
from forsooth.estimand import Estimand, default_estimand
from forsooth.privacy import Privacy
from forsooth.scale import Scale
from forsooth.study import datasets
from forsooth.study.evaluation import Job, Study

if TYPE_CHECKING:
    from forsooth.answers import OnConflict
    from forsooth.dataset import Dataset

AUDITED_TASKS = 20  # only one worker's total depends on it

# Processor seconds, measured with two processes on two cores: what the forecast starts from.
_COST = {"lp": 0.25, "rr": 0.04, "rr-lp": 0.15, "two-layer": 0.05, "mf": 0.15}  # a million cells
_COST_OF_POSTERIOR = {"rr": 0.002, "adaptive": 0.004}  # a task
OVERHEAD = 0.01
_AUDIT_COST = 5.0  # a million draws
_READING_COST = 0.03  # a million cells


@dataclass(frozen=True)
class DataSource:
    """A data set as `forsooth evaluate` names it. `digest` tells a file from its later versions."""

    data: str
    workers: int
    tasks: int
    truth: str | None = None
    scale: str | None = None
    on_conflict: OnConflict = "error"
    digest: str = ""
    estimand: Estimand | None = None  # what the truth of a task is, where that is stated
    default_estimand: Estimand = "level"  # what `infer` takes where nothing is stated

    @property
    def size(self) -> int:
        """Cells of the matrix, NULL or not."""
        return self.workers * self.tasks


@dataclass(frozen=True)
class RunSetting:
    """What a run fixes for all its cells."""

    seed: int
    data_dir: str | None = None


@dataclass(frozen=True)
class Cell(ABC):
    """One piece of work."""

    kind: ClassVar[str]

    @property
    def description(self) -> dict[str, Any]:
        """All that decides the result, apart from the seed."""
        return {"kind": self.kind} | asdict(self)

    @property
    def key(self) -> str:
        """A file name for the result."""
        text = json.dumps(self.description, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    @property
    @abstractmethod
    def seconds(self) -> float:
        """About how long it takes on one core."""

    @abstractmethod
    def run(self, setting: RunSetting) -> dict[str, Any]:
        """The result, ready for JSON."""


@dataclass(frozen=True)
class ErrorCell(Cell):
    """The error after one perturbation of one repeat's data, by one method."""

    kind: ClassVar[str] = "errors"  # "error" had no coverage

    source: DataSource
    mechanism: str
    epsilon: float
    method: str
    repeat: int
    estimand: Estimand | None = None

    @property
    def seconds(self) -> float:
        """In proportion to the matrix; for the posterior to the number of tasks."""
        if self.method == "posterior":
            name = self.mechanism.partition(":")[0]
            return _COST_OF_POSTERIOR[name] * self.source.tasks + OVERHEAD
        return cost_of_reports(self.mechanism, self.source.size) + OVERHEAD

    def run(self, setting: RunSetting) -> dict[str, Any]:
        """One run of `evaluate`."""
        study = _study(self.source, self.method, self.estimand, setting)
        (run,) = Job(study, self.repeat, self.mechanism, self.epsilon).run()
        return run


@dataclass(frozen=True)
class AuditCell(Cell):
    """Is a mechanism ε-cell LDP as the paper claims it, NULLs included?"""

    kind: ClassVar[str] = "audit"

    mechanism: str
    scale: str
    epsilon: float
    draws: int

    @property
    def seconds(self) -> float:
        """In proportion to the draws."""
        return _AUDIT_COST * self.draws / 1e6 + OVERHEAD

    def run(self, setting: RunSetting) -> dict[str, Any]:
        """The audit's document; the draws are simulated, so that it can be repeated."""
        scale = Scale.parse(self.scale)
        mechanism = mechanisms.build(self.mechanism, scale, self.epsilon, tasks=AUDITED_TASKS)
        claim = Privacy(self.epsilon, "answers+participation")
        found = audit(mechanism, claim=claim, draws=self.draws, simulation_seed=setting.seed)
        return found.to_dict()


@dataclass(frozen=True)
class DescriptionCell(Cell):
    """What describes a data set: the paper's table and its answer distributions."""

    kind: ClassVar[str] = "description"

    source: DataSource

    @property
    def seconds(self) -> float:
        """Little more than reading the files."""
        return _READING_COST * self.source.size / 1e6 + OVERHEAD

    def run(self, setting: RunSetting) -> dict[str, Any]:
        """`datasets describe`, and how many of the answers are right."""
        dataset = datasets.load(self.source.data, setting.data_dir)
        return dataset.describe() | {"correct_answers": _share_correct(dataset)}


def cost_of_reports(mechanism: str, cells: int) -> float:
    """Processor seconds for perturbing that many cells and for Algorithm 1 on the reports."""
    return _COST[mechanism.partition(":")[0]] * cells / 1e6


def synthetic(workers: int, tasks: int, sparsity: float, mean: float = 0) -> DataSource:
    """A crowd of the paper's kind, with truths from N(mean, 1)."""
    data = f"synthetic:workers={workers},tasks={tasks},sparsity={sparsity:g}"
    return DataSource(data + (f",truth-mean={mean:g}" if mean else ""), workers, tasks)


def known(name: str, data_dir: str | None) -> DataSource:
    """One of the real data sets, if its files are here."""
    folder = datasets.path(name, data_dir)
    files = [folder / file for file in datasets.KNOWN[name].files]
    return DataSource(name, *_SIZES[name], digest=_digest(*files), estimand=_ESTIMAND)


def own(
    data: str,
    truth: str | None,
    scale: str | None,
    on_conflict: OnConflict,
    data_dir: str | None,
    estimand: Estimand | None = None,
) -> DataSource:
    """A user's own data; read once here, so that bad input is refused before any long work."""
    dataset = datasets.read(
        data, truth=truth, scale=scale, on_conflict=on_conflict, data_dir=data_dir
    )
    workers, tasks = len(dataset.answers.workers), len(dataset.answers.tasks)
    files = [Path(file) for file in (data, truth) if file and Path(file).is_file()]
    return DataSource(
        data,
        workers,
        tasks,
        truth,
        scale,
        on_conflict,
        _digest(*files),
        estimand or dataset.estimand,
        default_estimand(dataset.answers.scale),
    )


_SIZES = {"wsd": (34, 177), "adult": (825, 11_040)}
_ESTIMAND: Estimand = "label"  # of both: one of the answers is right


@lru_cache(maxsize=1)
def _study(
    source: DataSource, method: str, estimand: Estimand | None, setting: RunSetting
) -> Study:
    """The study whose jobs are run; one and the same for neighbouring cells, which then share the
    crowd that is drawn for a repeat. Its own ε and mechanism play no part: a job brings its own.
    """
    return Study(
        data=source.data,
        epsilons=(1.0,),
        mechanisms=("rr",),
        methods=(method,),
        seed=setting.seed,
        truth=source.truth,
        scale=source.scale,
        data_dir=setting.data_dir,
        on_conflict=source.on_conflict,
        estimand=estimand,
    )


def _share_correct(dataset: Dataset) -> float:
    """Of the answers to tasks with a known truth, the share that says it."""
    answers = dataset.answers
    truth = dataset.truth[answers.task]
    value = np.asarray(answers.scale.values)[answers.code]
    return float(np.mean(value[~np.isnan(truth)] == truth[~np.isnan(truth)]))


def _digest(*files: Path) -> str:
    total = hashlib.sha256()
    for file in files:
        total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()[:24]

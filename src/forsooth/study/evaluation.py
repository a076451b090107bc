"""The comparison: perturb, infer, measure, beside the trivial baselines, over repeats.

MAE change = MAE after perturbation − MAE of Algorithm 1 on the original answers. Synthetic crowds
are drawn again for every repeat; on real data the repeats differ in their noise.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from forsooth import mechanisms
from forsooth.errors import ForsoothError
from forsooth.estimand import check_estimand
from forsooth.inference import NAMES, infer
from forsooth.planning.adaptive import ADAPTIVE, adaptive_reports
from forsooth.privacy import check_epsilon, check_protects
from forsooth.scale import Scale
from forsooth.study import datasets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from forsooth.answers import OnConflict
    from forsooth.dataset import Dataset
    from forsooth.estimand import Estimand
    from forsooth.mechanisms.base import Mechanism
    from forsooth.privacy import Protects, Unit
    from forsooth.reports import Reports

Run = dict[str, Any]
_MEASURES = ("mae", "mae_change", "mae_original", "mae_constant", "mae_middle", "coverage")
_GROUP = ("data", "mirror", "mechanism", "method", "protects", "guarantee", "epsilon", "estimand")


@dataclass(frozen=True)
class Study:
    """What to compare on what. `protects` None lets each mechanism protect what it can.

    `estimand` None stands for that of the data. It is used by the method posterior only.
    """

    data: str
    epsilons: tuple[float, ...]
    mechanisms: tuple[str, ...]
    methods: tuple[str, ...] = ("algorithm1",)
    protects: Protects | None = None
    unit: Unit = "cell"
    sampled: int = 1
    repeats: int = 1
    seed: int = 0
    mirror: bool = False
    truth: str | None = None
    scale: str | None = None
    data_dir: str | None = None
    on_conflict: OnConflict = "error"
    estimand: Estimand | None = None

    def __post_init__(self) -> None:
        for epsilon in self.epsilons:
            check_epsilon(epsilon)
        if self.protects is not None:
            check_protects(self.protects)
        if self.estimand is not None:
            check_estimand(self.estimand)
        if unknown := [method for method in self.methods if method not in NAMES]:
            raise ForsoothError(f"unknown method {unknown[0]!r}; known: {', '.join(NAMES)}")
        if self.repeats < 1 or not 0 <= self.seed < 2**63:
            raise ForsoothError(
                "evaluate needs at least one repeat and a seed that is not negative"
            )
        if not (self.epsilons and self.mechanisms and self.methods):
            raise ForsoothError("evaluate needs at least one ε, one mechanism and one method")
        for what in (self.epsilons, self.mechanisms, self.methods):
            if len(set(what)) < len(what):
                raise ForsoothError(f"the same value is asked for twice: {what}")
        dataset = self.dataset(0)
        for name, epsilon in product(self.mechanisms, self.epsilons):
            if name != ADAPTIVE:
                self.mechanism(name, epsilon, dataset)

    def dataset(self, repeat: int) -> Dataset:
        """The data of one repeat."""
        seed = int(np.random.SeedSequence([self.seed, repeat]).generate_state(1, np.uint64)[0])
        dataset = datasets.read(
            self.data,
            truth=self.truth,
            scale=Scale.parse(self.scale) if self.scale else None,
            data_dir=self.data_dir,
            on_conflict=self.on_conflict,
            seed=seed,
        )
        return dataset.mirrored() if self.mirror else dataset

    def mechanism(self, name: str, epsilon: float, dataset: Dataset) -> Mechanism:
        """A mechanism for this data; `mf` runs beside the others, but says what it protects."""
        answers_only = name.partition(":")[0] == "mf"
        return mechanisms.build(
            name,
            dataset.answers.scale,
            epsilon,
            tasks=len(dataset.answers.tasks),
            protects=None if answers_only else self.protects,
            unit=self.unit,
            sampled=self.sampled,
        )

    def estimand_of(self, dataset: Dataset, mechanism: Mechanism) -> Estimand | None:
        """What the posterior is to estimate; of sums only levels, unless the study insists."""
        if self.estimand is None and mechanisms.reports_sums(mechanism):
            return "level"
        return self.estimand or dataset.estimand

    def reports(self, name: str, epsilon: float, dataset: Dataset, seed: int) -> list[Reports]:
        """What leaves the workers; an adaptive campaign has reports from two tables."""
        if name == ADAPTIVE:
            protects = self.protects or "answers+participation"
            return adaptive_reports(
                dataset.answers,
                epsilon,
                protects=protects,
                estimand=self.estimand or dataset.estimand,
                simulation_seed=seed,
            )
        mechanism = self.mechanism(name, epsilon, dataset)
        return [mechanism.perturb(dataset.answers, simulation_seed=seed)]

    def jobs(self) -> list[Job]:
        """Independent pieces of work, in a stable order."""
        pieces = product(range(self.repeats), self.mechanisms, self.epsilons)
        return [Job(self, repeat, name, epsilon) for repeat, name, epsilon in pieces]


@dataclass(frozen=True)
class Job:
    """One perturbation of one repeat's data, and every method on its reports."""

    study: Study
    repeat: int
    mechanism: str
    epsilon: float

    def run(self) -> list[Run]:
        """One run per method."""
        study, (dataset, original) = self.study, _prepared(self.study, self.repeat)
        reports = self.reports(dataset)
        guarantee = reports[0].mechanism.guarantee
        estimand = study.estimand_of(dataset, reports[0].mechanism)
        runs = []
        for method in study.methods:
            ours = method == "posterior"
            truths = infer(reports, method, estimand=estimand if ours else None)
            mae = truths.error(dataset.truth)
            runs.append(
                {
                    "data": study.data,
                    "mirror": study.mirror,
                    "mechanism": self.mechanism,
                    "method": method,
                    "protects": guarantee.protects,
                    "guarantee": guarantee.epsilon,
                    "epsilon": self.epsilon,
                    "repeat": self.repeat,
                    "mae": mae,
                    "mae_original": original,
                    "mae_change": mae - original,
                    "mae_constant": dataset.constant_error(),
                    "mae_middle": dataset.middle_error(),
                    "coverage": truths.coverage(dataset.truth),
                    "estimand": truths.posterior.estimand if truths.posterior else None,
                }
            )
        return runs

    def reports(self, dataset: Dataset) -> list[Reports]:
        """What leaves the workers of this repeat's data."""
        return self.study.reports(self.mechanism, self.epsilon, dataset, self._noise_seed())

    def _noise_seed(self) -> int:
        """Different for every job, the same whenever the job is run again."""
        label = zlib.crc32(f"{self.mechanism} {self.epsilon!r}".encode())
        words = np.random.SeedSequence([self.study.seed, self.repeat, label, 1])
        return int(words.generate_state(1, np.uint64)[0])


@lru_cache(maxsize=1)
def _prepared(study: Study, repeat: int) -> tuple[Dataset, float]:
    """A repeat's data and the MAE of Algorithm 1 on its unperturbed answers."""
    dataset = study.dataset(repeat)
    return dataset, infer(dataset.answers, "algorithm1").error(dataset.truth)


def evaluate(
    study: Study, *, processes: int = 1, progress: Callable[[int, int], None] | None = None
) -> dict[str, list[Run]]:
    """All runs and their summary; `progress` is told how many jobs of how many are done."""
    jobs, results = study.jobs(), {}
    for index, runs in _run_all(jobs, min(processes, len(jobs))):
        results[index] = runs
        if progress:
            progress(len(results), len(jobs))
    runs = [run for index in range(len(jobs)) for run in results[index]]
    return {"runs": runs, "summary": summarise(runs)}


def _run_all(jobs: list[Job], processes: int) -> Iterator[tuple[int, list[Run]]]:
    if processes <= 1:
        for index, job in enumerate(jobs):
            yield index, job.run()
        return
    from concurrent.futures import as_completed

    from forsooth.processes import Pool

    with Pool(processes, _one_thread) as pool:
        waiting = {pool.submit(Job.run, job): index for index, job in enumerate(jobs)}
        for done in as_completed(waiting):
            yield waiting[done], done.result()


def _one_thread() -> None:
    """One process per core: linear algebra must not start threads of its own."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def summarise(runs: list[Run]) -> list[Run]:
    """Mean, median and standard error over the repeats (null for a single repeat)."""
    groups: dict[tuple[Any, ...], list[Run]] = {}
    for run in runs:
        groups.setdefault(tuple(run[key] for key in _GROUP), []).append(run)
    summary = []
    for key, members in groups.items():
        row: Run = dict(zip(_GROUP, key)) | {"repeats": len(members)}
        for measure in _MEASURES:
            values = np.array([member[measure] for member in members])
            row[measure] = float(values.mean())
            row[f"{measure}_median"] = float(np.median(values))
            row[f"{measure}_se"] = (
                float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else None
            )
        summary.append(row)
    return summary

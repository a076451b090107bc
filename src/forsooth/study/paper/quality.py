"""Worker quality before and after perturbation, as Algorithm 1 infers it.

Quality is relative: a worker of average quality has 1, as the paper's commented text shows it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from forsooth import mechanisms
from forsooth.inference import infer
from forsooth.study import datasets
from forsooth.study.paper.cells import OVERHEAD, Cell, cost_of_reports
from forsooth.study.paper.readings import ALGORITHM_1

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.dataset import Dataset
    from forsooth.study.paper.cells import DataSource, RunSetting

BINS = np.linspace(0, 3, 31)  # the last bin is open: few workers have three times the average


@dataclass(frozen=True)
class QualityCell(Cell):
    """The distribution of worker quality from the answers, and from one perturbation of them."""

    kind: ClassVar[str] = "quality"

    source: DataSource
    mechanism: str
    epsilon: float
    repeat: int

    @property
    def seconds(self) -> float:
        """As the cells of errors: Algorithm 1 takes most of the time."""
        return cost_of_reports(self.mechanism, self.source.size) + OVERHEAD

    def run(self, setting: RunSetting) -> dict[str, Any]:
        """Shares of workers per bin, how many are above 1, and how much of their order is left."""
        from scipy.stats import spearmanr

        dataset, before = _original(self.source, self.repeat, setting)
        answers = dataset.answers
        mechanism = mechanisms.build(
            self.mechanism, answers.scale, self.epsilon, tasks=len(answers.tasks)
        )
        seed = np.random.SeedSequence([setting.seed, self.repeat, len(answers.tasks)])
        noise = int(seed.generate_state(1, np.uint64)[0])
        after = _relative_quality(mechanism.perturb(answers, simulation_seed=noise))
        return {
            "before": shares(before),
            "after": shares(after),
            "above_before": float(np.mean(before >= 1)),
            "above_after": float(np.mean(after >= 1)),
            "correlation": float(spearmanr(before, after).statistic),
            "right_side": _right_side(dataset, before),
        }


def shares(quality: NDArray[np.float64]) -> list[float]:
    """The share of workers in every bin."""
    counts, _ = np.histogram(np.minimum(quality, np.nextafter(BINS[-1], 0)), BINS)
    return [float(count) for count in counts / len(quality)]


@lru_cache(maxsize=1)
def _original(
    source: DataSource, repeat: int, setting: RunSetting
) -> tuple[Dataset, NDArray[np.float64]]:
    """A repeat's data and the quality that its answers give."""
    seed = int(np.random.SeedSequence([setting.seed, repeat]).generate_state(1, np.uint64)[0])
    dataset = datasets.read(source.data, data_dir=setting.data_dir, seed=seed)
    return dataset, _relative_quality(dataset.answers)


def _relative_quality(data: object) -> NDArray[np.float64]:
    quality = infer(data, ALGORITHM_1).quality
    return quality * len(quality)


def _right_side(dataset: Dataset, quality: NDArray[np.float64]) -> float:
    """The share of workers for whom "quality is at least 1" says the same as "among the half that
    is nearer to the known truths"; workers without an answer to such a task are left out.
    """
    answers = dataset.answers
    error = np.asarray(answers.scale.values)[answers.code] - dataset.truth[answers.task]
    known = ~np.isnan(error)
    count = np.bincount(answers.worker[known], minlength=len(quality))
    total = np.bincount(answers.worker[known], error[known] ** 2, minlength=len(quality))
    some = count > 0
    distance = total[some] / count[some]
    return float(np.mean((distance <= np.median(distance)) == (quality[some] >= 1)))

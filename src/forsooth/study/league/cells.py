"""One run of the league: one entry on one repeat of one data set, at one ε, and its measures.

- `error`: for levels the mean absolute error as a share of the scale's range, for labels the share
  of wrong labels (an estimate counts as the nearest label).
- `log_loss`: for labels the mean of −ln P(true label), where there are probabilities.
- `coverage`: the share of truths in their 90 % intervals, where there are intervals.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from forsooth.inference import METHODS, infer
from forsooth.mechanisms import reports_sums
from forsooth.reports import Reports
from forsooth.study.league import entries
from forsooth.study.league.entries import CONSTANT, GUESS, PLAIN, POSTERIOR, Entry
from forsooth.study.paper.cells import Cell
from forsooth.study.rivals import INFERENCE, PRIVATE, Annotations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from forsooth.answers import Answers
    from forsooth.dataset import Dataset
    from forsooth.study.league.sets import LeagueSet
    from forsooth.study.paper.cells import RunSetting
    from forsooth.study.rivals import Aggregated
    from forsooth.truths import Truths

    Array = NDArray[np.float64]
    Data = Sequence[Reports | Answers]

MEASURES = ("error", "mae", "accuracy", "log_loss", "coverage")
_LEAST = 1e-6  # probability of the true label in the log loss: certain and wrong costs 13.8

# Processor seconds, measured roughly: what the forecast starts from.
_COST_OF_CELLS = {POSTERIOR: 2.0, "pipeline": 0.3}  # for the root of a million cells
_COST_OF_OTHERS = 3.0  # for a million cells or answers
_OVERHEAD = 0.1


@dataclass(frozen=True)
class LeagueCell(Cell):
    """One run."""

    kind: ClassVar[str] = "league"

    source: LeagueSet
    entry: Entry
    epsilon: float  # 0 for plain answers
    repeat: int

    @property
    def description(self) -> dict[str, Any]:
        """All that decides the result, apart from the seed."""
        return {
            "kind": self.kind,
            "set": self.source.identity,
            "mechanism": self.entry.mechanism,
            "method": self.entry.method,
            "epsilon": self.epsilon,
            "repeat": self.repeat,
        }

    @property
    def seconds(self) -> float:
        """By the number of cells or answers that are worked on."""
        hidden = self.entry.promise in ("cell", "person")
        millions = (self.source.size if hidden else self.source.answers) / 1e6
        name = "pipeline" if self.entry.mechanism in PRIVATE else self.entry.method
        if name in _COST_OF_CELLS:
            return _COST_OF_CELLS[name] * math.sqrt(millions) + _OVERHEAD
        return _COST_OF_OTHERS * millions + _OVERHEAD

    def run(self, setting: RunSetting) -> dict[str, Any]:
        """The measures; None where a measure makes no sense."""
        dataset = _dataset(self.source, setting, self.repeat)
        if self.entry.mechanism == GUESS:
            return _guess(dataset, self.entry.method)
        if self.entry.mechanism in PRIVATE:
            random = np.random.default_rng(self._noise_seed(setting.seed))
            rival = PRIVATE[self.entry.mechanism]
            return _of_rival(rival.run(dataset.answers, self.epsilon, random), dataset)
        data = self._data(dataset, setting.seed)
        if self.entry.method == POSTERIOR:
            estimand = "level" if any(map(_are_sums, data)) else dataset.estimand
            return _of_truths(infer(data, estimand=estimand), dataset)
        if dataset.estimand == "level" and self.entry.method in METHODS:
            return _of_truths(infer(data, self.entry.method), dataset)  # has intervals
        return _of_rival(INFERENCE[self.entry.method].infer(Annotations.of(*data)), dataset)

    def _data(self, dataset: Dataset, seed: int) -> Data:
        if self.entry.mechanism == PLAIN:
            return [dataset.answers]
        estimand, noise = self.source.estimand, self._noise_seed(seed)
        return entries.reports(self.entry.mechanism, self.epsilon, dataset, estimand, noise)

    def _noise_seed(self, seed: int) -> int:
        """One for all methods on the same reports."""
        label = f"{self.source.name} {self.entry.mechanism} {self.epsilon!r}"
        words = np.random.SeedSequence([seed, self.repeat, zlib.crc32(label.encode()), 1])
        return int(words.generate_state(1, np.uint64)[0] // 2)


@lru_cache(maxsize=1)
def _dataset(source: LeagueSet, setting: RunSetting, repeat: int) -> Dataset:
    """One repeat's data, which neighbouring cells share."""
    return source.load(setting.data_dir, setting.seed, repeat)


def _are_sums(part: Reports | Answers) -> bool:
    """Sums over tasks tell about mean answers only, whatever the estimand."""
    return isinstance(part, Reports) and reports_sums(part.mechanism)


def _of_truths(truths: Truths, dataset: Dataset) -> dict[str, Any]:
    posterior = truths.posterior
    labels = posterior is not None and posterior.estimand == "label"
    mass = posterior.mass if posterior is not None and labels else None
    return _measures(truths.estimate, dataset, mass) | {"coverage": truths.coverage(dataset.truth)}


def _of_rival(found: Aggregated, dataset: Dataset) -> dict[str, Any]:
    estimate = found.estimate(dataset.estimand or "level")
    return _measures(estimate, dataset, found.probability)


def _measures(estimate: Array, dataset: Dataset, probability: Array | None) -> dict[str, Any]:
    """Of the tasks whose truth is known."""
    known, scale = ~np.isnan(dataset.truth), dataset.answers.scale
    truth, values = dataset.truth[known], np.asarray(scale.values)
    distance = float(np.abs(estimate[known] - truth).mean())
    found: dict[str, Any] = dict.fromkeys(MEASURES)
    found["mae"] = distance
    if dataset.estimand != "label":
        return found | {"error": distance / scale.range}
    nearest = values[np.abs(estimate[known, None] - values).argmin(axis=1)]
    accuracy = float((nearest == truth).mean())
    found |= {"error": 1 - accuracy, "accuracy": accuracy}
    if probability is not None:
        of_truth = probability[known, np.searchsorted(values, truth)]
        found["log_loss"] = float(-np.log(np.maximum(of_truth, _LEAST)).mean())
    return found


def _guess(dataset: Dataset, method: str) -> dict[str, Any]:
    """What can be had without any answer."""
    known, scale = dataset.known, dataset.answers.scale
    labels = dataset.estimand == "label"
    if labels:
        values, counts = np.unique(known, return_counts=True)
        constant = float(values[counts.argmax()])
    else:
        constant = float(np.median(known))
    guess = constant if method == CONSTANT else scale.middle
    found = _measures(np.full(len(dataset.truth), guess), dataset, None)
    if labels and method != CONSTANT:
        random = 1 / scale.size
        found |= {"mae": None, "error": 1 - random, "accuracy": random}
        found["log_loss"] = math.log(scale.size)
    return found

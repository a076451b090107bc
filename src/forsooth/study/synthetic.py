"""Synthetic crowds as in the paper.

Each truth is drawn from N(mean, sd²) and clipped to the scale. A share of the workers is good
(σ = 1), the rest bad (σ = 5). An answer is truth + N(0, σ_i²), rounded to the nearest answer of the
scale, hence clipped to it. Each cell is NULL with probability `sparsity`; a worker left without any
answer gives one, to a random task.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from forsooth.answers import Answers, code_dtype
from forsooth.dataset import Dataset
from forsooth.errors import ForsoothError
from forsooth.scale import Scale

if TYPE_CHECKING:
    from numpy.typing import NDArray

PREFIX = "synthetic"
_LARGEST = 1_000_000_000
PAPER_SCALE = Scale.parse("0..9")


@dataclass(frozen=True)
class SyntheticCrowd:
    """The parameters of a synthetic crowd; the defaults are the paper's smaller one."""

    workers: int = 2000
    tasks: int = 200
    sparsity: float = 0.9
    truth_mean: float = 0.0
    truth_sd: float = 1.0
    good: float = 0.5
    sigma_good: float = 1.0
    sigma_bad: float = 5.0
    scale: Scale = PAPER_SCALE

    def __post_init__(self) -> None:
        if not (self.workers >= 1 and self.tasks >= 1 and self.workers * self.tasks <= _LARGEST):
            raise ForsoothError(
                f"a synthetic crowd needs workers and tasks, and at most {_LARGEST:,} cells"
            )
        if not 0 <= self.sparsity < 1 or not 0 <= self.good <= 1:
            raise ForsoothError(
                "sparsity must lie in [0, 1) and the share of good workers in [0, 1]"
            )
        spreads = np.array([self.truth_sd, self.sigma_good, self.sigma_bad])
        if not (spreads >= 0).all() or not np.isfinite([*spreads, self.truth_mean]).all():
            raise ForsoothError("means must be finite and standard deviations not negative")

    @classmethod
    def parse(cls, text: str, scale: Scale | None = None) -> SyntheticCrowd:
        """Read ``synthetic:workers=2000,tasks=200,sparsity=0.9,truth-mean=4``."""
        prefix, _, options = text.partition(":")
        if prefix != PREFIX:
            raise ForsoothError(f"{text!r} is not a synthetic crowd: write synthetic:workers=…")
        given: dict[str, Any] = {"scale": scale} if scale else {}
        for pair in filter(None, options.split(",")):
            key, _, value = pair.partition("=")
            name = key.strip().replace("-", "_")
            if name not in _OPTIONS:
                known = ", ".join(option.replace("_", "-") for option in _OPTIONS)
                raise ForsoothError(f"{text!r}: unknown option {key!r}; known: {known}")
            try:
                given[name] = _OPTIONS[name](value)
            except ValueError:
                wanted = "a whole number" if _OPTIONS[name] is int else "a number"
                raise ForsoothError(f"{text!r}: {key} must be {wanted}, got {value!r}") from None
        return cls(**given)

    def draw(self, seed: int, name: str = PREFIX) -> Dataset:
        """One crowd; the same seed gives the same crowd."""
        random = np.random.default_rng(seed)
        truth = random.normal(self.truth_mean, self.truth_sd, self.tasks)
        truth = np.clip(truth, self.scale.low, self.scale.high)
        worker, task = self._answered(random)
        sigma = np.full(self.workers, float(self.sigma_bad))
        sigma[random.permutation(self.workers)[: round(self.good * self.workers)]] = self.sigma_good
        heard = truth[task] + random.normal(size=len(task)) * sigma[worker]
        values = np.asarray(self.scale.values)
        code = np.searchsorted((values[1:] + values[:-1]) / 2, heard)
        answers = Answers(
            self.scale,
            _names("w", self.workers),
            _names("t", self.tasks),
            worker.astype(np.int32),
            task.astype(np.int32),
            code.astype(code_dtype(self.scale)),
        )
        return Dataset(name, answers, truth, "level")

    def _answered(self, random: np.random.Generator) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        answered = random.random((self.workers, self.tasks)) >= self.sparsity
        silent = np.flatnonzero(~answered.any(axis=1))
        answered[silent, random.integers(0, self.tasks, len(silent))] = True
        worker, task = np.nonzero(answered)
        return worker, task


_OPTIONS: dict[str, type[int] | type[float]] = {
    field.name: int if isinstance(field.default, int) else float
    for field in fields(SyntheticCrowd)
    if field.name != "scale"
}


def _names(letter: str, count: int) -> tuple[str, ...]:
    """Padded with zeros, so that their sorted order is their order."""
    width = len(str(count - 1))
    return tuple(f"{letter}{number:0{width}}" for number in range(count))

"""A campaign of any size in a file (simulated answers, perturbed), and inference from it, timed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from forsooth import Scale, mechanisms
from forsooth.answers import Answers, code_dtype
from forsooth.inference.engines.base import Engine, Here
from forsooth.inference.engines.files import infer_files
from forsooth.inference.posterior.options import Options
from forsooth.io.report_files import ReportFiles, write_in_pieces
from forsooth.mechanisms.base import PIECE_CELLS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from forsooth.inference.posterior.options import Model
    from forsooth.io.report_files import Piece
    from forsooth.reports import Reports

T = TypeVar("T")
EPSILON = 1.0
_ANSWERED = 0.3  # of the cells
_GUESSERS, _KNOWN = 0.3, 0.95  # workers who guess everything; what the others know


@dataclass(frozen=True)
class BenchCampaign:
    """So many workers who report on all tasks by `rr`; a piece of a file is a row group."""

    workers: int
    tasks: int
    scale: Scale
    piece: int = PIECE_CELLS  # cells

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return self.workers * self.tasks

    def write(self, path: Path) -> None:
        """The reports; memory is that of a piece, whatever their number."""
        write_in_pieces(path, self._reports())

    def _reports(self) -> Iterator[Reports]:
        mechanism, random = mechanisms.rr(self.scale, EPSILON), np.random.default_rng(0)
        some = max(1, self.piece // self.tasks)
        for start in range(0, self.workers, some):
            yield mechanism.perturb(self._answers(start, min(some, self.workers - start), random))

    def _answers(self, start: int, workers: int, random: np.random.Generator) -> Answers:
        answered = random.random((workers, self.tasks), np.float32) < _ANSWERED
        worker, task = np.nonzero(answered)
        known = np.where(random.random(workers) < _GUESSERS, 0.0, _KNOWN)
        knows = random.random(len(worker), np.float32) < known[worker]
        guess = random.integers(0, self.scale.size, len(worker), code_dtype(self.scale).type)
        return Answers(
            self.scale,
            tuple(f"w{number}" for number in range(start, start + workers)),
            tuple(f"t{number}" for number in range(self.tasks)),
            worker.astype(np.int32),
            task.astype(np.int32),
            np.where(knows, _truth(self.tasks, self.scale)[task], guess),
        )


def _truth(tasks: int, scale: Scale) -> NDArray[np.uint8]:
    """What the workers are asked for: places on the scale."""
    return np.random.default_rng(1).integers(0, scale.size, tasks, np.uint8)


def timed_inference(
    path: Path, warm: Path, model: Model, engine: Engine | None = None
) -> dict[str, float]:
    """Seconds from opening a file to the truths, after the same on a small file, `warm`."""
    _inference(warm, model, engine)
    return _inference(path, model, engine)


def clocked_inference(path: Path, warm: Path, model: Model) -> dict[str, float]:
    """The same, and the seconds of these that went by in passes over the file."""
    _inference(warm, model, None)
    engine = _Clocked()
    return _inference(path, model, engine) | {"passes": engine.seconds}


def _inference(path: Path, model: Model, engine: Engine | None) -> dict[str, float]:
    start = time.perf_counter()
    files = ReportFiles.open([path])
    truths = infer_files(files, options=Options(model=model), engine=engine, workers=False)
    seconds = time.perf_counter() - start
    right = np.asarray(files.scale.values)[_truth(len(files.tasks), files.scale)]
    return {
        "seconds": seconds,
        "iterations": truths.iterations,
        "converged": truths.converged,
        "mean_error": float(np.abs(truths.estimate - right).mean()),
    }


class _Clocked(Here):
    """The local engine with a clock that runs while it works."""

    seconds = 0.0

    def each(self, work: Callable[[Piece], T], pieces: Sequence[Piece]) -> Iterator[T]:
        """In order."""
        found, start = super().each(work, pieces), time.perf_counter()
        for result in found:
            self.seconds += time.perf_counter() - start
            yield result
            start = time.perf_counter()

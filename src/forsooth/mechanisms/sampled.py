"""`unit="worker"`: ε for all that one worker says, instead of ε per cell.

Each worker reports on k tasks only. Which ones is drawn from a public seed and the worker's name,
independently of any answer; so the draw tells nothing and the other tasks cannot influence the
report at all. Each of the k cells goes through an ordinary mechanism with ε/k.

**Guarantee.** Two answer vectors that differ anywhere differ, as far as the report can see, in at
most k cells; cells are drawn independently, so the ratios multiply: (e^(ε/k))^k = e^ε.

With randomized response the information per cell grows like ε² for small ε, so k cells with ε/k
carry 1/k of what one cell with ε does: k = 1 is the default.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from forsooth.answers import Answers
from forsooth.errors import ForsoothError
from forsooth.io import strict
from forsooth.mechanisms.assignment import sampled_tasks
from forsooth.mechanisms.base import BLOCK_CELLS, CellwiseMechanism, Layout, Mechanism
from forsooth.privacy import Privacy
from forsooth.rounding import float_below

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from forsooth.mechanisms.randomness import Randomness
    from forsooth.reports import Reports


@dataclass(frozen=True, repr=False)
class SampledTasks(Mechanism):
    """A cellwise mechanism on `count` publicly sampled tasks per worker; ε is the worker's."""

    kind = "sampled-tasks"

    inner: CellwiseMechanism
    count: int
    seed: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.count < 1:
            raise ForsoothError("at least one task must be sampled per worker")
        if (self.inner.scale, self.inner.protects) != (self.scale, self.protects):
            raise ForsoothError("the sampled mechanism must have the same scale and protection")
        spent = self.count * Fraction(self.inner.guarantee.epsilon)
        if spent > Fraction(self.epsilon):
            raise ForsoothError(
                f"{self.count} cells with ε = {self.inner.guarantee.epsilon!r} each spend more "
                f"than the worker's ε = {self.epsilon!r}"
            )

    @property
    def guarantee(self) -> Privacy:
        """Per cell what the inner mechanism gives; at most `count` cells count."""
        return Privacy(self.inner.guarantee.epsilon, self.protects, cells=self.count)

    @property
    def independent(self) -> bool:
        """As the inner mechanism."""
        return self.inner.independent

    @property
    def layout(self) -> Layout:
        """As the inner mechanism's."""
        return self.inner.layout

    @property
    def dtype(self) -> np.dtype[Any]:
        """As the inner mechanism's."""
        return self.inner.dtype

    @property
    def bits(self) -> int:
        """As the inner mechanism's."""
        return self.inner.bits

    def width(self, tasks: int) -> int:
        """One value per sampled task."""
        if self.count > tasks:
            raise ForsoothError(f"cannot sample {self.count} of {tasks} tasks")
        return self.count

    def sampled(self, workers: Sequence[str], tasks: int) -> NDArray[np.intp]:
        """The tasks on which each worker reports, in increasing order; public."""
        width, block = self.width(tasks), max(1, BLOCK_CELLS // tasks)
        chosen = np.empty((len(workers), width), np.intp)
        for start in range(0, len(workers), block):
            names = workers[start : start + block]
            chosen[start : start + block] = sampled_tasks(self.seed, names, tasks, width)
        return chosen

    def eligible(self, answers: Answers) -> Answers:
        """The answers to sampled tasks; nothing else can influence a report."""
        chosen = self.sampled(answers.workers, len(answers.tasks))
        kept = (chosen[answers.worker] == answers.task[:, None]).any(axis=1)
        return Answers(
            answers.scale,
            answers.workers,
            answers.tasks,
            answers.worker[kept],
            answers.task[kept],
            answers.code[kept],
        )

    def randomise(self, answers: Answers, random: Randomness) -> NDArray[Any]:
        """Every worker's sampled cells through the inner mechanism."""
        answers = self.eligible(answers)
        if self.layout == "cells":
            return self.inner.randomise(answers, random)
        secret = self.inner.secrets(len(answers.workers), random)[:, None]
        return self.inner.randomise_codes(self.codes(answers), secret, random)

    def codes(self, answers: Answers) -> NDArray[Any]:
        """What goes into every worker's cells: eligible answers, NULL where there is none."""
        chosen = self.sampled(answers.workers, len(answers.tasks))
        codes = np.full(chosen.shape, self.scale.null, answers.code.dtype)
        slot = (chosen[answers.worker] == answers.task[:, None]).argmax(axis=1)
        codes[answers.worker, slot] = answers.code
        return codes

    def readings(self, reports: Reports) -> NDArray[np.float64]:
        """The inner mechanism's readings, in their places; the other cells read as NULL."""
        readings = self.inner.readings(reports)
        if self.layout == "cells":
            return readings
        rows = np.full((len(reports.workers), len(reports.tasks)), np.nan)
        np.put_along_axis(rows, self.sampled(reports.workers, len(reports.tasks)), readings, 1)
        return rows

    def check(self, values: NDArray[Any], tasks: int) -> NDArray[np.bool_]:
        """As the inner mechanism's."""
        return self.inner.check(values, tasks)

    def parameters(self) -> dict[str, Any]:
        """The inner mechanism and the sampling."""
        return {"inner": self.inner.to_json(), "count": self.count, "seed": self.seed}

    @classmethod
    def from_parameters(
        cls, common: Mapping[str, Any], parameters: Mapping[str, Any]
    ) -> SampledTasks:
        """Verified by the constructor."""
        inner = Mechanism.from_json(strict.string(parameters["inner"], "inner"))
        if not isinstance(inner, CellwiseMechanism):
            raise ForsoothError(f"{inner.name} cannot be used on sampled tasks")
        count = strict.integer(parameters["count"], "count", 1)
        seed = strict.integer(parameters["seed"], "seed", 0)
        return cls(**common, inner=inner, count=count, seed=seed)


def per_worker(
    make: Callable[[float], Mechanism], epsilon: float, *, count: int = 1, seed: int = 0
) -> SampledTasks:
    """ε for a whole worker: `make` builds the mechanism of one cell from its share of ε."""
    inner = make(float_below(Fraction(epsilon) / max(1, count)))
    if not isinstance(inner, CellwiseMechanism):
        raise ForsoothError(f"{inner.name} has no cells to sample: unit=worker needs lp, rr, …")
    return SampledTasks(inner.name, inner.scale, epsilon, inner.protects, inner, count, seed)

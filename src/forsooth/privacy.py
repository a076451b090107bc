"""What is promised: ε, what it protects, per cell and for one worker as a whole."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, cast, get_args

from forsooth.errors import ForsoothError

Protects = Literal["answers+participation", "answers"]
PROTECTS: tuple[str, ...] = get_args(Protects)


@dataclass(frozen=True)
class Privacy:
    """An ε-local-differential-privacy guarantee per cell.

    Two answer vectors are neighbours if they differ in one cell: in its value, and, when
    participation is protected too, in whether it was answered at all. For neighbours the
    probability of every report differs by a factor of at most e^ε.
    """

    epsilon: float
    protects: Protects = "answers+participation"

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)
        check_protects(self.protects)

    def worker_total(self, cells: int) -> float:
        """ε for everything that one worker says in `cells` cells (sequential composition)."""
        return self.epsilon * cells

    def describe(self, tasks: int) -> str:
        """The guarantee in one sentence, per cell and per worker together."""
        if self.protects == "answers+participation":
            what = "each answer and whether it was given"
            cells = f"one worker's {tasks:,} cells together: at most {self.worker_total(tasks):g}"
        else:
            what = "each answer; which tasks were answered is public"
            cells = (
                f"one worker's k answers together: at most {self.epsilon:g}·k, "
                f"{self.worker_total(tasks):g} if all {tasks:,} tasks are answered"
            )
        return f"ε = {self.epsilon:g} per cell ({what}); {cells}"


def check_epsilon(epsilon: float) -> float:
    """ε as a float, if it is a positive finite number."""
    if not (isinstance(epsilon, int | float) and math.isfinite(epsilon) and epsilon > 0):
        raise ForsoothError(f"ε must be a finite number above 0, got {epsilon!r}")
    return float(epsilon)


def check_protects(protects: str) -> Protects:
    """`protects`, if it is one of the two words we know."""
    if protects not in PROTECTS:
        raise ForsoothError(f"protects must be one of {', '.join(PROTECTS)}; got {protects!r}")
    return cast("Protects", protects)

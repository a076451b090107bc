"""What is promised: ε, what it protects, per cell and for one worker as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import Literal, cast, get_args

from forsooth.errors import ForsoothError
from forsooth.odds import amount, odds, strength
from forsooth.plural import counted
from forsooth.rounding import float_above

Protects = Literal["answers+participation", "answers"]
PROTECTS: tuple[str, ...] = get_args(Protects)
Unit = Literal["cell", "worker"]
UNITS: tuple[str, ...] = get_args(Unit)
MAX_EPSILON = 1e6  # far beyond what protects anybody; keeps the arithmetic finite


@dataclass(frozen=True)
class Privacy:
    """An ε-local-differential-privacy guarantee.

    Two answer vectors are neighbours if they differ in one cell: in its value, and, when
    participation is protected too, in whether it was answered at all. For neighbours the
    probability of every report differs by a factor of at most e^ε.

    `cells` says how many cells of one worker can influence the report, where a public rule limits
    them (`unit="worker"`); None where all of the campaign's cells can.
    """

    epsilon: float
    protects: Protects = "answers+participation"
    cells: int | None = None

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)
        check_protects(self.protects)

    def worker_total(self, tasks: int) -> float:
        """ε for all that one worker says in a campaign of `tasks` tasks (sequential composition).

        Changing k cells one after the other costs at most k·ε; for `mf` and `mf-safe` the same
        follows from the joint sensitivity of k cells, which is k times that of one. Rounded up.
        """
        cells = tasks if self.cells is None else min(self.cells, tasks)
        return float_above(Fraction(self.epsilon) * cells)

    def describe(self, tasks: int) -> str:
        """The guarantee in one sentence: what one worker says in all, then one cell by itself."""
        total, public = self.worker_total(tasks), self.protects == "answers"
        if self.cells is not None:
            counting = counted(min(self.cells, tasks), "sampled task")
            together = f"one worker together, over {counting}: ε = {amount(total)} at most"
        elif public and tasks > 1:
            together = (
                f"one worker's k answers together: ε = {amount(self.epsilon)}·k at most, "
                f"{amount(total)} if all {tasks:,} tasks are answered"
            )
        else:
            together = (
                f"one worker's {counted(tasks, 'cell')} together: ε = {amount(total)} at most"
            )
        what = "its answer" if public else "its answer and whether it was given"
        condition = ", if the others tell nothing about it" if tasks > 1 else ""
        return (
            f"{together} ({strength(total)}: 1 to 1 can become {odds(total)}); "
            f"ε = {amount(self.epsilon)} per cell ({what}){condition}"
            + ("; which tasks were answered is public" if public else "")
        )


def check_epsilon(epsilon: float) -> float:
    """ε as a float, if it is a positive finite number."""
    number = isinstance(epsilon, Real) and not isinstance(epsilon, bool)
    if not (number and 0 < epsilon <= MAX_EPSILON):
        raise ForsoothError(
            f"ε must be a finite number above 0 (and at most {MAX_EPSILON:g}), got {epsilon!r}"
        )
    return float(epsilon)


def check_protects(protects: str) -> Protects:
    """`protects`, if it is one of the two words we know."""
    if protects not in PROTECTS:
        raise ForsoothError(f"protects must be one of {', '.join(PROTECTS)}; got {protects!r}")
    return cast("Protects", protects)


def check_unit(unit: str) -> Unit:
    """`unit`, if it is one of the two words we know."""
    if unit not in UNITS:
        raise ForsoothError(f"the unit is {' or '.join(UNITS)}; got {unit!r}")
    return cast("Unit", unit)

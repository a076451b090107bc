"""The accountant: the central ε at δ, for each release and for both kinds of neighbours.

Two things can be published. *Counts*: for every task, how often each symbol was reported.
*Reports*: all whole reports in random order; the cells of one person then stay together, and other
people's whole reports have to hide them. Neighbours differ in one cell of one person, or in all.

The number of reports that hide one another is the number of honest ones, which nobody knows. It is
stated as a share of those received.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, get_args

from forsooth.checks import check_number, check_whole
from forsooth.errors import ForsoothError
from forsooth.mechanisms import ChannelMechanism, SampledTasks
from forsooth.shuffling import sums
from forsooth.shuffling.blanket import Blanket
from forsooth.shuffling.composition import PrivacyLoss

if TYPE_CHECKING:
    from collections.abc import Callable

    from forsooth.mechanisms import Mechanism
    from forsooth.privacy import Privacy, Unit

Release = Literal["counts", "reports"]
RELEASES: tuple[Release, ...] = get_args(Release)

# name              value   unit, reason
DELTA = 1e-6  # below one in the number of people of nearly every campaign
LEAST_DELTA = 1e-30  # far below all that matters, far above what floats lose
HONEST_SHARE = 0.5  # of the reports: an honest majority; half of n costs a factor of √2 in ε only
MOST_CELLS = 128  # of a whole report; for longer ones the local ε is stated
MOST_TOTAL = 64.0  # local ε of a whole report, beyond which no crowd hides it: e⁶⁴ reports
_TOLERANCE = 1e-5  # share of δ that a step of the arithmetic may lose
_LAST = 1e-3  # share of δ, over all tasks, beyond the last ε that a composition looks at
_PRECISION = 1e-3  # relative, of a certified ε
_NEGLIGIBLE = 1e-6  # an ε that need not be found more exactly


@dataclass(frozen=True)
class Senders:
    """How many reports there are on each task, and which share of them is assumed honest."""

    received: int
    honest_share: float = HONEST_SHARE

    def __post_init__(self) -> None:
        check_whole(self.received, "the number of reports")
        if not 0 < check_number(self.honest_share, "the honest share") <= 1:
            raise ForsoothError(
                f"the honest share must lie above 0 and not above 1, got {self.honest_share!r}"
            )

    @property
    def honest(self) -> int:
        """The number of honest reports, that of the protected person included."""
        return max(1, math.floor(self.received * self.honest_share))


@dataclass(frozen=True)
class Accountant:
    """What is needed to bound the central ε: the table's blanket, and the numbers.

    `together` says whether whole reports hide one another: not if the tasks that a person
    answered, or was drawn for, show in the report.
    """

    blanket: Blanket | None
    guarantee: Privacy
    tasks: int
    cells: int
    together: bool
    honest: int
    delta: float

    @classmethod
    def of(cls, mechanism: Mechanism, tasks: int, honest: int, delta: float = DELTA) -> Accountant:
        """For a mechanism that is an integer table; others are refused."""
        table = mechanism.inner if isinstance(mechanism, SampledTasks) else mechanism
        if not isinstance(table, ChannelMechanism):
            raise ForsoothError(
                f"central guarantees are certified for integer tables (rr, grr, two-step, "
                f"staircase), not for {mechanism.name}"
            )
        check_whole(tasks, "tasks")
        if not LEAST_DELTA <= check_number(delta, "δ") < 1:
            raise ForsoothError(f"δ must lie between {LEAST_DELTA:g} and 1, got {delta!r}")
        guarantee = mechanism.guarantee
        return cls(
            Blanket.of(table.channel),
            guarantee,
            tasks,
            tasks if guarantee.cells is None else min(guarantee.cells, tasks),
            table is mechanism and table.layout == "rows",
            honest,
            delta,
        )

    def local(self, unit: Unit) -> float:
        """The local ε."""
        return self.guarantee.epsilon if unit == "cell" else self.guarantee.worker_total(self.tasks)

    def central(self, release: Release, unit: Unit) -> float:
        """The certified central ε; never above the local one."""
        if self.blanket is None:
            return 0.0
        if release == "reports":
            return self._reports(self.blanket, unit)
        if unit == "cell":
            return self._smallest(self._task(self.blanket), unit)
        composed = self._composed(self.blanket)
        # counts can be computed from whole reports
        return composed if not self.together else min(composed, self._reports(self.blanket, unit))

    def _task(self, blanket: Blanket) -> Callable[[float], float]:
        """δ(ε) of one task's counts."""
        return partial(sums.delta, blanket.law(), self.honest, tolerance=_TOLERANCE * self.delta)

    def _reports(self, blanket: Blanket, unit: Unit) -> float:
        """Whole reports in random order."""
        if not self.together or self.cells > MOST_CELLS or self.local("worker") > MOST_TOTAL:
            return self.local(unit)
        law = blanket.law(self.cells, 1 if unit == "cell" else self.cells)
        curve = partial(sums.delta, law, self.honest, tolerance=_TOLERANCE * self.delta)
        return self._smallest(curve, unit)

    def _composed(self, blanket: Blanket) -> float:
        """The counts of all tasks, for everything that one person says."""
        if self.cells == 1:
            return self._smallest(self._task(blanket), "worker")
        tolerance = _TOLERANCE * self.delta / self.cells
        task = partial(sums.delta, blanket.law(), self.honest, tolerance=tolerance)
        last = _smallest(task, _LAST * self.delta / self.cells, self.local("cell"))
        loss = PrivacyLoss.of(task, last).times(self.cells, tolerance)
        return self._smallest(loss.delta, "worker")

    def _smallest(self, curve: Callable[[float], float], unit: Unit) -> float:
        return _smallest(curve, self.delta, self.local(unit))


def _smallest(curve: Callable[[float], float], delta: float, local: float) -> float:
    """The smallest ε with δ(ε) ≤ δ, within the precision and above it; at most `local`."""
    low, high = 0.0, local
    while high - low > _PRECISION * high and high > _NEGLIGIBLE:
        middle = (low + high) / 2
        if curve(middle) <= delta:
            high = middle
        else:
            low = middle
    return high

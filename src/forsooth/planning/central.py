"""The largest local ε that keeps a central promise, if reports are anonymous.

The central ε of `forsooth.shuffling` is searched by bisection over the local ε, in steps of three
digits. The answer itself has been certified, not only values near it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forsooth.errors import ForsoothError
from forsooth.privacy import check_epsilon, check_unit
from forsooth.shuffling import DELTA, HONEST_SHARE, Accountant, Senders, certify

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from forsooth.mechanisms import Mechanism
    from forsooth.planning.rehearsal import PlannedCampaign
    from forsooth.privacy import Unit
    from forsooth.shuffling import Certificate

# name           value  unit, reason
LEAST_LOCAL = 0.01  # ε; below it hardly anything is learned
MOST_LOCAL = 10.0  # ε; above it hardly anything is perturbed
_DIGITS = 3  # significant digits of the answer


@dataclass(frozen=True)
class CentralPromise:
    """(ε, δ) for counts per task from anonymous reports, of which a share is assumed honest.

    `unit` is what ε covers: everything that one worker says, or one cell.
    """

    epsilon: float
    delta: float = DELTA
    honest_share: float = HONEST_SHARE
    unit: Unit = "worker"

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)
        check_unit(self.unit)

    def local_epsilon(
        self, build: Callable[[float], Mechanism | None], tasks: int, workers: int
    ) -> float:
        """The largest ε of `build` that keeps the promise if `workers` report on every task."""
        senders = Senders(workers, self.honest_share)

        def kept(epsilon: float) -> bool:
            accountant = Accountant.of(_table(build(epsilon)), tasks, senders.honest, self.delta)
            return accountant.central("counts", self.unit) <= self.epsilon

        if not kept(LEAST_LOCAL):
            raise ForsoothError(
                f"{workers:,} workers are too few for a central ε of {self.epsilon:g}: not even a "
                f"local ε of {LEAST_LOCAL:g} keeps it"
            )
        if kept(MOST_LOCAL):
            return MOST_LOCAL
        low, high = LEAST_LOCAL, MOST_LOCAL
        while low < (middle := float(f"{(low + high) / 2:.{_DIGITS}g}")) < high:
            low, high = (middle, high) if kept(middle) else (low, middle)
        return low

    def certificate(self, mechanism: Mechanism | None, tasks: int, workers: int) -> Certificate:
        """What is certified for a mechanism that keeps the promise."""
        return certify(
            _table(mechanism),
            tasks=tasks,
            reports=workers,
            delta=self.delta,
            honest_share=self.honest_share,
        )

    def best_offer(
        self, campaigns: Sequence[PlannedCampaign], workers: int
    ) -> tuple[PlannedCampaign, float]:
        """The campaign with the smallest estimated error at the ε that it may use, and that ε."""
        offers = [
            (campaign, self.local_epsilon(campaign.built, campaign.tasks, workers))
            for campaign in campaigns
        ]
        if len(offers) == 1:
            return offers[0]
        return min(offers, key=lambda offer: offer[0].estimate(workers, offer[1]))


def _table(mechanism: Mechanism | None) -> Mechanism:
    """The mechanism, if the number of reports on each task is known when it is planned."""
    if mechanism is None:
        raise ForsoothError("adaptive campaigns have two mechanisms: they get no central guarantee")
    if mechanism.protects == "answers":
        raise ForsoothError(
            "with --protects answers a plan does not know how many people will answer each task, "
            "on which the central guarantee depends: plan with answers+participation"
        )
    return mechanism

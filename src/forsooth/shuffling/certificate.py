"""What anonymous reports add to the local promise of a campaign, in numbers and in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forsooth.display import as_html, as_text
from forsooth.odds import amount
from forsooth.plural import counted
from forsooth.shuffling.accountant import DELTA, HONEST_SHARE, RELEASES, Accountant, Senders

if TYPE_CHECKING:
    from forsooth.mechanisms import Mechanism
    from forsooth.privacy import Unit
    from forsooth.shuffling.accountant import Release

_UNITS: tuple[Unit, ...] = ("worker", "cell")  # the total leads, as in every promise
_DIGITS = 3  # significant digits of an ε in words; it is rounded up


@dataclass(frozen=True)
class CentralBound:
    """(ε, δ) for what is released and for what neighbours differ in; `local` is the local ε."""

    release: Release
    unit: Unit
    epsilon: float
    local: float

    @property
    def amplified(self) -> bool:
        """Is it below the local ε? If not, the local guarantee holds, with δ = 0."""
        return self.epsilon < self.local


@dataclass(frozen=True, repr=False)
class Certificate:
    """What anonymous reports add to the local promise, and what has to be true for it.

    `cells` is how many cells of one person count.
    """

    mechanism: str
    tasks: int
    cells: int
    senders: Senders
    delta: float
    bounds: tuple[CentralBound, ...]

    def bound(self, release: Release, unit: Unit) -> CentralBound:
        """One of the four bounds."""
        return next(each for each in self.bounds if (each.release, each.unit) == (release, unit))

    @property
    def assumption(self) -> str:
        """The assumption of the shuffle model, in one sentence."""
        honest, received = self.senders.honest, counted(self.senders.received, "report")
        return (
            "Nobody can tell whose report is whose, all are published at once and nowhere else, "
            f"and on every task at least {honest:,} of {received} come from people who drew their "
            "noise as the mechanism says and have shown their report to nobody."
        )

    def sentences(self) -> tuple[str, ...]:
        """What is certified, and under which assumption each part holds."""
        cell, worker = self.bound("counts", "cell"), self.bound("counts", "worker")
        return (
            f"Local: ε = {amount(worker.local)} for everything one person says, "
            f"{amount(cell.local)} for one answer. This holds without trust in anybody.",
            self._said("counts", "If only the counts of each task are published"),
            self._said("reports", "If whole reports are published in random order"),
            "A bound for one answer holds if the person's other answers tell nothing about it.",
            f"Assumed for every central ε: {self.assumption} Where a name, a network address or a "
            "time links a report to a person, only the local ε holds. Who receives the reports "
            "sees whole reports.",
        )

    def _said(self, release: Release, condition: str) -> str:
        cell, worker = self.bound(release, "cell"), self.bound(release, "worker")
        return (
            f"{condition}: {self._in_words(worker)} for everything one person says; "
            f"{self._in_words(cell)} for one answer."
        )

    def _in_words(self, bound: CentralBound) -> str:
        if not bound.amplified:
            return f"ε = {amount(bound.local)} (no better than local)"
        return f"central ε = {rounded_up(bound.epsilon)} with δ = {self.delta:g}"

    def columns(self) -> dict[str, list[Any]]:
        """`release, unit, local, epsilon, delta`: one row per bound."""
        return {
            "release": [each.release for each in self.bounds],
            "unit": [each.unit for each in self.bounds],
            "local": [each.local for each in self.bounds],
            "epsilon": [each.epsilon for each in self.bounds],
            "delta": [self.delta if each.amplified else 0.0 for each in self.bounds],
        }

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        columns = self.columns()
        return {
            "mechanism": self.mechanism,
            "tasks": self.tasks,
            "cells": self.cells,
            "received": self.senders.received,
            "honest": self.senders.honest,
            "honest_share": self.senders.honest_share,
            "delta": self.delta,
            "bounds": [dict(zip(columns, row)) for row in zip(*columns.values())],
            "assumption": self.assumption,
        }

    def __repr__(self) -> str:
        return as_text(self._title(), self.sentences())

    def _repr_html_(self) -> str:
        return as_html(self._title(), self.sentences(), self.columns(), len(self.bounds))

    def _title(self) -> str:
        return f"Certificate of {self.mechanism}, {counted(self.tasks, 'task')}"


def certify(
    mechanism: Mechanism,
    *,
    tasks: int,
    reports: int,
    delta: float = DELTA,
    honest_share: float = HONEST_SHARE,
) -> Certificate:
    """The central (ε, δ) if `reports` anonymous reports were received on every task.

    Only the share `honest_share` of them is counted on. Where tasks have different numbers of
    reports, `reports` is the smallest.

    >>> from forsooth import mechanisms
    >>> rr = mechanisms.rr("0..4", 2.0)
    >>> certify(rr, tasks=10, reports=20_000).bound("counts", "cell").epsilon < 0.1
    True
    """
    senders = Senders(reports, honest_share)
    accountant = Accountant.of(mechanism, tasks, senders.honest, delta)
    bounds = tuple(
        CentralBound(release, unit, accountant.central(release, unit), accountant.local(unit))
        for release in RELEASES
        for unit in _UNITS
    )
    return Certificate(mechanism.name, tasks, accountant.cells, senders, delta, bounds)


def rounded_up(epsilon: float) -> str:
    """ε with three significant digits, never below its value."""
    if epsilon == 0:
        return "0"
    unit = 10.0 ** (math.floor(math.log10(epsilon)) - _DIGITS + 1)
    return f"{math.ceil(epsilon / unit - 1e-9) * unit:.{_DIGITS}g}"

"""A line of the benchmarks' table: ours, what one would pick instead, a target, and was it met."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

_LESS_IS_BETTER = ("s", "s/Gcell", "B")
_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


@dataclass(frozen=True)
class Quantity:
    """A number with its unit: ``s``, ``s/Gcell`` and ``B`` are better if small, others if large.

    >>> str(Quantity(137_400_000, "cells/s")), str(Quantity(0.0123, "s")), str(Quantity(2e9, "B"))
    ('137M cells/s', '12.3 ms', '2 GB')
    """

    value: float
    unit: str

    @property
    def less_is_better(self) -> bool:
        """Is a small number a good one?"""
        return self.unit in _LESS_IS_BETTER

    def __str__(self) -> str:
        if not self.unit:
            return f"{self.value:.4f}"
        if self.less_is_better and self.unit != "B":
            short = self.unit == "s" and self.value < 0.1
            return f"{1000 * self.value:.3g} ms" if short else f"{_digits(self.value)} {self.unit}"
        size, prefix = next(
            (each for each in _PREFIXES if abs(self.value) >= each[0]), _PREFIXES[-1]
        )
        number = f"{_digits(self.value / size)}"
        return f"{number} {prefix}B" if self.unit == "B" else f"{number}{prefix} {self.unit}"


@dataclass(frozen=True)
class Target:
    """A bound on our own number, or on the ratio, which is above 1 where we are better."""

    of: Literal["ours", "ratio"]
    bound: float


@dataclass(frozen=True)
class Row:
    """One comparison; without `theirs` there is a `problem`, or nothing to compare with."""

    what: str
    ours: Quantity
    instead: str = ""
    theirs: Quantity | None = None
    problem: str = ""
    target: Target | None = None
    details: dict[str, float] = field(default_factory=dict)

    @property
    def ratio(self) -> float | None:
        """How many times better ours is."""
        if self.theirs is None:
            return None
        ratio = self.ours.value / self.theirs.value
        return 1 / ratio if self.ours.less_is_better else ratio

    @property
    def met(self) -> bool | None:
        """None where there is no target, or nothing to judge it by."""
        if self.target is None:
            return None
        if self.target.of == "ratio":
            return None if self.ratio is None else self.ratio >= self.target.bound
        value, bound = self.ours.value, self.target.bound
        return value <= bound if self.ours.less_is_better else value >= bound

    def texts(self) -> tuple[str, ...]:
        """As `HEADINGS` has it."""
        theirs = self.problem if self.theirs is None else str(self.theirs)
        return (
            self.what,
            str(self.ours),
            ": ".join(filter(None, (self.instead, theirs))),
            "" if self.ratio is None else f"{_digits(self.ratio)}×",
            self._target(),
            self._verdict(),
        )

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "what": self.what,
            "ours": vars(self.ours),
            "instead": self.instead,
            "theirs": None if self.theirs is None else vars(self.theirs),
            "problem": self.problem or None,
            "ratio": self.ratio,
            "target": self._target() or None,
            "met": self.met,
            "details": self.details,
        }

    def _target(self) -> str:
        if self.target is None:
            return ""
        if self.target.of == "ratio":
            return f"≥ {_digits(self.target.bound)}×"
        sign = "≤" if self.ours.less_is_better else "≥"
        return f"{sign} {Quantity(self.target.bound, self.ours.unit)}"

    def _verdict(self) -> str:
        if self.target is None:
            return ""
        return {True: "yes", False: "NO", None: "not measured"}[self.met]


HEADINGS = ("what", "ours", "instead", "ratio", "target", "met")


def _digits(value: float) -> str:
    """Three digits, never fewer than there are before the point."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"

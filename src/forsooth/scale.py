"""Γ, the answer scale: an ordered, finite set of answers."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from forsooth.errors import ForsoothError

if TYPE_CHECKING:
    from collections.abc import Iterable

_RANGE = re.compile(r"\s*(-?\d{1,9})\s*\.\.\s*(-?\d{1,9})\s*")
MAX_SIZE = 1001
_HOW_TO_WRITE = 'write "0..4", "G,P,R", range(5), or a list of numbers or labels'
_WIDEST = 1e9  # so that grids, sums and noise stay exact


ScaleLike: TypeAlias = "Scale | str | Iterable[object]"


@dataclass(frozen=True)
class Scale:
    """An ordered, finite answer scale.

    Written ``0..9`` (consecutive integers), ``0,50,100`` (numbers) or ``G,P,R,X,B`` (labels, in
    order). If every label is a number, the numbers are the values of the scale; otherwise the
    labels stand for 0, 1, 2, …

    >>> Scale.parse("1..5").values
    (1.0, 2.0, 3.0, 4.0, 5.0)
    >>> Scale.parse("G,P,R").code("R")
    2
    """

    labels: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.labels) < 2:
            raise ForsoothError(f"a scale needs at least two answers, got {list(self.labels)}")
        if len(self.labels) > MAX_SIZE:
            raise ForsoothError(
                f"a scale has at most {MAX_SIZE} answers, got {len(self.labels)}: "
                "group the answers into fewer levels"
            )
        if len(set(self.labels)) < len(self.labels) or "" in self.labels:
            raise ForsoothError(
                f"a scale's answers must be distinct and not empty: {self._listed()}"
            )
        if any(later <= earlier for earlier, later in zip(self.values, self.values[1:])):
            raise ForsoothError(f"a scale's numbers must increase: {self._listed()}")
        finest = min(b - a for a, b in zip(self.values, self.values[1:]))
        if max(abs(self.low), abs(self.high)) > _WIDEST * finest or finest < 1 / _WIDEST:
            raise ForsoothError(
                f"a scale may be at most {_WIDEST:g} of its smallest steps wide: {self._listed()}"
            )

    @classmethod
    def parse(cls, text: ScaleLike) -> Scale:
        """Read ``0..9``, ``0,50,100``, ``G,P,R,X,B``, a range, or a list of numbers or labels.

        >>> Scale.parse(range(5)) == Scale.parse([0, 1, 2, 3, 4]) == Scale.parse("0..4")
        True
        """
        if isinstance(text, Scale):
            return text
        if isinstance(text, str):
            return cls._parse_text(text)
        return cls.of(text)

    @classmethod
    def _parse_text(cls, text: str) -> Scale:
        if match := _RANGE.fullmatch(text):
            low, high = int(match[1]), int(match[2])
            if not low < high:
                raise ForsoothError(f"the scale {text!r} is empty: write LOW..HIGH with LOW < HIGH")
            if high - low >= MAX_SIZE:
                raise ForsoothError(f"the scale {text!r} has more than {MAX_SIZE} answers")
            return cls(tuple(str(value) for value in range(low, high + 1)))
        if "," not in text:
            raise ForsoothError(f"cannot read the scale {text!r}: {_HOW_TO_WRITE}")
        return cls.of([label.strip() for label in text.split(",")])

    @classmethod
    def of(cls, labels: Iterable[object]) -> Scale:
        """A scale from a range, a list, an array or a series of numbers or labels, in order."""
        ordered = hasattr(labels, "__iter__") and hasattr(labels, "__len__")
        if not ordered or isinstance(labels, str | bytes | Set | Mapping):
            raise ForsoothError(f"cannot read the scale {labels!r}: {_HOW_TO_WRITE}")
        listed = labels.tolist() if hasattr(labels, "tolist") else list(labels)
        return cls(tuple(_label(each) for each in listed))

    @cached_property
    def values(self) -> tuple[float, ...]:
        """The number that each answer stands for."""
        return self._numbers or tuple(float(position) for position in range(len(self.labels)))

    @property
    def is_numeric(self) -> bool:
        """Are the labels themselves numbers?"""
        return self._numbers is not None

    @cached_property
    def _numbers(self) -> tuple[float, ...] | None:
        numbers = [_number(label) for label in self.labels]
        return (
            None if None in numbers else tuple(number for number in numbers if number is not None)
        )

    @property
    def size(self) -> int:
        """|Γ|, the number of answers."""
        return len(self.labels)

    @property
    def null(self) -> int:
        """The code of NULL ("did not answer"): one past the last answer's code."""
        return len(self.labels)

    @property
    def low(self) -> float:
        """The smallest value."""
        return self.values[0]

    @property
    def high(self) -> float:
        """The largest value."""
        return self.values[-1]

    @property
    def range(self) -> float:
        """Max Γ − min Γ: how far one answer can move a sum (the paper's |Γ| is not that)."""
        return self.high - self.low

    @property
    def middle(self) -> float:
        """The point halfway between the ends."""
        return (self.low + self.high) / 2

    def code(self, answer: object) -> int | None:
        """The position of an answer on the scale, or None if it is not on the scale."""
        text = str(answer).strip()
        if (code := self._code_of_label.get(text)) is not None:
            return code
        number = _number(text) if self.is_numeric else None
        return None if number is None else self._code_of_value.get(number)

    def nearest_label(self, value: float) -> str:
        """The label closest to a number; halfway, the lower one."""
        return min(zip(self.values, self.labels), key=lambda pair: abs(pair[0] - value))[1]

    def __str__(self) -> str:
        low, high = self.labels[0], self.labels[-1]
        if self.labels == tuple(str(int(v)) for v in self.values) and self.range == self.size - 1:
            return f"{low}..{high}"
        return ",".join(self.labels)

    @cached_property
    def _code_of_label(self) -> dict[str, int]:
        return {label: code for code, label in enumerate(self.labels)}

    @cached_property
    def _code_of_value(self) -> dict[float, int]:
        return {value: code for code, value in enumerate(self.values)}

    def _listed(self) -> str:
        return ", ".join(self.labels)


def _label(label: object) -> str:
    """A label as text; whole numbers are written without a decimal point."""
    number = label.item() if hasattr(label, "item") else label
    if number is None or isinstance(number, list | tuple | dict):
        raise ForsoothError(f"{label!r} cannot be an answer of a scale: {_HOW_TO_WRITE}")
    if isinstance(number, float):
        if not math.isfinite(number):
            raise ForsoothError(f"{label!r} cannot be an answer of a scale")
        return f"{number:.0f}" if number.is_integer() else repr(number)
    return str(number).strip()


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None

"""Reading JSON from strangers: an integer is an integer, a number is finite, nothing is guessed.

``int("3")``, ``int(0.9)`` and ``True == 1`` would let two clients read two different mechanisms
from the same text.
"""

from __future__ import annotations

import json
import math
from typing import Any

from forsooth.errors import ForsoothError

_LARGEST = 2**62  # what 64-bit arithmetic holds with room for a sign and a sum


def loads(text: str | bytes) -> Any:
    """JSON without NaN and Infinity and without a name twice, of a bounded depth."""
    try:
        return json.loads(text, parse_constant=_refuse, object_pairs_hook=_once)
    except ForsoothError:
        raise
    except (ValueError, RecursionError) as error:
        raise ForsoothError(f"this is not valid JSON ({type(error).__name__})") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of a name that stands twice, one client would read the first and another the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ForsoothError(f"this JSON names {_short(twice)} twice in one object")
    return found


def integer(value: object, what: str, low: int = -_LARGEST, high: int = _LARGEST) -> int:
    """An integer within bounds."""
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise ForsoothError(f"{what} must be an integer from {low} to {high}, got {_short(value)}")
    return value


def integers(
    values: object, what: str, low: int = -_LARGEST, high: int = _LARGEST
) -> tuple[int, ...]:
    """A list of integers within bounds."""
    return tuple(integer(value, what, low, high) for value in _list(values, what))


def number(value: object, what: str) -> float:
    """A finite number."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            if math.isfinite(as_float := float(value)):
                return as_float
        except OverflowError:
            pass
    raise ForsoothError(f"{what} must be a finite number, got {_short(value)}")


def string(value: object, what: str) -> str:
    """A text."""
    if not isinstance(value, str):
        raise ForsoothError(f"{what} must be a text, got {_short(value)}")
    return value


def strings(values: object, what: str) -> tuple[str, ...]:
    """A list of distinct texts."""
    listed = tuple(string(value, what) for value in _list(values, what))
    if len(set(listed)) < len(listed):
        raise ForsoothError(f"{what}: the same name stands twice")
    return listed


def rows(values: object, what: str) -> list[Any]:
    """A list of lists."""
    return [_list(row, what) for row in _list(values, what)]


def _list(values: object, what: str) -> list[Any]:
    if not isinstance(values, list):
        raise ForsoothError(f"{what} must be a list, got {_short(values)}")
    return values


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}…"


def _refuse(constant: str) -> None:
    raise ForsoothError(f"{constant} is not valid JSON")

"""Numbers that people pass: a clear error instead of a TypeError from deep inside."""

from __future__ import annotations

from numbers import Integral, Real

from forsooth.errors import ForsoothError


def check_number(value: object, what: str) -> float:
    """A number as a float; text and booleans are refused. Its range is the caller's to check."""
    if isinstance(value, Real) and not isinstance(value, bool):
        return float(value)
    raise ForsoothError(f"{what} must be a number, got {value!r}")


def check_whole(value: object, what: str, least: int = 1) -> int:
    """A whole number of at least `least`."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if whole and int(value) >= least:  # type: ignore[call-overload]
        return int(value)  # type: ignore[call-overload, no-any-return]
    raise ForsoothError(f"{what} must be a whole number of at least {least}, got {value!r}")

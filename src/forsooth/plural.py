"""Numbers of things in words."""

from __future__ import annotations


def counted(number: int, thing: str, things: str | None = None) -> str:
    """A number and its noun; `things` is the plural if it is not `thing` with an s.

    >>> counted(1, "report"), counted(2000, "report"), counted(2, "process", "processes")
    ('1 report', '2,000 reports', '2 processes')
    """
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"

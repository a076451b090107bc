"""Cells of a page's tables: numbers with the value they are sorted by, and what was left out."""

from __future__ import annotations

from typing import NamedTuple


class SortedNumber(NamedTuple):
    """A number in words, and the value that it is sorted by."""

    text: str
    key: str


def number(text: str, value: float) -> SortedNumber:
    """A number in words, sorted by its value."""
    return SortedNumber(text, f"{value:.6g}")


def left_out(shown: int, count: int, words: str) -> str | None:
    """How much of a table is shown, in words with two gaps; None if all is."""
    return None if count <= shown else words.format(f"{shown:,}", f"{count:,}")

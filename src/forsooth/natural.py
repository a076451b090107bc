"""Names in the order in which people count: t2 before t10."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_DIGITS = re.compile(r"([0-9]+)")


def natural_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """A key to sort by: runs of digits compare as numbers, the rest as text.

    >>> sorted(["t10", "t2", "t1"], key=natural_key)
    ['t1', 't2', 't10']
    """
    parts = [
        (0, int(part), part) if place % 2 else (1, 0, part)
        for place, part in enumerate(_DIGITS.split(name))
        if part
    ]
    return (*parts, (-1, 0, name))


def reading_order(names: Sequence[str]) -> list[int]:
    """The places of the names in the order for readers.

    Names that are sorted as text were sorted by a program and are sorted naturally instead; any
    other order was given by somebody and stays.

    >>> reading_order(["t1", "t10", "t2"]), reading_order(["t2", "t10", "t1"])
    ([0, 2, 1], [0, 1, 2])
    """
    places = list(range(len(names)))
    if any(second < first for first, second in pairwise(names)):
        return places
    return sorted(places, key=lambda place: natural_key(names[place]))

"""The registry of response kinds: how a worker of each kind answers a task with a given truth.

A kind is a function from the possible truths to P(answer | truth). To add a kind, add an entry to
`LEVEL` or `LABEL`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

FLOOR = 1e-6  # no answer is impossible


@dataclass(frozen=True, eq=False)
class Setting:
    """What kinds are made from."""

    values: Array  # the answers
    truths: Array  # the possible truths: nodes on the scale, or the answers themselves
    typical: Array  # P(answer | truth) of a typical worker: truths × answers
    favourite: float  # share of their answers that workers with a favourite give to it


@dataclass(frozen=True)
class Kind:
    """One way to respond, in one or several variants: variants × truths × answers."""

    name: str
    respond: Callable[[Setting], Array]


def rounded_normal(values: Array, truths: Array, error: float) -> Array:
    """P(answer | truth) of truth + N(0, error²), rounded to the nearest answer and clipped."""
    cuts = (values[1:] + values[:-1]) / 2
    below = ndtr((cuts - truths[:, None]) / error)
    return np.diff(np.pad(below, ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1))))


def _hardly_looks(at: Setting) -> Array:
    return rounded_normal(at.values, at.truths, np.ptp(at.values) / 2)[None]


def _favours(at: Setting) -> Array:
    """A share of the answers is always the same, whatever the truth: a variant per answer."""
    same = np.eye(len(at.values))[:, None, :]
    table: Array = at.favourite * same + (1 - at.favourite) * at.typical
    return table


LEVEL: tuple[Kind, ...] = (Kind("hardly looks", _hardly_looks),)
LABEL: tuple[Kind, ...] = (Kind("favours one answer", _favours),)


def tables(ladder: Sequence[Array], kinds: Sequence[Kind], at: Setting) -> Array:
    """P(answer | truth) of the ladder, then of every variant of the kinds; none impossible."""
    rows = np.concatenate([np.array(ladder), *(kind.respond(at) for kind in kinds)])
    floored = np.maximum(rows, FLOOR)
    normalised: Array = floored / floored.sum(axis=2, keepdims=True)
    return normalised


def shares(kinds: Sequence[Kind], at: Setting) -> Array:
    """The shares of all variants among themselves: equal for kinds, and for a kind's variants."""
    sizes = [len(kind.respond(at)) for kind in kinds]
    return np.repeat([1 / (len(kinds) * size) for size in sizes], sizes)

"""The passes over all cells, compiled. Importing this needs numba; `kernels` knows what they do.

Arrays: `starts`, `task` and `symbol` of a block, in which an empty `task` means all tasks in order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from forsooth.inference.posterior.kernels import NOBODY

TILE = 32  # tasks
GROUP = 1024  # workers


@njit(cache=True, nogil=True)
def tasks(starts: Any, task: Any, symbol: Any, counts: Any) -> None:
    """How often each symbol occurs in each task, added to `counts`."""
    everywhere = len(task) == 0
    for who in range(len(starts) - 1):
        begin = starts[who]
        for cell in range(begin, starts[who + 1]):
            counts[cell - begin if everywhere else task[cell], symbol[cell]] += 1


@njit(cache=True, nogil=True)
def sparse_softmax(score: Any, mine: Any, active: Any) -> int:
    """e^score without what is next to nothing, into `mine`; which classes are left."""
    mine[:] = np.exp(score - score.max())
    least, number, total = NOBODY * mine.sum(), 0, 0.0
    for kind in range(len(mine)):
        if mine[kind] < least:
            mine[kind] = 0
        else:
            total += mine[kind]
            active[number] = kind
            number += 1
    mine /= total
    return number


@njit(cache=True, nogil=True)
def explain(
    starts: Any, task: Any, symbol: Any, scores: Any, first: int, last: int, explained: Any
) -> None:
    """How well each class explains the workers `first` to `last`, added to `explained`.

    Tile by tile of the tasks, so that the part of `scores` in use stays in the cache. Within a tile
    sums are in single precision: scores are centred, and so small.
    """
    everywhere, place = len(task) == 0, starts[first:last].copy()
    tile = np.empty(scores.shape[2], np.float32)
    for edge in range(TILE, len(scores) + TILE, TILE):
        for who in range(first, last):
            begin, end, cell = starts[who], starts[who + 1], place[who - first]
            tile[:] = 0
            while cell < end:
                at = cell - begin if everywhere else task[cell]
                if at >= edge:
                    break
                row = scores[at, symbol[cell]]
                for kind in range(len(tile)):  # slices, so that the compiler sees a vector addition
                    tile[kind] += row[kind]
                cell += 1
            place[who - first] = cell
            into = explained[who - first]
            for kind in range(len(tile)):
                into[kind] += tile[kind]


@njit(cache=True, nogil=True)
def count(
    starts: Any, task: Any, symbol: Any, members: Any, active: Any, number: Any, first: int,
    counts: Any,
) -> None:  # fmt: skip
    """The cells of some workers, weighted by their classes, added to `counts`; tile by tile."""
    everywhere, group = len(task) == 0, len(members)
    place = starts[first : first + group].copy()
    for edge in range(TILE, len(counts) + TILE, TILE):
        for who in range(group):
            begin, end, cell = starts[first + who], starts[first + who + 1], place[who]
            mine, few = members[who], active[who, : number[who]]
            while cell < end:
                at = cell - begin if everywhere else task[cell]
                if at >= edge:
                    break
                into = counts[at, symbol[cell]]
                if 3 * len(few) > len(mine):
                    for kind in range(len(mine)):
                        into[kind] += mine[kind]
                else:
                    for kind in few:
                        into[kind] += mine[kind]
                cell += 1
            place[who] = cell


@njit(cache=True, nogil=True)
def workers(starts: Any, task: Any, symbol: Any, scores: Any, logs: Any, members: Any) -> None:
    """What every worker is, into `members`."""
    active = np.empty(len(logs), np.int64)
    for first in range(0, len(members), GROUP):
        last = min(first + GROUP, len(members))
        explained = np.zeros((last - first, len(logs))) + logs
        explain(starts, task, symbol, scores, first, last, explained)
        for who in range(first, last):
            sparse_softmax(explained[who - first], members[who], active)


@njit(cache=True, nogil=True)
def classes(
    starts: Any, task: Any, symbol: Any, scores: Any, logs: Any, counts: Any, members: Any
) -> float:
    """A round of the class model, added to `counts` and `members`; the entropy."""
    entropy = 0.0
    for first in range(0, len(starts) - 1, GROUP):
        last = min(first + GROUP, len(starts) - 1)
        mine = np.zeros((last - first, len(logs))) + logs
        explain(starts, task, symbol, scores, first, last, mine)
        active, number = np.empty(mine.shape, np.int64), np.empty(len(mine), np.int64)
        for who in range(len(mine)):
            number[who] = sparse_softmax(mine[who].copy(), mine[who], active[who])
            for kind in active[who, : number[who]]:
                members[kind] += mine[who, kind]
                entropy -= mine[who, kind] * np.log(mine[who, kind])
        count(starts, task, symbol, mine, active, number, first, counts)
    return entropy

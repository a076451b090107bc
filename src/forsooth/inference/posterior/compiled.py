"""The passes over all cells, compiled. Importing this needs numba; `kernels` knows what they do.

Arrays: `starts`, `task` and `symbol` of a block, in which an empty `task` means all tasks in order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from forsooth.inference.posterior.kernels import NOBODY


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
def explain(begin: int, end: int, task: Any, symbol: Any, scores: Any, score: Any) -> None:
    """How well each class explains one worker's cells, added to `score`."""
    everywhere = len(task) == 0
    for cell in range(begin, end):
        row = scores[cell - begin if everywhere else task[cell], symbol[cell]]
        for kind in range(len(score)):  # slices, so that the compiler sees a vector addition
            score[kind] += row[kind]


@njit(cache=True, nogil=True)
def workers(starts: Any, task: Any, symbol: Any, scores: Any, logs: Any, members: Any) -> None:
    """What every worker is, into `members`."""
    score, active = np.empty(len(logs)), np.empty(len(logs), np.int64)
    for who in range(len(starts) - 1):
        score[:] = logs
        explain(starts[who], starts[who + 1], task, symbol, scores, score)
        sparse_softmax(score, members[who], active)


@njit(cache=True, nogil=True)
def classes(
    starts: Any, task: Any, symbol: Any, scores: Any, logs: Any, counts: Any, members: Any
) -> float:
    """A round of the class model, added to `counts` and `members`; the entropy."""
    everywhere, kinds, entropy = len(task) == 0, len(logs), 0.0
    score, mine, active = np.empty(kinds), np.empty(kinds), np.empty(kinds, np.int64)
    for who in range(len(starts) - 1):
        begin, end = starts[who], starts[who + 1]
        score[:] = logs
        explain(begin, end, task, symbol, scores, score)
        number = sparse_softmax(score, mine, active)
        for place in range(number):
            chance = mine[active[place]]
            members[active[place]] += chance
            entropy -= chance * np.log(chance)
        for cell in range(begin, end):
            into = counts[cell - begin if everywhere else task[cell], symbol[cell]]
            if 3 * number > kinds:
                for kind in range(kinds):
                    into[kind] += mine[kind]
            else:
                for place in range(number):
                    into[active[place]] += mine[active[place]]
    return entropy

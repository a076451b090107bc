"""The passes over all cells, compiled. Importing this needs numba; `kernels` explains them.

Arrays: `starts`, `task` and `symbol` of a block, in which an empty `task` means all tasks in order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

_GROUP = 512  # workers that are judged before their cells are added, type by type
_SINGLE = 64  # cells that are summed in single precision before they are added in double


@njit(cache=True, nogil=True)
def tasks(starts: Any, task: Any, symbol: Any, counts: Any) -> None:
    """How often each symbol occurs in each task, added to `counts`."""
    everywhere = len(task) == 0
    for who in range(len(starts) - 1):
        begin = starts[who]
        for cell in range(begin, starts[who + 1]):
            counts[cell - begin if everywhere else task[cell], symbol[cell]] += 1


@njit(cache=True, nogil=True, fastmath=True)
def judge(
    begin: int, end: int, task: Any, symbol: Any, logs: Any, prior: Any, part: Any, q: Any
) -> None:
    """What one worker is, into `q`."""
    everywhere, states = len(task) == 0, len(prior)
    q[:] = prior
    for first in range(begin, end, _SINGLE):
        part[:] = 0
        for cell in range(first, min(first + _SINGLE, end)):
            row = logs[cell - begin if everywhere else task[cell], symbol[cell]]
            for state in range(states):
                part[state] += row[state]
        for state in range(states):
            q[state] += part[state]
    top, total = q.max(), 0.0
    for state in range(states):
        q[state] = np.exp(q[state] - top)
        total += q[state]
    for state in range(states):
        q[state] /= total


@njit(cache=True, nogil=True, fastmath=True)
def nearest(q: Any, root: Any, codes: Any) -> int:
    """The type whose code is nearest to a worker's √q."""
    for state in range(len(q)):
        root[state] = np.sqrt(q[state])
    best, chosen = np.float32(-1), 0
    for kind in range(len(codes)):
        alike, code = np.float32(0), codes[kind]
        for state in range(len(root)):
            alike += root[state] * code[state]
        if alike > best:
            best, chosen = alike, kind
    return chosen


@njit(cache=True, nogil=True)
def states(
    starts: Any, task: Any, symbol: Any, logs: Any, prior: Any, codes: Any, found: Any
) -> None:
    """What every worker is, into `found`."""
    part, root = np.empty(len(prior), np.float32), np.empty(len(prior), np.float32)
    for who in range(len(starts) - 1):
        begin, end, q = starts[who], starts[who + 1], found[who]
        judge(begin, end, task, symbol, logs[0], prior, part, q)
        kind = nearest(q, root, codes)
        judge(begin, end, task, symbol, logs[min(1 + kind, len(logs) - 1)], prior, part, q)


@njit(cache=True, nogil=True)
def fold(q: Any, rates: Any, secrets: int, folded: Any) -> None:
    """P(kind and secret, answered), then P(secret, not answered), into `folded`."""
    kinds = len(q) // len(rates)
    folded[:] = 0
    for place in range(len(rates)):
        for kind in range(kinds):
            chance = q[place * kinds + kind]
            folded[kind] += rates[place] * chance
            folded[kinds + kind % secrets] += (1 - rates[place]) * chance


@njit(cache=True, nogil=True)
def typed(
    starts: Any, task: Any, symbol: Any, logs: Any, prior: Any, rates: Any, secrets: int,
    codes: Any, folded: Any, number: Any, sums: Any, size: Any,
) -> None:  # fmt: skip
    """A pass of belief propagation, added to `folded`, `number`, `sums` and `size`."""
    everywhere, states = len(task) == 0, len(prior)
    q, part, root = np.empty(states), np.empty(states, np.float32), np.empty(states, np.float32)
    kinds, own = np.empty(_GROUP, np.int64), np.empty(folded.shape[3])
    for first in range(0, len(starts) - 1, _GROUP):
        group = min(_GROUP, len(starts) - 1 - first)
        for who in range(group):
            begin, end = starts[first + who], starts[first + who + 1]
            judge(begin, end, task, symbol, logs[0], prior, part, q)
            kinds[who] = nearest(q, root, codes)
        for who in np.argsort(kinds[:group]):
            begin, end, kind = starts[first + who], starts[first + who + 1], kinds[who]
            judge(begin, end, task, symbol, logs[min(1 + kind, len(logs) - 1)], prior, part, q)
            fold(q, rates, secrets, own)
            size[kind] += 1
            for state in range(states):
                sums[kind, state] += q[state]
            into, count = folded[kind], number[kind]
            for cell in range(begin, end):
                at, sign = cell - begin if everywhere else task[cell], symbol[cell]
                row = into[at, sign]
                for each in range(len(own)):
                    row[each] += own[each]
                count[at, sign] += 1

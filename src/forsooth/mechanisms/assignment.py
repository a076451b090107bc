"""Public coins: what a campaign assigns to a worker, from a public seed and the worker's name.

Nothing here is secret and nothing depends on an answer: every client and the collector compute the
same numbers. A worker's key is the first 64 bits of SHA-256("seed:worker"); a task's number is the
task's place mixed with the key by splitmix64 (Steele, Lea and Flood 2014).
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_STEP = np.uint64(0x9E3779B97F4A7C15)


def public_words(seed: int, workers: Sequence[str], tasks: int) -> NDArray[np.uint64]:
    """A 64-bit number for every (worker, task), the same for everybody who knows the seed."""
    keys = np.array([_key(seed, worker) for worker in workers], np.uint64)
    return mixed(keys[:, None] + np.arange(tasks, dtype=np.uint64) * _STEP)


def mixed(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Other words, one for one, that look random: a step of splitmix64."""
    word = words + _STEP
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    other: NDArray[np.uint64] = word ^ (word >> np.uint64(31))
    return other


def sampled_tasks(seed: int, workers: Sequence[str], tasks: int, count: int) -> NDArray[np.intp]:
    """`count` distinct tasks for every worker, in increasing order: those with the least words."""
    words = public_words(seed, workers, tasks)
    return np.sort(np.argsort(words, axis=1, kind="stable")[:, :count], axis=1)


def _key(seed: int, worker: str) -> int:
    return int.from_bytes(sha256(f"{seed}:{worker}".encode()).digest()[:8], "big")

"""The table of `forsooth init`: simulated answers to begin with, the same every time."""

from __future__ import annotations

import numpy as np

from forsooth.answers import Answers, code_dtype
from forsooth.scale import Scale

SCALE = Scale.parse("0..9")
EPSILON = 1.0  # per cell, for the commands that come next
# name            value  unit, reason
_SEED = 2018  # the same table every time
_WORKERS = 300  # people: enough for a result that is clearly better than a constant
_TASKS = 20  # questions: one screen of results
_SHARE_ANSWERED = 0.7  # of the cells
_DEVIATION = 1.0  # standard deviation of the answers around the truth, in steps of the scale


def answers() -> Answers:
    """The answers; true levels are spread over the whole scale."""
    random = np.random.default_rng(_SEED)
    truth = random.permutation(np.linspace(SCALE.low, SCALE.high, _TASKS))
    worker, task = np.nonzero(random.random((_WORKERS, _TASKS)) < _SHARE_ANSWERED)
    given = truth[task] + _DEVIATION * random.normal(size=len(task))
    return Answers(
        SCALE,
        tuple(f"simulated worker {number}" for number in range(1, _WORKERS + 1)),
        tuple(f"simulated task {number}" for number in range(1, _TASKS + 1)),
        worker.astype(np.int32),
        task.astype(np.int32),
        np.clip(np.rint(given), SCALE.low, SCALE.high).astype(code_dtype(SCALE)),
    )

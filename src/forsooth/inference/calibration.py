"""Intervals and prediction sets calibrated on gold tasks (split conformal prediction).

The posterior is computed as if no truth were known. Each gold task then gets a score that says
how far its known truth lies from the posterior:

    level, opinion    |estimate − gold| / max(posterior sd, floor)
    label             1 − P(gold)

Of n scores the k-th smallest, k = ⌈0.9·(n + 1)⌉, is the limit: every task's interval or set holds
all truths whose score is at most the limit. If the gold tasks are exchangeable with the others (a
random sample of the tasks, say), the truth of a further task is inside with a probability of at
least k/(n + 1) ≥ 0.9, whether or not the model is right (Vovk, Gammerman and Shafer 2005; Lei et
al. 2018). The probability is an average over tasks and over choices of gold tasks; it does not
hold for each kind of task separately.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from forsooth.errors import ForsoothError
from forsooth.truths import COVERAGE, Calibration

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.scale import Scale
    from forsooth.truths import Posterior, Truths

    Array = NDArray[np.float64]
    Indices = NDArray[np.intp]

# name, unit: reason
MINIMUM_GOLD = 10  # tasks: 9 are the fewest that can give 90 %, and one to spare
# Share of the range: a sure estimate may still be off. The coverage does not depend on it; on
# simulated posteriors 0.001 makes intervals up to 2.8 times as wide, 0.05 up to 1.1 times.
SMALLEST_SD = 0.02


def calibrated(truths: Truths, gold: NDArray[np.float64]) -> Truths:
    """The same estimates with calibrated intervals, and for labels prediction sets.

    `truths` must have been inferred without the gold tasks' truths. `gold` has one entry per
    task, NaN where the truth is unknown.
    """
    posterior = truths.posterior
    if posterior is None:
        raise ForsoothError(
            f"method {truths.method!r} gives no posterior to calibrate: use the method posterior, "
            "or --gold-use pin"
        )
    check_calibration(gold)
    known = np.flatnonzero(~np.isnan(gold))
    if posterior.estimand == "label":
        return _with_sets(truths, posterior, known, gold[known])
    return _with_intervals(truths, posterior, known, gold[known])


def check_calibration(gold: NDArray[np.float64]) -> None:
    """Refuse fewer gold tasks than calibration needs."""
    number = int((~np.isnan(gold)).sum())
    if number < MINIMUM_GOLD:
        raise ForsoothError(
            f"gold: {number} tasks have a known truth, and calibration needs at least "
            f"{MINIMUM_GOLD}: add gold tasks, or use --gold-use pin, which works with fewer"
        )


def rank(gold: int) -> int:
    """The rank k = ⌈0.9·(n + 1)⌉ for n gold tasks, in exact arithmetic."""
    return ceil(Fraction(str(COVERAGE)) * (gold + 1))


def limit(scores: Array) -> float:
    """The k-th smallest score of the gold tasks."""
    return float(np.sort(scores)[rank(len(scores)) - 1])


def posterior_sd(posterior: Posterior) -> Array:
    """The standard deviation of every task's posterior."""
    grid = posterior.grid - posterior.grid.mean()  # centred, so that the squares keep their digits
    variance = posterior.mass @ grid**2 - (posterior.mass @ grid) ** 2
    deviation: Array = np.sqrt(np.maximum(variance, 0))
    return deviation


def _with_intervals(truths: Truths, posterior: Posterior, known: Indices, gold: Array) -> Truths:
    scale = truths.scale
    unit = np.maximum(posterior_sd(posterior), SMALLEST_SD * scale.range)
    half = unit * limit(np.abs(truths.estimate[known] - gold) / unit[known])
    low = np.maximum(truths.estimate - half, scale.low)
    high = np.minimum(truths.estimate + half, scale.high)
    calibration = Calibration(
        coverage=COVERAGE,
        gold=len(known),
        width_before=float(np.mean(truths.high - truths.low)),
        width_after=float(np.mean(high - low)),
    )
    return replace(truths, low=low, high=high, calibration=calibration)


def _with_sets(truths: Truths, posterior: Posterior, known: Indices, gold: Array) -> Truths:
    """Prediction sets, and as `low` and `high` their smallest and largest label.

    The label of the estimate is always in the set, so that no set is empty.
    """
    values = np.array(truths.scale.values)
    score = 1 - posterior.mass
    inside = score <= limit(score[known, _codes(truths, known, gold)])
    nearest = np.abs(values - truths.estimate[:, None]).argmin(axis=1)
    inside[np.arange(len(inside)), nearest] = True
    last = inside.shape[1] - 1 - inside[:, ::-1].argmax(axis=1)
    calibration = Calibration(
        coverage=COVERAGE,
        gold=len(known),
        width_before=float(np.mean(_credible_sizes(posterior.mass))),
        width_after=float(np.mean(inside.sum(axis=1))),
    )
    return replace(
        truths,
        low=np.minimum(values[inside.argmax(axis=1)], truths.estimate),
        high=np.maximum(values[last], truths.estimate),
        calibration=calibration,
        prediction_sets=_labels(truths.scale, inside),
    )


def _codes(truths: Truths, known: Indices, gold: Array) -> Indices:
    """The position of every gold label on the scale."""
    values = np.array(truths.scale.values)
    off = ~np.isin(gold, values)
    if off.any():
        place = int(off.argmax())
        raise ForsoothError(
            f"gold: the truth {gold[place]:g} of task {truths.tasks[known[place]]!r} is no answer "
            f"of the scale {truths.scale}: give an answer, or ask for another estimand than label"
        )
    return np.searchsorted(values, gold)


def _credible_sizes(mass: Array) -> Indices:
    """Per task the size of the smallest set of labels with 90 % of the posterior."""
    reached = np.cumsum(-np.sort(-mass, axis=1), axis=1) >= COVERAGE - 1e-12
    sizes: Indices = reached.argmax(axis=1) + 1
    return sizes


def _labels(scale: Scale, inside: NDArray[np.bool_]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(scale.labels[code] for code in np.flatnonzero(row)) for row in inside)

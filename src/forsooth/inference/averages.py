"""The plain averages: mean, median and majority, with explicit ties."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forsooth.inference.estimates import (
    NORMAL_QUANTILE,
    Estimates,
    Rules,
    per_answered,
    pinned,
    worker_deviation,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.cells import Cells
    from forsooth.scale import Scale


def mean(cells: Cells, scale: Scale, rules: Rules, gold: NDArray[np.float64]) -> Estimates:
    """The mean of a task's cells, with the normal interval; a single cell has none.

    A task's variance is drawn to the pooled one, as if two more of its cells had it.
    """
    del scale, rules
    support = cells.per_task()
    truth = per_answered(cells.per_task(cells.value), support)
    squares = cells.per_task((cells.value - truth[cells.task]) ** 2)
    freedom = max(1.0, cells.value.size - float((support > 0).sum()))
    variance = (squares + 2 * squares.sum() / freedom) / (support + 1)
    variance[support == 1] = np.nan
    half = NORMAL_QUANTILE * np.sqrt(per_answered(variance, support))
    return _finish(cells, pinned(truth, gold), truth - half, truth + half)


def median(cells: Cells, scale: Scale, rules: Rules, gold: NDArray[np.float64]) -> Estimates:
    """The median of a task's cells.

    With an even count every point between the two middle cells is a median: the tie rule decides.
    The interval runs between order statistics, ranks k/2 ± z·√k/2 (binomial, normal approximation).
    """
    del scale
    order = np.lexsort((cells.value, cells.task))
    values = np.append(cells.value[order], np.nan)  # the NaN is what an empty task looks up
    support = cells.per_task().astype(np.intp)
    starts = np.cumsum(support) - support

    def ranked(rank: NDArray[np.intp]) -> NDArray[np.float64]:
        inside = np.clip(rank, 0, np.maximum(support - 1, 0))
        return np.where(support > 0, values[np.minimum(starts + inside, len(values) - 1)], np.nan)

    lower, upper = ranked((support - 1) // 2), ranked(support // 2)
    truth = {"low": lower, "high": upper, "middle": (lower + upper) / 2}[rules.ties]
    reach = NORMAL_QUANTILE * np.sqrt(support) / 2
    low = ranked(np.floor(support / 2 - reach).astype(np.intp))
    high = ranked(np.ceil(support / 2 + reach).astype(np.intp) - 1)
    low[support == 1] = high[support == 1] = np.nan  # one cell says nothing of its own spread
    return _finish(cells, pinned(truth, gold), low, high)


def majority(cells: Cells, scale: Scale, rules: Rules, gold: NDArray[np.float64]) -> Estimates:
    """The most frequent answer; noisy numbers count for the nearest answer of the scale.

    The interval spans the answers whose count is not clearly below the winner's: less than
    z·√(sum of the two counts) behind.
    """
    values = np.asarray(scale.values)
    boundaries = (values[1:] + values[:-1]) / 2
    code = np.searchsorted(boundaries, cells.value)
    counts = np.bincount(cells.task * scale.size + code, minlength=cells.tasks * scale.size)
    counts = counts.reshape(cells.tasks, scale.size)
    most = counts.max(axis=1, keepdims=True)
    low, high, middle = _span(counts == most, values)
    truth = {"low": low, "high": high, "middle": middle}[rules.ties]
    close = most - counts <= NORMAL_QUANTILE * np.sqrt(most + counts)
    low, high, _ = _span(close, values)
    empty = most[:, 0] == 0
    for estimate in (truth, low, high):
        estimate[empty] = np.nan
    return _finish(cells, pinned(truth, gold), low, high)


def _span(
    chosen: NDArray[np.bool_], values: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The lowest, the highest and the mean of the chosen answers of each task."""
    lowest = values[chosen.argmax(axis=1)]
    highest = values[len(values) - 1 - chosen[:, ::-1].argmax(axis=1)]
    return lowest, highest, chosen @ values / chosen.sum(axis=1)


def _finish(
    cells: Cells,
    truth: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
) -> Estimates:
    return Estimates(truth, low, high, worker_deviation(cells, truth))

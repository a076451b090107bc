"""Reports as symbols with a known table: what the posterior needs to know of any mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from forsooth.answers import Answers
from forsooth.errors import ForsoothError
from forsooth.mechanisms import ChannelMechanism, Laplace, Mechanism, SampledTasks, TwoLayer
from forsooth.mechanisms.channel import TOTAL

if TYPE_CHECKING:
    from forsooth.reports import Reports

_BINS = 64


@dataclass(frozen=True, eq=False)
class Evidence:
    """One symbol per reported cell, and P(symbol | answer), then P(symbol | NULL) if it is hidden.

    Cells are in coordinates, ordered by worker: of dense reports too, so that one kernel does.
    """

    workers: int
    tasks: int
    worker: NDArray[np.int32]
    task: NDArray[np.int32]
    symbol: NDArray[np.uint16]
    table: NDArray[np.float64]
    hidden: bool

    @property
    def symbols(self) -> int:
        """How many symbols there are."""
        return int(self.table.shape[1])

    def per_task(self) -> NDArray[np.float64]:
        """How often each symbol occurs in each task."""
        return self._count(self.task, self.tasks)

    def per_worker(self) -> NDArray[np.float64]:
        """How often each symbol occurs in each worker's report."""
        return self._count(self.worker, self.workers)

    def _count(self, index: NDArray[np.int32], size: int) -> NDArray[np.float64]:
        flat = index.astype(np.int64) * self.symbols + self.symbol
        counts = np.bincount(flat, minlength=size * self.symbols)
        return counts.reshape(size, self.symbols).astype(np.float64)


def evidence_of(data: Reports | Answers) -> Evidence:
    """Reports through their mechanism's table; plain answers through the identity."""
    if isinstance(data, Answers):
        workers, tasks = len(data.workers), len(data.tasks)
        table = np.eye(data.scale.size)
        codes = data.code.astype(np.uint16)
        return Evidence(workers, tasks, data.worker, data.task, codes, table, False)
    mechanism = data.mechanism
    cell = mechanism.inner if isinstance(mechanism, SampledTasks) else mechanism
    table, symbol = symbols_of(cell, data.values)
    worker, task = _cells(data)
    hidden = mechanism.protects == "answers+participation"
    flat = symbol.ravel().astype(np.uint16)
    return Evidence(len(data.workers), len(data.tasks), worker, task, flat, table, hidden)


def _cells(reports: Reports) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    if reports.answered is not None:
        return reports.answered
    workers, width = reports.values.shape
    worker = np.repeat(np.arange(workers, dtype=np.int32), width)
    if isinstance(reports.mechanism, SampledTasks):
        task = reports.mechanism.sampled(reports.workers, len(reports.tasks)).ravel()
        return worker, task.astype(np.int32)
    return worker, np.tile(np.arange(width, dtype=np.int32), workers)


@singledispatch
def symbols_of(
    mechanism: Mechanism, values: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.integer[Any]]]:
    """P(symbol | input) and the reported values as symbols."""
    raise ForsoothError(f"the posterior has no table for {mechanism.name}")


@symbols_of.register
def _(
    mechanism: ChannelMechanism, values: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.integer[Any]]]:
    return np.array(mechanism.channel.weights, float) / TOTAL, values


@symbols_of.register
def _(
    mechanism: TwoLayer, values: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.integer[Any]]]:
    """The mean over budgets: what one cell alone follows. That cells share a budget is left out."""
    tables = np.array([channel.weights for channel in mechanism.channels], float)
    return tables.mean(axis=0) / TOTAL, values


@symbols_of.register
def _(
    mechanism: Laplace, values: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.integer[Any]]]:
    """Noisy values in bins, half a noise scale wide at most, with their exact probabilities."""
    positions, noise = np.asarray(mechanism.positions, float), 1 / float(mechanism.rate)
    low, high = positions.min() - 4 * noise, positions.max() + 4 * noise
    edges = np.unique(np.floor(np.linspace(low, high, _BINS - 1)))
    below = _below(edges[None, :] - positions[:, None], float(mechanism.rate))
    table = np.diff(np.pad(below, ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1))), axis=1)
    if mechanism.protects == "answers+participation":
        null = table.mean(axis=0) if mechanism.null is None else table[mechanism.null]
        table = np.vstack([table, null])
    return np.maximum(table, 1e-300), np.searchsorted(edges, values, side="left")


def _below(distance: NDArray[np.float64], rate: float) -> NDArray[np.float64]:
    """P(noise ≤ distance) of discrete Laplace noise with P(k) ∝ e^(−rate·|k|)."""
    q = np.exp(-rate)
    lower = np.exp(-rate * np.abs(distance)) / (1 + q)
    chance: NDArray[np.float64] = np.where(distance < 0, lower, 1 - q * lower)
    return chance

"""Reports as symbols with a known table: what the posterior needs to know of any mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial, singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from forsooth.answers import Answers
from forsooth.errors import ForsoothError
from forsooth.inference.posterior.blocks import Block, Blocks, Held
from forsooth.inference.posterior.kernels import count_tasks
from forsooth.inference.posterior.sums import Sums
from forsooth.mechanisms import (
    ChannelMechanism,
    Laplace,
    Mechanism,
    PresenceLaplace,
    SampledTasks,
    TwoLayer,
    reports_sums,
)
from forsooth.mechanisms.channel import TOTAL
from forsooth.mechanisms.presence_laplace import NOT_ANSWERED
from forsooth.reports import Reports

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forsooth.scale import Scale

_BINS = 64  # of Laplace noise: half a noise scale wide at most
_SHARE_STEPS = 200  # of expectation maximisation for the overall shares: a weak guess is enough
_BUDGETS = 8  # of two-layer: budgets closer than that are hard to tell apart


@dataclass(frozen=True, eq=False)
class Evidence:
    """The reports of one mechanism: symbols, and P(symbol | answer or NULL).

    There is a table for every secret that a worker may have drawn for all of their cells, equally
    likely; most mechanisms have one. The last row of a table is NULL if participation is hidden.
    `counted` is what `count_tasks` has counted, where that is known already.
    """

    blocks: Blocks
    tasks: int
    tables: NDArray[np.float64]  # secrets × inputs × symbols
    hidden: bool
    counted: NDArray[np.int64] | None = None

    @property
    def workers(self) -> int:
        """How many workers have reported."""
        return self.blocks.workers

    @property
    def symbols(self) -> int:
        """How many symbols there are."""
        return int(self.tables.shape[2])

    @cached_property
    def answer_tables(self) -> NDArray[np.float64]:
        """Secrets × answers × symbols."""
        return self.tables[:, :-1] if self.hidden else self.tables

    @cached_property
    def null_rows(self) -> NDArray[np.float64]:
        """Secrets × symbols; nothing where every cell is answered."""
        return self.tables[:, -1] if self.hidden else np.zeros((len(self.tables), self.symbols))

    @cached_property
    def per_task(self) -> NDArray[np.float64]:
        """How often each symbol occurs in each task."""
        counted = self.counted
        if counted is None:
            counted = self.blocks.total(partial(count_tasks, symbols=self.symbols))
        return counted.astype(np.float64)

    @property
    def cells(self) -> int:
        """How many cells have been reported."""
        return int(self.per_task.sum())


@dataclass(frozen=True, eq=False)
class Campaign:
    """All that the posterior knows of a campaign; `names` of its workers, if they are wanted."""

    scale: Scale
    tasks: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    names: tuple[str, ...] = ()
    sums: Sums | None = None  # of workers who reported sums over tasks

    @property
    def workers(self) -> int:
        """How many workers have reported."""
        return sum(part.workers for part in self.evidence)


def campaign_of(parts: Sequence[Reports | Answers]) -> Campaign:
    """Reports, or answers, in memory; those that came through the same mechanism together."""
    groups: dict[str, list[Reports | Answers]] = {}
    for part in parts:
        if isinstance(part, Answers) or not reports_sums(part.mechanism):
            key = "" if isinstance(part, Answers) else part.mechanism.to_json()
            groups.setdefault(key, []).append(part)
    names = [name for group in groups.values() for part in group for name in part.workers]
    evidence = tuple(evidence_of(*group) for group in groups.values())
    sums = Sums.of([part for part in parts if isinstance(part, Reports)])
    names += sums.workers if sums else ()
    return Campaign(parts[0].scale, parts[0].tasks, evidence, tuple(names), sums)


def answer_shares(parts: Sequence[Evidence], answers: int) -> NDArray[np.float64]:
    """The overall shares of the answers, recovered through the channels.

    Expectation maximisation; every answer counts as two reports more.
    """
    shares = np.full(answers + 1, 1 / (answers + 1))
    shares[-1] *= any(part.hidden for part in parts)
    tables = [np.vstack([p.answer_tables.mean(axis=0), p.null_rows.mean(axis=0)]) for p in parts]
    for _ in range(_SHARE_STEPS):
        counts = 2.0 * (shares > 0)
        for part, table in zip(parts, tables):
            seen = np.maximum(shares @ table, np.finfo(float).tiny)
            counts += shares * (table @ (part.per_task.sum(axis=0) / seen))
        shares = counts / counts.sum()
    found: NDArray[np.float64] = shares[:-1] / shares[:-1].sum()
    return found


def evidence_of(*parts: Reports | Answers) -> Evidence:
    """Reports through their mechanism's table; plain answers through the identity."""
    data, blocks = parts[0], Held([block_of(part) for part in parts])
    if isinstance(data, Answers):
        return Evidence(blocks, len(data.tasks), np.eye(data.scale.size)[None], False)
    tables, hidden = tables_of(data.mechanism), is_hidden(data.mechanism)
    return Evidence(blocks, len(data.tasks), tables, hidden)


def is_hidden(mechanism: Mechanism) -> bool:
    """Does a report hide which cells were answered?"""
    return mechanism.protects == "answers+participation"


def tables_of(mechanism: Mechanism) -> NDArray[np.float64]:
    """P(symbol | secret, input)."""
    return _tables(_of_a_cell(mechanism))


def block_of(data: Reports | Answers) -> Block:
    """All reports, or all answers, as one block."""
    if isinstance(data, Answers):
        return Block(len(data.tasks), data.starts.astype(np.int64), data.task, data.code)
    workers, tasks, mechanism = len(data.workers), len(data.tasks), data.mechanism
    symbol = _symbols(_of_a_cell(mechanism), data.values).ravel()
    if data.answered is not None:
        worker, task = data.answered
        starts = np.searchsorted(worker, np.arange(workers + 1))
        return Block(tasks, starts.astype(np.int64), task, symbol)
    starts = np.arange(workers + 1, dtype=np.int64) * data.values.shape[1]
    if isinstance(mechanism, SampledTasks):
        task = mechanism.sampled(data.workers, tasks).ravel().astype(np.int32)
        return Block(tasks, starts, task, symbol)
    return Block(tasks, starts, np.empty(0, np.int32), symbol)


def _of_a_cell(mechanism: Mechanism) -> Mechanism:
    return mechanism.inner if isinstance(mechanism, SampledTasks) else mechanism


@singledispatch
def _tables(mechanism: Mechanism) -> NDArray[np.float64]:
    raise ForsoothError(f"the posterior has no table for {mechanism.name}")


@_tables.register
def _(mechanism: ChannelMechanism) -> NDArray[np.float64]:
    return np.array([mechanism.channel.weights], float) / TOTAL


@_tables.register
def _(mechanism: TwoLayer) -> NDArray[np.float64]:
    """A worker's budget is about one of a few: neighbouring budgets send nearly the same."""
    tables = np.array([channel.weights for channel in mechanism.channels], float) / TOTAL
    few: NDArray[np.float64] = tables.reshape(_BUDGETS, -1, *tables.shape[1:]).mean(axis=1)
    return few


@_tables.register
def _(mechanism: Laplace) -> NDArray[np.float64]:
    """The exact probabilities of the bins."""
    positions = np.asarray(mechanism.positions, float)
    below = _below(_edges(mechanism)[None, :] - positions[:, None], float(mechanism.rate))
    table = np.diff(np.pad(below, ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1))), axis=1)
    if is_hidden(mechanism):
        null = table.mean(axis=0) if mechanism.null is None else table[mechanism.null]
        table = np.vstack([table, null])
    return np.maximum(table, 1e-300)[None]


@_tables.register
def _(mechanism: PresenceLaplace) -> NDArray[np.float64]:
    """The bins of the noisy value, then NULL."""
    (bins,) = _tables(mechanism.inner)
    answered = np.full((len(bins), 1), mechanism.keep / TOTAL)
    answered[-1] = 1 - answered[-1]  # the row of NULL
    return np.hstack([answered * bins, 1 - answered])[None]


def _symbols(mechanism: Mechanism, values: NDArray[Any]) -> NDArray[np.unsignedinteger[Any]]:
    """Reported values as symbols: noisy numbers fall into bins."""
    if isinstance(mechanism, PresenceLaplace):
        bins = _symbols(mechanism.inner, values)
        last = len(_edges(mechanism.inner)) + 1
        return np.where(values == NOT_ANSWERED, last, bins).astype(np.uint8)
    if isinstance(mechanism, Laplace):
        return np.searchsorted(_edges(mechanism), values, side="left").astype(np.uint8)
    return values


def _edges(mechanism: Laplace) -> NDArray[np.float64]:
    """Of bins that are half a noise scale wide at most."""
    positions, noise = np.asarray(mechanism.positions, float), 1 / float(mechanism.rate)
    low, high = positions.min() - 4 * noise, positions.max() + 4 * noise
    return np.unique(np.floor(np.linspace(low, high, _BINS - 1)))


def _below(distance: NDArray[np.float64], rate: float) -> NDArray[np.float64]:
    """P(noise ≤ distance) of discrete Laplace noise with P(k) ∝ e^(−rate·|k|)."""
    q = np.exp(-rate)
    lower = np.exp(-rate * np.abs(distance)) / (1 + q)
    chance: NDArray[np.float64] = np.where(distance < 0, lower, 1 - q * lower)
    return chance

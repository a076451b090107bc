"""Probes: a mechanism as a black box with finitely many inputs and reports.

A cellwise mechanism is asked for one cell, every answer and NULL. A mechanism that reports vectors
is asked for three vectors (a cell at the scale's low end, at its high end, NULL), and its report is
put into bins of the two log-likelihood ratios that matter: by Neyman and Pearson no other view of
the report would tell the inputs apart better. Binning is post-processing: the bound stays valid.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from forsooth.answers import Answers, code_dtype
from forsooth.auditing.exact import mf_log_density
from forsooth.errors import ForsoothError
from forsooth.mechanisms import (
    ChannelMechanism,
    Laplace,
    MatrixFactorization,
    Mechanism,
    PresenceLaplace,
    SafeFactorization,
    SampledTasks,
    TwoLayer,
)
from forsooth.mechanisms.presence_laplace import NOT_ANSWERED

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from forsooth.reports import Reports

_WORKER = "probe"
_OTHER_CELLS = 8  # of two-layer: enough to give much of the budget away
_MOST_OUTCOMES = 4096
_EDGES = np.linspace(-0.999, 0.999, 11)  # of log-likelihood ratios, in units of ε


@dataclass(frozen=True, eq=False)
class Probe:
    """Inputs as code vectors, the last one with NULL where participation is hidden."""

    inputs: tuple[tuple[int, ...], ...]
    hidden: bool
    outcome: Callable[[Reports], NDArray[np.intp]]
    outcomes: int
    table: tuple[tuple[int, ...], ...] | None = None

    def value_pairs(self) -> NDArray[np.bool_]:
        """Which pairs of inputs differ in a value."""
        answered = self._answered()
        return np.logical_and(answered[:, None], answered[None, :])

    def participation_pairs(self) -> NDArray[np.bool_]:
        """Which pairs of inputs differ in participation."""
        answered = self._answered()
        return np.logical_xor(answered[:, None], answered[None, :])

    def _answered(self) -> NDArray[np.bool_]:
        answered: NDArray[np.bool_] = np.arange(len(self.inputs)) < len(self.inputs) - self.hidden
        return answered

    def ask(
        self, mechanism: Mechanism, row: int, draws: int, simulation_seed: int | None
    ) -> NDArray[np.intp]:
        """`draws` independent outcomes for one input, all as the same worker."""
        answers = repeated(mechanism, self.inputs[row], draws)
        seed = None if simulation_seed is None else simulation_seed * 1009 + row
        return self.outcome(mechanism.perturb(answers, simulation_seed=seed))


def repeated(mechanism: Mechanism, codes: tuple[int, ...], times: int) -> Answers:
    """The same answer vector, given by the same worker over and over."""
    answered = [task for task, code in enumerate(codes) if code != mechanism.scale.null]
    given = np.array([codes[task] for task in answered], code_dtype(mechanism.scale))
    return Answers(
        mechanism.scale,
        (_WORKER,) * times,
        tuple(f"task {task}" for task in range(len(codes))),
        np.repeat(np.arange(times, dtype=np.int32), len(answered)),
        np.tile(np.array(answered, np.int32), times),
        np.tile(given, times),
    )


@singledispatch
def probe(mechanism: Mechanism) -> Probe:
    """How to ask this mechanism."""
    raise ForsoothError(f"there is no sampled audit of {mechanism.name}")


@probe.register
def _(mechanism: ChannelMechanism) -> Probe:
    channel = mechanism.channel
    return Probe(
        tuple((code,) for code in range(channel.inputs)),
        mechanism.protects == "answers+participation",
        lambda reports: reports.values.ravel().astype(np.intp),
        channel.symbols,
        channel.weights,
    )


@probe.register
def _(mechanism: Laplace) -> Probe:
    hidden = mechanism.protects == "answers+participation"
    edges = np.asarray(mechanism.positions)
    return Probe(
        tuple((code,) for code in range(mechanism.scale.size + hidden)),
        hidden,
        lambda reports: np.searchsorted(edges, reports.values.ravel()),
        len(edges) + 1,
    )


@probe.register
def _(mechanism: PresenceLaplace) -> Probe:
    """The outcomes of `lp`; NULL, the smallest number, is one of its own."""
    inner = probe(mechanism.inner)
    return replace(
        inner,
        outcome=lambda reports: np.where(
            reports.values.ravel() == NOT_ANSWERED, inner.outcomes, inner.outcome(reports)
        ),
        outcomes=inner.outcomes + 1,
    )


@probe.register
def _(mechanism: TwoLayer) -> Probe:
    """One cell, and whether all of the other cells came through unchanged."""
    hidden, symbols = mechanism.protects == "answers+participation", mechanism.channels[0].symbols

    def outcome(reports: Reports) -> NDArray[np.intp]:
        rows = reports.values.reshape(-1, _OTHER_CELLS + 1).astype(np.intp)
        kept: NDArray[np.intp] = rows[:, -1] + symbols * (rows[:, :-1] == 0).all(axis=1)
        return kept

    others = (0,) * _OTHER_CELLS
    inputs = tuple((*others, code) for code in range(mechanism.channels[0].inputs))
    return Probe(inputs, hidden, outcome, 2 * symbols)


@probe.register
def _(mechanism: SafeFactorization) -> Probe:
    inputs = _three_vectors(mechanism, mechanism.d)
    sketches = mechanism.sketch(np.array(inputs), (_WORKER,) * 3)
    rate = float(mechanism.rate)

    def outcome(reports: Reports) -> NDArray[np.intp]:
        logs = [-rate * np.abs(reports.values - sketch).sum(axis=1) for sketch in sketches]
        return _bins(mechanism, *logs)

    return Probe(inputs, True, outcome, (len(_EDGES) + 1) ** 2)


@probe.register
def _(mechanism: MatrixFactorization) -> Probe:
    inputs = _three_vectors(mechanism, len(mechanism.profiles))
    vectors = [
        [None if code == mechanism.scale.null else mechanism.scale.values[code] for code in codes]
        for codes in inputs
    ]

    def outcome(reports: Reports) -> NDArray[np.intp]:
        logs = [mf_log_density(mechanism, vector, reports.values) for vector in vectors]
        return _bins(mechanism, *logs)

    return Probe(inputs, True, outcome, (len(_EDGES) + 1) ** 2)


@probe.register
def _(mechanism: SampledTasks) -> Probe:
    """A campaign of just the sampled tasks, all answered alike; the cells' outcomes together."""
    cell, count = probe(mechanism.inner), mechanism.count
    joint = cell.outcomes**count <= _MOST_OUTCOMES

    def outcome(reports: Reports) -> NDArray[np.intp]:
        each = cell.outcome(reports).reshape(-1, count)
        together: NDArray[np.intp] = (
            each @ (cell.outcomes ** np.arange(count)) if joint else (each == 0).sum(axis=1)
        )
        return together

    inputs = tuple(codes * count for codes in cell.inputs)
    return Probe(inputs, cell.hidden, outcome, cell.outcomes**count if joint else count + 1)


def _three_vectors(mechanism: Mechanism, tasks: int) -> tuple[tuple[int, ...], ...]:
    """The last cell low, high and NULL; the first one answered if there is another."""
    first = (0,) if tasks > 1 else ()
    between = (mechanism.scale.null,) * (tasks - len(first) - 1)
    codes = (0, mechanism.scale.size - 1, mechanism.scale.null)
    return tuple((*first, *between, code) for code in codes)


def _bins(mechanism: Mechanism, low: Any, high: Any, null: Any) -> NDArray[np.intp]:
    """Bins of the log-likelihood ratios low : high and high : NULL."""
    edges = _EDGES * mechanism.epsilon
    value, presence = np.searchsorted(edges, low - high), np.searchsorted(edges, high - null)
    bins: NDArray[np.intp] = value * (len(edges) + 1) + presence
    return bins

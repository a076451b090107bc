"""What the reports of a black box are tested for: single values, pairs, and sums.

Answers and mechanism are known, so every count has a known expectation if the client is honest.
A client that hides an answer somewhere moves a count; what no count here looks at is not seen.

    all values together        by what went in
    each value                 by what went in
    values by other answers    each value, by the answer to each task
    pairs of values            each pair, by what went into the first one
    sums modulo m              of all values of a report, by the answer to each task
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from forsooth.auditing.tails import Surprise, most_improbable
from forsooth.auditing.views import ABSENT, View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

TOGETHER = "all values together"
_MOST_COUNTS = 4_000_000  # of one test, about a second; of more values, some are looked at
_CLASSES = 16  # of symbols, in tests of pairs on long scales


@dataclass(frozen=True)
class Fit:
    """One test: what was counted, and the count that an honest client makes least often."""

    name: str
    surprise: Surprise
    where: str

    @property
    def p(self) -> float:
        """The probability that an honest client makes some count this improbable."""
        return self.surprise.p

    def __str__(self) -> str:
        return f"{self.name}: {self.where}: {self.surprise}"


def fits(view: View, answers: NDArray[np.intp], options: int) -> Iterator[Fit]:
    """All tests of a view; `answers` are workers × tasks, each below `options`."""
    secrets, inputs, size = view.tables.shape
    values, tasks = view.inputs.shape[1], answers.shape[1]
    if secrets == 1:
        yield against_table(view.name, _together(view), view.mean_table)
    value = _Some.of("value", values, _MOST_COUNTS // (inputs * size))
    surprise = _each(_columns(view, value.places))
    yield _fit(view.name, "each value", surprise, value, "input", "symbol")
    rough = _rough(view)
    side = math.isqrt(_MOST_COUNTS // (inputs * max(options, inputs, rough.tables.shape[2] ** 2)))
    value, task = _Some.of("value", values, side), _Some.of("task", tasks, side)
    rough = _columns(rough, value.places)
    surprise = _by_other_answers(rough, answers[:, task.places], options)
    yield _fit(view.name, "values by other answers", surprise, task, "answer", value, "symbol")
    if values == 1:
        return
    axes = (value, "input", "symbol", value, "symbol")
    yield _fit(view.name, "pairs of values", _pairs(rough), *axes)
    task = _Some.of("task", tasks, _MOST_COUNTS // (options * view.modulus))
    for modulus in sorted({2, view.modulus}):
        surprise = _sums(view, answers[:, task.places], options, modulus)
        what = f"sums of all values modulo {modulus}"
        yield _fit(view.name, what, surprise, task, "answer", "sum")


def against_table(name: str, counts: NDArray[np.float64], table: NDArray[np.float64]) -> Fit:
    """Counts by input and symbol against P(symbol | input)."""
    draws = counts.sum(axis=1, keepdims=True)
    surprise = most_improbable(counts, draws, draws * table)
    return _fit(name, TOGETHER, surprise, "input", "symbol")


@dataclass(frozen=True, eq=False)
class _Some:
    """The values or tasks that a test looks at: all or, of too many, some at equal distances."""

    name: str
    number: int
    places: NDArray[np.intp]

    @classmethod
    def of(cls, name: str, number: int, most: int) -> _Some:
        chosen = np.linspace(0, number - 1, min(number, max(most, 2))).round().astype(np.intp)
        return cls(name, number, np.unique(chosen))


def _fit(name: str, what: str, surprise: Surprise, *axes: str | _Some) -> Fit:
    """A test with its place in words: values and tasks from 1, inputs and symbols from 0."""
    where = []
    for axis, index in zip(axes, surprise.place):
        if isinstance(axis, str):
            where.append(f"{axis} {index}")
        else:
            where.append(f"{axis.name} {axis.places[index] + 1}")
    first = axes[0]
    if isinstance(first, _Some) and len(first.places) < first.number:
        what += f" ({len(first.places):,} of {first.number:,} {first.name}s)"
    return Fit(f"{name}, {what}", surprise, ", ".join(where))


def _columns(view: View, chosen: NDArray[np.intp]) -> View:
    """The chosen values only."""
    return replace(view, inputs=view.inputs[:, chosen], symbols=view.symbols[:, chosen])


def _rough(view: View) -> View:
    """The same with at most 16 classes of neighbouring symbols."""
    size = view.tables.shape[2]
    of_symbol = np.arange(size) * min(size, _CLASSES) // size
    merged = view.tables @ np.eye(of_symbol[-1] + 1)[of_symbol]
    symbols = np.where(view.symbols == ABSENT, ABSENT, of_symbol[view.symbols])
    return replace(view, symbols=symbols, tables=merged)


def _together(view: View) -> NDArray[np.float64]:
    """How often every input gave every symbol."""
    _, inputs, size = view.tables.shape
    there = view.inputs != ABSENT
    return _count(view.inputs[there] * size + view.symbols[there], (inputs, size))


def _each(view: View) -> Surprise:
    _, inputs, size = view.tables.shape
    values = view.inputs.shape[1]
    there = view.inputs != ABSENT
    place = (np.arange(values) * inputs + view.inputs) * size + view.symbols
    counts = _count(place[there], (values, inputs, size))
    draws = counts.sum(axis=2, keepdims=True)
    return most_improbable(counts, draws, draws * view.mean_table)


def _by_other_answers(view: View, answers: NDArray[np.intp], options: int) -> Surprise:
    _, inputs, size = view.tables.shape
    groups = _indicators(answers, options)
    went_in = _crossed(groups, _indicators(view.inputs, inputs), options, inputs)
    counts = _crossed(groups, _indicators(view.symbols, size), options, size)
    draws = went_in.sum(axis=3, keepdims=True)
    return most_improbable(counts, draws, went_in @ view.mean_table)


def _pairs(view: View) -> Surprise:
    """Counts are first value × its input × its symbol × second value × its symbol."""
    _, inputs, size = view.tables.shape
    values = view.inputs.shape[1]
    first = np.where(view.inputs == ABSENT, ABSENT, view.inputs * size + view.symbols)
    counts = _crossed(
        _indicators(first, inputs * size), _indicators(view.symbols, size), inputs * size, size
    ).reshape(values, inputs, size, values, size)
    kinds = _indicators(view.inputs, inputs)
    both = _crossed(kinds, kinds, inputs, inputs)
    expected = np.zeros_like(counts)
    for table in view.tables:
        second = (both @ table)[:, :, None]  # by the secret that a worker has drawn
        expected += table[None, :, :, None, None] * second / len(view.tables)
    draws = both.sum(axis=3)[:, :, None, :, None] * (1 - np.eye(values))[:, None, None, :, None]
    return most_improbable(counts, draws, expected)


def _sums(view: View, answers: NDArray[np.intp], options: int, modulus: int) -> Surprise:
    there = view.inputs != ABSENT
    sums = np.where(there, view.symbols, 0).sum(axis=1) % modulus
    groups = _indicators(answers, options)
    chances = _chances_of_sums(view, modulus)
    shape = (answers.shape[1], options, modulus)
    counts = (groups.T @ np.eye(modulus)[sums]).reshape(shape)
    draws = counts.sum(axis=2, keepdims=True)
    return most_improbable(counts, draws, (groups.T @ chances).reshape(shape))


def _chances_of_sums(view: View, modulus: int) -> NDArray[np.float64]:
    """P(sum = s modulo m) of every worker: the convolution, as a product of Fourier transforms."""
    size = view.tables.shape[2]
    waves = np.exp(-2j * np.pi / modulus * np.outer(np.arange(size), np.arange(modulus)))
    factors = view.tables @ waves  # secrets × inputs × frequencies
    factors = np.concatenate([factors, np.ones_like(factors[:, :1])], axis=1)  # ABSENT adds nothing
    products = np.ones((len(view.tables), len(view.inputs), modulus), complex)
    for column in view.inputs.T:
        products *= factors[:, column]
    return np.asarray(np.fft.ifft(products.mean(axis=0), axis=1).real)


def _indicators(codes: NDArray[np.intp], size: int) -> Any:
    """Workers × (columns × codes), sparse: 1 where a column has this code."""
    from scipy.sparse import csr_array

    worker, column = np.nonzero(codes != ABSENT)
    place = column * size + codes[worker, column]
    shape = (len(codes), codes.shape[1] * size)
    return csr_array((np.ones(len(worker)), (worker, place)), shape=shape)


def _crossed(left: Any, right: Any, size: int, other: int) -> NDArray[np.float64]:
    """How many workers have both codes: left columns × codes × right columns × codes."""
    counts: NDArray[np.float64] = (left.T @ right).toarray()
    return counts.reshape(counts.shape[0] // size, size, counts.shape[1] // other, other)


def _count(places: NDArray[np.intp], shape: tuple[int, ...]) -> NDArray[np.float64]:
    return np.bincount(places, minlength=int(np.prod(shape))).reshape(shape).astype(float)

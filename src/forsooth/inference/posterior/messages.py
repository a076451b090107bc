"""Messages between workers and tasks, for the reports of one mechanism.

A slot is a place where reports are alike: in the exact form a cell, in the typed form the cells of
one type of workers with the same task and symbol y. With v, what is known of the slot's workers
without this report (P(kind, answered) and P(not answered)), its message to the task is

    M(θ) = Σ_k v_k·p_k(y | θ) + v_NULL·W[NULL, y]      ln likelihood of task j: Σ slots n·ln M(θ)

and the message back to its workers, with the task's belief b without this report,

    e_k = Σ_θ b(θ)/M(θ)·p_k(y | θ) / Σ_θ b(θ)/M(θ),    m_{r,k} = (1 − ρ_r)·W[NULL, y] + ρ_r·e_k.

Where the typed form has more slots than there are cells, the exact form is used.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from forsooth.inference.posterior.kernels import (
    ToWorkers,
    TypeSums,
    fold,
    softmax,
    typed_pass,
    worker_states,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from forsooth.inference.posterior.blocks import Block
    from forsooth.inference.posterior.evidence import Evidence
    from forsooth.inference.posterior.sums import Sums

    Array = NDArray[Any]  # single precision in the exact form

_CHUNK = 2**15  # slots whose messages are held at once
_LEAST = 1e-30  # the least probability of a message


@dataclass(frozen=True, eq=False)
class Parameters:
    """The current estimates of what the crowd is like."""

    responses: Array  # P(answer | truth): kinds × nodes × answers
    shares: Array  # ω
    rates: Array  # ρ
    rate_shares: Array  # χ


@dataclass(frozen=True, eq=False)
class Learned:
    """What a round tells of the crowd: how well each state explains workers, or types of them."""

    explained: Array  # rows × rates × kinds: P(state | reports) / P(state)
    size: Array  # workers per row
    given: Array  # expected answers: kinds × nodes × answers


class _Tables:
    """p(y | θ) of every kind through this mechanism; a kind stands once for every secret."""

    def __init__(self, part: Evidence, now: Parameters, precision: type = np.float64) -> None:
        kinds, nodes, _ = now.responses.shape
        secrets = len(part.tables)
        through = np.einsum("kga,bay->ykbg", now.responses, part.answer_tables, optimize=True)
        shaped = through.reshape(part.symbols, kinds * secrets, nodes)
        self.answered: Array = np.ascontiguousarray(shaped, precision)
        self.null: Array = part.null_rows.astype(precision)  # secrets × symbols
        of_kind = np.repeat(now.shares, secrets) / secrets
        rates = now.rates if part.hidden else np.ones(1)
        shares = now.rate_shares if part.hidden else np.ones(1)
        self.prior = np.maximum(np.outer(shares, of_kind), _LEAST).ravel()
        self.rates, self.kinds, self.secrets = rates, kinds, secrets

    def messages(self, expected: Array, symbol: int) -> Array:
        """M of e: slots × states."""
        null = np.tile(self.null[:, symbol], self.kinds).astype(expected.dtype)
        rates = self.rates[:, None].astype(expected.dtype)
        states = (1 - rates) * null + rates * expected[:, None, :]
        rows: Array = np.maximum(states, _LEAST).reshape(len(expected), -1)
        return rows

    def message(self, cavity: Array, symbol: int) -> Array:
        """M(θ): slots × nodes."""
        kinds = self.kinds * self.secrets
        silent = cavity[:, kinds:] @ self.null[:, symbol]
        message: Array = cavity[:, :kinds] @ self.answered[symbol] + silent[:, None]
        return np.maximum(message, _LEAST)

    def fold(self, weights: Array) -> Array:
        """Folded states of rows of weights that need not sum to 1."""
        normalised = weights / weights.sum(axis=1, keepdims=True)
        return fold(normalised, self.rates, self.secrets)

    def learned(self, states: Array, size: Array, given: Array) -> Learned:
        """Rows of states, each standing for `size` workers."""
        shape = len(states), len(self.rates), self.kinds, self.secrets
        explained = (states / self.prior).reshape(shape).mean(axis=3)
        return Learned(explained, size, given)

    def start(self) -> Array:
        """The fold of the prior: what is known of a worker before anything else."""
        folded: Array = self.fold(self.prior[None])[0]
        return folded


class Messages(ABC):
    """Both directions, for the reports of one mechanism."""

    @abstractmethod
    def start(self, now: Parameters) -> None:
        """Begin with the pooled model: of every worker only the prior is known."""

    @abstractmethod
    def log_likelihood(self, now: Parameters) -> Array:
        """Tasks × nodes."""

    @abstractmethod
    def update(self, beliefs: Array, now: Parameters) -> Learned:
        """New messages from the tasks' beliefs, and expected counts."""

    @abstractmethod
    def workers(self, beliefs: Array, now: Parameters) -> Array:
        """P(kind) of every worker: workers × kinds."""

    def kept(self) -> dict[str, NDArray[Any]]:
        """The state that a checkpoint keeps after a pass; empty if a pass is cheap."""
        return {}


class _Slots(NamedTuple):
    """Some slots of one symbol."""

    symbol: int
    place: Any  # in arrays of all slots
    task: NDArray[np.intp]
    number: Array  # cells per slot
    cavity: Array  # v


class CellMessages(Messages):
    """Of reports that are made of cells. To tasks both forms are the same."""

    precision: type
    cavity: Array  # of all slots: … × (kinds with secrets, answered; then secrets, not answered)

    def __init__(self, part: Evidence) -> None:
        self.part = part

    @abstractmethod
    def _slots(self) -> Iterator[_Slots]:
        """All slots, some at a time."""

    def log_likelihood(self, now: Parameters) -> Array:
        """Σ slots n·ln M(θ)."""
        tables = _Tables(self.part, now, self.precision)
        total = np.zeros((self.part.tasks, now.responses.shape[1]))
        for some in self._slots():
            if some.number.any():
                logs = np.log(tables.message(some.cavity, some.symbol))
                total += _summing(some.task, self.part.tasks, some.number) @ logs
        return total

    def _expected(self, beliefs: Array, now: Parameters) -> tuple[Array, Array]:
        """E of every slot; expected answers of every kind, kinds × nodes × answers."""
        tables, beliefs = _Tables(self.part, now, self.precision), beliefs.astype(self.precision)
        expected = np.empty((*self.cavity.shape[:-1], tables.answered.shape[1]), self.precision)
        joint = np.zeros(tables.answered.shape)
        for symbol, place, task, number, cavity in self._slots():
            answered = tables.answered[symbol]
            without = beliefs[task] / tables.message(cavity, symbol)
            expected[place] = without @ answered.T / without.sum(axis=1, keepdims=True)
            joint[symbol] += (number[:, None] * cavity[:, : len(answered)]).T @ without
        kinds, nodes, _ = now.responses.shape
        by_secret = joint.reshape(len(joint), kinds, -1, nodes)
        answers = np.einsum("ykbg,bay->kga", by_secret, self.part.answer_tables, optimize=True)
        return expected, now.responses * answers


class ExactMessages(CellMessages):
    """A slot per cell: both cavities are exact. Messages are in single precision."""

    precision = np.float32

    def __init__(self, part: Evidence) -> None:
        super().__init__(part)
        worker, task, symbol, before = [], [], [], 0
        for block in part.blocks.each(_itself):
            own, at = block.coordinates()
            worker.append(own + before)
            task.append(at)
            symbol.append(block.symbol.astype(np.intp))
            before += block.workers
        of_worker, of_task, of_symbol = map(np.concatenate, (worker, task, symbol))
        order = np.lexsort((of_task, of_symbol))
        self.worker, self.task, of_symbol = of_worker[order], of_task[order], of_symbol[order]
        self.number = np.ones(len(order), np.float32)
        self.edges = np.searchsorted(of_symbol, np.arange(part.symbols + 1))

    def _slots(self) -> Iterator[_Slots]:
        for symbol, (begin, end) in enumerate(zip(self.edges[:-1], self.edges[1:])):
            for first in range(begin, end, _CHUNK):
                some = slice(first, min(first + _CHUNK, end))
                yield _Slots(symbol, some, self.task[some], self.number[some], self.cavity[some])

    def start(self, now: Parameters) -> None:
        """Every cell has the prior's fold."""
        start = _Tables(self.part, now).start().astype(np.float32)
        self.cavity = np.tile(start, (len(self.task), 1))

    def _judged(self, expected: Array, tables: _Tables) -> Array:
        logs = np.tile(np.log(tables.prior), (self.part.workers, 1))
        for symbol, place, _, number, _ in self._slots():
            messages = np.log(tables.messages(expected[place], symbol))
            logs += _summing(self.worker[place], self.part.workers, number) @ messages
        return softmax(logs)

    def update(self, beliefs: Array, now: Parameters) -> Learned:
        """From the tasks to the workers and back."""
        tables = _Tables(self.part, now)
        expected, given = self._expected(beliefs, now)
        states = self._judged(expected, tables)
        for symbol, place, *_ in self._slots():
            weights = states[self.worker[place]] / tables.messages(expected[place], symbol)
            self.cavity[place] = tables.fold(weights)
        return tables.learned(states, np.ones(len(states)), given)

    def workers(self, beliefs: Array, now: Parameters) -> Array:
        """From the present messages."""
        tables = _Tables(self.part, now)
        states = self._judged(self._expected(beliefs, now)[0], tables)
        return _of_kinds(states, tables)


class TypedMessages(CellMessages):
    """A slot per type of workers, task and symbol, filled by sums over blocks of workers.

    A slot holds the mean fold of its workers' states. The cavity, which leaves this report out, is
    found for the type's mean worker and applied to the slot's. Slot 0 is of workers whose type is
    not yet known: the mean of all types.
    """

    precision = np.float64

    def start(self, now: Parameters) -> None:
        """Of everybody only the prior is known."""
        tables, part = _Tables(self.part, now), self.part
        self.codes = first_codes(tables.prior, len(tables.rates), tables.kinds)
        self.number, fold = part.per_task[None], tables.start()
        self.cavity = np.broadcast_to(fold, (*self.number.shape, len(fold)))

    def kept(self) -> dict[str, NDArray[Any]]:
        """The slots and the codes."""
        return {"number": self.number, "cavity": self.cavity, "codes": self.codes}

    def _slots(self) -> Iterator[_Slots]:
        task = np.arange(self.part.tasks)
        for kind, symbol in np.ndindex(len(self.number), self.part.symbols):
            place = kind, slice(None), symbol
            yield _Slots(symbol, place, task, self.number[place], self.cavity[place])

    def _to_workers(self, beliefs: Array, tables: _Tables, now: Parameters) -> tuple[Array, Array]:
        """M to every type (× tasks × symbols × states), and the expected answers."""
        expected, given = self._expected(beliefs, now)
        types, tasks, symbols, _ = expected.shape
        messages = np.empty((types, tasks, symbols, len(tables.prior)), np.float32)
        for kind, symbol in np.ndindex(types, symbols):
            messages[kind, :, symbol] = tables.messages(expected[kind, :, symbol], symbol)
        return messages, given

    def _to(self, messages: Array, tables: _Tables) -> ToWorkers:
        return ToWorkers(np.log(messages), tables.prior, tables.rates, tables.secrets, self.codes)

    def update(self, beliefs: Array, now: Parameters) -> Learned:
        """One pass over the reports."""
        tables = _Tables(self.part, now)
        messages, given = self._to_workers(beliefs, tables, now)
        work = partial(typed_pass, to=self._to(messages, tables))
        sums: TypeSums = self.part.blocks.total(work)
        used = sums.size > 0
        means = np.where(used[:, None], sums.states, tables.prior)
        means /= np.where(used, sums.size, 1)[:, None]
        self.codes = np.where(used[:, None], np.sqrt(means), self.codes).astype(np.float32)
        self._fill(sums, means, messages, tables)
        return tables.learned(means[used], sums.size[used], given)

    def _fill(self, sums: TypeSums, means: Array, messages: Array, tables: _Tables) -> None:
        """New slots; one that nobody is in has the mean of its type."""
        cavity = np.empty((1 + len(means), *sums.folded.shape[1:]))
        for kind, mean in enumerate(means):
            own = np.maximum(tables.fold(mean[None])[0], _LEAST)
            to_type = messages[min(kind + 1, len(messages) - 1)]
            without = tables.fold(mean / to_type.reshape(-1, to_type.shape[2])) / own
            number = sums.number[kind][..., None]
            slot = np.where(number > 0, sums.folded[kind] / np.maximum(number, 1), own)
            slot *= without.reshape(slot.shape)
            cavity[kind + 1] = slot / slot.sum(axis=2, keepdims=True)
        total = np.einsum("djy,djyk->jyk", sums.number, cavity[1:], optimize=True)
        counts = sums.number.sum(axis=0)
        cavity[0] = tables.start()
        cavity[0, counts > 0] = total[counts > 0] / counts[counts > 0][:, None]
        self.cavity = cavity
        self.number = np.concatenate([np.zeros((1, *counts.shape)), sums.number])

    def workers(self, beliefs: Array, now: Parameters) -> Array:
        """One more pass."""
        tables = _Tables(self.part, now)
        to = self._to(self._to_workers(beliefs, tables, now)[0], tables)
        found = self.part.blocks.each(partial(worker_states, to=to))
        return np.concatenate([_of_kinds(states, tables) for states in found])


class SumMessages(Messages):
    """Of reports that are sums over tasks: a Gaussian factor on mean answers (see `sums`).

    Expectation propagation: the message to a task is found from the beliefs without it.
    """

    def __init__(self, sums: Sums, values: Array) -> None:
        self.sums, self.values = sums, values
        self.location, self.precision = (np.zeros(len(sums.support)) for _ in range(2))

    def start(self, now: Parameters) -> None:
        """Nothing is known yet."""
        self.precision[:] = 0

    def _mean_answers(self, now: Parameters) -> Array:
        """E[answer | θ] of the crowd as a whole."""
        means: Array = np.tensordot(now.shares, now.responses, 1) @ self.values
        return means

    def log_likelihood(self, now: Parameters) -> Array:
        """Normal in the mean answer."""
        apart = self._mean_answers(now) - self.location[:, None]
        logs: Array = -0.5 * self.precision[:, None] * apart**2
        return logs

    def update(self, beliefs: Array, now: Parameters) -> Learned:
        """The factor's message, given every task's mean answer without it."""
        means, own = self._mean_answers(now), self.log_likelihood(now)
        without = softmax(np.log(np.maximum(beliefs, _LEAST)) - own)
        mean = without @ means
        variance = np.maximum(without @ means**2 - mean**2, _LEAST)
        self.location, self.precision, _ = self.sums.message(mean, variance)
        kinds = now.responses.shape[0]
        return Learned(np.empty((0, 1, kinds)), np.empty(0), np.zeros(now.responses.shape))

    def workers(self, beliefs: Array, now: Parameters) -> Array:
        """One worker's sums are mostly noise: nothing is known beyond the shares of the kinds."""
        return np.tile(now.shares, (len(self.sums.workers), 1))


def messages_for(part: Evidence, kinds: int, *, pooled: bool) -> CellMessages:
    """The form with fewer slots; the pooled model needs no cells."""
    exact = not pooled and part.cells <= kinds * part.tasks * part.symbols
    return ExactMessages(part) if exact else TypedMessages(part)


def _itself(block: Block) -> Block:
    return block


def first_codes(prior: Array, rates: int, kinds: int) -> NDArray[np.float32]:
    """A type per kind: types × states."""
    states = prior.reshape(rates, kinds, -1)
    codes = np.zeros((kinds, *states.shape))
    for kind, code in enumerate(codes):
        code[:, kind] = states[:, kind] / states[:, kind].sum()
    return np.sqrt(codes.reshape(kinds, -1)).astype(np.float32)


def _summing(target: NDArray[np.intp], size: int, weight: Array) -> sparse.csr_matrix:
    """A matrix that adds the rows of equal target."""
    return sparse.csr_matrix((weight, (target, np.arange(len(target)))), (size, len(target)))


def _of_kinds(states: Array, tables: _Tables) -> Array:
    shape = len(states), len(tables.rates), tables.kinds, tables.secrets
    kinds: Array = states.reshape(shape).sum(axis=(1, 3))
    return kinds

"""Classes of workers: what they answer, how often, and what a pass over the reports teaches.

A class is a kind of error with a rate of answering (`diligence.py`). Beside the kinds of error of
the pooled model there are workers with a favourite, who give one answer to nearly everything;
biased ones, to whom all truths seem a step lower or higher; and adversaries, who answer as if the
scale were turned round. Only whole reports can tell them from good workers on other tasks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from forsooth.inference.posterior.confusions import PRIOR_ANSWERS, Confusions
from forsooth.inference.posterior.diligence import levels_of
from forsooth.inference.posterior.model import SHORT, Crowd

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.inference.posterior.evidence import Evidence
    from forsooth.inference.posterior.kernels import ClassSums
    from forsooth.inference.posterior.pooled import Pooled

_NEGLIGIBLE = 0.02  # kinds of error with a smaller share are left out
_PRIOR_WORKERS = 0.3  # every class counts as much as so many workers
_EMPTY = 1e-3  # a class goes if it has a smaller share, and not one worker
_FAVOURED = 0.9  # how often a worker with a favourite gives it
_SHARE_WITH_FAVOURITE = 0.1  # the share of such workers, to begin with
_SHARE_BIASED = 0.1  # of those who see all truths too low, and too high, of every kind of error
_SHARE_AGAINST = 0.05  # and of adversaries, of every kind of error
_ALIKE = (  # how much of the common matrix, of the truth itself and of chance is in an answer
    (0.5, 0.5, 0.0),
    (1.0, 0.0, 0.0),
    (0.7, 0.0, 0.3),
    (0.4, 0.0, 0.6),
    (0.0, 0.0, 1.0),
)
_OWN_TABLES = len(_ALIKE)  # kinds that may have a table of their own
_SHARES_ALIKE = (0.1, 0.6, 0.1, 0.1, 0.1)  # of these kinds, to begin with


@dataclass(eq=False)
class Classes:
    """The classes of one part's workers."""

    shares: NDArray[np.float64]  # ω
    logs: NDArray[np.float64]  # ln P_k(y | φ, θ): classes × (ladder × grid) × symbols
    kind: NDArray[np.intp]  # the kind of error of each class
    rates: NDArray[np.float64]  # of answering: classes × ladder
    row: NDArray[np.intp]  # of each class in `mix`
    secret: NDArray[np.intp]  # of each class, which decides on its table of the channel
    mix: NDArray[np.float64]  # what the answers of a kind are mixed from: kinds × tables
    tables: NDArray[np.float64]  # P(a | θ), tables × grid × answers: learned ones, then fixed ones
    expected: NDArray[np.float64]  # what the former were to begin with

    @property
    def answers(self) -> NDArray[np.float64]:
        """P(a | θ) of every kind of error, then of the special kinds: kinds × grid × answers."""
        return np.tensordot(self.mix, self.tables, 1)

    def scores(self, mass: NDArray[np.float64]) -> NDArray[np.float32]:
        """Σ_θ q_j(θ)·ln P_k(y | θ): tasks × symbols × classes.

        Less the mean over the classes, which tells nothing about who is of which.
        """
        flat = mass.reshape(len(mass), -1)
        scores = np.einsum("jg,kgy->jyk", flat, self.logs, optimize=True)
        scores -= scores.mean(axis=2, keepdims=True)
        return np.ascontiguousarray(scores, np.float32)

    def learn(self, sums: ClassSums) -> float:
        """New shares from a pass; the workers' part of the bound (prior and entropy)."""
        counts = sums.members + _PRIOR_WORKERS
        self.shares = counts / counts.sum()
        return float(sums.members @ np.log(self.shares)) + sums.entropy

    def task_logs(self, sums: ClassSums) -> NDArray[np.float64]:
        """Σ_k Σ_y N[j, y, k]·ln P_k(y | θ): tasks × (ladder × grid)."""
        flat = sums.counts.reshape(len(sums.counts), -1)
        tables = self.logs.transpose(2, 0, 1).reshape(flat.shape[1], -1)
        logs: NDArray[np.float64] = flat @ tables
        return logs

    def drop_empty(self, sums: ClassSums, workers: int) -> bool:
        """Leave out classes that hardly anybody is of: they only cost time. Were there any?"""
        crowded = sums.members >= min(1.0, _EMPTY * workers)
        for name in ("shares", "logs", "kind", "rates", "row", "secret"):
            setattr(self, name, getattr(self, name)[crowded])
        return not crowded.all()

    def answers_behind(
        self, part: Evidence, mass: NDArray[np.float64], sums: ClassSums
    ) -> NDArray[np.float64]:
        """How many answers behind the symbols of a part are expected to be from learned tables."""
        (classes, ladder), (_, grid, size) = self.rates.shape, self.tables.shape
        flat = mass.reshape(len(mass), -1)
        met = np.einsum("jg,jyk->kgy", flat, sums.counts, optimize=True)
        per_chance = (met / np.exp(self.logs)).reshape(classes, ladder, grid, -1)
        present = np.einsum("kf,kfgy->kgy", self.rates, per_chance)
        behind = present @ part.tables[self.secret, :size].transpose(0, 2, 1)
        learned = len(self.expected)
        from_tables = np.tensordot(self.mix[self.row, :learned].T, behind, 1)
        counts: NDArray[np.float64] = from_tables * self.tables[:learned]
        return counts

    def learn_answers(self, part: Evidence, counts: NDArray[np.float64]) -> None:
        """New tables P(a | θ) from the expected counts of answers in all parts."""
        counts = counts + PRIOR_ANSWERS * self.expected
        learned = counts / counts.sum(axis=2, keepdims=True)
        self.tables = np.concatenate([learned, self.tables[len(learned) :]])
        self.logs = _logs(self.answers[self.row], self.rates, part.tables[self.secret], part.hidden)

    def apart(self) -> Classes:
        """The same answers, but every kind of error has a table of its own."""
        tables = self.answers
        return replace(self, mix=np.eye(len(tables)), tables=tables, expected=tables[:_OWN_TABLES])

    @property
    def freedom(self) -> int:
        """How many shares `learn_answers` may choose."""
        kinds, grid, size = self.expected.shape
        return int(kinds * grid * (size - 1))


def classes_of(pooled: Pooled, part: Evidence, kinds: NDArray[np.float64]) -> Classes:
    """Every kind of worker with every level of participation and every secret.

    Levels come from the workers' symbols, what is known of the kinds from the pooled model.
    """
    crowd = pooled.crowd
    levels, weight = levels_of(part, pooled.moments.answers)
    sort = _alike(crowd, kinds) if isinstance(crowd, Confusions) else _by_error(crowd, kinds)
    ladder = pooled.ladder if part.hidden else tuple(1.0 for _ in pooled.ladder)
    rates = np.array([[_rate(level, step) for step in ladder] for level in levels])
    secrets = np.full(len(part.tables), 1 / len(part.tables))
    shares = np.multiply.outer(np.outer(secrets, weight), sort.shares)
    secret, level, row = (each.ravel() for each in np.indices(shares.shape))
    answers = np.tensordot(sort.mix, sort.tables, 1)
    return Classes(
        shares=shares.ravel(),
        logs=_logs(answers[row], rates[level], part.tables[secret], part.hidden),
        kind=sort.kind[row],
        rates=rates[level],
        row=row,
        secret=secret,
        mix=sort.mix,
        tables=sort.tables,
        expected=sort.tables[: sort.learned],
    )


class _Kinds(NamedTuple):
    """Kinds of workers, whatever their rate of answering."""

    shares: NDArray[np.float64]
    kind: NDArray[np.intp]  # of error
    mix: NDArray[np.float64]
    tables: NDArray[np.float64]
    learned: int  # how many of the tables may be


def _by_error(crowd: Crowd, kinds: NDArray[np.float64]) -> _Kinds:
    """The kinds of error of the pooled model, but for negligible ones, and special kinds.

    As a kind of error, those with a favourite and adversaries count as answers at random.
    """
    kept, at_random = np.flatnonzero(kinds >= _NEGLIGIBLE), len(kinds) - 1
    answers, shares = crowd.answers[kept], kinds[kept] / kinds[kept].sum()
    favourites, favoured = _favourites(crowd)
    special, few, kind = [favourites], [favoured], [np.full(len(favoured), at_random)]
    for seen, share, by_error in _misreadings(crowd):
        tables = answers[:, crowd.nearest(seen)]
        different = (tables != answers).any(axis=(1, 2))  # not those who answer at random
        special.append(tables[different])
        few.append(share * shares[different])
        kind.append(np.where(by_error, kept, at_random)[different])
    tables, their = np.concatenate([answers, *special]), np.concatenate(few)
    return _Kinds(
        shares=np.append((1 - their.sum()) * shares, their),
        kind=np.concatenate([kept, *kind]),
        mix=np.eye(len(tables)),
        tables=tables,
        learned=len(kept),
    )


def _alike(crowd: Confusions, pairs: NDArray[np.float64]) -> _Kinds:
    """All share the learned confusion matrix, and are more or less careful than usual."""
    matrix = np.tensordot(pairs, crowd.answers, 1)[None]
    right, chance = np.eye(crowd.scale.size)[None], np.full_like(matrix, 1 / crowd.scale.size)
    special, few = _favourites(crowd)
    if crowd.ordered:
        special = np.concatenate([special, matrix[:, crowd.nearest(_turned_round(crowd))]])
        few = np.append(few, _SHARE_AGAINST)
    alike = np.array(_ALIKE)
    mix = np.zeros(np.add(alike.shape, len(few)))
    mix[: len(alike), : alike.shape[1]] = alike
    mix[len(alike) :, alike.shape[1] :] = np.eye(len(few))
    return _Kinds(
        shares=np.append((1 - few.sum()) * np.array(_SHARES_ALIKE), few),
        kind=np.arange(len(mix)),
        mix=mix,
        tables=np.concatenate([matrix, right, chance, special]),
        learned=1,
    )


def _favourites(crowd: Crowd) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """P(a | θ) and the share of those with each of the answers as their favourite."""
    size, grid = crowd.scale.size, len(crowd.grid)
    if size > SHORT:
        return np.empty((0, grid, size)), np.empty(0)
    favourites = _FAVOURED * np.eye(size) + (1 - _FAVOURED) / size
    tables = np.repeat(favourites[:, None, :], grid, axis=1)
    return tables, np.full(size, _SHARE_WITH_FAVOURITE / size)


def _misreadings(crowd: Crowd) -> list[tuple[NDArray[np.float64], float, bool]]:
    """What some see instead of every truth, their share, and do they still have a kind of error?"""
    found = [(crowd.grid + bias, _SHARE_BIASED, True) for bias in _biases(crowd)]
    if crowd.ordered:
        found.append((_turned_round(crowd), _SHARE_AGAINST, False))
    return found


def _biases(crowd: Crowd) -> tuple[float, ...]:
    """By how much some workers see every truth too low or too high."""
    rough = crowd.ordered and 2 < crowd.scale.size <= SHORT
    return (-crowd.step, crowd.step) if rough else ()


def _turned_round(crowd: Crowd) -> NDArray[np.float64]:
    """What adversaries make of every truth."""
    turned: NDArray[np.float64] = crowd.grid[0] + crowd.grid[-1] - crowd.grid
    return turned


def _logs(
    answers: NDArray[np.float64],
    rates: NDArray[np.float64],
    channels: NDArray[np.float64],
    hidden: bool,
) -> NDArray[np.float64]:
    """Ln P(y | φ, θ), classes × (ladder × grid) × symbols, of every class.

    Of P(a | θ), rates and P(y | a), a row for every class.
    """
    answered, symbols = answers @ channels[:, : answers.shape[2]], channels.shape[2]
    absent = channels[:, None, None, -1] if hidden else np.zeros(symbols)
    rate = rates[:, :, None, None]
    tables = np.maximum(rate * answered[:, None] + (1 - rate) * absent, 1e-300)
    logs: NDArray[np.float64] = np.log(tables).reshape(len(rates), -1, symbols)
    return logs


def _rate(level: float, popularity: float) -> float:
    """A worker's rate of answering a task that has so many times the usual odds."""
    return level * popularity / (level * popularity + 1 - level)

"""The model with worker classes: a worker keeps one kind of error and one rate of answering.

A class k is a pair (σ, ρ). With q_j(θ) for tasks and q_i(k) for workers (mean field),

    ln q_j(θ) = ln π(θ) + Σ_k Σ_y N[j, y, k]·ln P_k(y | θ) + const,   N weighted by q_i(k)
    ln q_i(k) = ln ω_k + Σ_j Σ_θ q_j(θ)·ln P_k(y_ij | θ) + const

each round is one pass over the reports and raises the evidence lower bound, which is compared with
the pooled model's likelihood to decide whether the data support classes at all. Rates of answering
come from the symbols of workers' whole reports: a mixture over a ladder of rates, cut into a few
levels of equal weight.

Beside the kinds of error of the pooled model there are workers with a favourite: they give one
answer to nearly everything. Only whole reports can tell them from good workers on easy tasks.

Where truths are answers (`Levels`), P_k(answer | θ) is learned as well, by a step of EM in every
round: Dawid and Skene's confusion matrices, one for every kind of worker, seen through the channel.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from forsooth.inference.posterior.kernels import class_pass, worker_classes
from forsooth.inference.posterior.model import Crowd, normalised_exp
from forsooth.inference.posterior.pooled import (
    PRIOR_POPULARITY,
    PRIOR_TASKS,
    Pooled,
    log_prior,
    pin,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from forsooth.inference.checkpoint import Checkpoint
    from forsooth.inference.estimates import Rules
    from forsooth.inference.posterior.blocks import Block
    from forsooth.inference.posterior.evidence import Evidence
    from forsooth.inference.posterior.kernels import ClassSums

_RATES = 25  # points of the ladder of participation rates
_LEVELS = 8  # levels that are kept of it: the most diligent may answer a thousand times as much
_CELLS = 2**24  # with more than twice as many, the ascent begins with about so many
_ENOUGH = 2000  # so many workers show how rates are spread
_NATS = 1e-3  # a round that gains less evidence per worker changes nothing that matters
_CREEPING = 5e-3  # nor one with less than this where P(a | θ) is learned
_PATIENCE = 20  # rounds like the last one within which a rival must be caught up with
_CLEARLY = 1.0  # nats per worker
_NEGLIGIBLE = 0.02  # kinds of error with a smaller share are left out
_PRIOR_WORKERS = 0.3  # every class counts as much as so many workers
_PER_SHARE = 2.0  # nats that every share of a learned P(a | θ) costs: a crude Occam factor
_PRIOR_ANSWERS = 10.0  # what is expected of a truth's answers counts as much as so many
_EMPTY = 1e-3  # a class goes if it has a smaller share, and not one worker
_FAVOURITES = 10  # only a scale with so few answers has favourites
_FAVOURED = 0.9  # how often a worker with a favourite gives it
_SHARE_WITH_FAVOURITE = 0.1  # the share of such workers, to begin with


@dataclass(eq=False)
class Classes:
    """The classes of one part's workers."""

    shares: NDArray[np.float64]  # ω
    logs: NDArray[np.float64]  # ln P_k(y | φ, θ): classes × (ladder × grid) × symbols
    kind: NDArray[np.intp]  # the kind of error of each class
    rates: NDArray[np.float64]  # of answering: classes × ladder
    row: NDArray[np.intp]  # of each class in `answers`
    answers: NDArray[np.float64]  # P(a | θ): kinds of error, then favourites, × grid × answers
    expected: NDArray[np.float64]  # what they were for the kinds of error, before any reports

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
        for name in ("shares", "logs", "kind", "rates", "row"):
            setattr(self, name, getattr(self, name)[crowded])
        return not crowded.all()

    def learn_answers(self, part: Evidence, mass: NDArray[np.float64], sums: ClassSums) -> None:
        """New P(a | θ) of the kinds of error: expected counts of answers behind the symbols."""
        (classes, ladder), (_, grid, size) = self.rates.shape, self.answers.shape
        flat = mass.reshape(len(mass), -1)
        met = np.einsum("jg,jyk->kgy", flat, sums.counts, optimize=True)
        per_chance = (met / np.exp(self.logs)).reshape(classes, ladder, grid, -1)
        behind = np.einsum("kf,kfgy->kgy", self.rates, per_chance) @ part.table[:size].T
        counts = np.zeros_like(self.answers)
        np.add.at(counts, self.row, behind)
        kinds = len(self.expected)
        counts = (counts * self.answers)[:kinds] + _PRIOR_ANSWERS * self.expected
        learned = counts / counts.sum(axis=2, keepdims=True)
        self.answers = np.concatenate([learned, self.answers[kinds:]])
        self.logs = _logs(self.answers[self.row], self.rates, part)


@dataclass(eq=False)
class ClassFit:
    """The class model of a campaign: all that a round needs from the round before."""

    weights: NDArray[np.float64]  # of the prior's shapes
    popularity: NDArray[np.float64]  # χ, the shares of the ladder's steps
    mass: NDArray[np.float64]  # P(φ, θ), tasks × ladder × grid
    classes: list[Classes]  # for every part
    history: list[float]  # the evidence lower bound after every round
    converged: bool = False
    cost: float = 0.0  # nats, for what is learned beyond the shares of classes

    @property
    def bound(self) -> float:
        """The evidence lower bound, less what the freedom of the model costs."""
        return self.history[-1] - self.cost

    def again(self) -> ClassFit:
        """The same as the start of another ascent."""
        return replace(self, history=[], converged=False)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything, by name, to be kept in a file."""
        kept: dict[str, NDArray[Any]] = {
            "weights": self.weights,
            "popularity": self.popularity,
            "mass": self.mass,
            "history": np.array(self.history),
            "converged": np.array(self.converged),
            "cost": np.array(self.cost),
        }
        for number, each in enumerate(self.classes):
            kept |= {f"{name}-{number}": array for name, array in vars(each).items()}
        return kept

    @staticmethod
    def of_arrays(kept: dict[str, NDArray[Any]]) -> ClassFit:
        """The inverse."""
        parts = sum(name.startswith("shares-") for name in kept)
        names = [field.name for field in fields(Classes)]
        classes = [Classes(*(kept[f"{n}-{number}"] for n in names)) for number in range(parts)]
        history = [float(bound) for bound in kept["history"]]
        return ClassFit(
            kept["weights"],
            kept["popularity"],
            kept["mass"],
            classes,
            history,
            bool(kept["converged"]),
            float(kept["cost"]),
        )


def fit_classes(
    pooled: Pooled, point: NDArray[np.float64], rules: Rules, checkpoint: Checkpoint
) -> ClassFit:
    """Of very many cells a part shows the way up, and a few passes over all lead to the top."""
    some = _some(pooled)
    fit = _from_two_places(some, point, rules, checkpoint)
    if some is pooled:
        return fit
    return _ascend(pooled, fit.again, rules, pooled.likelihood(point), checkpoint, "all")


def fit_confusions(
    pooled: Pooled,
    levels: Crowd,
    fit: ClassFit,
    rules: Rules,
    rival: float,
    checkpoint: Checkpoint,
) -> ClassFit:
    """The class model if all truths are answers and how they are confused is learned.

    From where the other class model has arrived; given up when it cannot reach the `rival` model.
    """
    strict = pooled.of(levels)
    some = _some(strict)
    start = partial(_strictly, pooled.crowd, strict, fit)
    worth = rival if some is strict else -np.inf
    found = _ascend(some, start, rules, worth, checkpoint, "confusions")
    if some is strict:
        return found
    return _ascend(strict, found.again, rules, rival, checkpoint, "all confusions")


def _strictly(crowd: Crowd, strict: Pooled, fit: ClassFit) -> ClassFit:
    """The `fit`, with every truth moved to the nearest answer."""
    nearest = np.eye(crowd.scale.size)[strict.crowd.nearest(crowd.grid)]  # grid × answers
    places = crowd.nearest(strict.crowd.grid)
    classes = []
    for part, each in zip(strict.parts, fit.classes):
        answers = each.answers[:, places]
        logs = _logs(answers[each.row], each.rates, part)
        expected = each.expected[:, places]
        classes.append(replace(each, answers=answers, logs=logs, expected=expected))
    rows = sum(each.expected[:, :, 0].size for each in classes)
    cost = _PER_SHARE * rows * (crowd.scale.size - 1)
    mass = fit.mass @ nearest
    return ClassFit(strict.base, fit.popularity, mass, classes, [], cost=cost)


def _some(pooled: Pooled) -> Pooled:
    """The model on a part of very many cells."""
    step = int(pooled.cells // _CELLS)
    return pooled if step < 2 else pooled.every(step)


def _from_two_places(
    pooled: Pooled, point: NDArray[np.float64], rules: Rules, checkpoint: Checkpoint
) -> ClassFit:
    """The better of two ascents.

    The pooled solution is one start. Where many workers have a favourite it can be far off, so that
    the other assumes nothing: a flat prior, and kinds of workers in equal shares. It must lead
    clearly higher, for where reports say little of single tasks, favourites explain nearly all.
    """
    rival = pooled.likelihood(point)
    learned = partial(_start, pooled, point)
    first = _ascend(pooled, learned, rules, rival, checkpoint, "first")
    clearly = first.bound + sum(part.workers for part in pooled.parts) * _CLEARLY
    unlearned = partial(_start, pooled, pooled.unlearned(point))
    second = _ascend(pooled, unlearned, rules, clearly, checkpoint, "second")
    return second if second.bound > clearly else first


def worker_kinds(fit: ClassFit, number: int, part: Evidence, kinds: int) -> NDArray[np.float64]:
    """P(kind of error) of every worker of a part."""
    classes = fit.classes[number]
    work = partial(
        _kinds, scores=classes.scores(fit.mass), shares=classes.shares,
        kind=classes.kind, kinds=kinds,
    )  # fmt: skip
    return np.concatenate(list(part.blocks.each(work)))


def _kinds(
    block: Block,
    scores: NDArray[np.float32],
    shares: NDArray[np.float64],
    kind: NDArray[np.intp],
    kinds: int,
) -> NDArray[np.float64]:
    return worker_classes(block, scores, shares) @ np.eye(kinds)[kind]


def _ascend(
    pooled: Pooled,
    start: Callable[[], ClassFit],
    rules: Rules,
    rival: float,
    checkpoint: Checkpoint,
    stage: str,
) -> ClassFit:
    """Coordinate ascent; given up when it cannot reach the `rival` model's evidence."""
    kept = checkpoint.load(stage)
    fit = ClassFit.of_arrays(kept) if kept else start()
    while not fit.converged and len(fit.history) < rules.max_iterations:
        _round(pooled, fit, rival)
        checkpoint.save(stage, fit.arrays())
    return fit


def _start(pooled: Pooled, point: NDArray[np.float64]) -> ClassFit:
    weights, kinds, _, popularity = pooled.split(point)
    mass, _ = pooled.posterior(point)
    truth = mass.sum(axis=1)
    classes = [_classes(pooled, part, truth, kinds) for part in pooled.parts]
    return ClassFit(weights, popularity, mass, classes, [])


def _round(pooled: Pooled, fit: ClassFit, rival: float) -> None:
    """One pass over all reports."""
    crowd = pooled.crowd
    prior = log_prior(crowd, fit.weights, fit.popularity)
    bound, smaller, logs, passed = 0.0, False, prior.reshape(1, -1), []
    for part, classes in zip(pooled.parts, fit.classes):
        work = partial(class_pass, scores=classes.scores(fit.mass), shares=classes.shares)
        sums = part.blocks.total(work)
        bound += classes.learn(sums)
        logs = logs + classes.task_logs(sums)
        passed.append(sums)
    pinned = pin(logs.reshape(-1, *prior.shape), pooled.pinned)
    mass, evidence = normalised_exp(pinned.reshape(len(pinned), -1))
    fit.mass = mass.reshape(pinned.shape)
    _learn_prior(pooled, fit)
    for part, classes, sums in zip(pooled.parts, fit.classes, passed):
        if crowd.learns_answers:
            classes.learn_answers(part, fit.mass, sums)
        smaller |= classes.drop_empty(sums, part.workers)
    fit.history.append(float(evidence.sum()) + bound)
    gain = fit.history[-1] - fit.history[-2] if len(fit.history) > 1 else np.inf
    hopeless = fit.bound + _PATIENCE * gain < rival
    workers = sum(part.workers for part in pooled.parts)
    little = _CREEPING if crowd.learns_answers else _NATS
    fit.converged = (gain < little * workers and not smaller) or hopeless


def _learn_prior(pooled: Pooled, fit: ClassFit) -> None:
    """New weights of the shapes, and new shares of the steps of popularity."""
    shapes, together = pooled.crowd.shapes, fit.mass.sum(axis=0)
    prior = np.maximum(fit.weights @ shapes, 1e-300)
    weights = fit.weights * (shapes @ (together.sum(axis=0) / prior)) + PRIOR_TASKS * pooled.base
    popularity = together.sum(axis=1) + PRIOR_POPULARITY
    fit.weights, fit.popularity = weights / weights.sum(), popularity / popularity.sum()


def _classes(
    pooled: Pooled, part: Evidence, truth: NDArray[np.float64], kinds: NDArray[np.float64]
) -> Classes:
    """Every kind of error with every level of participation.

    Levels come from the workers' symbols, the shares of the kinds of error from the pooled model;
    kinds with a negligible share are left out. A favourite is as good as an answer at random.
    """
    crowd = pooled.crowd
    kept = np.flatnonzero(kinds >= _NEGLIGIBLE)
    levels, weight = _levels(crowd, part, truth, kinds)
    answers, shares = _with_favourites(crowd.answers[kept], kinds[kept])
    kind = np.append(kept, np.full(len(shares) - len(kept), len(kinds) - 1))
    ladder = pooled.ladder if part.hidden else tuple(1.0 for _ in pooled.ladder)
    rates = np.array([[_rate(level, step) for step in ladder] for level in levels])
    rates = np.repeat(rates, len(shares), axis=0)
    row = np.tile(np.arange(len(shares)), len(levels))
    return Classes(
        shares=np.outer(weight, shares).ravel(),
        logs=_logs(answers[row], rates, part),
        kind=kind[row],
        rates=rates,
        row=row,
        answers=answers,
        expected=answers[: len(kept)],
    )


def _logs(
    answers: NDArray[np.float64], rates: NDArray[np.float64], part: Evidence
) -> NDArray[np.float64]:
    """Ln P(y | φ, θ), classes × (ladder × grid) × symbols, of P(a | θ) and rates of every class."""
    answered = answers @ part.table[: answers.shape[2]]
    absent = part.table[-1] if part.hidden else np.zeros(part.symbols)
    rate = rates[:, :, None, None]
    tables = np.maximum(rate * answered[:, None] + (1 - rate) * absent, 1e-300)
    logs: NDArray[np.float64] = np.log(tables).reshape(len(rates), -1, part.symbols)
    return logs


def _rate(level: float, popularity: float) -> float:
    """A worker's rate of answering a task that has so many times the usual odds."""
    return level * popularity / (level * popularity + 1 - level)


def _with_favourites(
    answers: NDArray[np.float64], shares: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """P(answer | θ, kind) and the shares, with one kind more for every answer of a short scale."""
    _, grid, size = answers.shape
    shares = shares / shares.sum()
    if size > _FAVOURITES:
        return answers, shares
    favourites = _FAVOURED * np.eye(size) + (1 - _FAVOURED) / size
    tables = np.repeat(favourites[:, None, :], grid, axis=1)
    few = np.full(size, _SHARE_WITH_FAVOURITE / size)
    return np.concatenate([answers, tables]), np.append((1 - few.sum()) * shares, few)


def _levels(
    crowd: Crowd, part: Evidence, mass: NDArray[np.float64], kinds: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A few participation rates and their shares; participation that is public has rate 1."""
    if not part.hidden:
        return np.ones(1), np.ones(1)
    answers = mass.mean(axis=0) @ np.tensordot(kinds, crowd.answers, 1)
    ladder = 0.999 * np.exp(np.linspace(np.log(min(0.3, 0.3 / part.tasks)), 0, _RATES))
    chance = np.outer(ladder, answers @ part.table[:-1]) + np.outer(1 - ladder, part.table[-1])
    some = part.some_workers(_ENOUGH)
    logs, shares = some @ np.log(chance).T, np.full(_RATES, 1 / _RATES)
    for _ in range(2000):
        members, _ = normalised_exp(logs + np.log(shares))
        counts = members.sum(axis=0) + 0.02
        moved, shares = np.abs(counts / counts.sum() - shares).max(), counts / counts.sum()
        if moved < 1e-6:
            break
    weight = shares * np.sqrt(ladder)  # between counting workers and counting their answers
    middle = np.cumsum(weight) - weight / 2
    label = np.minimum(_LEVELS * middle / weight.sum(), _LEVELS - 1e-9).astype(int)
    groups = [np.flatnonzero(label == level) for level in range(_LEVELS)]
    kept = [group for group in groups if group.size]
    share = np.array([shares[group].sum() for group in kept])
    rates = np.array([shares[group] @ ladder[group] for group in kept]) / share
    return rates, share

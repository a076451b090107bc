"""The model with worker classes: a worker keeps one kind of error and one rate of answering.

A class k is a pair (σ, ρ). With q_j(θ) for tasks and q_i(k) for workers (mean field),

    ln q_j(θ) = ln π(θ) + Σ_k Σ_y N[j, y, k]·ln P_k(y | θ) + const,   N weighted by q_i(k)
    ln q_i(k) = ln ω_k + Σ_j Σ_θ q_j(θ)·ln P_k(y_ij | θ) + const

each round is one pass over the reports and raises the evidence lower bound, which is compared with
the pooled model's likelihood to decide whether the data support classes at all.

Where truths are answers (`Confusions`), P_k(answer | θ) is learned as well, by a step of EM in
every round: one confusion matrix for all, which some follow more carefully than others, or Dawid
and Skene's, one for every kind of worker, seen through the channel.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from forsooth.inference.posterior.confusions import spread
from forsooth.inference.posterior.kernels import class_pass, worker_classes
from forsooth.inference.posterior.members import Classes, classes_of
from forsooth.inference.posterior.model import PER_SHARE, normalised_exp
from forsooth.inference.posterior.pooled import (
    PRIOR_POPULARITY,
    PRIOR_TASKS,
    Pooled,
    expected_shapes,
    log_prior,
    pin,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from forsooth.inference.checkpoint import Checkpoint
    from forsooth.inference.estimates import Rules
    from forsooth.inference.posterior.blocks import Block
    from forsooth.inference.posterior.confusions import Confused
    from forsooth.inference.posterior.evidence import Evidence
    from forsooth.inference.posterior.kernels import ClassSums
    from forsooth.inference.posterior.measure import Measured

_CELLS = 2**24  # with more than twice as many, the ascent begins with about so many
_MANY_CELLS = 2**21  # with more than these, there is no third ascent
_NATS = 1e-3  # a round that gains less evidence per worker changes nothing that matters
_CREEPING = 5e-3  # nor one with less than this where P(a | θ) is learned
_PATIENCE = 20  # rounds like the last one within which a rival must be caught up with
ABOUT = 0.03  # nats per worker: ascents that differ by less are about as high


@dataclass(eq=False)
class ClassFit:
    """The class model of a campaign: all that a round needs from the round before."""

    weights: NDArray[np.float64]  # of the prior's shapes, for every group of tasks
    popularity: NDArray[np.float64]  # χ, the shares of the ladder's steps
    mass: NDArray[np.float64]  # P(φ, θ), tasks × ladder × grid
    before: NDArray[np.float64]  # the weights that `mass` was computed with
    classes: list[Classes]  # for every part
    history: list[float]  # the evidence lower bound after every round
    converged: bool = False
    cost: float = 0.0  # nats, for what is learned beyond the shares of classes

    @property
    def bound(self) -> float:
        """The evidence lower bound, less what the freedom of the model costs."""
        return self.history[-1] - self.cost

    def told(self, truth: NDArray[np.float64]) -> ClassFit:
        """The same with another P(θ), tasks × grid."""
        ratio = truth / np.maximum(self.mass.sum(axis=1), 1e-300)
        return replace(self, mass=self.mass * ratio[:, None, :])

    def again(self) -> ClassFit:
        """The same as the start of another ascent."""
        return replace(self, history=[], converged=False)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything, by name, to be kept in a file."""
        kept: dict[str, NDArray[Any]] = {
            "weights": self.weights,
            "popularity": self.popularity,
            "mass": self.mass,
            "before": self.before,
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
            kept["before"],
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


def fit_alike(confused: Confused, rules: Rules, rival: float, checkpoint: Checkpoint) -> ClassFit:
    """The class model of workers who share one confusion matrix, from the pooled solution."""
    return _from_pooled(confused, rules, rival, checkpoint, "alike")


def fit_rated(measured: Measured, rules: Rules, rival: float, checkpoint: Checkpoint) -> ClassFit:
    """The class model of a short scale that is taken for a measure, from the pooled solution."""
    return _from_pooled(measured, rules, rival, checkpoint, "rated")


def _from_pooled(
    found: Confused | Measured, rules: Rules, rival: float, checkpoint: Checkpoint, stage: str
) -> ClassFit:
    """One ascent; of very many cells a part shows the way up."""
    pooled, some = found.pooled, _some(found.pooled)
    start = partial(_start, some, pooled.shrunk(found.ascent.point), found.owed)
    if some is pooled:
        return _ascend(pooled, start, rules, rival, checkpoint, stage)
    fit = _ascend(some, start, rules, -np.inf, checkpoint, f"some {stage}")
    return _ascend(pooled, fit.again, rules, rival, checkpoint, stage)


def fit_apart(
    confused: Confused, alike: ClassFit, rules: Rules, rival: float, checkpoint: Checkpoint
) -> ClassFit:
    """The class model with a matrix for every kind of worker, from where one has arrived."""
    return _ascend(confused.pooled, partial(_apart, alike), rules, rival, checkpoint, "apart")


def fit_again(
    pooled: Pooled,
    point: NDArray[np.float64],
    fit: ClassFit,
    alike: ClassFit,
    rules: Rules,
    checkpoint: Checkpoint,
) -> ClassFit:
    """Kinds of error again, from the truths that workers who are `alike` have led to.

    That takes as long as all before it together, and is left out where they take long.
    """
    if pooled.cells > _MANY_CELLS:
        return fit
    start = partial(_from_truths, pooled, pooled.unlearned(point), alike.mass)
    again = _ascend(pooled, start, rules, fit.bound, checkpoint, "again")
    return _both(pooled, fit, again)


def _from_truths(
    pooled: Pooled, point: NDArray[np.float64], truths: NDArray[np.float64]
) -> ClassFit:
    """From P(φ, truth is this answer), tasks × ladder × answers."""
    start = _start(pooled, point)
    return replace(start, mass=spread(pooled.crowd, truths))


def _apart(alike: ClassFit) -> ClassFit:
    classes = [each.apart() for each in alike.classes]
    more = classes[0].freedom - alike.classes[0].freedom
    return replace(alike.again(), classes=classes, cost=alike.cost + PER_SHARE * more)


def _some(pooled: Pooled) -> Pooled:
    """The model on a part of very many cells."""
    step = int(pooled.cells // _CELLS)
    return pooled if step < 2 else pooled.every(step)


def _from_two_places(
    pooled: Pooled, point: NDArray[np.float64], rules: Rules, checkpoint: Checkpoint
) -> ClassFit:
    """Two ascents, which need not lead to the same place.

    The pooled solution is one start. Where many workers have a favourite it can be far off, so that
    the other assumes nothing: a flat prior, and kinds of workers in equal shares.
    """
    learned, unlearned = (
        partial(_start, pooled, each) for each in (point, pooled.unlearned(point))
    )
    first = _ascend(pooled, learned, rules, pooled.likelihood(point), checkpoint, "first")
    second = _ascend(pooled, unlearned, rules, first.bound, checkpoint, "second")
    return _both(pooled, first, second)


def _both(pooled: Pooled, one: ClassFit, other: ClassFit) -> ClassFit:
    """The higher of two ascents of one model, with the truths of both, if they are about as high.

    Where reports leave open whether many equal answers are truths or favourites, which of the two
    an ascent ends at depends on where it began, and neither is as sure as it says.
    """
    lower, higher = sorted((one, other), key=lambda fit: fit.bound)
    behind = (higher.bound - lower.bound) / sum(part.workers for part in pooled.parts)
    weight = np.exp(-behind / ABOUT)
    return replace(higher, mass=(higher.mass + weight * lower.mass) / (1 + weight))


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


def _start(pooled: Pooled, point: NDArray[np.float64], cost: float = 0.0) -> ClassFit:
    weights, kinds, _, popularity = pooled.split(point)
    mass, _ = pooled.posterior(point)
    classes = [classes_of(pooled, part, kinds) for part in pooled.parts]
    return ClassFit(weights, popularity, mass, weights, classes, [], cost=cost)


def _round(pooled: Pooled, fit: ClassFit, rival: float) -> None:
    """One pass over all reports."""
    crowd = pooled.crowd
    prior = log_prior(crowd, fit.weights, fit.popularity)
    logs = prior.reshape(pooled.groups, -1)[pooled.group]
    bound, smaller, passed = 0.0, False, []
    for part, classes in zip(pooled.parts, fit.classes):
        work = partial(class_pass, scores=classes.scores(fit.mass), shares=classes.shares)
        sums = part.blocks.total(work)
        bound += classes.learn(sums)
        logs += classes.task_logs(sums)
        passed.append(sums)
    pinned = pin(logs.reshape(fit.mass.shape), pooled.pinned)
    mass, evidence = normalised_exp(pinned.reshape(logs.shape))
    fit.mass, fit.before = mass.reshape(pinned.shape), fit.weights
    _learn_prior(pooled, fit)
    if crowd.learns_answers:
        _learn_answers(pooled, fit, passed)
    for part, classes, sums in zip(pooled.parts, fit.classes, passed):
        smaller |= classes.drop_empty(sums, part.workers)
    fit.history.append(float(evidence.sum()) + bound)
    gain = fit.history[-1] - fit.history[-2] if len(fit.history) > 1 else np.inf
    hopeless = fit.bound + _PATIENCE * gain < rival
    workers = sum(part.workers for part in pooled.parts)
    little = _CREEPING if crowd.learns_answers else _NATS
    fit.converged = (gain < little * workers and not smaller) or hopeless


def _learn_answers(pooled: Pooled, fit: ClassFit, passed: list[ClassSums]) -> None:
    """New tables P(a | θ), the same for workers of all parts."""
    pieces = list(zip(pooled.parts, fit.classes, passed))
    counts = [each.answers_behind(part, fit.mass, sums) for part, each, sums in pieces]
    for part, each, _ in pieces:
        each.learn_answers(part, np.sum(counts, axis=0))


def _learn_prior(pooled: Pooled, fit: ClassFit) -> None:
    """New weights of the shapes, and new shares of the steps of popularity."""
    truth = fit.mass.sum(axis=1)
    met = np.eye(pooled.groups)[:, pooled.group] @ truth
    weights = expected_shapes(pooled.crowd, fit.weights, met) + PRIOR_TASKS * pooled.base
    popularity = fit.mass.sum(axis=(0, 2)) + PRIOR_POPULARITY
    fit.weights = weights / weights.sum(axis=1, keepdims=True)
    fit.popularity = popularity / popularity.sum()

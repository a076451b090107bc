"""Truths that are answers, and one confusion matrix for all workers, learned through the channel.

Errors that go one way (most who see a 1 say 0) look like truths between the answers to a model with
symmetric errors. So where answers are few P(a | θ) is learned, too: Dawid and Skene's model, with
one matrix for all workers instead of one for each, which is what noisy reports can still tell.

A matrix explains some of the reports by chance alone. Its evidence is the mean of P(reports |
matrix) over what was expected, a Dirichlet distribution for every truth. In the logarithms of the
shares Laplace's approximation of it is

    ln P(reports | best) − ln(P(expected) / P(best)) − ½ ln(|H| / |H₀|)

with H the curvature of the posterior at the best matrix, and H₀ that of the distribution beforehand
at the expected one, and with what Stirling's formula leaves where few answers are expected. That
is nothing where reports say nothing, and ½ ln n nats, more or less, for a share that n answers have
taught.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from forsooth.inference.posterior.ascent import shares, totals
from forsooth.inference.posterior.labels import Levels
from forsooth.inference.posterior.model import SHORT
from forsooth.inference.posterior.pooled import PRIOR_TASKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from forsooth.inference.estimates import Rules
    from forsooth.inference.posterior.ascent import Ascent
    from forsooth.inference.posterior.batches import Batches
    from forsooth.inference.posterior.model import Crowd
    from forsooth.inference.posterior.picture import Picture
    from forsooth.inference.posterior.pooled import Pooled

PRIOR_ANSWERS = 10.0  # what is expected of a truth's answers counts as much as so many
_UNEXPECTED = 0.05  # the share of answers of which nothing is expected
_NAMES = 7  # that are kept apart on a scale; one with more answers is for ratings
_SMALL_STEP = 1e-3  # in the logarithm of a share, to see the curvature
_AT_FIRST = 150  # steps of an ascent, after which it is seen whether it is worth going on
_HOPELESS = 30.0  # nats behind another model, which it will not catch up


@dataclass(frozen=True, eq=False)
class Confusions(Levels):
    """One confusion matrix for all workers, of which only the `expected` one is fixed.

    P(a | θ) is a mixture of all pairs (θ, a), with shares that sum to one for every θ.
    """

    expected: NDArray[np.float64]  # P(a | θ)
    ordered: bool = True

    @property
    def learns_answers(self) -> bool:
        """The class model goes on learning."""
        return True

    @cached_property
    def answers(self) -> NDArray[np.float64]:
        """Certainly a if θ is the truth, for every pair: pairs × truths × answers."""
        size = self.scale.size
        return np.eye(size * size).reshape(-1, size, size)

    @property
    def choices(self) -> tuple[int, ...]:
        """An answer for every truth."""
        return (self.scale.size,) * self.scale.size

    @property
    def beforehand(self) -> NDArray[np.float64]:
        """As many answers to every truth as the class model adds."""
        return PRIOR_ANSWERS * self.expected.ravel()

    @property
    def price(self) -> float:
        """What shares of the matrix owe to chance can be computed, and is not a price of each."""
        return 0.0


@dataclass(frozen=True, eq=False)
class Confused:
    """The pooled model at its best confusion matrix."""

    pooled: Pooled
    ascent: Ascent
    owed: float  # nats, to the freedom of the matrix

    def picture(self, other: Pooled) -> Picture:
        """What it says, over the grid of another model.

        In all but the matrix it counts as free as that one: truths that are answers are a special
        case of truths that may be.
        """
        found = self.pooled.picture(self.ascent)
        answers = found.answers[self.pooled.crowd.nearest(other.crowd.grid)]
        evidence = found.evidence + self.pooled.price - other.price - self.owed
        mass = spread(other.crowd, found.mass)
        return replace(found, mass=mass, answers=answers, evidence=evidence)

    def told(self, batches: Batches, chances: NDArray[np.float64]) -> NDArray[np.float64]:
        """P(truth is this answer), tasks × answers, with what batches tell."""
        pooled, point = self.pooled, self.pooled.shrunk(self.ascent.point)
        mass, weights = pooled.posterior(point)[0].sum(axis=1), pooled.split(point).weights
        return batches.told(mass, weights[pooled.group], pooled.crowd.shapes, chances)


def confused(pooled: Pooled, ascent: Ascent, free: Picture, rules: Rules) -> Confused | None:
    """The reports of a model and its picture with a confusion matrix, where truths may be answers.

    They may where there are few, unless gold says that some are not.
    """
    crowd = pooled.crowd
    places = crowd.nearest(np.asarray(crowd.scale.values))
    most = _NAMES if crowd.ordered else SHORT
    if crowd.scale.size > most or not np.isin(pooled.tally.pinned, [-1, *places]).all():
        return None
    expected = (1 - _UNEXPECTED) * free.answers[places] + _UNEXPECTED / crowd.scale.size
    model = pooled.of(Confusions(crowd.scale, expected, crowd.ordered))
    truths = free.mass @ np.eye(crowd.scale.size)[model.crowd.nearest(crowd.grid)]
    found = _highest(model, truths, rules)
    if found is None:
        return None
    owed = _owed(model, found.point)
    behind = pooled.likelihood(ascent.point) - model.likelihood(found.point) + owed
    if not found.converged and behind < _HOPELESS:
        found = model.fit(rules, found.point)
        owed = _owed(model, found.point)
    return Confused(model, found, owed)


def _highest(model: Pooled, truths: NDArray[np.float64], rules: Rules) -> Ascent | None:
    """The highest of a few short ascents on which truths keep their names, if there is one.

    From the truths that another model has found, tasks × answers, and from the moments; if truths
    have exchanged names on both, also from there with their names in order again.
    """
    few = replace(rules, max_iterations=min(_AT_FIRST, rules.max_iterations))
    found = [model.fit(few, start) for start in (_start(model, truths), model.start())]
    kept = [each for each in found if _keeps_names(model, each.point)]
    if not kept and model.crowd.ordered:
        found = [model.fit(few, _in_order(model, each.point)) for each in found]
        kept = [each for each in found if _keeps_names(model, each.point)]
    return max(kept, key=lambda each: model.expected(each.point)[0], default=None)


def spread(crowd: Crowd, mass: NDArray[np.float64]) -> NDArray[np.float64]:
    """P(truth is this answer), over the last axis, as P(θ)."""
    moved = np.zeros((*mass.shape[:-1], len(crowd.grid)))
    moved[..., crowd.nearest(np.asarray(crowd.scale.values))] = mass
    return moved


def _start(model: Pooled, truths: NDArray[np.float64]) -> NDArray[np.float64]:
    """From the truths that another model has found, tasks × answers, and the expected matrix."""
    met = np.eye(model.groups)[:, model.group] @ truths
    weights = PRIOR_TASKS * model.base + np.pad(met, ((0, 0), (0, 1)))  # no truth is from the rest
    priors = (weights / weights.sum(axis=1, keepdims=True)).ravel()
    return np.concatenate([priors, model.start()[len(priors) :]])


def _matrix(model: Pooled, point: NDArray[np.float64]) -> NDArray[np.float64]:
    """P(a | θ)."""
    return model.split(point).kinds.reshape(len(model.crowd.grid), -1)


def _in_order(model: Pooled, point: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same truths, named by how high their answers are."""
    matrix = _matrix(model, point)
    order = np.argsort(matrix @ model.crowd.grid)
    weights = model.split(point).weights[:, [*order, len(order)]]
    named = np.concatenate([weights.ravel(), matrix[order].ravel()])
    return np.concatenate([named, point[len(named) :]])


def _keeps_names(model: Pooled, point: NDArray[np.float64]) -> bool:
    """Is every truth still what its answer says?

    A matrix with two rows exchanged, and their truths, explains the reports as well. But the higher
    the truth, the higher are answers on the average; and a label is given most often where it is
    true.
    """
    matrix = _matrix(model, point)
    if model.crowd.ordered:
        return bool((np.diff(matrix @ model.crowd.grid) > 0).all())
    return bool((matrix.argmax(axis=0) == np.arange(len(matrix))).all())


def _owed(model: Pooled, point: NDArray[np.float64]) -> float:
    """What the best matrix owes to the freedom of choosing it, by Laplace's approximation."""
    beforehand, sizes = model.crowd.beforehand, model.crowd.choices
    free = np.flatnonzero(np.arange(len(beforehand)) % sizes[0])  # a row's shares sum to one
    expected = beforehand / totals(beforehand, sizes)
    before = np.zeros((len(beforehand),) * 2)
    for row in np.arange(len(beforehand)).reshape(len(sizes), -1):
        each = expected[row]
        before[np.ix_(row, row)] = PRIOR_ANSWERS * (np.diag(each) - np.outer(each, each))
    found, best = _curvature(model, point), model.split(point).kinds
    volumes = [np.linalg.slogdet(each[np.ix_(free, free)])[1] for each in (found, before)]
    unlikely = beforehand @ np.log(expected / best)
    taught = np.maximum(found.diagonal() / (1 - best), beforehand.min())  # less, off the top
    skew = _skew(beforehand, sizes) - _skew(taught, sizes)
    return float(unlikely + (volumes[0] - volumes[1]) / 2 + skew)


def _skew(counts: NDArray[np.float64], sizes: Sequence[int]) -> float:
    """How much a Dirichlet distribution with such `counts` is not normal in the logarithms.

    Its integral less Laplace's approximation: what Stirling's formula leaves of ln Γ, that is.
    """
    from scipy.special import gammaln

    def left(z: NDArray[np.float64]) -> NDArray[np.float64]:
        rest: NDArray[np.float64] = gammaln(z) - z * np.log(z) + z - np.log(2 * np.pi / z) / 2
        return rest

    of_rows = totals(counts, sizes)[:: sizes[0]]
    return float(left(counts).sum() - left(of_rows).sum())


def _curvature(model: Pooled, point: NDArray[np.float64]) -> NDArray[np.float64]:
    """How fast the gradient in the logarithms of the matrix's shares falls, in all directions."""
    begin = model.groups * len(model.base)
    chosen = slice(begin, begin + sum(model.crowd.choices))
    logs = np.log(point)

    def gradient(moved: NDArray[np.float64]) -> NDArray[np.float64]:
        at = shares(moved, model.sizes)
        _, counts = model.expected(at)
        return (counts - at * totals(counts, model.sizes))[chosen]

    steps = _SMALL_STEP * np.eye(len(point))[chosen]
    falls = np.array([gradient(logs - step) - gradient(logs + step) for step in steps])
    curvature: NDArray[np.float64] = (falls + falls.T) / (4 * _SMALL_STEP)
    return curvature

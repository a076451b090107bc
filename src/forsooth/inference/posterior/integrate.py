"""The global numbers: points of their posterior given the task counts alone.

Tempered sequential Monte Carlo (Del Moral, Doucet, Jasra 2006): points drawn from the prior are
reweighted, resampled and moved by Metropolis steps while the likelihood's exponent rises from 0 to
1. The likelihood is that of the pooled model, in which every cell is another worker's; it needs no
pass over the reports. The seed is fixed, so that the same counts give the same points.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from forsooth.inference.posterior.evidence import Evidence
    from forsooth.inference.posterior.model import Crowd
    from forsooth.inference.posterior.sums import Sums

    Array = NDArray[np.float64]
    Places = NDArray[np.intp]

POINTS = 96  # of the sampler
_TASKS = 256  # whose counts are used: more tell the few global numbers hardly better
_NODES = 48  # of the likelihood's grid, at most
_IMPOSSIBLE = -1e3  # ln likelihood of every truth but the known one
_ESS = 0.5  # effective share of the points that a step of the exponent leaves
_MOVES = 3  # Metropolis steps per exponent; twice as many at the end
_ACCEPT = 0.25  # wanted share of accepted steps
_LONGEST = 80  # exponents, at most


def global_points(
    crowd: Crowd, parts: Sequence[Evidence], sums: Sums | None, known: Places, seed: int
) -> Array:
    """POINTS × dimensions, equally weighted; by the sums alone if there are no counts.

    `known` holds the node of every task's truth, or −1.
    """
    random = np.random.default_rng(seed)
    if sums and not parts:
        return sample(partial(_sums_evidence, crowd, sums), crowd.dimensions, random)
    pooled = _Pooled(crowd, parts, known, random)

    def loglik(z: Array) -> Array:
        total = pooled.logs(z)
        top = total.max(axis=2, keepdims=True)
        each = top[..., 0] + np.log(np.exp(total - top).sum(axis=2))
        summed: Array = each.astype(np.float64).sum(axis=0)
        return summed

    return sample(loglik, crowd.dimensions, random)


def _sums_evidence(crowd: Crowd, sums: Sums, z: Array) -> Array:
    """Ln P(sums | global numbers): tasks' mean answers are alike a priori."""
    tasks = len(sums.support)
    moments = zip(*crowd.mean_answers(z))
    return np.array([sums.message(np.full(tasks, m), np.full(tasks, v))[2] for m, v in moments])


class _Pooled:
    """The model in which all cells are independent: counts of some tasks are enough."""

    def __init__(
        self,
        crowd: Crowd,
        parts: Sequence[Evidence],
        known: Places,
        random: np.random.Generator,
    ) -> None:
        self.crowd, self.parts = crowd, parts
        nodes = len(crowd.nodes)
        chosen = np.unique(np.linspace(0, nodes - 1, nodes if crowd.learns else _NODES).round())
        places = chosen[:nodes].astype(int)
        self.grid, base = crowd.nodes[places], crowd.base[:, places]
        self.tasks = np.sort(random.permutation(parts[0].tasks)[:_TASKS])
        self.counts = [part.per_task[self.tasks].astype(np.float32) for part in parts]
        self.answered = [base @ part.answer_tables.mean(axis=0) for part in parts]
        truth = crowd.nodes[known[self.tasks]]
        right = np.abs(truth[:, None] - self.grid).argmin(axis=1)[:, None] == np.arange(len(places))
        possible = right | (known[self.tasks] < 0)[:, None]
        self.gold = np.where(possible, 0, _IMPOSSIBLE).astype(np.float32)[:, None]

    def logs(self, z: Array) -> NDArray[np.float32]:
        """Tasks × points × grid: ln π(θ)·p(reports | θ)."""
        crowd, grid = self.crowd, self.grid
        share, rate = crowd.shares(z), crowd.participation(z)[:, None, None]
        total = np.log(crowd.prior(z, grid)).astype(np.float32)[None] + self.gold
        for number, part, answered in zip(self.counts, self.parts, self.answered):
            chance = np.tensordot(share, answered, 1)
            if part.hidden:
                chance = rate * chance + (1 - rate) * part.null_rows.mean(axis=0)
            logs = np.log(chance).astype(np.float32).reshape(-1, part.symbols)
            total = total + (number @ logs.T).reshape(len(self.tasks), len(z), len(grid))
        return total


def sample(loglik: Callable[[Array], Array], dimensions: int, random: np.random.Generator) -> Array:
    """Points of the posterior with a standard normal prior."""
    points = random.standard_normal((POINTS, dimensions))
    logs, exponent = loglik(points), 0.0
    for _ in range(_LONGEST):
        step = _next_step(logs, 1 - exponent)
        exponent += step
        weights = np.exp(step * (logs - logs.max()))
        places = (np.arange(POINTS) + random.random()) / POINTS
        chosen = np.searchsorted(np.cumsum(weights / weights.sum()), places).clip(0, POINTS - 1)
        points, logs = points[chosen], logs[chosen]
        last = exponent >= 1 - 1e-9
        points, logs = _moved(points, logs, exponent, loglik, random, _MOVES * (1 + last))
        if last:
            break
    return points


def _next_step(logs: Array, most: float) -> float:
    """The largest step that leaves the wanted effective number of points, by bisection."""
    centred = logs - logs.max()

    def enough(step: float) -> bool:
        weights = np.exp(step * centred)
        return bool(weights.sum() ** 2 >= _ESS * POINTS * (weights**2).sum())

    if enough(most):
        return most
    low, high = 0.0, most
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if enough(middle) else (low, middle)
    return high


def _moved(
    points: Array,
    logs: Array,
    exponent: float,
    loglik: Callable[[Array], Array],
    random: np.random.Generator,
    moves: int,
) -> tuple[Array, Array]:
    """Random-walk Metropolis steps with the points' own covariance."""
    size = points.shape[1]
    root = np.linalg.cholesky(np.cov(points.T).reshape(size, size) + 1e-10 * np.eye(size))
    scale = 1.5 / np.sqrt(size)
    for _ in range(moves):
        proposed = points + scale * random.standard_normal(points.shape) @ root.T
        found = loglik(proposed)
        gain = exponent * (found - logs) - 0.5 * (proposed**2 - points**2).sum(axis=1)
        accepted = np.log(random.random(len(points))) < gain
        points = np.where(accepted[:, None], proposed, points)
        logs = np.where(accepted, found, logs)
        scale *= np.exp(accepted.mean() - _ACCEPT)
    return points, logs

"""Campaigns drawn from the model's own prior, to check that its intervals are honest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forsooth.answers import Answers, code_dtype
from forsooth.inference.posterior.model import Label, Level
from forsooth.inference.posterior.opinion import Counts, SharesPrior
from forsooth.inference.posterior.priors import PRIORS, Priors

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from forsooth.estimand import Estimand
    from forsooth.scale import Scale

    Array = NDArray[np.float64]
    Drawn = tuple[NDArray[np.intp], Array]  # codes, workers × tasks, −1 for NULL; and the truths

_FINER = 16  # points per node: levels are drawn as finely as a posterior is ever read
_ROUNDS = 5  # until the popular answers, which some kinds prefer, are those that the crowd gives


def draw_campaign(
    scale: Scale, estimand: Estimand, *, workers: int, tasks: int, seed: int, ordered: bool = True,
    priors: Priors = PRIORS, participation: float | None = None,
) -> tuple[Answers, Array]:  # fmt: skip
    """Answers, and the tasks' truths; those of `opinion` are shares, tasks × answers.

    `participation` replaces the drawn mean share of answered cells.
    """
    random, flat = np.random.default_rng(seed), np.full(scale.size, 1 / scale.size)
    if estimand == "opinion":
        drawn = _opinions(random, (workers, tasks), scale.size, ordered, participation)
    elif estimand == "label":
        label = Label(scale, flat, True, priors, ordered=ordered)
        drawn = _latent(random, (workers, tasks), label, participation)
    else:
        drawn = _latent(random, (workers, tasks), Level(scale, flat, True, priors), participation)
    codes, truth = drawn
    worker, task = (each.astype(np.int32) for each in np.nonzero(codes >= 0))
    people, questions = (
        tuple(f"{letter}{at:06}" for at in range(n)) for letter, n in (("w", workers), ("t", tasks))
    )
    code = codes[worker, task].astype(code_dtype(scale))
    return Answers(scale, people, questions, worker, task, code), truth


def _latent(
    random: Generator, shape: tuple[int, int], crowd: Level | Label, mean: float | None
) -> Drawn:
    p, z = crowd.priors, random.standard_normal((1, crowd.dimensions))
    shares = random.dirichlet(p.kinds_weight * crowd.shares(z)[0])
    if isinstance(crowd, Level):
        grid = np.linspace(crowd.nodes[0], crowd.nodes[-1], (len(crowd.nodes) - 1) * _FINER + 1)
        responses, (normal, uniform) = crowd.responses(grid), random.dirichlet(crowd.weights)
        chance = normal * crowd.normal(grid, *crowd.place(z))[0] + uniform / len(grid)
    else:
        grid, chance = crowd.nodes, random.dirichlet(crowd.truths(z[0]).firmness)
        for _ in range(_ROUNDS):
            popular = chance @ np.tensordot(shares, crowd.base, 1)
            crowd = Label(crowd.scale, popular, True, p, ordered=crowd.ordered)
        rows = random.standard_gamma(p.row_weight * crowd.base)
        responses = rows / rows.sum(axis=2, keepdims=True)
    truth = random.choice(len(grid), shape[1], p=chance / chance.sum())
    kind = random.choice(len(shares), shape[0], p=shares)
    rates = random.dirichlet(p.rates_weight * crowd.rate_shares)
    ladder = crowd.rates(float(crowd.participation(z)[0]) if mean is None else mean, rates)
    rate = ladder[random.choice(len(rates), shape[0], p=rates), None]
    below = responses[kind[:, None], truth].cumsum(axis=2)
    codes = (below < random.random((*shape, 1)) * below[..., -1:]).sum(axis=2)
    return np.where(random.random(shape) < rate, codes, -1), grid[truth]


def _opinions(
    random: Generator, shape: tuple[int, int], size: int, ordered: bool, mean: float | None
) -> Drawn:
    """The number of every answer is drawn; workers give them in random order."""
    hidden, table = mean is None, np.eye(size + (mean is None))
    found, shares = draw_counts(random, *shape[::-1], table, hidden=hidden, ordered=ordered)
    each = [np.repeat(np.arange(len(table)), row) for row in found.number.astype(int)]
    codes = random.permuted(np.array(each), axis=1).T
    present = codes < size if mean is None else random.random(shape) < mean
    return np.where(present, codes, -1), shares


def draw_counts(
    random: Generator, tasks: int, workers: int, table: Array, *, hidden: bool, ordered: bool
) -> tuple[Counts, Array]:
    """Counts of reports through a table, from the prior of `opinion`; and the tasks' shares."""
    prior = SharesPrior(len(table) - hidden, hidden, ordered)
    m, s = prior.place(random.standard_normal(prior.precision.shape) / np.sqrt(prior.precision))
    x = m + s * random.standard_normal((len(m), 1, tasks))
    shares, rate = (a[..., 0, :].T for a in prior.states(x))
    q = np.hstack([rate[:, None] * shares, 1 - rate[:, None]])[:, : len(table)]
    return Counts(random.multinomial(workers, q @ table).astype(float), table, hidden), shares

"""The estimands `level` and `label`: one truth per task, inferred with the workers' kinds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from forsooth.inference.estimates import quality, smallest_deviation
from forsooth.inference.posterior.evidence import answer_shares
from forsooth.inference.posterior.integrate import global_points
from forsooth.inference.posterior.messages import SumMessages, messages_for
from forsooth.inference.posterior.model import Label, Level
from forsooth.inference.posterior.priors import PRIORS
from forsooth.inference.posterior.propagate import ROUNDS, propagate
from forsooth.inference.posterior.reading import between, read
from forsooth.truths import COVERAGE, Posterior, Truths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.inference.checkpoint import Checkpoint
    from forsooth.inference.posterior.evidence import Campaign
    from forsooth.inference.posterior.messages import Messages
    from forsooth.inference.posterior.model import Crowd
    from forsooth.inference.posterior.options import Options
    from forsooth.inference.posterior.priors import Priors
    from forsooth.inference.posterior.propagate import Propagated

    Array = NDArray[np.float64]

_FINE = 4.0  # grid points per standard deviation of a typical posterior: quantiles are smooth
_FINEST = 16  # times as fine as the nodes, at most


@dataclass(frozen=True, eq=False)
class _Found:
    """What the result is read from."""

    grid: Array
    mass: Array
    answers: Array  # P(answer | truth) of the crowd: grid × answers
    kinds: Array  # P(kind) of every worker: workers × kinds
    deviations: Array  # of the kinds
    rounds: int
    converged: bool


def infer_latent(
    campaign: Campaign,
    gold: Array,
    options: Options,
    checkpoint: Checkpoint,
    priors: Priors = PRIORS,
) -> Truths:
    """Truths with credible intervals, and every worker's deviation with its own."""
    crowd = _crowd(campaign, options, priors)
    nearest = np.abs(np.nan_to_num(gold)[:, None] - crowd.nodes).argmin(axis=1)
    known = np.where(np.isnan(gold), -1, nearest)
    points = global_points(crowd, campaign.evidence, campaign.sums, known, options.seed)
    found = _found(crowd, campaign, points.mean(axis=0), known, options, checkpoint)
    discrete, estimate = crowd.learns, options.estimate or "median"
    point, low, high = read(found.grid, found.mass, estimate, gold, discrete=discrete)
    if options.unordered:
        low = high = point
    deviation, *interval = between(found.kinds, found.deviations)
    participation, participation_interval = _participation(crowd, campaign, points)
    support = sum((part.per_task.sum(axis=1) for part in campaign.evidence), np.zeros(len(gold)))
    support = support + (campaign.sums.support if campaign.sums else 0)
    return Truths(
        method="posterior",
        scale=campaign.scale,
        tasks=campaign.tasks,
        estimate=point,
        low=low,
        high=high,
        support=np.rint(support).astype(np.int64),
        workers=campaign.names if len(found.kinds) else (),
        quality=quality(deviation, smallest_deviation(campaign.scale)),
        deviation=deviation,
        iterations=found.rounds,
        converged=found.converged,
        posterior=Posterior(
            estimand=options.estimand or "level",
            grid=found.grid,
            mass=found.mass,
            answers=found.answers,
            model=options.model if options.model == "pooled" else "workers",
            participation=participation,
            participation_interval=participation_interval,
            deviation_interval=(interval[0], interval[1]),
            unordered=options.unordered,
            seed=options.seed,
        ),
    )


def _crowd(campaign: Campaign, options: Options, priors: Priors) -> Crowd:
    parts, scale = campaign.evidence, campaign.scale
    hidden, popular = any(part.hidden for part in parts), answer_shares(parts, scale.size)
    if options.estimand == "label":
        return Label(scale, popular, hidden, priors, ordered=not options.unordered)
    level = Level(scale, popular, hidden, priors)
    level.placed = not parts and bool(campaign.sums and campaign.sums.profiles)
    return level


def _participation(
    crowd: Crowd, campaign: Campaign, points: Array
) -> tuple[float | None, tuple[float, float] | None]:
    """The share of answered cells where it is hidden, with its interval."""
    if not crowd.hidden:
        sums = campaign.sums
        return sums.participation if sums and sums.sketches else None, None
    shares = crowd.participation(points)
    low, middle, high = np.quantile(shares, [(1 - COVERAGE) / 2, 0.5, (1 + COVERAGE) / 2])
    return float(middle), (float(low), float(high))


def _found(
    crowd: Crowd,
    campaign: Campaign,
    point: Array,
    known: NDArray[np.intp],
    options: Options,
    checkpoint: Checkpoint,
) -> _Found:
    """Where the messages arrive, on a grid that is fine enough."""
    pooled = options.model == "pooled"
    parts: list[Messages] = [
        messages_for(part, len(crowd.base), pooled=pooled) for part in campaign.evidence
    ]
    if campaign.sums:
        parts.append(SumMessages(campaign.sums, crowd.values))
    rounds = int(bool(campaign.sums)) if pooled else ROUNDS
    run = propagate(crowd, parts, point, known, rounds=rounds, checkpoint=checkpoint)
    kinds = [part.workers(run.beliefs, run.now) for part in parts if campaign.names]
    grid = _fine_grid(crowd, run.beliefs[known < 0])
    mass = _on_grid(crowd, run, grid, point)
    rows = np.flatnonzero(known >= 0)
    mass[rows] = 0
    mass[rows, np.abs(grid - crowd.nodes[known[rows], None]).argmin(axis=1)] = 1
    responses = run.now.responses
    on_grid = crowd.responses(grid) if isinstance(crowd, Level) else responses
    return _Found(
        grid,
        mass,
        np.tensordot(run.now.shares, on_grid, 1),
        np.concatenate(kinds) if kinds else np.empty((0, len(crowd.base))),
        crowd.deviations(responses, run.beliefs.mean(axis=0)),
        run.rounds,
        run.converged or run.rounds < ROUNDS,
    )


def _fine_grid(crowd: Crowd, beliefs: Array) -> Array:
    """The nodes, or finer points where a typical posterior is narrow."""
    nodes = crowd.nodes
    if crowd.learns or not len(beliefs):
        return nodes
    mean = beliefs @ nodes
    spread = np.sqrt(np.maximum(beliefs @ nodes**2 - mean**2, 0))
    wanted = _FINE * (nodes[1] - nodes[0]) / max(float(np.median(spread)), 1e-9 * np.ptp(nodes))
    times = int(np.clip(2 ** np.ceil(np.log2(wanted)), 1, _FINEST))
    return np.linspace(nodes[0], nodes[-1], (len(nodes) - 1) * times + 1)


def _on_grid(crowd: Crowd, run: Propagated, grid: Array, point: Array) -> Array:
    """The beliefs of a run on a grid: the likelihood is smooth, and interpolated."""
    if len(grid) == len(crowd.nodes):
        return run.beliefs
    from scipy.interpolate import CubicSpline

    truths = crowd.truths(point)
    truths.weights = run.prior
    return truths.beliefs(CubicSpline(crowd.nodes, run.likelihood, axis=1)(grid), grid)

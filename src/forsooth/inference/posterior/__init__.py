"""Posterior inference: the truth of every task given the reports and the channel they came through.

The collector knows P(report | answer). Computing P(truth | reports) with it is post-processing and
costs no privacy; it turns reports that are useless when read as answers into good estimates.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from threadpoolctl import threadpool_limits

from forsooth.errors import ForsoothError
from forsooth.inference.checkpoint import Checkpoint
from forsooth.inference.estimates import Rules, quality, smallest_deviation
from forsooth.inference.posterior.batches import Batches
from forsooth.inference.posterior.classes import (
    ClassFit,
    fit_again,
    fit_alike,
    fit_apart,
    fit_classes,
    worker_kinds,
)
from forsooth.inference.posterior.confusions import Confused, confused, spread
from forsooth.inference.posterior.heldout import Means, class_sources, pooled_sources
from forsooth.inference.posterior.labels import Labels
from forsooth.inference.posterior.measure import measured
from forsooth.inference.posterior.model import Crowd
from forsooth.inference.posterior.outline import no_outline_fits, outlined
from forsooth.inference.posterior.picture import Picture, averaged
from forsooth.inference.posterior.pooled import Pooled, fit_pooled
from forsooth.truths import COVERAGE, Posterior, Truths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.inference.posterior.ascent import Ascent
    from forsooth.inference.posterior.evidence import Campaign

Estimate = Literal["median", "mean", "mode"]
ESTIMATES: tuple[str, ...] = get_args(Estimate)
Model = Literal["auto", "pooled"]
MODELS: tuple[str, ...] = get_args(Model)
_HALF_TRUST = 0.5  # nats per worker


@dataclass(frozen=True)
class Options:
    """How the posterior is computed and read.

    The median minimises the mean absolute error. `unordered` labels have no median and no interval:
    the estimate is the likeliest label, and the interval is that label alone. The `pooled` model
    needs one pass over the reports and knows nothing of single workers.
    """

    estimate: Estimate = "median"
    unordered: bool = False
    model: Model = "auto"

    def __post_init__(self) -> None:
        if self.estimate not in ESTIMATES:
            known = ", ".join(ESTIMATES)
            raise ForsoothError(f"unknown estimate {self.estimate!r}; known: {known}")
        if self.model not in MODELS:
            raise ForsoothError(f"unknown model {self.model!r}; known: {', '.join(MODELS)}")


def posterior(
    campaign: Campaign,
    rules: Rules,
    gold: NDArray[np.float64],
    options: Options,
    checkpoint: Checkpoint | None = None,
) -> Truths:
    """Truths with credible intervals; a `checkpoint` is kept after every pass over the reports."""
    with threadpool_limits(1):  # the matrices are thin: more threads only wait for one another
        return _posterior(campaign, rules, gold, options, checkpoint or Checkpoint())


def _posterior(
    campaign: Campaign,
    rules: Rules,
    gold: NDArray[np.float64],
    options: Options,
    checkpoint: Checkpoint,
) -> Truths:
    crowd = Labels(campaign.scale) if options.unordered else Crowd(campaign.scale)
    evidence = campaign.evidence
    pinned = np.where(np.isnan(gold), -1, crowd.nearest(np.nan_to_num(gold)))
    pooled, ascent = measured(*fit_pooled(crowd, evidence, pinned, rules), rules)
    free = pooled.picture(ascent)
    strict = confused(pooled, ascent, free, rules)
    pictures, fits = _pictures(pooled, ascent, free, strict), list[ClassFit]()
    if options.model == "auto":
        fits = _class_models(pooled, ascent, strict, rules, checkpoint)
    if batches := Batches.of(evidence):
        pictures, fits = _told(batches, pooled, ascent, strict, pictures, fits)
    picture = averaged(pictures)
    mass, trust = _together(crowd, campaign, picture, fits, pooled.price, ~np.isnan(gold))
    estimate = "mode" if options.unordered else options.estimate
    low, high = (_quantile(crowd, mass, (1 + side * COVERAGE) / 2) for side in (-1, 1))
    point_estimate = _estimate(crowd, mass, estimate, gold)
    if options.unordered:
        low = high = point_estimate
    hidden = any(part.hidden for part in evidence)
    support = sum(part.per_task.sum(axis=1) for part in evidence)
    kinds = _worker_kinds(crowd, campaign, fits)
    deviation = kinds @ crowd.deviations
    return Truths(
        method="posterior",
        scale=crowd.scale,
        tasks=campaign.tasks,
        estimate=point_estimate,
        low=low,
        high=high,
        support=np.asarray(support, np.int64),
        workers=campaign.names if fits else (),
        quality=quality(deviation, smallest_deviation(crowd.scale)),
        deviation=deviation,
        iterations=picture.iterations + sum(len(fit.history) for fit in fits),
        converged=picture.converged and all(fit.converged for fit in fits),
        history=ascent.history,
        posterior=Posterior(
            grid=crowd.grid,
            mass=mass,
            answers=picture.answers,
            model="worker classes" if trust > 0.5 else "pooled",
            participation=picture.participation if hidden else None,
            constant_as_good=_constant_as_good(crowd, mass, estimate),
            deviation_interval=_deviation_interval(crowd, kinds),
        ),
    )


def _pictures(
    pooled: Pooled, ascent: Ascent, free: Picture, strict: Confused | None
) -> list[Picture]:
    """Free shares, on a short scale confusions too, and outlines where they may fit."""
    pictures = [free]
    if strict:
        pictures.append(strict.picture(pooled))
    if pooled.crowd.ordered and not no_outline_fits(pooled, ascent.point):
        pictures.append(outlined(pooled))
    return pictures


def _class_models(
    pooled: Pooled, ascent: Ascent, strict: Confused | None, rules: Rules, checkpoint: Checkpoint
) -> list[ClassFit]:
    """Kinds of error; workers who share one confusion matrix; kinds of workers with one each."""
    point = pooled.shrunk(ascent.point)
    fit = fit_classes(pooled, point, rules, checkpoint)
    if strict is None:
        return [fit]
    rival = pooled.likelihood(point)
    alike = fit_alike(strict, rules, rival, checkpoint)
    fit = fit_again(pooled, point, fit, alike, rules, checkpoint)
    return [fit, alike, fit_apart(strict, alike, rules, max(alike.bound, rival), checkpoint)]


def _told(
    batches: Batches,
    pooled: Pooled,
    ascent: Ascent,
    strict: Confused | None,
    pictures: list[Picture],
    fits: list[ClassFit],
) -> tuple[list[Picture], list[ClassFit]]:
    """The same models with what batches tell of their tasks; outlines hear nothing of it.

    How much that is, the best class model says: the pooled ones take workers for truths.
    """
    crowd, group = pooled.crowd, pooled.group
    shapes = [crowd.shapes] + ([strict.pooled.crowd.shapes] * 2 if strict else [])
    free, weights = pictures[0].mass, pooled.split(pooled.shrunk(ascent.point)).weights[group]
    judges = [(fit.mass.sum(axis=1), fit.before[group], each) for fit, each in zip(fits, shapes)]
    best = int(np.argmax([fit.bound for fit in fits])) if fits else 0
    chances = batches.chances(*(judges[best] if fits else (free, weights, crowd.shapes)))
    told = [fit.told(batches.told(*judge, chances)) for fit, judge in zip(fits, judges)]
    heard = [replace(pictures[0], mass=batches.told(free, weights, crowd.shapes, chances))]
    if strict:
        heard.append(replace(pictures[1], mass=spread(crowd, strict.told(batches, chances))))
    return [*heard, *pictures[len(heard) :]], told


def _together(
    crowd: Crowd,
    campaign: Campaign,
    picture: Picture,
    fits: list[ClassFit],
    price: float,
    known: NDArray[np.bool_],
) -> tuple[NDArray[np.float64], float]:
    """P(θ | reports) of the pooled and the class models, and the weight of the latter.

    On a measure, answers that can be read are held out to see whether they are right.
    """
    parts, mass, means, trust = campaign.evidence, picture.mass, None, 0.0
    if crowd.is_measure and not any(part.hidden for part in parts):
        means = Means.of(crowd, parts, mass, picture.answers, alike=not fits)
        mass = means.beside(mass, pooled_sources(parts, picture.answers), known)
    if fits:
        rival = picture.evidence + price  # class models are as free, and do not pay
        finer, bound = _class_average(crowd, fits, rival, campaign.workers)
        trust = _trust((bound - rival) / campaign.workers)
        if means and trust:
            finer = means.beside(finer, class_sources(parts, fits[0]), known)
        mass = (1 - trust) * mass + trust * finer
    return mass, trust


def _class_average(
    crowd: Crowd, fits: list[ClassFit], rival: float, workers: int
) -> tuple[NDArray[np.float64], float]:
    """P(θ | reports) of the class models together, over the crowd's grid, and the highest bound."""
    mass, bound = fits[0].mass.sum(axis=1), fits[0].bound
    for fit in fits[1:]:
        strict = spread(crowd, fit.mass.sum(axis=1))
        gain = (fit.bound - max(bound, rival)) / workers
        trust = _trust(gain) if bound > rival else float(gain > 0)
        mass, bound = (1 - trust) * mass + trust * strict, max(bound, fit.bound)
    return mass, bound


def _trust(gain: float) -> float:
    """The weight of a finer model in the average with a coarser; `gain` is in nats per worker.

    Its evidence is a lower bound and its posteriors are narrower than they should be, so that a
    small gain decides little: half a nat per worker, and it has half of the weight.
    """
    return max(0.0, gain) / (max(0.0, gain) + _HALF_TRUST)


def _worker_kinds(crowd: Crowd, campaign: Campaign, fits: list[ClassFit]) -> NDArray[np.float64]:
    """P(kind of error) of every worker who is to be told of; of none, if names are not wanted."""
    kinds = len(crowd.deviations)
    if not fits or not campaign.names:
        return np.empty((0, kinds))
    parts = enumerate(campaign.evidence)
    return np.concatenate([worker_kinds(fits[0], number, part, kinds) for number, part in parts])


def _estimate(
    crowd: Crowd, mass: NDArray[np.float64], estimate: Estimate, gold: NDArray[np.float64]
) -> NDArray[np.float64]:
    if estimate == "mean":
        point = mass @ crowd.grid
    elif estimate == "mode":
        point = crowd.grid[mass.argmax(axis=1)]
    else:
        point = _quantile(crowd, mass, 0.5)
    return np.where(np.isnan(gold), point, gold)


def _quantile(crowd: Crowd, mass: NDArray[np.float64], level: float) -> NDArray[np.float64]:
    """The first grid point at which the posterior has reached `level`."""
    reached = np.cumsum(mass, axis=1) >= level - 1e-12
    quantile: NDArray[np.float64] = crowd.grid[reached.argmax(axis=1)]
    return quantile


def _deviation_interval(
    crowd: Crowd, kinds: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A 90 % interval of every worker's σ, from the kinds that he may be of."""
    order = np.argsort(crowd.deviations)
    reached = np.cumsum(kinds[:, order], axis=1)
    low, high = (
        crowd.deviations[order][(reached >= (1 + side * COVERAGE) / 2 - 1e-9).argmax(axis=1)]
        for side in (-1, 1)
    )
    return low, high


def _constant_as_good(crowd: Crowd, mass: NDArray[np.float64], estimate: Estimate) -> float:
    """The posterior probability that one constant for all tasks has no larger error.

    The difference of the two errors is a sum over tasks, and so about normal.
    """
    constant = _quantile(crowd, mass.mean(axis=0)[None, :], 0.5)
    point = _estimate(crowd, mass, estimate, np.full(len(mass), np.nan))
    gains = np.abs(crowd.grid - constant) - np.abs(crowd.grid - point[:, None])
    means = (mass * gains).sum(axis=1)
    deviation = np.sqrt((mass * (gains - means[:, None]) ** 2).sum())
    return NormalDist().cdf(-means.sum() / deviation) if deviation else float(means.sum() <= 0)

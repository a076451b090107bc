"""The estimand `opinion`: everyone answers for themselves; the result is a distribution."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from forsooth.errors import ForsoothError
from forsooth.inference.posterior.opinion import (
    Counts,
    Interval,
    Opinions,
    differences,
    interval,
    opinions,
    summary,
)
from forsooth.inference.valleys import valleys
from forsooth.truths import Difference, Posterior, Shares, Truths

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from forsooth.inference.posterior.evidence import Campaign, Evidence
    from forsooth.inference.posterior.options import Options

    Array = NDArray[np.float64]

_GRID = 400  # cells over the scale in which draws of a mean are counted


def infer_opinions(
    campaign: Campaign, options: Options, groups: Mapping[str, str] | None
) -> Truths:
    """Shares and means with intervals; no quality of workers, which cannot be identified."""
    scale, ordered = campaign.scale, not options.unordered
    values = np.asarray(scale.values, float)
    counts = _counts(campaign.evidence)
    found = opinions(counts, answers=scale.size, ordered=ordered, seed=options.seed)
    shares, mean = summary(found.shares, values)
    grid, mass = _mass(found, values, ordered)
    point = mean.estimate if ordered else values[mass.argmax(axis=1)]
    low, high = (mean.low, mean.high) if ordered else (point, point)
    if options.estimate == "median" and ordered:
        point = np.median(found.shares @ values, axis=0)
    rates = None if found.participation is None else interval(found.participation.mean(1), 0, 1)
    return Truths(
        method="posterior",
        scale=scale,
        tasks=campaign.tasks,
        estimate=point,
        low=np.minimum(low, point),
        high=np.maximum(high, point),
        support=np.rint(_answered(counts, found)).astype(np.int64),
        workers=(),
        quality=np.empty(0),
        deviation=np.empty(0),
        iterations=0,
        converged=True,
        posterior=Posterior(
            estimand="opinion",
            grid=grid,
            mass=mass,
            answers=np.eye(scale.size)[np.abs(grid[:, None] - values).argmin(axis=1)],
            model="pooled",
            participation=None if rates is None else float(rates.estimate),
            participation_interval=None if rates is None else (float(rates.low), float(rates.high)),
            deviation_interval=(np.empty(0), np.empty(0)),
            unordered=options.unordered,
            shares=_shares(shares, found, _answered(counts, found) / max(1, campaign.workers)),
            seed=options.seed,
            draws=found.shares,
            valleys=valleys(found.shares, ordered=ordered),
        ),
        differences=_group_differences(campaign, values, options, groups) if groups else (),
    )


def _counts(parts: Sequence[Evidence]) -> list[Counts]:
    return [Counts(part.per_task, part.tables.mean(axis=0), part.hidden) for part in parts]


def _answered(counts: Sequence[Counts], found: Opinions) -> Array:
    """The expected number of answers per task."""
    rate = 1.0 if found.participation is None else found.participation.mean(axis=0)
    total: Array = np.sum([c.number.sum(axis=1) * (rate if c.hidden else 1) for c in counts], 0)
    return total


def _shares(shares: Interval, found: Opinions, public: Array) -> Shares:
    """Participation is counted where it is public."""
    if found.participation is None:
        rate = Interval(public, public, public)
    else:
        rate = interval(found.participation, 0, 1)
    bounds = rate.estimate, rate.low, rate.high
    return Shares(shares.estimate, shares.low, shares.high, *bounds)


def _mass(found: Opinions, values: Array, ordered: bool) -> tuple[Array, Array]:
    """The posterior of the mean on a grid; without an order, of which answer is the commonest."""
    if ordered:
        grid = np.linspace(values[0], values[-1], _GRID + 1)
        place = np.rint((found.shares @ values - grid[0]) / (grid[1] - grid[0])).astype(int)
    else:
        grid, place = values, found.shares.argmax(axis=2)
    counts = [np.bincount(each, minlength=len(grid)) for each in place.T]
    return grid, np.array(counts) / len(place)


def _group_differences(
    campaign: Campaign, values: Array, options: Options, groups: Mapping[str, str]
) -> tuple[Difference, ...]:
    """Every question in every group is a row; rows of the same question are compared."""
    missing = [name for name in campaign.names if name not in groups]
    if missing:
        raise ForsoothError(
            f"groups: worker {missing[0]!r} has no group ({len(missing)} such): "
            "name the group of every worker"
        )
    names = sorted({groups[name] for name in campaign.names})
    if len(names) < 2:
        raise ForsoothError("groups: there is one group only; a comparison needs two or more")
    code = np.array([names.index(groups[name]) for name in campaign.names])
    tasks, answers = len(campaign.tasks), campaign.scale.size
    parts, before = [], 0
    for part in campaign.evidence:
        number = np.zeros((len(names) * tasks, part.symbols))
        for block in part.blocks.each(lambda each: each):
            worker, task = block.coordinates()
            row = code[before + worker] * tasks + task
            np.add.at(number, (row, block.symbol), 1)
            before += block.workers
        parts.append(Counts(number, part.tables.mean(axis=0), part.hidden))
    found = opinions(parts, answers=answers, ordered=not options.unordered, seed=options.seed)
    result = []
    for at, task_name in enumerate(campaign.tasks):
        for one, other in combinations(range(len(names)), 2):
            first, second = (found.shares[:, group * tasks + at] for group in (one, other))
            _, mean = differences(first, second, values)
            bounds = float(mean.estimate), float(mean.low), float(mean.high)
            result.append(Difference(task_name, names[one], names[other], *bounds))
    return tuple(result)


def compare_tasks(truths: Truths, one: str, other: str) -> Difference:
    """The mean opinion on one task minus that on another, which the same people answered.

    How the same people's answers to both are related is not known from the counts; the interval
    holds whatever it is (see `opinion.differences`).
    """
    draws = truths.posterior.draws if truths.posterior else None
    if draws is None:
        raise ForsoothError("tasks are compared by their mean opinions: infer with opinion")
    for task in (one, other):
        if task not in truths.tasks:
            raise ForsoothError(f"task {task!r} is not in the campaign")
    places = truths.tasks.index(one), truths.tasks.index(other)
    people = float(truths.support[list(places)].min())
    values = np.asarray(truths.scale.values, float)
    _, mean = differences(draws[:, places[0]], draws[:, places[1]], values, max(people, 1.0))
    return Difference(one, one, other, float(mean.estimate), float(mean.low), float(mean.high))

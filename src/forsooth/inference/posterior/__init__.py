"""Posterior inference: the truth of every task given the reports and the channel they came through.

The collector knows P(report | answer). Computing P(truth | reports) with it is post-processing and
costs no privacy; it turns reports that are useless when read as answers into good estimates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from threadpoolctl import threadpool_limits

from forsooth.errors import ForsoothError
from forsooth.inference.checkpoint import Checkpoint
from forsooth.inference.estimates import Rules, quality, smallest_deviation
from forsooth.inference.posterior.batches import Batches
from forsooth.inference.posterior.classes import worker_kinds
from forsooth.inference.posterior.labels import Labels
from forsooth.inference.posterior.model import Crowd
from forsooth.inference.posterior.reading import (
    ESTIMATES,
    Estimate,
    constant_as_good,
    estimated,
    quantile,
)
from forsooth.inference.posterior.view import decided, views_of
from forsooth.truths import COVERAGE, Posterior, Truths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.inference.posterior.classes import ClassFit
    from forsooth.inference.posterior.evidence import Campaign

Model = Literal["auto", "pooled"]
MODELS: tuple[str, ...] = get_args(Model)


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
    evidence, known = campaign.evidence, ~np.isnan(gold)
    pinned = np.where(known, crowd.nearest(np.nan_to_num(gold)), -1)
    classes = checkpoint if options.model == "auto" else None
    views = views_of(crowd, evidence, pinned, rules, classes)
    if batches := Batches.of(evidence):
        views = [view.told(batches) for view in views]
    found = decided(views, campaign, known)
    mass, fits = found.mass, found.likeliest.fits
    estimate = "mode" if options.unordered else options.estimate
    low, high = (
        np.where(known, gold, quantile(crowd.grid, mass, (1 + side * COVERAGE) / 2))
        for side in (-1, 1)
    )
    point_estimate = estimated(crowd.grid, mass, estimate, gold)
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
        iterations=found.iterations,
        converged=found.converged,
        history=found.likeliest.ascent.history,
        posterior=Posterior(
            grid=crowd.grid,
            mass=mass,
            answers=found.answers,
            model="worker classes" if found.trust > 0.5 else "pooled",
            participation=found.participation if hidden else None,
            constant_as_good=constant_as_good(crowd.grid, mass, estimate),
            deviation_interval=_deviation_interval(crowd, kinds),
        ),
    )


def _worker_kinds(crowd: Crowd, campaign: Campaign, fits: list[ClassFit]) -> NDArray[np.float64]:
    """P(kind of error) of every worker who is to be told of; of none, if names are not wanted."""
    kinds = len(crowd.deviations)
    if not fits or not campaign.names:
        return np.empty((0, kinds))
    parts = enumerate(campaign.evidence)
    return np.concatenate([worker_kinds(fits[0], number, part, kinds) for number, part in parts])


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

"""Posterior inference: the truth of every task given the reports and the channel they came through.

The collector knows P(report | answer). Computing P(truth | reports) with it is post-processing and
costs no privacy; it turns reports that are useless when read as answers into good estimates.

| module | what it holds |
|---|---|
| `model`, `kinds`, `priors` | the model of `level` and `label`, its response kinds, its numbers |
| `opinion`, `sums` | the model of `opinion`; reports that are sums over tasks |
| `evidence`, `blocks`, `kernels`, `compiled` | reports as symbols, in blocks; passes over them |
| `integrate`, `messages`, `propagate` | the engine: global numbers, messages, rounds |
| `latent`, `survey`, `reading`, `options` | from a request to a result |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from threadpoolctl import threadpool_limits

from forsooth.errors import ForsoothError
from forsooth.inference.checkpoint import Checkpoint
from forsooth.inference.posterior.options import Options

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from forsooth.inference.posterior.evidence import Campaign
    from forsooth.truths import Truths


def infer_posterior(
    campaign: Campaign,
    gold: NDArray[np.float64],
    options: Options,
    *,
    groups: Mapping[str, str] | None = None,
    checkpoint: Checkpoint | None = None,
) -> Truths:
    """Truths with credible intervals; a `checkpoint` is kept after every pass over the reports."""
    if campaign.sums and options.estimand is None:
        options = Options("level", options.estimate, options.unordered, options.model, options.seed)
    options = options.resolved(campaign.scale)
    _check(campaign, gold, options, groups)
    from forsooth.inference.posterior.latent import infer_latent  # scipy, which is slow to import
    from forsooth.inference.posterior.survey import infer_opinions

    with threadpool_limits(1):  # the matrices are thin: more threads only wait for one another
        if options.estimand == "opinion":
            return infer_opinions(campaign, options, groups)
        return infer_latent(campaign, gold, options, checkpoint or Checkpoint())


def _check(
    campaign: Campaign,
    gold: NDArray[np.float64],
    options: Options,
    groups: Mapping[str, str] | None,
) -> None:
    if campaign.sums and options.estimand != "level":
        raise ForsoothError(
            f"mf and mf-safe report sums over tasks, which tell means: the estimand "
            f"{options.estimand} needs reports of cells; ask for the estimand level"
        )
    if options.estimand == "opinion" and not np.isnan(gold).all():
        raise ForsoothError(
            "gold: with the estimand opinion no answer is right, so no truth can be pinned; known "
            "population means calibrate the intervals: --gold-use calibrate"
        )
    if groups and options.estimand != "opinion":
        raise ForsoothError("groups are compared by their mean answers: estimand opinion")
    known = ~np.isnan(gold)
    strange = known & ~np.isin(gold, campaign.scale.values)
    if options.estimand == "label" and strange.any():
        at = int(np.flatnonzero(strange)[0])
        raise ForsoothError(
            f"gold: the truth {gold[at]:g} of task {campaign.tasks[at]!r} is no answer of the "
            "scale, and with the estimand label one of the answers is right"
        )


__all__ = ["Options", "infer_posterior"]

"""Is it a name that is true, or the mean of all opinions? What is known before any report.

The same reports fit to answers of which many are at random, around some truths, and to opinions
that differ, around others: what is answered on average. But most of those who give names are right,
and ratings are seldom all at an end of the scale, or nobody would ask.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.inference.posterior.model import Crowd

    Array = NDArray[np.float64]

INSIDE = 0.2, 0.8  # where the truths of a rating are on average, in ranges of the scale
_USUAL = 0.3, 0.7  # and where nobody wonders about it
_HALF = 0.35  # the share of right answers, beyond chance, with which both are as likely
_PER_RIGHT = 15.0  # nats that speak for names, per share beyond that
_PER_RANGE = 35.0  # and per range of the scale by which mean answers are on average off that
_FOR_MEANS = 1.0  # nats that speak for means at most, where a single model was fitted


def as_names(crowd: Crowd, truths: Array, answers: Array) -> Array:
    """The nats that speak for names, if these are P(θ) and P(a | θ): … × grid (× answers)."""
    means = answers @ np.asarray(crowd.scale.values)
    place = ((truths * means).sum(axis=-1) - crowd.scale.low) / crowd.scale.range
    off = np.abs(place - np.clip(place, *_USUAL))
    nats: Array = by_agreement(crowd, truths, answers) + _PER_RANGE * off
    return nats


def by_agreement(crowd: Crowd, truths: Array, answers: Array) -> Array:
    """Those of them that do not depend on where the truths are: how many answers are right."""
    chance = 1 / crowd.scale.size
    true = np.abs(np.subtract.outer(crowd.grid, crowd.scale.values)).argmin(axis=1)
    right = (truths * answers[..., np.arange(len(true)), true]).sum(axis=-1)
    nats: Array = _PER_RIGHT * ((right - chance) / (1 - chance) - _HALF)
    return nats


def of_one_model(nats: Array) -> Array:
    """The same, if one model was fitted, which stands for all that fit about as well.

    Among those may be one with more careless workers, and others who are right more often. Outlines
    need no such doubt, for all of them are asked.
    """
    return np.maximum(nats, -_FOR_MEANS)


def log_chances(nats: Array) -> tuple[Array, Array]:
    """Ln P(names) and ln P(means) for so many nats that speak for names, each in halves."""
    return np.log(2) - np.logaddexp(0, -nats), np.log(2) - np.logaddexp(0, nats)

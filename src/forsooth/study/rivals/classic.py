"""The classic methods of `forsooth infer --method`, as rivals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forsooth.inference import METHODS, Rules
from forsooth.study.rivals.base import Aggregated, Rival

if TYPE_CHECKING:
    from forsooth.estimand import Estimand
    from forsooth.study.rivals.base import Annotations

_LEVEL: tuple[Estimand, ...] = ("level",)
_LABEL: tuple[Estimand, ...] = ("label",)


def classic(method: str, estimands: tuple[Estimand, ...], citation: str) -> Rival:
    """A method of `METHODS`; a task without cells gets the median of the others' levels."""

    def infer(data: Annotations) -> Aggregated:
        unknown = np.full(data.tasks, np.nan)
        found = METHODS[method](data.cells, data.scale, Rules(), unknown)
        if found.probability is not None:
            return Aggregated.from_probability(found.probability, data)
        missing = np.isnan(found.truth)
        other = data.scale.middle if missing.all() else float(np.median(found.truth[~missing]))
        return Aggregated.from_level(np.where(missing, other, found.truth), data)

    return Rival(method, estimands, infer, citation)


def majority(data: Annotations) -> Aggregated:
    """The shares of votes as probabilities."""
    return Aggregated.from_probability(data.vote_shares, data)


CLASSIC = (
    classic("mean", _LEVEL, "the weighted mean with equal weights"),
    classic("median", _LEVEL, "the median of a task's answers"),
    Rival("majority", _LABEL, majority, "the most frequent answer of a task"),
    classic("algorithm1", _LEVEL, "Algorithm 1 of the paper that forsooth reproduces"),
    classic("crh", _LEVEL, "Li et al., SIGMOD 2014, https://doi.org/10.1145/2588555.2610509"),
    classic("catd", _LEVEL, "Li et al., VLDB 2014, https://doi.org/10.14778/2735496.2735505"),
    classic("gtm", _LEVEL, "Zhao and Han, QDB 2012"),
    classic(
        "dawid-skene",
        _LEVEL + _LABEL,
        "Dawid and Skene, Applied Statistics 28(1), 1979, https://doi.org/10.2307/2346806",
    ),
)

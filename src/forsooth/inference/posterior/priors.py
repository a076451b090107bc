"""Every number that the model assumes, with its unit and its reason: the one table of priors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


def _number(value: float, unit: str, reason: str) -> Any:
    return field(default=value, metadata={"unit": unit, "reason": reason})


@dataclass(frozen=True)
class Priors:
    """Defaults of the model; `replace` one to see what it does."""

    place_reach: float = _number(
        1.0,
        "ranges",
        "the centre may be off the scale: truths pile up at an end",
    )
    spread: float = _number(0.2, "ranges", "typical spread of the truths around their centre")
    spread_sd: float = _number(0.8, "log", "nine in ten spreads lie in 5 % to 75 % of the range")
    normal_weight: float = _number(4.0, "tasks", "weight of the normal part of the truths' prior")
    uniform_weight: float = _number(0.5, "tasks", "weight of its uniform part: any truth")
    error: float = _number(1 / 6, "ranges", "typical error of a typical worker")
    error_sd: float = _number(0.7, "log", "covers a twentieth to half of the range")
    smallest_error: float = _number(0.3, "steps", "below it an answer is right anyway")
    error_ratio: float = _number(1.5, "ratio", "neighbouring errors are hard to tell apart")
    dispersion: float = _number(0.6, "log", "how much workers differ in their error")
    dispersion_sd: float = _number(0.5, "log", "from nearly alike to very different")
    other_kinds: float = _number(0.2, "share", "typical share of workers who are on no rung")
    kinds_weight: float = _number(6.0, "workers", "how firmly shares of kinds follow their prior")
    participation: float = _number(0.2, "share", "typical share of answered cells, if hidden")
    unknown_sd: float = _number(1.5, "logit", "of a share hardly known: 2 % to 75 % around 0.2")
    rate_step: float = _number(1.0, "logit", "between neighbouring participation rates")
    rates_weight: float = _number(10.0, "workers", "how firmly rates follow the common one")
    accuracy: float = _number(0.7, "probability", "weight of the right label in a typical row")
    accuracy_sd: float = _number(1.0, "logit", "nine in ten: from 0.31 to 0.92")
    accuracy_step: float = _number(0.9, "logit", "neighbouring accuracies are hard to tell apart")
    truth_sd: float = _number(1.0, "logit", "how unequal the shares of the labels may be")
    truth_weight: float = _number(5.0, "tasks", "how firmly labels' shares follow their prior")
    row_weight: float = _number(8.0, "answers", "how firmly a kind's confusions follow its prior")
    favourite: float = _number(0.5, "share", "of answers that a favourite gets from its workers")
    neighbours: float = _number(
        0.5, "share", "of the weight that is not on the right label: part of near labels"
    )
    share_scale: float = _number(
        1.2, "log odds", "the share of one of two answers is about uniform"
    )
    share_decay: float = _number(0.75, "power of k", "neighbouring answers have similar shares")
    share_log_sd: float = _number(0.8, "log", "questions differ half or twice as much as expected")
    share_decay_sd: float = _number(0.5, "power of k", "from hardly smooth to very smooth")
    rate_spread: float = _number(
        0.5, "log odds", "workers, and questions, differ little in their participation"
    )


PRIORS = Priors()

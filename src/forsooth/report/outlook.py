"""What more workers would bring: the fast estimate of `planning.estimate` for a known crowd.

The estimate needs a density, a distribution of truths and the workers' noise; the inference has
found all three. Only the ratio of two estimates is used. Today's error is the posterior's own, so
what the estimate leaves out on both sides cancels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from forsooth.answers import Answers
from forsooth.inference.enough import expected_error
from forsooth.mechanisms import ChannelMechanism
from forsooth.planning.learned import learned

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from forsooth.reports import Reports
    from forsooth.truths import Truths

TIMES = (2, 4, 10)  # multiples of today's number of workers


@dataclass(frozen=True)
class Outlook:
    """Mean errors: today's, with multiples of the workers, and without any noise."""

    now: float
    with_times: Mapping[int, float]
    unperturbed: float | None  # None where nothing was perturbed


def outlook(truths: Truths, parts: Sequence[Reports | Answers]) -> Outlook | None:
    """None where there is no fast estimate: only levels from cells of a channel have one.

    Of several mechanisms, the one that most workers used is assumed for further workers.
    """
    posterior = truths.posterior
    if posterior is None or posterior.estimand != "level":
        return None
    most = max(parts, key=lambda part: len(part.workers))
    mechanism = None if isinstance(most, Answers) else most.mechanism
    share = participation(truths, parts)
    if not (mechanism is None or isinstance(mechanism, ChannelMechanism)) or not share:
        return None
    expected = learned(truths, share)
    if expected is None:
        return None
    workers = len(truths.workers)
    now = expected_error(truths)
    per_estimate = now / max(expected.error(mechanism, workers), 1e-12)
    return Outlook(
        now,
        {times: per_estimate * expected.error(mechanism, times * workers) for times in TIMES},
        None if mechanism is None else per_estimate * expected.error(None, workers),
    )


def participation(truths: Truths, parts: Sequence[Reports | Answers]) -> float | None:
    """The share of answered cells: counted where it is public, estimated where it is hidden."""
    if truths.posterior and truths.posterior.participation is not None:
        return truths.posterior.participation
    counts = answered_cells(parts)
    return None if counts is None else float(counts.mean()) / len(truths.tasks)


def answered_cells(parts: Sequence[Reports | Answers]) -> np.ndarray | None:
    """The number of tasks that each worker answered; None where that is hidden."""
    counts = []
    for part in parts:
        answered = part.worker if isinstance(part, Answers) else (part.answered or (None,))[0]
        if answered is None:
            return None
        counts.append(np.bincount(answered, minlength=len(part.workers)))
    return np.concatenate(counts)

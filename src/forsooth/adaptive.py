"""Adaptive campaigns: a robust table for the first workers, a better one for the rest.

The first share of the workers uses randomized response, which needs no guess of anything. From
their reports the collector infers where the truths lie, how noisy answers are and how many cells
are answered, and designs the staircase channel for that; later workers use it. All reports enter
the final inference, each through its own table, and nobody talks twice.

**Guarantee.** Each worker's table is ε-LDP in itself. That it was chosen by what *others* reported
is no leak: it is a function of their reports, which were private already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from forsooth.errors import ForsoothError
from forsooth.inference import infer
from forsooth.mechanisms import ChannelMechanism, rr
from forsooth.mechanisms.design import Beliefs, best_channel
from forsooth.mechanisms.staircase import mechanism_of

if TYPE_CHECKING:
    from forsooth.answers import Answers
    from forsooth.privacy import Protects
    from forsooth.reports import Reports
    from forsooth.truths import Posterior

PILOT = 0.4  # the share of workers who report before anything is known


def adaptive_reports(
    answers: Answers,
    epsilon: float,
    *,
    protects: Protects = "answers+participation",
    pilot: float = PILOT,
    simulation_seed: int | None = None,
) -> list[Reports]:
    """The reports of a whole campaign, workers arriving in random order: pilot, then rest."""
    if not 0 < pilot < 1:
        raise ForsoothError(f"the pilot's share must lie between 0 and 1, got {pilot}")
    order = np.random.default_rng(simulation_seed).permutation(len(answers.workers))
    first = max(1, round(pilot * len(order)))
    early, late = (answers.of_workers(np.sort(part)) for part in np.split(order, [first]))
    reports = [
        rr(answers.scale, epsilon, protects=protects).perturb(
            early, simulation_seed=simulation_seed
        )
    ]
    if late.workers:
        later_seed = None if simulation_seed is None else simulation_seed + 1
        better = redesigned(reports)
        reports.append(better.perturb(late, simulation_seed=later_seed))
    return reports


def redesigned(reports: list[Reports]) -> ChannelMechanism:
    """The staircase channel for what the reports so far tell about truths, noise and density."""
    mechanism = reports[0].mechanism
    learned = cast("Posterior", infer(reports, "posterior").posterior)
    prior = learned.mass.mean(axis=0)  # no more doubt than its own: far truths would count most
    density = None
    if learned.participation is not None:
        density = float(np.clip(learned.participation, 1e-4, 1))
    expected = Beliefs(prior / prior.sum(), learned.answers, density)
    design = best_channel(expected, mechanism.epsilon)
    scale, protects = mechanism.scale, mechanism.protects
    return mechanism_of(scale, mechanism.epsilon, protects, expected, design)

"""Adaptive campaigns: a robust table for the first workers, a better one for the rest.

The first share of the workers uses randomized response, which needs no prior knowledge. From their
reports the collector infers where the truths lie, how noisy answers are and how many cells are
answered, and designs the staircase channel for that; later workers use it. All reports enter the
final inference, each through its own table, and every worker reports once.

With the estimand opinion all workers use randomized response: a designed channel merges answers,
whose shares are to be told apart.

**Guarantee.** Each worker's table is ε-LDP in itself. Choosing it by what *others* reported leaks
nothing: it is a function of their reports, which were private already.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np

from forsooth.errors import ForsoothError
from forsooth.estimand import agreed
from forsooth.inference import infer
from forsooth.mechanisms import ChannelMechanism, rr
from forsooth.mechanisms.design import Beliefs, best_channel
from forsooth.mechanisms.staircase_channel import mechanism_of

if TYPE_CHECKING:
    from forsooth.answers import Answers
    from forsooth.estimand import Estimand
    from forsooth.privacy import Protects
    from forsooth.reports import Reports
    from forsooth.truths import Posterior

ADAPTIVE = "adaptive"  # the name beside those of mechanisms
PILOT = 0.4  # the share of workers who report before anything is known


def adaptive_reports(
    answers: Answers,
    epsilon: float,
    *,
    protects: Protects = "answers+participation",
    pilot: float = PILOT,
    estimand: Estimand | None = None,
    simulation_seed: int | None = None,
) -> list[Reports]:
    """The reports of a whole campaign, workers arriving in random order: pilot, then rest.

    They state the `estimand`, if one is given.
    """
    if not 0 < pilot < 1:
        raise ForsoothError(f"the pilot's share must lie between 0 and 1, got {pilot}")
    order = np.random.default_rng(simulation_seed).permutation(len(answers.workers))
    first = max(1, round(pilot * len(order)))
    early, late = (answers.of_workers(np.sort(part)) for part in np.split(order, [first]))
    first_table = rr(answers.scale, epsilon, protects=protects)
    reports = [first_table.perturb(early, simulation_seed=simulation_seed)]
    if late.workers:
        later_seed = None if simulation_seed is None else simulation_seed + 1
        better = redesigned(reports, estimand)
        reports.append(better.perturb(late, simulation_seed=later_seed))
    return [replace(part, estimand=estimand) for part in reports]


def redesigned(reports: list[Reports], estimand: Estimand | None = None) -> ChannelMechanism:
    """The staircase channel for what the reports so far tell about truths, noise and density.

    Without `estimand`, what the reports state counts, else the default. For opinion, or where the
    reports leave no doubt about any task, the channel is randomized response.
    """
    mechanism = reports[0].mechanism
    scale, protects, epsilon = mechanism.scale, mechanism.protects, mechanism.epsilon
    stated = estimand or agreed(part.estimand for part in reports)
    unchanged = rr(scale, epsilon, protects=protects)
    if stated == "opinion":
        return unchanged
    expected = _beliefs(cast("Posterior", infer(reports, "posterior", estimand=stated).posterior))
    if expected.prior.max() == 1:
        return unchanged
    return mechanism_of(scale, epsilon, protects, expected, best_channel(expected, epsilon))


def _beliefs(learned: Posterior) -> Beliefs:
    """What a posterior expects of the next workers."""
    prior = learned.mass.mean(axis=0)  # its own doubt and no more: far truths would dominate
    density = None
    if learned.participation is not None:
        density = float(np.clip(learned.participation, 1e-4, 1))
    return Beliefs(prior / prior.sum(), learned.answers, density)

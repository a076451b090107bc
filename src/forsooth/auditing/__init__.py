"""Is the guarantee true? The exact audit decides; the sampled one watches the code that draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forsooth.auditing.black_box import audit_reports, bounds
from forsooth.auditing.claims import default_claim, per_cell
from forsooth.auditing.exact import Exact, Witness, exact_epsilon
from forsooth.auditing.joint import Fit, against_table
from forsooth.auditing.probes import probe
from forsooth.auditing.sampled import (
    ALPHA,
    Sampled,
    count_reports,
    epsilon_lower_bound,
    goodness_of_fit,
)
from forsooth.auditing.verdict import Audit, level_of
from forsooth.checks import check_whole
from forsooth.errors import ForsoothError
from forsooth.mechanisms import CellwiseMechanism, Mechanism, SampledTasks
from forsooth.mechanisms.channel import TOTAL

if TYPE_CHECKING:
    from forsooth.privacy import Privacy

CELL_DRAWS = 1_000_000
VECTOR_DRAWS = 200_000


def audit(
    mechanism: Mechanism,
    *,
    claim: Privacy | None = None,
    tasks: int = 20,
    draws: int | None = None,
    alpha: float = ALPHA,
    simulation_seed: int | None = None,
) -> Audit:
    """Audit a mechanism against a claim; without one, against ε and what it says it protects.

    A claim with `cells` is for everything that one worker says; otherwise it is for each cell. The
    sampled part draws with the operating system's randomness, as workers do, unless a simulation
    seed is named. `tasks` is the number of tasks in a campaign, for a worker's total.
    """
    if not isinstance(mechanism, Mechanism):
        raise ForsoothError(f"audit takes a mechanism, such as mechanisms.rr; got {mechanism!r}")
    total = mechanism.guarantee.worker_total(tasks)
    claim = claim or default_claim(mechanism)
    if not isinstance(mechanism, SampledTasks):
        claim = per_cell(claim, tasks)
    elif claim.cells is None:
        mechanism = mechanism.inner
    view = probe(mechanism)
    if draws is not None:
        check_whole(draws, "draws")
    else:
        draws = CELL_DRAWS if isinstance(mechanism, CellwiseMechanism) else VECTOR_DRAWS
    counts = count_reports(
        lambda row, count: view.ask(mechanism, row, count, simulation_seed),
        len(view.inputs),
        view.outcomes,
        draws,
    )
    tests: tuple[Fit, ...] = ()
    if view.table:
        table = np.array(view.table, float) / TOTAL
        tests = (against_table("symbols", counts.astype(float), table),)
    value, presence = bounds(counts, view, level_of(alpha, len(tests)))
    exact = exact_epsilon(mechanism)
    return Audit(mechanism.name, claim, exact, value, presence, tests, total, alpha, draws)


__all__ = [
    "ALPHA",
    "Audit",
    "Exact",
    "Fit",
    "Sampled",
    "Witness",
    "audit",
    "audit_reports",
    "count_reports",
    "epsilon_lower_bound",
    "exact_epsilon",
    "goodness_of_fit",
]

"""The audit of a client that is known by its reports only: known answers in, reports out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forsooth.auditing.claims import default_claim, per_cell
from forsooth.auditing.exact import exact_epsilon
from forsooth.auditing.joint import fits
from forsooth.auditing.probes import probe
from forsooth.auditing.sampled import ALPHA, Sampled, epsilon_lower_bound
from forsooth.auditing.verdict import Audit, level_of
from forsooth.auditing.views import views_of
from forsooth.errors import ForsoothError
from forsooth.mechanisms import CellwiseMechanism, SampledTasks, TwoLayer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.answers import Answers
    from forsooth.auditing.probes import Probe
    from forsooth.mechanisms import Mechanism
    from forsooth.privacy import Privacy
    from forsooth.reports import Reports


def audit_reports(
    reports: Reports, inputs: Answers, *, claim: Privacy | None = None, alpha: float = ALPHA
) -> Audit:
    """Audit reports of any client, Python or not, against the answers that were put in.

    A lower bound on ε pools the cells with the same input. Tests compare single values, pairs and
    sums of the values of a report with what an honest client makes. All of it together accuses an
    honest client with probability α at most; what is not tested is not seen.

    A claim with `cells` is for everything that one worker says, and each cell must keep its share.
    Without a claim, the reports' own is audited.
    """
    whole = reports.mechanism
    cell = whole.inner if isinstance(whole, SampledTasks) else whole
    _check_inputs(reports, inputs)
    counts = None
    if isinstance(cell, CellwiseMechanism) and not isinstance(cell, TwoLayer):
        view = probe(cell)
        counts = _counts(reports, whole.eligible(inputs), view)
    answers, options = inputs.rows(0, len(inputs.workers)).astype(np.intp), inputs.scale.size + 1
    tests = tuple(
        test for look in views_of(whole, reports, inputs) for test in fits(look, answers, options)
    )
    value, presence = (None, None)
    if counts is not None:
        value, presence = bounds(counts, view, level_of(alpha, len(tests)))
    tasks = len(reports.tasks)
    sharing = whole.count if isinstance(whole, SampledTasks) else tasks
    return Audit(
        cell.name,
        per_cell(claim or default_claim(whole), sharing),
        exact_epsilon(cell),
        value,
        presence,
        tests,
        whole.guarantee.worker_total(tasks),
        alpha,
        len(reports.workers) if value is None else value.draws,
        black_box=True,
    )


def bounds(counts: NDArray[np.int64], view: Probe, alpha: float) -> tuple[Sampled, Sampled | None]:
    """Lower bounds on ε for values and, where it is hidden, for participation."""
    presence = None
    if view.hidden:
        presence = epsilon_lower_bound(counts, pairs=view.participation_pairs(), alpha=alpha)
    return epsilon_lower_bound(counts, pairs=view.value_pairs(), alpha=alpha), presence


def _check_inputs(reports: Reports, inputs: Answers) -> None:
    if (inputs.workers, inputs.tasks) != (reports.workers, reports.tasks):
        raise ForsoothError("the inputs must list the reports' workers and tasks")
    if reports.answered is not None:
        eligible = reports.mechanism.eligible(inputs)
        if not all(map(np.array_equal, reports.answered, (eligible.worker, eligible.task))):
            raise ForsoothError("the reported cells are not the answered ones")


def _counts(reports: Reports, eligible: Answers, view: Probe) -> NDArray[np.int64]:
    """How often every input of a cell gave every outcome."""
    whole: Mechanism = reports.mechanism
    if reports.answered is not None:
        codes = eligible.code
    elif isinstance(whole, SampledTasks):
        codes = whole.codes(eligible).ravel()
    else:
        codes = eligible.rows(0, len(eligible.workers)).ravel()
    flat = codes.astype(np.intp) * view.outcomes + view.outcome(reports)
    size = len(view.inputs) * view.outcomes
    counts = np.bincount(flat, minlength=size).reshape(-1, view.outcomes)
    if (silent := np.flatnonzero(counts.sum(axis=1) == 0)).size:
        scale = whole.scale
        names = [scale.labels[row] if row < scale.size else "NULL" for row in silent]
        raise ForsoothError(f"no cell had the input {', '.join(names)}: every input must occur")
    return counts

"""Is the guarantee true? The exact audit decides; the sampled one watches the code that draws."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from forsooth.auditing.exact import Exact, Witness, exact_epsilon
from forsooth.auditing.probes import probe
from forsooth.auditing.sampled import (
    ALPHA,
    Sampled,
    count_reports,
    epsilon_lower_bound,
    goodness_of_fit,
)
from forsooth.checks import check_whole
from forsooth.display import as_html, as_text
from forsooth.errors import ForsoothError
from forsooth.io.frames import frame_of
from forsooth.mechanisms import CellwiseMechanism, Mechanism, SampledTasks
from forsooth.privacy import Privacy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.answers import Answers
    from forsooth.auditing.probes import Probe
    from forsooth.reports import Reports

CELL_DRAWS = 1_000_000
VECTOR_DRAWS = 200_000


@dataclass(frozen=True, repr=False)
class Audit:
    """A claim, the exact ε and the sampled one, per kind of neighbours, and the verdict."""

    mechanism: str
    claim: Privacy
    exact: Exact
    value: Sampled
    participation: Sampled | None
    fit: float | None
    worker_total: float

    @property
    def violations(self) -> tuple[str, ...]:
        """What contradicts the claim, in words."""
        claimed, found = self.claim.epsilon, []
        kinds: list[tuple[str, float, Sampled | None]] = [("value", self.exact.value, self.value)]
        if self.claim.protects == "answers+participation":
            kinds.append(("participation", self.exact.participation, self.participation))
        for kind, exact, sampled in kinds:
            if exact > claimed:
                found.append(f"{kind}: the exact ε is {exact:g}, claimed is {claimed:g}")
            if sampled is not None and sampled.epsilon > claimed:
                found.append(
                    f"{kind}: {sampled.draws:,} draws per input prove ε ≥ {sampled.epsilon:g} "
                    f"(α = {sampled.alpha:g}), claimed is {claimed:g}"
                )
        if self.fit is not None and self.fit < self.value.alpha:
            found.append(f"the draws do not follow the table (chi-square, p = {self.fit:.2g})")
        return tuple(found)

    def __repr__(self) -> str:
        return as_text(*self._described(), [tuple(self.columns()), *zip(*self.columns().values())])

    def _repr_html_(self) -> str:
        return as_html(*self._described(), self.columns(), 2)

    def columns(self) -> dict[str, list[Any]]:
        """`neighbours, claimed, exact, sampled`: ε per kind of neighbours; None: not claimed."""
        hidden = self.claim.protects == "answers+participation"
        return {
            "neighbours": ["value", "participation"],
            "claimed": [self.claim.epsilon, self.claim.epsilon if hidden else None],
            "exact": [self.exact.value, self.exact.participation],
            "sampled": [
                self.value.epsilon,
                self.participation.epsilon if self.participation else None,
            ],
        }

    def to_frame(self, backend: str | None = None) -> Any:
        """One row per kind of neighbours, as pyarrow table or in `backend`."""
        return frame_of(self.columns(), backend)

    def _described(self) -> tuple[str, list[str]]:
        verdict = "the claim holds" if self.holds else "THE CLAIM IS FALSE"
        return f"Audit of {self.mechanism}: {verdict}", list(self.violations)

    @property
    def holds(self) -> bool:
        """Nothing contradicts the claim."""
        return not self.violations

    @property
    def witness(self) -> Witness | None:
        """Two neighbours and a report that contradict the claim, if the exact audit has them."""
        kinds = [(self.exact.value, self.exact.value_witness)]
        if self.claim.protects == "answers+participation":
            kinds.append((self.exact.participation, self.exact.participation_witness))
        return next((witness for exact, witness in kinds if exact > self.claim.epsilon), None)

    def to_dict(self) -> dict[str, Any]:
        """For JSON; infinity is the string "inf"."""
        witness = self.witness
        return {
            "mechanism": self.mechanism,
            "claimed": self.claim.epsilon,
            "protects": self.claim.protects,
            "unit": "cell" if self.claim.cells is None else "worker",
            "exact": {
                "value": _number(self.exact.value),
                "participation": _number(self.exact.participation),
            },
            "sampled": {
                "value": self.value.epsilon,
                "participation": self.participation.epsilon if self.participation else None,
                "goodness_of_fit": self.fit,
                "draws": self.value.draws,
                "alpha": self.value.alpha,
            },
            "worker_total": self.worker_total,
            "holds": self.holds,
            "violations": list(self.violations),
            "witness": witness
            and {
                "inputs": witness.inputs,
                "output": witness.output,
                "log_ratio": witness.log_ratio,
            },
        }


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

    The sampled part draws with the operating system's randomness, as workers do, unless a
    simulation seed is named. `tasks` only matters for the worker's total.
    """
    if not isinstance(mechanism, Mechanism):
        raise ForsoothError(f"audit takes a mechanism, such as mechanisms.rr; got {mechanism!r}")
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
    return _verdict(mechanism, claim, view, counts, tasks, alpha)


def audit_reports(
    reports: Reports, inputs: Answers, *, claim: Privacy | None = None, alpha: float = ALPHA
) -> Audit:
    """Audit reports of any client, Python or not, against the answers that were put in.

    Every cell is a draw; cells with the same input are pooled. Where ε is the worker's
    (unit="worker"), each sampled cell must keep its share of ε.
    """
    whole, mechanism = reports.mechanism, reports.mechanism
    if isinstance(whole, SampledTasks):
        mechanism = whole.inner
        if claim is not None:
            claim = Privacy(claim.epsilon / whole.count, claim.protects, whole.count)
    if not isinstance(mechanism, CellwiseMechanism):
        raise ForsoothError(f"reports of {mechanism.name} have no cells to audit one by one")
    if (inputs.workers, inputs.tasks) != (reports.workers, reports.tasks):
        raise ForsoothError("the inputs must list the reports' workers and tasks")
    inputs = whole.eligible(inputs)
    if isinstance(whole, SampledTasks) and reports.answered is None:
        codes = whole.codes(inputs).ravel()
    elif reports.answered is None:
        codes = inputs.rows(0, len(inputs.workers)).ravel()
    else:
        codes = inputs.code
        if not all(map(np.array_equal, reports.answered, (inputs.worker, inputs.task))):
            raise ForsoothError("the reported cells are not the answered ones")
    view = probe(mechanism)
    if len(view.inputs[0]) > 1:
        raise ForsoothError(f"{mechanism.name} cannot be audited cell by cell")
    outcomes = view.outcome(reports)
    flat = codes.astype(np.intp) * view.outcomes + outcomes
    size = len(view.inputs) * view.outcomes
    counts = np.bincount(flat, minlength=size).reshape(-1, view.outcomes)
    if (silent := np.flatnonzero(counts.sum(axis=1) == 0)).size:
        scale = mechanism.scale
        names = [scale.labels[row] if row < scale.size else "NULL" for row in silent]
        raise ForsoothError(f"no cell had the input {', '.join(names)}: every input must occur")
    if claim is None and isinstance(whole, SampledTasks):
        claim = whole.guarantee
    found = _verdict(mechanism, claim, view, counts, len(reports.tasks), alpha)
    return replace(found, worker_total=whole.guarantee.worker_total(len(reports.tasks)))


def _verdict(
    mechanism: Mechanism,
    claim: Privacy | None,
    view: Probe,
    counts: NDArray[np.int64],
    tasks: int,
    alpha: float,
) -> Audit:
    guarantee = mechanism.guarantee
    if claim is None:
        claim = Privacy(mechanism.epsilon, mechanism.protects, guarantee.cells)
    presence = None
    if view.hidden:
        presence = epsilon_lower_bound(counts, pairs=view.participation_pairs(), alpha=alpha)
    return Audit(
        mechanism.name,
        claim,
        exact_epsilon(mechanism),
        epsilon_lower_bound(counts, pairs=view.value_pairs(), alpha=alpha),
        presence,
        goodness_of_fit(counts, view.table) if view.table else None,
        guarantee.worker_total(tasks),
    )


def _number(epsilon: float) -> float | str:
    return "inf" if np.isinf(epsilon) else epsilon


__all__ = [
    "ALPHA",
    "Audit",
    "Exact",
    "Sampled",
    "Witness",
    "audit",
    "audit_reports",
    "count_reports",
    "epsilon_lower_bound",
    "exact_epsilon",
    "goodness_of_fit",
]

"""The result of an audit: a claim, what was found, and the verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from forsooth.auditing.joint import TOGETHER
from forsooth.display import as_html, as_text
from forsooth.errors import ForsoothError
from forsooth.io.frames import frame_of

if TYPE_CHECKING:
    from forsooth.auditing.exact import Exact, Witness
    from forsooth.auditing.joint import Fit
    from forsooth.auditing.sampled import Sampled
    from forsooth.privacy import Privacy


@dataclass(frozen=True, repr=False)
class Audit:
    """A claim, the exact ε and the sampled one, per kind of neighbours, and the verdict.

    ε is that of a cell or, where a mechanism that has one ε for a worker is audited itself, that of
    the worker. `value` and `participation` are None where reports cannot be compared cell by cell.
    `tests` compare counts with what an honest client makes; together with the bounds on ε they
    accuse an honest client with a probability of at most `alpha`. A black box, such as a client
    that is known by its reports only, can be convicted but never acquitted.
    """

    mechanism: str
    claim: Privacy
    exact: Exact
    value: Sampled | None
    participation: Sampled | None
    tests: tuple[Fit, ...]
    worker_total: float
    alpha: float
    draws: int
    black_box: bool = False

    @property
    def level(self) -> float:
        """The false-alarm rate of each bound and of each test: their share of `alpha`."""
        return level_of(self.alpha, len(self.tests))

    @property
    def fit(self) -> float | None:
        """The p-value of all values together, where their distribution is known."""
        return next((test.p for test in self.tests if test.name.endswith(TOGETHER)), None)

    @property
    def violations(self) -> tuple[str, ...]:
        """What contradicts the claim, in words."""
        claimed, found = self.claim.epsilon, []
        for kind, exact, sampled in self._claimed_kinds():
            if exact > claimed:
                found.append(f"{kind}: the exact ε is {exact:g}, claimed is {claimed:g}")
            if sampled is not None and sampled.epsilon > claimed:
                found.append(
                    f"{kind}: {sampled.draws:,} draws per input prove ε ≥ {sampled.epsilon:g} "
                    f"(α = {sampled.alpha:.2g}), claimed is {claimed:g}"
                )
        wrong = [str(test) for test in self.tests if test.p < self.level]
        return (*found, *(f"the values do not follow the mechanism: {each}" for each in wrong))

    @property
    def holds(self) -> bool:
        """Nothing contradicts the claim."""
        return not self.violations

    @property
    def verdict(self) -> str:
        """In words; of a black box only that no violation was found."""
        if not self.holds:
            return "the claim is FALSE"
        return "no violation found" if self.black_box else "the claim holds"

    @property
    def witness(self) -> Witness | None:
        """Two neighbours and a report that contradict the claim, if the exact audit has them."""
        kinds = [(self.exact.value, self.exact.value_witness)]
        if self.claim.protects == "answers+participation":
            kinds.append((self.exact.participation, self.exact.participation_witness))
        return next((witness for exact, witness in kinds if exact > self.claim.epsilon), None)

    def tested(self) -> list[str]:
        """What was compared with an honest client, one line for each test."""
        return [
            f"{test.name}: {test.surprise.number:,} counts, p = {test.p:.2g}" for test in self.tests
        ]

    def columns(self) -> dict[str, list[Any]]:
        """`neighbours, claimed, exact, sampled`: ε per kind of neighbours; None: not claimed."""
        hidden = self.claim.protects == "answers+participation"
        return {
            "neighbours": ["value", "participation"],
            "claimed": [self.claim.epsilon, self.claim.epsilon if hidden else None],
            "exact": [self.exact.value, self.exact.participation],
            "sampled": [_epsilon(self.value), _epsilon(self.participation)],
        }

    def to_frame(self, backend: str | None = None) -> Any:
        """One row per kind of neighbours, as pyarrow table or in `backend`."""
        return frame_of(self.columns(), backend)

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
                "value": _epsilon(self.value),
                "participation": _epsilon(self.participation),
                "goodness_of_fit": self.fit,
                "draws": self.draws,
                "alpha": self.alpha,
                "level": self.level,
            },
            "tests": [
                {"name": test.name, "counts": test.surprise.number, "p": test.p}
                for test in self.tests
            ],
            "worker_total": self.worker_total,
            "holds": self.holds,
            "verdict": self.verdict,
            "violations": list(self.violations),
            "witness": witness
            and {
                "inputs": witness.inputs,
                "output": witness.output,
                "log_ratio": witness.log_ratio,
            },
        }

    def __repr__(self) -> str:
        return as_text(*self._described(), [tuple(self.columns()), *zip(*self.columns().values())])

    def _repr_html_(self) -> str:
        return as_html(*self._described(), self.columns(), 2)

    def _described(self) -> tuple[str, list[str]]:
        tested = [f"tested: {each}" for each in self.tested()] if self.black_box else []
        return f"Audit of {self.mechanism}: {self.verdict}", [*self.violations, *tested]

    def _claimed_kinds(self) -> list[tuple[str, float, Sampled | None]]:
        kinds = [("value", self.exact.value, self.value)]
        if self.claim.protects == "answers+participation":
            kinds.append(("participation", self.exact.participation, self.participation))
        return kinds


def level_of(alpha: float, tests: int) -> float:
    """The share of α of each test, and of the two bounds on ε."""
    if not 0 < alpha < 1:
        raise ForsoothError(f"α must lie between 0 and 1, got {alpha}")
    return alpha / (tests + 2)


def _epsilon(sampled: Sampled | None) -> float | None:
    return sampled.epsilon if sampled else None


def _number(epsilon: float) -> float | str:
    return "inf" if np.isinf(epsilon) else epsilon

"""What is claimed is what is audited, per cell or for everything that one worker says."""

from __future__ import annotations

from functools import partial

import pytest

from forsooth import Answers, Mechanism, Privacy, Scale
from forsooth.auditing import Audit, audit, audit_reports
from forsooth.mechanisms import grr, per_worker, rr
from forsooth.study.synthetic import SyntheticCrowd

SCALE = Scale.parse("0..2")
TASKS = 4
CELL, WHOLE = rr(SCALE, 1.0), per_worker(partial(rr, SCALE), 1.0, count=2)
LITTLE = rr(SCALE, 0.25)


@pytest.fixture(scope="module")
def answers() -> Answers:
    crowd = SyntheticCrowd(workers=400, tasks=TASKS, sparsity=0.5, truth_mean=1, scale=SCALE)
    return crowd.draw(1).answers


@pytest.mark.parametrize(
    ("mechanism", "claim", "holds"),
    [
        (CELL, None, True),
        (CELL, Privacy(1.0), True),
        (CELL, Privacy(0.9), False),
        (CELL, Privacy(1.0, cells=TASKS), False),
        (CELL, Privacy(4.0, cells=TASKS), True),
        (LITTLE, Privacy(1.0, cells=TASKS), True),
        (WHOLE, None, True),
        (WHOLE, Privacy(1.0, cells=2), True),
        (WHOLE, Privacy(0.9, cells=2), False),
        (WHOLE, Privacy(0.5), True),
        (WHOLE, Privacy(0.4), False),
        (grr(SCALE, 1.0, protects="answers"), Privacy(1.0), False),
        (grr(SCALE, 1.0, protects="answers"), Privacy(1.0, "answers"), True),
    ],
)
def test_the_claim_is_what_is_audited(
    mechanism: Mechanism, claim: Privacy | None, holds: bool, answers: Answers
) -> None:
    reports = mechanism.perturb(answers, simulation_seed=2)
    found: tuple[Audit, ...] = (
        audit(mechanism, claim=claim, tasks=TASKS, draws=1000, simulation_seed=1),
        audit_reports(reports, answers, claim=claim),
    )
    assert [each.holds for each in found] == [holds, holds]

from __future__ import annotations

import math

import numpy as np
import pytest

from forsooth import Answers, ForsoothError, Privacy, Reports, Scale
from forsooth.auditing import audit, audit_reports
from forsooth.mechanisms import BUILDERS, build, mf, rr
from forsooth.study.synthetic import SyntheticCrowd

SCALE = Scale.parse("0..4")
BOTH, ANSWERS = Privacy(1.0), Privacy(1.0, "answers")


@pytest.mark.parametrize("claim", [BOTH, ANSWERS], ids=["participation", "answers"])
@pytest.mark.parametrize("name", BUILDERS)
def test_every_mechanism_for_both_claims(name: str, claim: Privacy) -> None:
    protects = None if name == "mf" else claim.protects
    found = audit(
        build(name, SCALE, 1.0, tasks=20, protects=protects), claim=claim, simulation_seed=1
    )
    honest = name != "two-layer" and not (name == "mf" and claim is BOTH)
    assert found.holds == honest
    document = found.to_dict()
    assert document["claimed"] == 1
    assert document["worker_total"] == (40 if name == "two-layer" else 20)
    assert document["sampled"]["value"] <= found.exact.value
    assert found.value is not None
    assert found.verdict == ("the claim holds" if honest else "the claim is FALSE")
    if name == "two-layer":
        assert document["exact"]["value"] == pytest.approx(2, abs=1e-6)
        assert found.value.epsilon > 1
    if name == "mf":
        assert document["exact"]["participation"] == "inf"
        assert found.participation is not None
        assert found.participation.epsilon > 1
        assert (document["witness"] is None) == honest
    assert all(test.p > found.level for test in found.tests)


@pytest.mark.parametrize("sampled", [1, 2, 6])
def test_the_worker_as_unit(sampled: int) -> None:
    mechanism = build("rr", SCALE, 2.0, tasks=20, unit="worker", sampled=sampled)
    found = audit(mechanism, simulation_seed=2)
    assert found.holds
    assert found.worker_total == pytest.approx(2)
    assert found.exact.value <= 2
    assert found.value is not None
    assert found.value.epsilon > 0.3


def test_a_false_claim_is_found_by_both_audits() -> None:
    found = audit(rr(SCALE, 1.0), claim=Privacy(0.9), simulation_seed=3)
    assert not found.holds
    assert len(found.violations) == 4
    assert found.witness is not None
    assert found.witness.log_ratio == pytest.approx(1, abs=1e-6)
    assert "log-ratio 1" in str(found.witness)


@pytest.fixture(scope="module")
def inputs() -> Answers:
    return (
        SyntheticCrowd(workers=3000, tasks=60, sparsity=0.5, truth_mean=2, scale=SCALE)
        .draw(1)
        .answers
    )


def test_reports_of_any_client(inputs: Answers) -> None:
    for name in ("rr", "grr", "two-step", "lp"):
        reports = build(name, SCALE, 1.0, tasks=60).perturb(inputs, simulation_seed=4)
        found = audit_reports(reports, inputs)
        assert found.holds
        assert found.verdict == "no violation found"
        assert found.value is not None
        assert 0.4 < found.value.epsilon <= 1


def test_a_client_with_a_bug_is_found(inputs: Answers) -> None:
    """It keeps NULL 5 % too often."""
    mechanism = rr(SCALE, 1.0)
    reports = mechanism.perturb(inputs, simulation_seed=5)
    nulls = inputs.rows(0, 3000) == SCALE.null
    often = np.arange(nulls.size).reshape(nulls.shape) % 20 == 0
    buggy = np.where(nulls & often, SCALE.null, reports.values)
    found = audit_reports(Reports(mechanism, reports.tasks, reports.workers, buggy), inputs)
    assert not found.holds
    assert "do not follow the mechanism: symbols, all values together" in found.violations[0]


def test_reports_that_do_not_fit_the_inputs(inputs: Answers) -> None:
    reports = build("grr", SCALE, 1.0, tasks=60).perturb(inputs)
    fewer = Answers(
        SCALE, inputs.workers, inputs.tasks, inputs.worker[1:], inputs.task[1:], inputs.code[1:]
    )
    with pytest.raises(ForsoothError, match="not the answered ones"):
        audit_reports(reports, fewer)
    with pytest.raises(ForsoothError, match="workers and tasks"):
        audit_reports(reports, Answers.of({"a": {"x": 1}}, SCALE))
    with pytest.raises(ForsoothError, match="gradient descent have no known distribution"):
        audit_reports(
            mf(SCALE, 1.0, tasks=60, solver="gradient-descent", steps=1).perturb(inputs), inputs
        )
    constant = Answers.of({"a": {"x": 1}}, SCALE, tasks=["x"])
    with pytest.raises(ForsoothError, match="no cell had the input 0, 2, 3, 4, NULL"):
        audit_reports(rr(SCALE, 1.0).perturb(constant), constant)


def test_infinity_is_a_word_in_json() -> None:
    import json

    document = audit(mf(SCALE, 1.0, tasks=5), draws=2000).to_dict()
    assert "inf" in json.dumps(document, allow_nan=False)
    assert not math.isfinite(float(document["exact"]["participation"]))

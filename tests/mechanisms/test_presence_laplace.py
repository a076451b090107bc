"""rr-lp: its budget, its distribution, what the collector makes of it, and what is refused."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from forsooth import Answers, ForsoothError, Mechanism, Reports, infer, mechanisms
from forsooth.auditing.exact import exact_epsilon
from forsooth.auditing.probes import probe
from forsooth.inference.posterior.evidence import block_of, tables_of
from forsooth.mechanisms.channel import TOTAL
from forsooth.mechanisms.presence_laplace import NOT_ANSWERED, PresenceLaplace
from tests.samples import ALPHA, count, goodness_of_fit

TASKS = [f"t{task}" for task in range(10)]


def made(*arguments: Any, **options: Any) -> PresenceLaplace:
    mechanism = mechanisms.rr_lp(*arguments, **options)
    assert isinstance(mechanism, PresenceLaplace)
    return mechanism


def same(answer: int | None, times: int) -> Answers:
    """Many workers who give one answer to every task, or skip all of them."""
    row = {} if answer is None else dict.fromkeys(TASKS, answer)
    return Answers.of({f"w{i}": row for i in range(times)}, "0..4", tasks=TASKS)


@pytest.mark.parametrize("first", [0.01, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 3.0, 40.0, 300.0])
def test_the_two_steps_spend_no_more_than_the_whole(epsilon: float, first: float) -> None:
    mechanism = made("0..4", epsilon, first=first)
    spent = Fraction(mechanism.presence_epsilon) + Fraction(mechanism.inner.epsilon)
    assert Fraction(epsilon) * Fraction(999_999, 1_000_000) < spent <= Fraction(epsilon)
    if first * epsilon < 15:  # 32-bit weights are fine enough
        assert mechanism.presence_epsilon == pytest.approx(first * epsilon, rel=1e-3)


@pytest.mark.parametrize("null", ["uniform", "0", "2"])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_the_exact_audit_agrees_with_the_densities(epsilon: float, null: str) -> None:
    """ε of a cell is the worst ratio over all reports, computed here on a grid of reports."""
    mechanism = made("0..4", epsilon, first=0.3, null=null)
    positions, rate = np.array(mechanism.inner.positions), float(mechanism.inner.rate)
    reports = np.linspace(positions[0] - 1000, positions[-1] + 1000, 20_001)
    reports = np.union1d(reports, positions)
    values = np.exp(-rate * np.abs(reports - positions[:, None]))
    replaced = values.mean(axis=0) if null == "uniform" else values[int(null)]
    keep = mechanism.keep / TOTAL
    odds = math.log(keep / (1 - keep))
    worst = max(
        odds, (np.log(values / replaced) + odds).max(), (np.log(replaced / values) - odds).max()
    )
    exact = exact_epsilon(mechanism)
    assert exact.participation == pytest.approx(worst, rel=1e-6)
    assert exact.participation <= epsilon
    assert exact.value <= mechanism.inner.epsilon * (1 + 1e-15)


@pytest.mark.parametrize("answer", [None, 0, 3])
def test_reports_follow_the_table_that_the_posterior_uses(answer: int | None) -> None:
    mechanism = made("0..4", 2.0, first=0.3)
    reports = mechanism.perturb(same(answer, 3000), simulation_seed=11)
    (table,) = tables_of(mechanism)
    row = table[-1 if answer is None else answer]
    assert table.sum(axis=1) == pytest.approx(1)
    symbols = block_of(reports).symbol
    assert goodness_of_fit(count(symbols, len(row)), row) > ALPHA
    planted = table[1 if answer is None else answer + 1]
    assert goodness_of_fit(count(symbols, len(row)), planted) < ALPHA


def test_the_sampled_audit_sees_null_as_an_outcome() -> None:
    mechanism = made("0..4", 1.0)
    asked = probe(mechanism)
    outcomes = asked.ask(mechanism, len(asked.inputs) - 1, 4000, 5)
    share = (outcomes == asked.outcomes - 1).mean()
    assert share == pytest.approx(mechanism.keep / TOTAL, abs=0.04)  # 5 standard errors


def test_null_reads_as_null() -> None:
    mechanism = made("0..4", 300.0)
    answers = Answers.of({"a": {"t1": 3}, "b": {"t0": 1, "t1": 0}}, "0..4", tasks=TASKS[:2])
    reports = mechanism.perturb(answers)
    assert reports.values[0, 0] == NOT_ANSWERED
    np.testing.assert_allclose(reports.cells().value, [3, 1, 0], atol=0.1)


def test_the_posterior_learns_from_it() -> None:
    random = np.random.default_rng(4)
    truth = random.integers(0, 5, 30)
    answers = Answers.of(
        {
            f"w{i}": {
                f"t{j}": int(np.clip(truth[j] + random.integers(-1, 2), 0, 4))
                for j in range(30)
                if random.random() < 0.6
            }
            for i in range(300)
        },
        "0..4",
        tasks=[f"t{j}" for j in range(30)],
    )
    reports = made("0..4", 4.0).perturb(answers, simulation_seed=1)
    wanted = {f"t{j}": float(truth[j]) for j in range(30)}
    constant = np.abs(truth - np.median(truth)).mean()
    assert infer(reports).error(wanted) < constant / 2


def test_json_round_trip_and_broken_promises() -> None:
    mechanism = made("0..4", 1.0)
    data = json.loads(mechanism.to_json())
    assert Mechanism.from_json(json.dumps(data)) == mechanism
    more = data | {"parameters": data["parameters"] | {"keep": mechanism.keep + 2**20}}
    with pytest.raises(ForsoothError, match="does not keep its promise"):
        Mechanism.from_json(json.dumps(more))
    other = data | {
        "parameters": data["parameters"] | {"inner": mechanisms.rr("0..4", 1).to_json()}
    }
    with pytest.raises(ForsoothError, match="has an lp within"):
        Mechanism.from_json(json.dumps(other))
    with pytest.raises(ForsoothError, match="keeps with a weight"):
        replace(mechanism, keep=TOTAL // 2 - 1)


@pytest.mark.parametrize("first", [0, 1, -0.1, float("nan")])
def test_a_share_outside_0_to_1(first: float) -> None:
    with pytest.raises(ForsoothError, match="first step"):
        made("0..4", 1.0, first=first)


def test_where_participation_is_public_it_is_lp() -> None:
    public = mechanisms.rr_lp("0..4", 1.0, protects="answers")
    assert replace(public, name="lp") == mechanisms.lp("0..4", 1.0, protects="answers")
    with pytest.raises(ForsoothError, match="where that is public, use lp"):
        replace(made("0..4", 1.0), protects="answers")


def test_every_cell_has_a_report_of_one_size() -> None:
    mechanism = made("0..4", 1.0)
    reports: list[Reports] = [mechanism.perturb(same(answer, 5)) for answer in (None, 2)]
    assert reports[0].values.shape == reports[1].values.shape == (5, len(TASKS))
    assert mechanism.bits == 64

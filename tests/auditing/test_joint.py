"""Black boxes: honest clients are accused rarely, clients that hide an answer always."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from unittest.mock import patch

import numpy as np
import pytest
from numpy.typing import NDArray

from forsooth import Answers, Mechanism, Reports, Scale, mechanisms
from forsooth.auditing import Audit, audit_reports
from forsooth.mechanisms import (
    BUILDERS,
    Laplace,
    build,
    lp,
    matrix_factorization,
    mf_safe,
    per_worker,
    rr,
)
from forsooth.mechanisms.noise import discrete_laplace
from forsooth.study.synthetic import SyntheticCrowd

SCALE = Scale.parse("0..2")
TASKS = 5
HONEST: dict[str, Mechanism] = {
    f"{name}, {protects}": build(name, SCALE, 2.0, tasks=TASKS, protects=protects)
    for name in BUILDERS
    for protects in ("answers+participation", "answers")
    if name != "two-layer" and (name, protects) != ("mf", "answers+participation")
} | {
    "sampled": per_worker(partial(rr, SCALE), 2.0, count=2),
    "sampled, answers": per_worker(partial(lp, SCALE, protects="answers"), 2.0, count=2),
    "one bit": rr("no,yes", 1.0),
    "weak noise": lp(SCALE, 200.0),
    "strong noise": lp(SCALE, 1e-4),
}
RATE, ROUNDS = 0.2, 6
MOST_ALARMS = 48  # of 120 audits: more with probability 10⁻⁶ at most if each has 0.2


def crowd(scale: Scale, workers: int, seed: int, tasks: int = TASKS) -> Answers:
    return (
        SyntheticCrowd(workers=workers, tasks=tasks, sparsity=0.5, truth_mean=1, scale=scale)
        .draw(seed)
        .answers
    )


def test_honest_clients_are_accused_at_the_stated_rate_at_most() -> None:
    """All mechanisms, with a rate so large that a wrong one would show."""
    accused, values = 0, []
    for number, mechanism in enumerate(HONEST.values()):
        for round_ in range(ROUNDS):
            answers = crowd(mechanism.scale, 120, round_)
            reports = mechanism.perturb(answers, simulation_seed=1000 * number + round_)
            found = audit_reports(reports, answers, alpha=RATE)
            accused += not found.holds
            values += [test.p for test in found.tests]
    assert len(HONEST) * ROUNDS == 120
    assert 1 <= accused <= MOST_ALARMS
    # Each test by itself: of nearly 2,000 values of p, a tenth at most is below 0.1.
    assert len(values) > 1900
    assert 0.01 < np.mean(np.array(values) < 0.1) < 0.1


def test_two_layer_has_tests_that_know_of_the_common_budget() -> None:
    """Its values depend on one another; the tests allow for that, and for nothing else."""
    mechanism, answers = mechanisms.two_layer(SCALE, 4.0), crowd(SCALE, 30_000, 1, tasks=2)
    honest = mechanism.perturb(answers, simulation_seed=2)
    found = audit_reports(honest, answers)
    assert [text for text in found.violations if "follow" in text] == []
    assert found.value is None
    assert "exact ε is 8" in found.violations[0]
    apart = honest.values.copy()  # a budget of its own for every task
    apart[:, 1] = mechanism.perturb(answers, simulation_seed=3).values[:, 1]
    names = convicted(replace(honest, values=apart), answers)
    assert "symbols, pairs of values" in names
    assert "symbols, each value" not in names


def redrawn(
    mechanism: Mechanism, answers: Answers, wrong: Callable[[NDArray[np.int64]], NDArray[np.bool_]]
) -> Reports:
    """Every worker perturbs honestly, again and again, until the report says what it shall say."""
    reports = mechanism.perturb(answers, simulation_seed=5)
    values = reports.values.copy()
    for seed in range(100, 200):
        again = wrong(values.astype(np.int64))
        if not again.any():
            break
        values[again] = mechanism.perturb(answers, simulation_seed=seed).values[again]
    return replace(reports, values=values)


def convicted(reports: Reports, answers: Answers) -> set[str]:
    """The tests that convict, by what they look at."""
    found = audit_reports(reports, answers)
    assert found.verdict == "the claim is FALSE"
    return {test.name for test in found.tests if test.p < found.level}


@pytest.mark.parametrize("scale", ["0..2", "0..3", "no,yes"])
def test_an_answer_in_the_parity_of_all_symbols(scale: str) -> None:
    """Each symbol by itself, and each pair, is as it should be."""
    answers = crowd(Scale.parse(scale), 1000, 1)
    first = answers.rows(0, 1000)[:, 0]
    mechanism = rr(scale, 1.0)
    reports = redrawn(mechanism, answers, lambda v: v.sum(axis=1) % 2 != first % 2)
    assert {name.partition(" modulo")[0] for name in convicted(reports, answers)} == {
        "symbols, sums of all values"
    }


def test_an_answer_in_the_sum_of_two_symbols() -> None:
    answers = crowd(SCALE, 2000, 1)
    codes = answers.rows(0, 2000)
    mechanism = rr(SCALE, 1.0)
    reports = redrawn(mechanism, answers, lambda v: (v[:, 1] + v[:, 3]) % 4 != codes[:, 1])
    assert "symbols, pairs of values" in convicted(reports, answers)


def test_an_answer_in_the_symbol_of_another_task() -> None:
    answers = crowd(SCALE, 2000, 1)
    codes = answers.rows(0, 2000)
    reports = rr(SCALE, 1.0).perturb(answers, simulation_seed=5)
    shown = (codes[:, 0] == 2) & (np.arange(2000) % 2 == 0)
    values = reports.values.copy()
    values[shown, 4] = 0
    names = convicted(replace(reports, values=values), answers)
    assert "symbols, values by other answers" in names


@pytest.mark.parametrize("first", [0, 3, 6, 8])
@pytest.mark.parametrize("protects", ["answers+participation", "answers"])
@pytest.mark.parametrize("name", ["lp", "rr-lp"])
def test_an_answer_in_the_bits_of_noise(name: str, protects: str, first: int) -> None:
    """Two of the bits are the answer's; the rest of the noise is honest."""
    answers = crowd(SCALE, 300, 1)
    mechanism = build(
        name, SCALE, 1.0, tasks=TASKS, protects="answers" if protects == "answers" else None
    )
    reports = mechanism.perturb(answers, simulation_seed=5)
    codes = (answers.rows(0, 300) if reports.answered is None else answers.code).astype(np.int64)
    hidden = (reports.values & ~(3 << first)) | (codes << first)
    values = np.where(reports.values == -(2**63), reports.values, hidden)
    assert any("bits" in name for name in convicted(replace(reports, values=values), answers))


def test_an_answer_in_the_last_bits_of_all_values_together() -> None:
    """The sum of all noisy values is even or odd; no value by itself shows it."""
    answers = crowd(SCALE, 1000, 1)
    first = answers.rows(0, 1000)[:, 0]
    reports = lp(SCALE, 1.0).perturb(answers, simulation_seed=5)
    values = reports.values.copy()
    values[:, -1] ^= (values.sum(axis=1) + first) % 2
    names = convicted(replace(reports, values=values), answers)
    assert "bits 0 to 3, sums of all values modulo 2" in names
    assert "bits 0 to 3, each value" not in names


def test_answers_in_the_bits_of_sketches() -> None:
    answers = crowd(SCALE, 1000, 1)
    first = answers.rows(0, 1000)[:, 0].astype(np.int64)
    for mechanism in (
        mf_safe(SCALE, 1.0, tasks=TASKS),
        mechanisms.mf(SCALE, 1.0, tasks=TASKS, d=2),
    ):
        reports = mechanism.perturb(answers, simulation_seed=5)
        if isinstance(mechanism, mechanisms.SafeFactorization):
            values = reports.values.copy()
            values[:, 0] = (values[:, 0] & ~3) | first
        else:  # the worker's noise is a multiple of 16
            values = coarse_noise(mechanism, answers)
        assert any(
            "bits 0 to 3" in each for each in convicted(replace(reports, values=values), answers)
        )


def coarse_noise(mechanism: Mechanism, answers: Answers) -> NDArray[np.float64]:
    """What `mf` sends if its sampler draws only every sixteenth step of the grid."""
    assert isinstance(mechanism, mechanisms.MatrixFactorization)
    with patch.object(
        matrix_factorization,
        "discrete_laplace",
        lambda rate, count, random: discrete_laplace(rate * 16, count, random) * 16,
    ):
        return np.asarray(mechanism.perturb(answers, simulation_seed=5).values)


@pytest.mark.parametrize("factor", [0.8, 1.25])
def test_noise_of_another_scale_does_not_fit(factor: float) -> None:
    answers = crowd(SCALE, 2000, 1)
    mechanism = lp(SCALE, 1.0)
    assert isinstance(mechanism, Laplace)
    reports = replace(mechanism, epsilon=factor).perturb(answers, simulation_seed=5)
    names = convicted(replace(reports, mechanism=mechanism), answers)
    assert "sixteenths of the noise, all values together" in names


def test_one_task_without_noise_and_all_others_with_too_much() -> None:
    """The average over all tasks looks right."""
    answers = crowd(SCALE, 600, 1, tasks=20)
    reports = rr(SCALE, 1.0).perturb(answers, simulation_seed=5)
    values = rr(SCALE, 0.9).perturb(answers, simulation_seed=6).values.copy()
    values[:, 7] = answers.rows(0, 600)[:, 7]
    assert "symbols, each value" in convicted(replace(reports, values=values), answers)


def test_an_answer_to_a_task_that_was_not_drawn() -> None:
    """With unit = worker nothing else may influence the report."""
    answers = crowd(SCALE, 3000, 1)
    mechanism = per_worker(partial(rr, SCALE), 1.0)
    reports = mechanism.perturb(answers, simulation_seed=5)
    codes, values = answers.rows(0, 3000), reports.values.copy()
    other = mechanism.sampled(answers.workers, TASKS)[:, 0] != 0
    values[other & (codes[:, 0] == 1), 0] = 1
    assert "symbols, values by other answers" in convicted(replace(reports, values=values), answers)


def test_what_was_tested_is_listed() -> None:
    answers = crowd(SCALE, 300, 1)
    found: Audit = audit_reports(lp(SCALE, 1.0).perturb(answers, simulation_seed=5), answers)
    document = found.to_dict()
    assert document["verdict"] == "no violation found"
    assert "Audit of lp: no violation found" in repr(found)
    assert repr(found).count("tested: ") == len(found.tests) == len(document["tests"]) > 20
    assert found.level * (len(found.tests) + 2) == pytest.approx(found.alpha)


def test_long_scales_and_many_tasks_are_tested_in_part() -> None:
    codes = np.arange(100 * 40).reshape(100, 40) % 103
    worker, task = np.nonzero(codes < 101)
    answers = Answers(
        Scale.parse("0..100"),
        tuple(map(str, range(100))),
        tuple(map(str, range(40))),
        worker.astype(np.int32),
        task.astype(np.int32),
        codes[worker, task].astype(np.uint8),
    )
    found = audit_reports(rr(answers.scale, 1.0).perturb(answers, simulation_seed=5), answers)
    assert found.holds
    assert any(" of 40 values)" in test.name for test in found.tests)

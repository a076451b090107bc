"""unit="worker": public sampling, budget split."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forsooth import Answers, ForsoothError, Mechanism, Scale
from forsooth.mechanisms import SampledTasks, build, rr
from forsooth.mechanisms.assignment import public_words, sampled_tasks
from tests.samples import ALPHA, count, goodness_of_fit

SCALE = Scale.parse("0..4")
TASKS = [f"t{j:02}" for j in range(20)]


def make(name: str = "rr", sampled: int = 3, **options: object) -> SampledTasks:
    made = build(name, SCALE, 2.0, tasks=20, unit="worker", sampled=sampled, **options)  # type: ignore[arg-type]
    assert isinstance(made, SampledTasks)
    return made


@given(st.floats(1e-3, 50), st.integers(1, 20))
def test_the_shares_never_exceed_the_whole(epsilon: float, sampled: int) -> None:
    mechanism = build("rr", SCALE, epsilon, tasks=20, unit="worker", sampled=sampled)
    assert sampled * Fraction(mechanism.guarantee.epsilon) <= Fraction(epsilon)
    assert mechanism.guarantee.worker_total(20) == pytest.approx(epsilon)


def test_tasks_are_drawn_uniformly_without_repetition() -> None:
    chosen = sampled_tasks(5, [f"w{i}" for i in range(20_000)], 20, 3)
    assert all(len(set(row)) == 3 for row in chosen.tolist())
    assert goodness_of_fit(count(chosen, 20), np.ones(20)) > ALPHA


def test_public_words_are_fixed_for_ever() -> None:
    """Other clients must compute the same numbers: a known answer, by hand from the definition."""
    word = public_words(7, ["ann"], 2)[0]
    from hashlib import sha256

    key = int.from_bytes(sha256(b"7:ann").digest()[:8], "big")
    for task in (0, 1):
        z = (key + (task + 1) * 0x9E3779B97F4A7C15) % 2**64
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        assert int(word[task]) == z ^ (z >> 31)


def test_only_sampled_tasks_can_influence_the_report() -> None:
    """Change every other answer: with the same coins the report is the same, bit for bit."""
    mechanism = make()
    (chosen,) = mechanism.sampled(["ann"], 20)
    base = {TASKS[j]: 1 for j in range(20)}
    other = {task: (1 if j in chosen else 4) for j, task in enumerate(TASKS)}
    gone = {task: 1 for j, task in enumerate(TASKS) if j in chosen}
    reports = [
        mechanism.perturb(Answers.of({"ann": row}, SCALE, tasks=TASKS), simulation_seed=1).values
        for row in (base, other, gone)
    ]
    assert reports[0].shape == (1, 3)
    assert np.array_equal(reports[0], reports[1])
    assert np.array_equal(reports[0], reports[2])


def test_readings_stand_in_their_places() -> None:
    mechanism = build("rr", SCALE, 900.0, tasks=20, unit="worker", sampled=3)
    rows = {f"w{i:02}": {task: (i + j) % 5 for j, task in enumerate(TASKS)} for i in range(30)}
    answers = Answers.of(rows, SCALE, tasks=TASKS)
    cells = mechanism.perturb(answers).cells()
    assert cells.value.size == 90
    assert np.array_equal(cells.value, (cells.worker + cells.task) % 5)


def test_public_participation_reports_sampled_answers_only() -> None:
    mechanism = make(protects="answers")
    rows = {f"w{i:02}": dict.fromkeys(TASKS[::2], 1) for i in range(30)}
    reports = mechanism.perturb(Answers.of(rows, SCALE, tasks=TASKS))
    chosen = mechanism.sampled(reports.workers, 20)
    assert reports.answered is not None
    for worker, task in zip(*reports.answered):
        assert task in chosen[worker]
        assert task % 2 == 0


def test_bad_requests() -> None:
    with pytest.raises(ForsoothError, match="cannot sample 21 of 20"):
        make(sampled=21)
    with pytest.raises(ForsoothError, match="no cells to sample"):
        make("mf-safe")
    with pytest.raises(ForsoothError, match="spend more than the worker's"):
        make("two-layer")
    with pytest.raises(ForsoothError, match="unit is cell or worker"):
        build("rr", SCALE, 1.0, tasks=20, unit="day")  # type: ignore[arg-type]
    honest = make()
    assert Mechanism.from_json(honest.to_json()) == honest
    with pytest.raises(ForsoothError, match="spend more"):
        replace(honest, inner=rr(SCALE, 1.0))

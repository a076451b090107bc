from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from forsooth import Answers, ForsoothError, Truths, infer
from forsooth.mechanisms import mf
from forsooth.planning.adaptive import adaptive_reports, redesigned
from forsooth.study.synthetic import SyntheticCrowd
from tests.test_truths import result as made


@pytest.fixture(scope="module")
def answers() -> Answers:
    return SyntheticCrowd(workers=600, tasks=60, sparsity=0.8).draw(1).answers


def test_everybody_reports_once_through_a_table_that_keeps_the_promise(answers: Answers) -> None:
    reports = adaptive_reports(answers, 2.0, simulation_seed=1)
    assert [len(part.workers) for part in reports] == [240, 360]
    assert sorted(reports[0].workers + reports[1].workers) == list(answers.workers)
    assert [part.mechanism.name for part in reports] == ["rr", "staircase"]
    for part in reports:
        assert part.mechanism.guarantee.epsilon == 2.0
        assert part.mechanism.guarantee.protects == "answers+participation"
    assert len(infer(reports).workers) == 600


def test_the_arrival_order_is_random_but_repeatable(answers: Answers) -> None:
    one, same, other = (adaptive_reports(answers, 2.0, simulation_seed=s) for s in (1, 1, 2))
    assert one[0].workers == same[0].workers != other[0].workers
    assert np.array_equal(one[1].values, same[1].values)
    assert one[1].mechanism == same[1].mechanism


def test_the_later_table_follows_from_the_early_reports_alone(answers: Answers) -> None:
    reports = adaptive_reports(answers, 2.0, simulation_seed=1)
    assert redesigned(reports[:1]) == reports[1].mechanism


def test_public_participation(answers: Answers) -> None:
    reports = adaptive_reports(answers, 1.0, protects="answers", simulation_seed=1)
    assert all(part.answered is not None for part in reports)


def test_choosing_workers(answers: Answers) -> None:
    part = answers.of_workers(np.array([3, 7]))
    assert part.workers == (answers.workers[3], answers.workers[7])
    assert np.array_equal(part.rows(0, 2), answers.rows(0, 8)[[3, 7]])


def test_opinions_keep_all_answers_apart(answers: Answers) -> None:
    """No design merges answers whose shares are wanted, whoever states the estimand."""
    reports = adaptive_reports(answers, 1.0, estimand="opinion", simulation_seed=1)
    assert [part.mechanism.name for part in reports] == ["rr", "rr"]
    assert [part.estimand for part in reports] == ["opinion", "opinion"]
    assert redesigned(reports[:1]) == reports[0].mechanism


def test_without_doubt_there_is_nothing_to_design_for(
    answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A label that is certain for every task; randomized response goes on."""
    truths = made("label")
    assert truths.posterior is not None
    certain = replace(truths.posterior, mass=np.array([[0.0, 1.0, 0.0]] * 2))
    asked: list[object] = []

    def infer_certain(reports: object, method: str, *, estimand: object) -> Truths:
        asked.append(estimand)
        return replace(truths, posterior=certain)

    monkeypatch.setattr("forsooth.planning.adaptive.infer", infer_certain)
    reports = adaptive_reports(answers, 2.0, estimand="label", simulation_seed=1)
    assert asked == ["label"]
    assert [part.mechanism.name for part in reports] == ["rr", "rr"]
    assert [part.estimand for part in reports] == ["label", "label"]


def test_bad_requests(answers: Answers) -> None:
    with pytest.raises(ForsoothError, match="between 0 and 1"):
        adaptive_reports(answers, 1.0, pilot=1.0)


def test_a_design_from_sketches(answers: Answers) -> None:
    design = redesigned([mf(answers.scale, 1.0, tasks=60).perturb(answers, simulation_seed=1)])
    assert design.protects == "answers"
    assert design.epsilon == 1.0

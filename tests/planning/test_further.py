"""How many more workers: nothing too early, then a range that the further workers confirm."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from forsooth import Answers, Scale, Truths, infer, mechanisms
from forsooth.estimand import Estimand
from forsooth.mechanisms.base import Mechanism
from forsooth.planning.estimate import Expected
from forsooth.planning.further import FurtherWorkers, further_workers
from forsooth.planning.rehearsal import draw

SCALE = Scale.parse("0..4")
TARGET = 1.0
CROWD = draw(Expected(SCALE, 0.5, "normal:2,0.7"), 640, 30, seed=1).answers
RR = mechanisms.rr(SCALE, 2.0)


def first(people: int, mechanism: Mechanism = RR, estimand: Estimand = "level") -> Truths:
    """What the first people's reports tell."""
    chosen = CROWD.worker < people
    answers: Answers = replace(
        CROWD,
        workers=CROWD.workers[:people],
        worker=CROWD.worker[chosen],
        task=CROWD.task[chosen],
        code=CROWD.code[chosen],
    )
    return infer(mechanism.perturb(answers, simulation_seed=people), estimand=estimand)


def width(truths: Truths) -> float:
    return float(np.median(truths.high - truths.low))


def further(
    truths: Truths, people: int, mechanism: Mechanism = RR, target: float = TARGET
) -> FurtherWorkers | None:
    return further_workers(
        truths, mechanism, people, density=0.5, width=width(truths), target=target
    )


@pytest.mark.parametrize(("estimand", "people"), [("level", 10), ("level", 40), ("opinion", 80)])
def test_the_range_comes_true(estimand: Estimand, people: int) -> None:
    """After 10 people, width ∝ 1/√people asked for 46 more; about 110 were needed."""
    found = further(first(people, estimand=estimand), people)
    assert found is not None
    assert width(first(people + found.low, estimand=estimand)) > TARGET
    assert width(first(people + found.high, estimand=estimand)) <= TARGET
    assert found.high < 200


def test_nothing_is_said_before_it_can_be() -> None:
    weak = mechanisms.rr(SCALE, 0.5)
    truths = first(10, weak)
    assert width(truths) > TARGET
    assert further(truths, 10, weak) is None


def test_nothing_is_said_when_the_target_is_reached_or_without_an_estimate() -> None:
    truths = first(320)
    assert width(truths) < TARGET
    assert further(truths, 320) is None
    assert further(truths, 320, mechanisms.lp(SCALE, 2.0), target=0.1) is None
    assert further(first(40, estimand="label"), 40, target=0.5) is None


def test_tasks_that_are_drawn_by_lot_need_more_workers() -> None:
    """Each worker reports on half of the tasks, so that twice as many workers are needed."""
    sampled = mechanisms.build("rr", SCALE, 30.0, tasks=30, unit="worker", sampled=15)
    all_tasks, half = further(first(80), 80, target=0.4), further(first(80), 80, sampled, 0.4)
    assert all_tasks is not None
    assert half is not None
    assert half != all_tasks

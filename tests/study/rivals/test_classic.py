"""The classic methods as rivals."""

from __future__ import annotations

import numpy as np
import pytest

from forsooth import Answers, Scale, infer, mechanisms
from forsooth.cells import Cells
from forsooth.inference import Ties
from forsooth.study.rivals import INFERENCE, Annotations
from forsooth.study.rivals.classic import CLASSIC, majority
from forsooth.study.synthetic import SyntheticCrowd


def crowd() -> Answers:
    """A small synthetic crowd."""
    return SyntheticCrowd.parse("synthetic:workers=30,tasks=25").draw(5).answers


@pytest.mark.parametrize("name", [rival.name for rival in CLASSIC if rival.name != "majority"])
def test_a_classic_method_is_the_one_of_infer(name: str) -> None:
    """On plain answers and on noisy reports, for the estimand level."""
    answers = crowd()
    ties: Ties = "low" if name == "dawid-skene" else "middle"
    for data in (answers, mechanisms.lp(answers.scale, 2).perturb(answers, simulation_seed=1)):
        found = INFERENCE[name].infer(Annotations.of(data)).estimate("level")
        np.testing.assert_allclose(found, infer(data, name, ties=ties).estimate, atol=1e-12)


def test_majority_is_the_one_of_infer() -> None:
    """Ties to the lowest answer; a task without any answer has equal shares."""
    found = INFERENCE["majority"].infer(Annotations.of(crowd()))
    np.testing.assert_array_equal(
        found.estimate("label"), infer(crowd(), "majority", ties="low").estimate
    )
    votes = np.array([[2.0, np.nan, 1.0], [2.0, np.nan, np.nan], [1.0, np.nan, np.nan]])
    shares = majority(Annotations(Cells.from_rows(votes), Scale.parse("1..3"))).probability
    np.testing.assert_allclose(
        np.asarray(shares), np.array([[1 / 3, 2 / 3, 0], [1 / 3, 1 / 3, 1 / 3], [1, 0, 0]])
    )


def test_several_reports_of_one_campaign_are_read_together() -> None:
    """The same cells, whether the workers report in one group or in two."""
    first, second = crowd(), SyntheticCrowd.parse("synthetic:workers=9,tasks=25").draw(6).answers
    together, alone = Annotations.of(first, second), Annotations.of(first)
    assert together.workers == alone.workers + second.cells().workers
    np.testing.assert_array_equal(
        together.per_answer() - alone.per_answer(), Annotations.of(second).per_answer()
    )

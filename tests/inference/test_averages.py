from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forsooth import Answers, ForsoothError, Scale, infer, mechanisms
from forsooth.inference.estimates import Ties

columns = st.lists(st.integers(0, 4), min_size=1, max_size=30)


def one_task(values: list[int]) -> Answers:
    return Answers.of({f"w{i:02}": {"t": value} for i, value in enumerate(values)}, "0..4")


@given(columns)
def test_mean_and_median_are_numpy_s(values: list[int]) -> None:
    answers = one_task(values)
    assert infer(answers, "mean").estimate[0] == pytest.approx(np.mean(values))
    assert infer(answers, "median").estimate[0] == np.median(values)


@given(columns, st.sampled_from(get_args(Ties)))
def test_majority_is_the_most_frequent(values: list[int], ties: Ties) -> None:
    counts = [values.count(value) for value in range(5)]
    tied = [value for value in range(5) if counts[value] == max(counts)]
    expected = {"low": tied[0], "high": tied[-1], "middle": np.mean(tied)}[ties]
    assert infer(one_task(values), "majority", ties=ties).estimate[0] == pytest.approx(expected)


@pytest.mark.parametrize(("ties", "expected"), [("low", 1), ("high", 4), ("middle", 2.5)])
def test_the_median_of_two(ties: Ties, expected: float) -> None:
    assert infer(one_task([4, 1]), "median", ties=ties).estimate[0] == expected
    assert infer(one_task([4, 1]), "majority", ties=ties).estimate[0] == expected


@given(columns)
def test_intervals_hold_the_estimate(values: list[int]) -> None:
    for method in ("mean", "median", "majority"):
        truths = infer(one_task(values), method)
        assert truths.low[0] - 1e-9 <= truths.estimate[0] <= truths.high[0] + 1e-9


def test_majority_of_noisy_numbers_takes_the_nearest_answer() -> None:
    answers = Answers.of({f"w{i:03}": {"t": 3} for i in range(200)}, "0..4")
    reports = mechanisms.lp(answers.scale, 20.0, protects="answers").perturb(answers)
    assert infer(reports, "majority").estimate.tolist() == [3]


def test_bad_rules() -> None:
    answers = one_task([1])
    with pytest.raises(ForsoothError, match="unknown tie rule"):
        infer(answers, "median", ties="random")  # type: ignore[arg-type]
    with pytest.raises(ForsoothError, match="above 0"):
        infer(answers, tolerance=0)
    with pytest.raises(
        ForsoothError, match="unknown method 'magic'; known: posterior, algorithm1, mean"
    ):
        infer(answers, "magic")


def test_uneven_scales() -> None:
    scale = Scale.parse("0,1,100")
    answers = Answers.of({"a": {"t": 100}, "b": {"t": 100}, "c": {"t": 0}}, scale)
    assert infer(answers, "majority").estimate.tolist() == [100]
    assert infer(answers, "median").estimate.tolist() == [100]

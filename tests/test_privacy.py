from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forsooth import ForsoothError, Privacy
from forsooth.odds import amount


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf"), None, "1"])
def test_epsilon_must_be_positive_and_finite(epsilon: object) -> None:
    with pytest.raises(ForsoothError, match="ε must be"):
        Privacy(epsilon)  # type: ignore[arg-type]


def test_protects_is_one_of_two_words() -> None:
    with pytest.raises(ForsoothError, match="answers\\+participation, answers"):
        Privacy(1.0, "everything")  # type: ignore[arg-type]


def test_the_worker_is_stated_before_the_cell() -> None:
    text = Privacy(0.5).describe(200)
    assert text.index("together: ε = 100 at most (very weak") < text.index("0.5 per cell")
    assert text.endswith("if the others tell nothing about it")
    public = Privacy(0.5, "answers").describe(200)
    assert "public" in public
    assert "0.5·k" in public


@given(st.floats(1e-6, 1e3), st.integers(1, 10_000))
def test_the_total_is_the_smallest_float_above_the_exact_sum(epsilon: float, tasks: int) -> None:
    total, exact = Privacy(epsilon).worker_total(tasks), Fraction(epsilon) * tasks
    assert Fraction(math.nextafter(total, 0)) < exact <= Fraction(total)


@given(st.floats(1e-6, 1e5))
def test_an_epsilon_is_shown_with_six_digits_and_never_below_itself(epsilon: float) -> None:
    shown = float(amount(epsilon))
    assert epsilon * (1 - 1e-12) <= shown <= epsilon * (1 + 1.001e-5)


def test_what_floats_make_of_a_decimal_number_is_not_shown() -> None:
    assert amount(Privacy(0.1).worker_total(3)) == "0.3"
    assert amount(2 / 3) == "0.666667"
    assert amount(1 / 3) == "0.333334"

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forsooth import ForsoothError, Scale


def test_consecutive_integers() -> None:
    scale = Scale.parse("-2..2")
    assert scale.values == (-2, -1, 0, 1, 2)
    assert (scale.size, scale.null, scale.range, scale.middle) == (5, 5, 4, 0)
    assert str(scale) == "-2..2"


def test_the_range_is_not_the_size() -> None:
    scale = Scale.parse("0,100")
    assert scale.size == 2
    assert scale.range == 100


def test_labels_stand_for_their_positions() -> None:
    scale = Scale.parse("G, P,R,X,B")
    assert scale.values == (0, 1, 2, 3, 4)
    assert scale.code("R") == 2
    assert scale.code(2) is None
    assert scale.nearest_label(2.6) == "X"
    assert str(scale) == "G,P,R,X,B"


@pytest.mark.parametrize("answer", ["3", " 3 ", 3, 3.0, "3.0", "+3", "3e0"])
def test_the_same_number_in_many_spellings(answer: object) -> None:
    assert Scale.parse("1..5").code(answer) == 2


@pytest.mark.parametrize("answer", ["", "nan", None, "6", 2.5, float("nan"), "inf", "three", True])
def test_what_is_not_on_the_scale(answer: object) -> None:
    assert Scale.parse("1..5").code(answer) is None


@pytest.mark.parametrize(
    "text", ["", "5", "5..5", "9..0", "a,a", "a,,b", "3,2,1", "1,1.0", "0..1001", "1,"]
)
def test_bad_scales_are_refused(text: str) -> None:
    with pytest.raises(ForsoothError, match="scale"):
        Scale.parse(text)


@given(st.integers(-500, 500), st.integers(1, 500))
def test_every_scale_survives_being_written(low: int, steps: int) -> None:
    scale = Scale.parse(f"{low}..{low + steps}")
    assert Scale.parse(str(scale)) == scale
    assert Scale.of(scale.labels) == scale

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forsooth import ForsoothError, Scale, mechanisms
from forsooth.scale import ScaleLike


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
    "given",
    [
        range(3, 6),
        [3, 4, 5],
        (3.0, 4.0, 5.0),
        ["3", " 4", "5 "],
        np.arange(3, 6),
        np.array([3.0, 4.0, 5.0]),
        pd.Series([3, 4, 5]),
        pl.Series([3, 4, 5]),
        pa.array([3, 4, 5]),
        Scale.parse("3..5"),
    ],
    ids=lambda given: type(given).__name__,
)
def test_what_people_have_as_a_scale(given: ScaleLike) -> None:
    assert Scale.parse(given) == Scale.parse("3..5")
    assert mechanisms.rr(given, epsilon=3) == mechanisms.rr("3..5", epsilon=3)


def test_numbers_keep_their_digits() -> None:
    assert Scale.parse([0, 0.1, 1e6]).labels == ("0", "0.1", "1000000")


@pytest.mark.parametrize(
    "given",
    [
        5,
        None,
        1.5,
        {1, 2},
        {"a": 1},
        b"0..4",
        [None, 1],
        [float("nan"), 1],
        [(0, 1), 2],
        iter("ab"),
    ],
    ids=lambda given: type(given).__name__ if isinstance(given, Iterator) else str(given),
)
def test_what_is_no_scale_says_what_to_write(given: Any) -> None:
    with pytest.raises(ForsoothError, match=r"scale"):
        Scale.parse(given)


@pytest.mark.parametrize("name", mechanisms.BUILDERS)
def test_every_mechanism_takes_a_scale_as_text(name: str) -> None:
    options = {"tasks": 6} if name in ("mf", "mf-safe") else {}
    build = mechanisms.BUILDERS[name]
    assert build("0..4", 2.0, **options) == build(Scale.parse("0..4"), 2.0, **options)
    assert mechanisms.build(name, range(5), 2.0, tasks=6).scale == Scale.parse("0..4")
    with pytest.raises(ForsoothError, match="cannot read the scale 5"):
        build(5, 2.0, **options)


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

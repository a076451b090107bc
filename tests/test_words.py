"""Order and numbers as people write them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from forsooth import tables
from forsooth.natural import natural_key, reading_order
from forsooth.plural import counted


def test_names_are_in_the_order_in_which_people_count() -> None:
    names = ["t1", "t2", "t10", "t10a", "t10b2", "t10b10", "u", "ä1"]
    assert sorted(sorted(names), key=natural_key) == names
    assert sorted(["b", "10", "9", "a1"], key=natural_key) == ["9", "10", "a1", "b"]
    assert sorted(["t01", "t1", "t001"], key=natural_key) == ["t001", "t01", "t1"]


def test_an_order_that_somebody_gave_stays() -> None:
    assert reading_order(["t1", "t10", "t2"]) == [0, 2, 1]
    assert reading_order(["t2", "t1", "t10"]) == [0, 1, 2]
    assert reading_order([]) == []


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 tasks"), (1, "1 task"), (2, "2 tasks"), (1000, "1,000 tasks")]
)
def test_plurals(number: int, words: str) -> None:
    assert counted(number, "task") == words


def test_text_has_six_digits_and_parquet_all(tmp_path: Path) -> None:
    values = np.array(
        [1.7000000000000002, 2 / 3, 0.0, -1.5, 1e-7 / 3, 123456789.123, np.nan, np.inf, 1e-20]
    )
    tables.write({"x": values}, tmp_path / "x.csv")
    lines = (tmp_path / "x.csv").read_text().splitlines()[1:]
    assert lines[:4] == ["1.7", "0.666667", "0", "-1.5"]
    assert [float(line or "nan") for line in lines[4:7]] == pytest.approx(
        [3.33333e-8, 123456789, np.nan], nan_ok=True, rel=1e-15
    )
    assert lines[7:] == ["inf", "0"]
    tables.write({"x": values, "n": range(9)}, tmp_path / "x.parquet")
    assert tables.read(tmp_path / "x.parquet").table["x"][0].as_py() == 1.7000000000000002

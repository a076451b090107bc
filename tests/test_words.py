"""Numbers of things as people write them."""

from __future__ import annotations

import pytest

from forsooth.plural import counted


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 tasks"), (1, "1 task"), (2, "2 tasks"), (1000, "1,000 tasks")]
)
def test_plurals(number: int, words: str) -> None:
    assert counted(number, "task") == words

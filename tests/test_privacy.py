from __future__ import annotations

import pytest

from forsooth import ForsoothError, Privacy


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf"), None, "1"])
def test_epsilon_must_be_positive_and_finite(epsilon: object) -> None:
    with pytest.raises(ForsoothError, match="ε must be"):
        Privacy(epsilon)  # type: ignore[arg-type]


def test_protects_is_one_of_two_words() -> None:
    with pytest.raises(ForsoothError, match="answers\\+participation, answers"):
        Privacy(1.0, "everything")  # type: ignore[arg-type]


def test_cell_and_worker_are_stated_together() -> None:
    text = Privacy(0.5).describe(200)
    assert "0.5 per cell" in text
    assert "at most 100" in text
    public = Privacy(0.5, "answers").describe(200)
    assert "public" in public
    assert "0.5·k" in public

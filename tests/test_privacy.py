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


def test_the_worker_is_stated_before_the_cell() -> None:
    text = Privacy(0.5).describe(200)
    assert text.index("together: ε = 100 at most (very weak") < text.index("0.5 per cell")
    assert text.endswith("if the others tell nothing about it")
    public = Privacy(0.5, "answers").describe(200)
    assert "public" in public
    assert "0.5·k" in public

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forsooth import ForsoothError
from forsooth.client.ledger import Ledger


def test_campaigns_add_up_to_the_cap() -> None:
    ledger = Ledger(cap=1.0)
    for number in range(10):
        ledger = ledger.spend(f"campaign {number}", 0.0999)
    assert ledger.total == pytest.approx(0.999)
    assert ledger.remaining == pytest.approx(0.001)
    with pytest.raises(ForsoothError, match="only 0.001 is left"):
        ledger.spend("one more", 0.002)
    assert ledger.spend("a last one", 0.0005).remaining < ledger.remaining


def test_no_rounding_hides_a_spend() -> None:
    """0.1 is a little more than a tenth: ten of them exceed 1, though floats add up to less."""
    ledger = Ledger(cap=1.0)
    for number in range(9):
        ledger = ledger.spend(str(number), 0.1)
    with pytest.raises(ForsoothError, match="left"):
        ledger.spend("9", 0.1)


def test_a_campaign_is_spent_once() -> None:
    ledger = Ledger(cap=5.0).spend("a", 1.0)
    with pytest.raises(ForsoothError, match="already in the ledger"):
        ledger.spend("a", 1.0)


@given(st.dictionaries(st.text(), st.floats(1e-9, 10), max_size=8))
def test_json_round_trip(spent: dict[str, float]) -> None:
    ledger = Ledger(cap=1000.0, spent=spent)
    assert Ledger.from_json(ledger.to_json()) == ledger


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf")])
def test_bad_spends(epsilon: float) -> None:
    with pytest.raises(ForsoothError, match="ε must be"):
        Ledger(cap=1.0).spend("a", epsilon)
    with pytest.raises(ForsoothError, match="ε must be"):
        Ledger(cap=epsilon)


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"cap": 1, "spent": {"a": 2}}', '{"cap": 1, "spent": 3}']
)
def test_bad_ledgers(text: str) -> None:
    with pytest.raises(ForsoothError):
        Ledger.from_json(text)

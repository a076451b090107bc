"""Every attack of `benchmarks/attacks` is stopped."""

from __future__ import annotations

import pytest
from benchmarks import attacks


@pytest.mark.parametrize("name", attacks.names())
def test_the_attack_is_stopped(name: str) -> None:
    promise, attack = attacks.load(name)
    outcome = attack()
    assert outcome.stopped, f"{promise}: {outcome.detail}"

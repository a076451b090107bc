"""What is sent for one question does not depend on the answers to others, skipped ones included.

Where participation is public, a person answers one question and looks, answers an earlier one too
and looks again. If another value is sent for the untouched question, then it has been drawn
twice, and the person can choose. 400 tries at ε = 2 on ten answers; no value may move.
"""

from __future__ import annotations

from benchmarks.attacks import Outcome
from benchmarks.attacks._clients import javascript
from forsooth import mechanisms

TRIES = 400


def attack() -> Outcome:
    """How often the untouched value moves."""
    moved = 0
    for rule in (mechanisms.grr("0..9", 2.0), mechanisms.lp("0..9", 2.0, protects="answers")):
        moved += javascript("moved_coins.mjs", mechanism=rule.to_json(), tries=TRIES)
    return Outcome(moved == 0, f"{moved} of {2 * TRIES} untouched values moved")

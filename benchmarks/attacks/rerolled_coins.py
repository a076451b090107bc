"""The noise is drawn once: who looks at the report cannot draw it anew.

100 people answer three questions at ε = 1 and look at what will be sent. If it is not what they
answered, they load the page again, up to 20 times. A report that can be drawn until it equals the
answers is no longer protected by the table. Each person must see one message only, and only as many
reports may equal the answers as the table says (plus 5 standard deviations: a false alarm once in
10⁶).
"""

from __future__ import annotations

import math

from benchmarks.attacks import Outcome
from benchmarks.attacks._clients import javascript
from forsooth import mechanisms
from forsooth.mechanisms import ChannelMechanism

PEOPLE, RELOADS, QUESTIONS = 100, 20, 3


def attack() -> Outcome:
    """How many people get a report that equals their answers."""
    mechanism = mechanisms.rr("no,yes", 1.0)
    assert isinstance(mechanism, ChannelMechanism)
    channel = mechanism.channel.weights
    inputs = {"mechanism": mechanism.to_json(), "people": PEOPLE, "reloads": RELOADS}
    found = javascript("rerolled_coins.mjs", **inputs, questions=QUESTIONS)
    once = (channel[0][0] / sum(channel[0])) ** QUESTIONS
    most = PEOPLE * once + 5 * math.sqrt(PEOPLE * once * (1 - once))
    return Outcome(
        bool(found["messages"] == 1 and found["equal"] <= most),
        f"{found['equal']} of {PEOPLE} reports equal the answers after up to {RELOADS} reloads, "
        f"{PEOPLE * once:.0f} by one draw; {found['messages']} messages seen at most",
    )

"""Which questions were answered is protected unless the person agrees that it is not.

A person limits ε to 1 and says nothing else. The collector announces protects = answers: the report
then lists the answered questions. Neither client may send one.
"""

from __future__ import annotations

from tempfile import TemporaryDirectory

from benchmarks.attacks import Outcome
from benchmarks.attacks._clients import INVITATION, Collector, javascript
from forsooth import ForsoothError, mechanisms
from forsooth.client import WorkerCampaign

QUESTIONS = ["Do you smoke?", "Do you drink?", "Do you gamble?"]


def attack() -> Outcome:
    """What the clients list."""
    rule = mechanisms.rr("no,yes", 1.0, protects="answers")
    collector = Collector()
    with collector.serving(), TemporaryDirectory() as folder:
        try:
            link = collector.make(rule, QUESTIONS)
            campaign = WorkerCampaign(link, invitation=INVITATION, limit=1.0, folder=folder)
            campaign.submit({"q1": "yes"})
        except ForsoothError:
            pass
    inputs = {"mechanism": rule.to_json(), "questions": QUESTIONS}
    sent = {
        "Python": collector.received,
        "JavaScript": javascript("downgraded_protection.mjs", **inputs),
    }
    leaks = [client for client, reports in sent.items() if any("tasks" in r for r in reports)]
    listed = " and ".join(leaks) or "no client"
    return Outcome(not leaks, f"{listed} listed the answered questions")

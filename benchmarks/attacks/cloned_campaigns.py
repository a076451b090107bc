"""One question is answered once by one rule, and repeats by other rules end at a cap.

A collector asks a person the same question about 100 times: in 50 clones of a campaign, in 40 with
slightly different rules, under other names of the host, with other fragments of an open link, and
once more after the report was lost. Fresh noise each time would average out. The reader knows all
rules; their odds for the true answer may not exceed what one report allows, since at ε = 1 the cap
for a question leaves no room for a second one. Equal reports by one rule are read as one draw (50
draws are equal with P < 1e-11). The reader's arithmetic is exact: no false alarms.
"""

from __future__ import annotations

import base64
import json
import math
from collections import defaultdict
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.attacks import Outcome
from benchmarks.attacks._clients import INVITATION, Collector, javascript
from forsooth import ForsoothError, mechanisms
from forsooth.client import WorkerCampaign
from forsooth.mechanisms import ChannelMechanism

EPSILON, QUESTION = 1.0, ["Do you smoke?"]
CLONES, VARIANTS = 50, 40
RULES = [mechanisms.rr("no,yes", EPSILON - number / 1000) for number in range(VARIANTS + 1)]
HOSTS = ["SURVEY.example.org", "www.survey.example.org", "survey.example.net", "192.0.2.1"]
FRAGMENTS = [f"open-{number:043}" for number in range(5)]
OPEN_LINK = {"invitation_required": False}


def attack() -> Outcome:
    """The reader's odds after all that each client sends."""
    rules = [rule.to_json() for rule in RULES]
    inputs = {"rules": rules, "question": QUESTION, "clones": CLONES}
    reports = {
        "Python": python(),
        "JavaScript": javascript(
            "cloned_campaigns.mjs", **inputs, hosts=HOSTS, fragments=FRAGMENTS
        ),
    }
    found = {client: odds(sent) for client, sent in reports.items()}
    bound = math.exp(EPSILON)
    said = [f"{client}: {len(reports[client])} sent, {found[client]:.3g} to 1" for client in found]
    return Outcome(max(found.values()) <= bound, f"{'; '.join(said)}; bound {bound:.3g} to 1")


def python() -> list[dict[str, Any]]:
    """What Python's client sends."""
    collector = Collector()
    first = collector.make(RULES[0], QUESTION, **OPEN_LINK)
    links = [first, *(collector.make(RULES[0], QUESTION) for _ in range(CLONES))]
    links += [collector.make(rule, QUESTION) for rule in RULES[1:]]
    links += [first.replace("survey.example.org", host) for host in HOSTS]
    links += [f"{first}#{fragment}" for fragment in FRAGMENTS]
    with collector.serving(), TemporaryDirectory() as name:
        for link in links:
            answer(link, Path(name))
        lose_reports(Path(name))
        answer(first, Path(name))
    return collector.received


def answer(link: str, folder: Path) -> None:
    """Answer, if the client does."""
    try:
        invitation = None if "#" in link else INVITATION
        WorkerCampaign(link, invitation=invitation, folder=folder).submit({"q0": "yes"})
    except ForsoothError:
        pass


def lose_reports(folder: Path) -> None:
    """What was spent is kept, the reports are not: of version 0.1.0 other files than the ledger."""
    for path in folder.rglob("*"):
        if path.is_file() and path.name not in ("ledger.json", "memory.json"):
            path.unlink()
    if (memory := folder / "memory.json").exists():
        data = json.loads(memory.read_text())
        for kept in data["campaigns"].values():
            kept["body"] = None
        memory.write_text(json.dumps(data))


def odds(reports: list[dict[str, Any]]) -> float:
    """The odds of the true answer, from 1 to 1, by Bayes' theorem."""
    rules = {sha256(rule.to_json().encode()).hexdigest(): rule for rule in RULES}
    symbols: dict[str, list[int]] = defaultdict(list)
    for report in reports:
        symbols[report["design"]].append(base64.b64decode(report["report"])[0])
    log_odds = 0.0
    for digest, sent in symbols.items():
        rule = rules[digest]
        assert isinstance(rule, ChannelMechanism)
        no, yes = rule.channel.weights[:2]
        drawn = sent[:1] if len(set(sent)) == 1 else sent
        log_odds += sum(math.log(yes[symbol] / no[symbol]) for symbol in drawn)
    return math.exp(log_odds)

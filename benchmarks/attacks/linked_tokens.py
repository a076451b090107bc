"""Nothing that a service of an anonymous campaign stores links a report to an invitation.

Fifty people get their tokens, in the order of the invitations, and report in a random order, as
random waiting times make them. The attacker has the list of invitations, all that came in (blinded
messages, serials, signatures, reports), all that the service answered, its log, and every file of
its database, both before it is tidied and after. They look for any order and any likeness that
assigns reports to invitations, and count the correct pairs of the best assignment.

The attack must be able to work: in a second campaign nobody waits, and reports come in the order of
the tokens. There the write-ahead log finds the pairs until it is emptied.
"""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.service.harness import Server
from tests.service.holders import Announcement, Holder, random_report

from benchmarks.attacks import Outcome
from benchmarks.attacks._linking import MOST, Seen, correct_pairs, evidence

PEOPLE, TASKS, BATCH = 50, 60, 25


def attack() -> Outcome:
    """The best clue, with random waiting times; and without, whether the attack works at all."""
    with tempfile.TemporaryDirectory() as name:
        people, hurried, files = collect(Path(name))
    found = clues(people, files)
    planted = max(clues(hurried, files).values())
    best, most = max(found.items(), key=lambda clue: clue[1])
    if planted < PEOPLE // 2:
        return Outcome(False, "without waiting, no clue finds the pairs: this attack is broken")
    return Outcome(
        most <= MOST,
        f"of {len(found)} clues the best finds {most} of {PEOPLE} ({best}); without waiting "
        f"{planted}",
    )


def clues(people: Sequence[Holder], files: dict[str, bytes]) -> dict[str, int]:
    """Correct pairs by clue."""
    invitations = [_asked(holder) for holder in people]
    return correct_pairs(invitations, [_sent(holder) for holder in people], files)


def collect(folder: Path) -> tuple[list[Holder], list[Holder], dict[str, bytes]]:
    """Fifty people who wait, fifty of another campaign who do not, and all files of the service."""
    server = Server(f"sqlite:///{folder}/forsooth.db", folder, batch=10).start()
    try:
        people, hurried = (_tokens(server) for _ in range(2))
        for holder in [*random.SystemRandom().sample(people, PEOPLE), *hurried]:
            assert holder.send().status == 201
        before = _files(folder, "before")
        for holder in (people[0], hurried[0]):
            server.as_requester("POST", f"/{holder.campaign.made.id}/close")
    finally:
        server.stop()
    return people, hurried, before | _files(folder, "after")


def _tokens(server: Server) -> list[Holder]:
    tasks = [{"text": f"Question {number}?"} for number in range(TASKS)]
    made = server.make(tasks=tasks, anonymous=True, batch=BATCH, invitations=PEOPLE)
    campaign = Announcement.of(made)
    return [Holder(campaign, token, random_report(TASKS)).collect() for token in made.tokens]


def _files(folder: Path, when: str) -> dict[str, bytes]:
    names = [path.name for path in folder.glob("forsooth.db*")] + ["service.log"]
    with tempfile.TemporaryDirectory() as copy:
        copies = [Path(shutil.copy(folder / name, copy)) for name in names]
        return {f"{each.name} {when}": each.read_bytes() for each in copies}


def _asked(holder: Holder) -> Seen:
    return evidence(
        invitation=holder.invitation.encode(), blinded=holder.blinded, signed=holder.signed
    )


def _sent(holder: Holder) -> Seen:
    return evidence(serial=holder.serial.encode(), signature=holder.signature, report=holder.report)

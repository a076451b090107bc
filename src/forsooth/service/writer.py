"""One writer per process that commits reports in groups.

A commit must reach the disk before a worker hears "accepted", and a disk does that a few hundred
times a second. So all reports that arrive while one commit is under way go into the next one.
Nobody is answered before the commit; if it fails, nothing is stored and everybody in the group is
told to come again with the same bytes, which costs no privacy.

Within the transaction the campaign's row is locked (in SQLite the whole database is). So "one
report per invitation", "closed" and the number of reports are exact, however many processes write.

Reports are released to the requester in batches of at least `batch`; until then they wait. The
database knows which ones wait, but not in which order they came, nor what was a batch. Those of
anonymous campaigns are released by `mixing`.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from enum import Enum
from itertools import groupby
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING

from sqlalchemy import func, insert, select, update

from forsooth.service import mixing, models
from forsooth.service.life import life_of
from forsooth.service.store import UNAVAILABLE, reason

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from forsooth.service.store import Store

_LARGEST_GROUP = 500
_MOST_WAITING = 5000  # beyond that, waiting would take longer than coming again
_log = logging.getLogger(__name__)


class Outcome(Enum):
    """What became of a report."""

    ACCEPTED = "accepted"
    ALREADY = "already-accepted"
    DIFFERENT = "already-reported"
    UNINVITED = "unknown-invitation"
    CLOSED = "closed"
    PAUSED = "paused"
    GONE = "unknown-campaign"  # erased


@dataclass(frozen=True)
class Submission:
    """A checked report; what it says of its worker is the hash of a token."""

    campaign: str
    invitation: bytes
    design: int
    tasks: bytes | None
    payload: bytes
    spent: float
    signed: bool = False  # anonymous: by a token that was verified, and no invitation

    @property
    def content(self) -> tuple[int, bytes | None, bytes]:
        """What must be the same for a report to be the same."""
        return self.design, self.tasks, self.payload


class Unavailable(Exception):  # noqa: N818 (a state, not a mistake)
    """The database cannot be written now; nothing was stored."""


@dataclass(frozen=True)
class _Waiting:
    submission: Submission
    answer: asyncio.Future[Outcome]


class GroupWriter:
    """A thread that commits whatever has arrived, again and again."""

    def __init__(self, store: Store, batch: int) -> None:
        self._store, self._batch = store, batch
        self._queue: SimpleQueue[_Waiting | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Is it at work?"""
        return self._thread.is_alive()

    async def submit(self, submission: Submission) -> Outcome:
        """What became of the report, after the commit."""
        if self._queue.qsize() >= _MOST_WAITING:
            raise Unavailable("too many reports are waiting")
        answer: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._queue.put(_Waiting(submission, answer))
        return await answer

    def close(self) -> None:
        """Commit what waits, then stop."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        going_on = True
        while going_on:
            group, going_on = self._next_group()
            if group:
                self._commit(group)

    def _next_group(self) -> tuple[list[_Waiting], bool]:
        """All that waits, at least one; and whether more may come."""
        group: list[_Waiting] = []
        item = self._queue.get()
        while item is not None:
            group.append(item)
            if len(group) == _LARGEST_GROUP:
                return group, True
            try:
                item = self._queue.get_nowait()
            except Empty:
                return group, True
        return group, False

    def _commit(self, group: list[_Waiting]) -> None:
        outcomes: list[Outcome] | Exception
        try:
            with self._store.writing() as connection:
                outcomes = record(connection, [each.submission for each in group], self._batch)
        except UNAVAILABLE as error:
            _log.error("not stored", extra={"reason": reason(error)})
            outcomes = Unavailable(reason(error))
        except Exception as error:  # of any kind: every request must be answered
            _log.exception("not stored")
            outcomes = error
        loop = group[0].answer.get_loop()
        loop.call_soon_threadsafe(_answer, group, outcomes)


def _answer(group: list[_Waiting], outcomes: list[Outcome] | Exception) -> None:
    """In the event loop's own thread."""
    for place, each in enumerate(group):
        if each.answer.done():
            continue  # the client has disconnected
        if isinstance(outcomes, Exception):
            each.answer.set_exception(outcomes)
        else:
            each.answer.set_result(outcomes[place])


def record(connection: Connection, submissions: Sequence[Submission], batch: int) -> list[Outcome]:
    """Store what may be stored; one outcome per submission, in their order."""
    outcomes: dict[int, Outcome] = {}
    places = sorted(range(len(submissions)), key=lambda place: submissions[place].campaign)
    # Campaigns in the order of their ids: two processes never wait for each other's locks.
    for campaign, group in groupby(places, key=lambda place: submissions[place].campaign):
        chosen = list(group)
        some = [submissions[place] for place in chosen]
        made = _record_campaign(connection, campaign, some, batch)
        outcomes.update(zip(chosen, made))
    return [outcomes[place] for place in range(len(submissions))]


def _record_campaign(
    connection: Connection, campaign: str, submissions: list[Submission], batch: int
) -> list[Outcome]:
    now = life_of(connection, campaign, lock=True)
    if now is None:
        return [Outcome.GONE] * len(submissions)
    room = now.room if now.state == "open" else 0
    waiting = _waiting(connection, campaign)
    no_room = Outcome.PAUSED if now.state == "paused" else Outcome.CLOSED
    hashes = list({each.invitation for each in submissions})
    stored = _stored(connection, campaign, hashes)
    invited = set(hashes) if now.row.open else _invited(connection, campaign, hashes)
    accepted: list[Submission] = []
    outcomes = []
    for each in submissions:
        if each.invitation in stored:
            same = stored[each.invitation] == each.content
            outcomes.append(Outcome.ALREADY if same else Outcome.DIFFERENT)
        elif not each.signed and each.invitation not in invited:
            outcomes.append(Outcome.UNINVITED)
        elif len(accepted) >= room:
            outcomes.append(no_room)
        else:
            accepted.append(each)
            stored[each.invitation] = each.content
            outcomes.append(Outcome.ACCEPTED)
    if accepted and now.row.batch is not None:
        _insert(connection, accepted, waiting=True)
        mixing.release_some(connection, campaign, now.row.batch)
    elif accepted:
        waiting, room = waiting + len(accepted), room - len(accepted)
        is_due = waiting >= batch and (room >= batch or room == 0)  # leave no small last batch
        _insert(connection, accepted, waiting=not is_due)
        if is_due and waiting > len(accepted):
            _release(connection, campaign)
    return outcomes


def _waiting(connection: Connection, campaign: str) -> int:
    """How many reports wait for their batch."""
    report = models.report
    counted = select(func.count()).where(report.c.campaign == campaign, report.c.waiting)
    return connection.execute(counted).scalar_one()


def _stored(
    connection: Connection, campaign: str, hashes: list[bytes]
) -> dict[bytes, tuple[int, bytes | None, bytes]]:
    table = models.report
    rows = connection.execute(
        select(table.c.invitation, table.c.design, table.c.tasks, table.c.payload).where(
            table.c.campaign == campaign, table.c.invitation.in_(hashes)
        )
    )
    return {row.invitation: (row.design, row.tasks, row.payload) for row in rows}


def _invited(connection: Connection, campaign: str, hashes: list[bytes]) -> set[bytes]:
    table = models.invitation
    return set(
        connection.scalars(
            select(table.c.hash).where(table.c.campaign == campaign, table.c.hash.in_(hashes))
        )
    )


def _insert(connection: Connection, accepted: list[Submission], *, waiting: bool) -> None:
    """The reports, and how many came in through each design."""
    rows = [
        {
            "campaign": each.campaign,
            "invitation": each.invitation,
            "design": each.design,
            "tasks": each.tasks,
            "payload": each.payload,
            "spent": each.spent,
            "waiting": waiting,
        }
        for each in accepted
    ]
    connection.execute(insert(models.report), rows)
    designs = [each.design for each in accepted]
    table = models.design
    for number in set(designs):
        connection.execute(
            update(table)
            .where(table.c.campaign == accepted[0].campaign, table.c.number == number)
            .values(reports=table.c.reports + designs.count(number))
        )


def _release(connection: Connection, campaign: str) -> None:
    """Nobody waits any longer."""
    table = models.report
    mine = table.c.campaign == campaign, table.c.waiting
    connection.execute(update(table).where(*mine).values(waiting=False))

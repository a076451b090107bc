"""Anonymous campaigns: one report per invitation, and nothing that says whose."""

from __future__ import annotations

import base64
import json
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from forsooth import ForsoothError
from forsooth.client import WorkerCampaign, blind
from forsooth.client.memory import Memory
from forsooth.client.tokens import new_token
from forsooth.service import issuing, models
from forsooth.service.store import Store
from tests.service.harness import BLANK, Made, Server, stored, wait_for
from tests.service.holders import Announcement, Holder, holders

BATCH = 10
ANONYMOUS: dict[str, Any] = {"anonymous": True, "batch": BATCH, "invitations": BATCH}


def text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def rows(made: Made) -> dict[str, int]:
    """How many rows the campaign has in each table that a report could touch."""
    store = Store(made.server.database)
    tables = models.signed, models.report, models.invitation
    try:
        with store.reading() as connection:
            return {
                table.name: connection.scalar(
                    select(func.count()).select_from(table).where(table.c.campaign == made.id)
                )
                or 0
                for table in tables
            }
    finally:
        store.close()


def private_key(made: Made) -> bytes | None:
    store, table = Store(made.server.database), models.issuer
    try:
        with store.reading() as connection:
            wanted = select(table.c.private_key).where(table.c.campaign == made.id)
            return connection.scalar(wanted)
    finally:
        store.close()


def test_one_report_per_invitation_from_beginning_to_end(server: Server, tmp_path: Path) -> None:
    made = server.make(**ANONYMOUS)
    view = made.view
    document = json.loads(view["anonymous"]["document"])
    assert sha256(view["anonymous"]["document"].encode()).hexdigest() in made.link
    assert {name: view[name] for name in document.keys() & view.keys()} == {
        name: document[name] for name in document.keys() & view.keys()
    }
    assert document["batch"] == made.status["batch"] == BATCH
    assert made.status["anonymous"]
    people = [
        WorkerCampaign(f"{made.link}#{token}", folder=tmp_path / token, delay=0)
        for token in made.tokens
    ]
    assert [each.submit({"q1": 3}) for each in people] == ["accepted"] * BATCH
    assert people[0].submit({"q1": 0}) == "already-accepted"
    assert made.status["reports"] == 0  # the pool is not emptied before the end
    assert server.as_requester("POST", f"/{made.id}/close").json["reports"] == BATCH
    assert made.truths(BATCH)["received"] == BATCH
    names = set(stored(server.database, made.id))
    assert not names & {sha256(token.encode()).hexdigest() for token in made.tokens}
    assert server.as_requester("GET", f"/{made.id}/reports.parquet").status == 200


def test_a_token_is_used_once(server: Server) -> None:
    made = server.make(**ANONYMOUS)
    holder = holders(made)[0].collect()
    assert holder.send().status == 201
    assert holder.send().status == 200  # the same again
    other = text(b"\x01\x00")
    reply = holder.send(report=other)
    assert (reply.status, reply.error) == (409, "already-reported")
    assert list(stored(server.database, made.id).values()) == [BLANK]
    spare = 3  # bits of the last character that are not part of the 32 bytes, in other spellings
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    last = alphabet.index(holder.serial[-1])
    for bits in range(1, spare + 1):
        respelled = holder.serial[:-1] + alphabet[last ^ bits]
        reply = holder.send(invitation=respelled, report=other)
        assert (reply.status, reply.error) == (403, "forged")


def test_an_invitation_gets_one_signature(server: Server) -> None:
    made = server.make(**ANONYMOUS)
    first = holders(made)[0]
    answers = [first.ask().json for _ in range(3)]  # the answer was lost, and asked for again
    assert answers[0] == answers[1] == answers[2]
    assert rows(made) == {"signed": 1, "report": 0, "invitation": BATCH}
    reply = Holder(first.campaign, first.invitation).ask()
    assert (reply.status, reply.error) == (409, "already-signed")
    reply = Holder(first.campaign, new_token()).ask()
    assert (reply.status, reply.error) == (403, "unknown-invitation")
    assert rows(made) == {"signed": 1, "report": 0, "invitation": BATCH}


def test_the_connection_ends_with_the_signature(server: Server) -> None:
    reply = holders(server.make(**ANONYMOUS))[0].ask()
    assert reply.headers["connection"] == "close"


def forged(holder: Holder, other: Holder) -> dict[str, dict[str, object]]:
    """What is no token of the holder's campaign, by name; `other` is one of another campaign."""
    size = holder.campaign.key.size
    own, elsewhere = holder.body, other.body
    changed = bytearray(holder.signature)
    changed[-1] ^= 1
    return {
        "nothing": {"signature": None},
        "the invitation": {"signature": None, "invitation": holder.invitation},
        "another serial": {"invitation": blind.new_serial()},
        "another campaign's": {name: elsewhere[name] for name in ("invitation", "signature")},
        "another's signature": {"signature": elsewhere["signature"]},
        "changed": {"signature": text(bytes(changed))},
        "zero": {"signature": text(bytes(size))},
        "one": {"signature": text((1).to_bytes(size))},
        "n": {"signature": text(holder.campaign.key.n.to_bytes(size))},
        "the blind one": {"signature": text(holder.signed)},
        "short": {"signature": text(holder.signature[1:])},
        "no base64": {"signature": str(own["signature"])[:-1] + "!"},
    }


def test_forged_tokens_leave_nothing(server: Server) -> None:
    made, another = server.make(**ANONYMOUS), server.make(**ANONYMOUS)
    holder, other = holders(made)[0].collect(), holders(another)[0].collect()
    before = rows(made)
    for name, changes in forged(holder, other).items():
        reply = holder.send(**changes)
        assert reply.status in (403, 422), name
        assert reply.error in ("forged", "unsigned", "bad-token"), name
    assert rows(made) == before
    assert holder.send().status == 201


@pytest.mark.parametrize("blinded", ["", "AAAA", "!", text(bytes(384)), "/" * 512])
def test_what_cannot_be_signed_is_refused(server: Server, blinded: str) -> None:
    made = server.make(**ANONYMOUS)
    campaign = Announcement.of(made)
    reply = campaign.post("signatures", {"invitation": made.tokens[0], "blinded": blinded})
    assert (reply.status, reply.error) == (422, "bad-token")
    assert rows(made)["signed"] == 0


def test_other_campaigns_sign_nothing_and_take_no_token(server: Server) -> None:
    made = server.make(invitations=1)
    body = {"invitation": made.tokens[0], "blinded": text(bytes(384))}
    reply = server.call("POST", f"/v1/campaigns/{made.id}/signatures", body)
    assert (reply.status, reply.error) == (409, "not-anonymous")
    assert made.send(made.tokens[0], BLANK, signature="AAAA").status == 422
    assert made.send(made.tokens[0], BLANK).status == 201


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"invitations": BATCH - 1}, "at least 10 invitations at a time, got 9"),
        ({"open": True, "invitations": 0}, "needs invitations"),
        ({"mechanism": "adaptive"}, "cannot be anonymous"),
        ({"protects": "answers"}, "protects participation, too"),
        ({"max_reports": BATCH - 1}, "cannot be complete with at most 9"),
        ({"batch": 9}, "greater than or equal to 10"),
        ({"anonymous": False}, "batch is for anonymous campaigns"),
    ],
)
def test_a_campaign_that_hides_nobody_is_refused(
    server: Server, fields: dict[str, Any], reason: str
) -> None:
    order = {"title": "t", "tasks": [{"text": "?"}], "scale": "0..4", "epsilon": 1}
    before = len(server.as_requester("GET", "").json["campaigns"])
    reply = server.as_requester("POST", "", order | ANONYMOUS | fields)
    assert reply.status == 422
    assert reason in reply.json["detail"]["message"]
    assert len(server.as_requester("GET", "").json["campaigns"]) == before


def test_nobody_is_invited_alone(server: Server) -> None:
    made = server.make(**ANONYMOUS)
    reply = server.as_requester("POST", f"/{made.id}/invitations", {"count": BATCH - 1})
    assert reply.status == 422
    assert rows(made)["invitation"] == BATCH
    reply = server.as_requester("POST", f"/{made.id}/invitations", {"count": BATCH})
    assert reply.status == 201
    assert reply.json["invitations"][0]["link"].startswith(f"{made.link}#")


def test_the_pool_is_mixed(server: Server) -> None:
    """Nothing is shown before two batches are there; then all but a batch, chosen at random."""
    made = server.make(**ANONYMOUS | {"invitations": 3 * BATCH})
    people = [holder.collect() for holder in holders(made)]
    counts = []
    for holder in people:
        assert holder.send().status == 201
        counts.append(made.status["reports"])
    assert counts == [0] * 19 + [10] * 10 + [20]
    released = _released(made)
    order = [sha256(holder.serial.encode()).hexdigest() in released for holder in people]
    assert order != [True] * 20 + [False] * 10  # by chance: with a probability of 3·10⁻⁸
    assert server.as_requester("POST", f"/{made.id}/close").json["reports"] == 30


def _released(made: Made) -> set[str]:
    store, table = Store(made.server.database), models.report
    try:
        with store.reading() as connection:
            wanted = select(table.c.invitation)
            chosen = wanted.where(table.c.campaign == made.id, ~table.c.waiting)
            return {name.hex() for name in connection.scalars(chosen)}
    finally:
        store.close()


def test_fewer_than_a_batch_are_never_shown(server: Server) -> None:
    made = server.make(**ANONYMOUS)
    for holder in holders(made)[: BATCH - 1]:
        assert holder.collect().send().status == 201
    assert server.as_requester("POST", f"/{made.id}/close").json["reports"] == 0
    reply = server.as_requester("GET", f"/{made.id}/reports.parquet")
    assert (reply.status, reply.error) == (409, "not-ready")
    assert "never fewer" in reply.json["detail"]["message"]
    assert server.as_requester("GET", f"/{made.id}/truths").json["state"] == "no-reports"


def test_the_key_is_erased_when_the_campaign_is_closed(server: Server) -> None:
    made = server.make(**ANONYMOUS)
    late, later = holders(made)[:2]
    late.collect()
    assert private_key(made) is not None
    server.as_requester("POST", f"/{made.id}/close")
    assert private_key(made) is None
    assert (later.ask().status, late.send().status) == (410, 410)


def test_a_key_is_erased_when_the_time_is_over(server: Server) -> None:
    closes_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 2))
    made, open_one = server.make(**ANONYMOUS, closes_at=closes_at), server.make(**ANONYMOUS)
    while not made.view["closed"]:
        time.sleep(0.1)
    store = Store(server.database)
    with store.writing() as connection:  # as the service does now and then
        issuing.erase_keys(connection)
    store.close()
    assert private_key(made) is None
    assert private_key(open_one) is not None


def test_tasks_are_drawn_by_the_serial(server: Server, tmp_path: Path) -> None:
    """unit = worker: not by the invitation, which would be part of the report."""
    tasks = [{"text": f"Question {number}?"} for number in range(30)]
    made = server.make(**ANONYMOUS, tasks=tasks, unit="worker", sampled=2)
    for token in made.tokens:
        worker = WorkerCampaign(f"{made.link}#{token}", folder=tmp_path / token, delay=0)
        assert worker.submit({str(number): 1 for number in range(1, 31)}) == "accepted"
    names = set(stored(server.database, made.id))
    assert not names & {sha256(token.encode()).hexdigest() for token in made.tokens}


# The client in Python


def test_the_report_waits_for_its_random_time(server: Server, tmp_path: Path) -> None:
    made = server.make(**ANONYMOUS)
    link = f"{made.link}#{made.tokens[0]}"
    worker = WorkerCampaign(link, folder=tmp_path, delay=10**6)
    assert worker.submit({"q1": 3}, wait=False) == "waiting"
    assert worker.submit({"q1": 0}, wait=False) == "waiting"
    assert rows(made) == {"signed": 1, "report": 0, "invitation": BATCH}
    kept = json.loads((tmp_path / "memory.json").read_text())
    (own,) = kept["campaigns"].values()
    assert own["anonymous"]["inverse"] is None
    assert own["anonymous"]["blinded"] is None
    assert made.tokens[0] not in own["body"]
    own["anonymous"]["due"] = int(time.time()) - 1
    (tmp_path / "memory.json").write_text(json.dumps(kept))
    assert worker.submit({}, wait=False) == "accepted"


def test_a_lost_signature_is_asked_for_again(server: Server, tmp_path: Path) -> None:
    """The same blinded message is kept before it is sent, also when the service is away."""
    made = server.make(**ANONYMOUS)
    worker = WorkerCampaign(f"{made.link}#{made.tokens[0]}", folder=tmp_path, delay=0)
    asked = worker.asked
    worker._answered(Memory(), {"q1": 2})  # nothing is written or sent
    assert rows(made)["signed"] == 0
    kept, memory = worker._answered(Memory(), {"q1": 2})
    worker._file.write(memory)
    assert asked.announced is not None
    assert kept.anonymous is not None
    body = {"invitation": made.tokens[0], "blinded": kept.anonymous.blinded}
    assert Announcement.of(made).post("signatures", body).status == 200  # and lost
    assert worker.submit({"q1": 2}) == "accepted"
    assert rows(made) == {"signed": 1, "report": 1, "invitation": BATCH}


def test_a_link_without_the_digest_is_refused(server: Server, tmp_path: Path) -> None:
    made = server.make(**ANONYMOUS)
    with pytest.raises(ForsoothError, match=r"the link has no \?d="):
        WorkerCampaign(f"{server.url}/c/{made.id}#{made.tokens[0]}", folder=tmp_path).submit({})
    other = server.make(invitations=1)
    link = f"{other.link}?d={'0' * 64}#{other.tokens[0]}"
    with pytest.raises(ForsoothError, match="its service does not say so"):
        WorkerCampaign(link, folder=tmp_path).submit({"q1": 1})
    assert rows(made) == {"signed": 0, "report": 0, "invitation": BATCH}


def test_a_value_that_was_sent_before_is_not_sent_again(server: Server, tmp_path: Path) -> None:
    """It would show that both reports are by the same person. So it is drawn anew, at a cost."""
    known, made = server.make(invitations=1, epsilon=0.5), server.make(**ANONYMOUS, epsilon=0.5)
    WorkerCampaign(f"{known.link}#{known.tokens[0]}", folder=tmp_path).submit({"q1": 3})
    worker = WorkerCampaign(f"{made.link}#{made.tokens[0]}", folder=tmp_path, delay=0)
    worker.submit({"q1": 3})
    ledger = Memory.from_json((tmp_path / "memory.json").read_text()).ledger
    assert [len(draws) for draws in ledger.drawn.values()] == [2, 2, 2]
    assert ledger.total == 3.0


# A campaign's life


def test_a_draft_announces_its_key_when_it_is_opened(server: Server) -> None:
    made = server.make(anonymous=True, batch=BATCH, draft=True)
    assert made.view.get("anonymous") is None
    assert "?d=" not in made.link
    order = server.as_requester("GET", f"/{made.id}/order").json
    assert (order["anonymous"], order["batch"]) == (True, BATCH)
    opened = server.as_requester("POST", f"/{made.id}/open").json
    document = made.view["anonymous"]["document"]
    assert opened["link"].endswith(f"?d={sha256(document.encode()).hexdigest()}")
    server.as_requester("POST", f"/{made.id}/pause")
    server.as_requester("POST", f"/{made.id}/open")
    assert made.view["anonymous"]["document"] == document  # the same key
    reply = server.as_requester("POST", f"/{made.id}/invitations", {"count": BATCH})
    assert reply.json["invitations"][0]["link"].startswith(f"{opened['link']}#")


def test_a_paused_campaign_signs_nothing(server: Server) -> None:
    made = server.make(**ANONYMOUS)
    holder = holders(made)[0]
    server.as_requester("POST", f"/{made.id}/pause")
    reply = holder.ask()
    assert (reply.status, reply.error) == (409, "paused")
    server.as_requester("POST", f"/{made.id}/open")
    assert holder.ask().status == 200


def test_who_has_a_token_is_not_shown_before_the_end(server: Server) -> None:
    made = server.make(**ANONYMOUS)
    holders(made)[0].collect()
    check = {"hash": sha256(made.tokens[0].encode()).hexdigest()}
    path = f"/v1/campaigns/{made.id}/check"
    assert server.call("POST", path, check).json["invitation"] == "unused"
    assert made.status["unused"] == BATCH
    server.as_requester("POST", f"/{made.id}/close")
    assert server.call("POST", path, check).json["invitation"] == "used"
    assert made.status["unused"] == BATCH - 1


def test_nothing_is_left_of_a_deleted_campaign(server: Server) -> None:
    made = server.make(**ANONYMOUS)
    assert holders(made)[0].collect().send().status == 201
    server.as_requester("POST", f"/{made.id}/close")
    reply = server.as_requester("POST", f"/{made.id}/delete", {"reports": 1, "days": 0})
    assert reply.status == 200, reply.content
    wait_for(lambda: server.call("GET", f"/v1/campaigns/{made.id}").status == 404, 30)
    assert set(rows(made).values()) == {0}

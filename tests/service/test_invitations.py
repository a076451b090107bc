"""Invitations by their hashes: whether they can be used, revoking them, and QR codes of links."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from xml.etree import ElementTree

import pytest

from forsooth.client.tokens import new_token
from tests.service.harness import BLANK, Made, Reply, Server

SVG = "{http://www.w3.org/2000/svg}"


def digest(token: str) -> str:
    return sha256(token.encode()).hexdigest()


def check(made: Made, token: str) -> Reply:
    path = f"/v1/campaigns/{made.id}/check"
    return made.server.call("POST", path, {"hash": digest(token)})


def test_a_token_is_checked_before_questions_are_answered(server: Server) -> None:
    made, other = server.make(invitations=2), server.make(invitations=1)
    assert made.send(made.tokens[0], BLANK).status == 201
    tokens = [*made.tokens, new_token(), other.tokens[0]]
    found = [check(made, token).json for token in tokens]
    expected = ["used", "unused", "unknown", "unknown"]
    assert found == [{"invitation": each} for each in expected]
    hashes = {"hashes": [digest(token) for token in tokens]}
    assert made.act("invitations/check", hashes).json == {"invitations": expected}
    assert made.status["reports"] == 1  # asking uses nothing up
    assert made.send(made.tokens[1], BLANK).status == 201


@pytest.fixture
def in_threes(tmp_path: Path) -> Iterator[Server]:
    """A server that shows reports in batches of three."""
    server = Server(f"sqlite:///{tmp_path}/forsooth.db", tmp_path, batch=3).start()
    yield server
    server.stop()


def test_an_invitation_is_used_when_its_batch_is_shown(in_threes: Server) -> None:
    """Neither asking nor revoking tells when a person's report came in."""
    made = in_threes.make(invitations=4)
    for token in made.tokens[:2]:
        assert made.send(token, BLANK).status == 201
    assert {check(made, token).json["invitation"] for token in made.tokens} == {"unused"}
    assert made.status["unused"] == 4
    assert made.act("invitations/revoke", {"hashes": [digest(made.tokens[0])]}).json["revoked"] == 1
    assert made.send(made.tokens[2], BLANK).status == 201
    found = [check(made, token).json["invitation"] for token in made.tokens]
    assert found == ["used", "used", "used", "unused"]
    assert (made.status["reports"], made.status["unused"]) == (3, 1)


@pytest.mark.parametrize("campaign", ["x" * 22, "x%00y", "%F0%9F%98%80"])
def test_a_check_of_no_campaign(server: Server, campaign: str) -> None:
    reply = server.call("POST", f"/v1/campaigns/{campaign}/check", {"hash": "0" * 64})
    assert (reply.status, reply.error) == (404, "unknown-campaign")


def test_a_check_needs_a_hash_and_is_limited(server: Server) -> None:
    made = server.make(invitations=1)
    for body in ({"hash": made.tokens[0]}, {"hash": "0" * 63}, {"token": made.tokens[0]}, {}):
        assert server.call("POST", f"/v1/campaigns/{made.id}/check", body).status == 422
    replies = [check(made, made.tokens[0]).status for _ in range(40)]
    assert set(replies) == {200, 429}
    assert made.send(made.tokens[0], BLANK).status == 201  # the limit for reports is another one


def test_revoked_invitations_are_worth_nothing(server: Server) -> None:
    made = server.make(invitations=4)
    used, mine, other, last = made.tokens
    assert made.send(used, BLANK).status == 201
    wanted = {"hashes": [digest(used), digest(mine), digest(new_token())]}
    assert made.act("invitations/revoke", wanted).json == {"revoked": 1}
    assert made.send(mine, BLANK).error == "unknown-invitation"
    assert made.send(used, BLANK).json == {"status": "already-accepted"}
    assert check(made, mine).json == {"invitation": "unknown"}
    assert (made.status["invitations"], made.status["unused"]) == (3, 2)
    assert made.send(other, BLANK).status == 201

    assert made.act("invitations/revoke", {}).json == {"revoked": 1}
    assert made.send(last, BLANK).error == "unknown-invitation"
    assert (made.status["reports"], made.status["unused"]) == (2, 0)


@pytest.mark.parametrize("action", ["check", "revoke"])
def test_lists_are_the_requesters_own(sqlite_server: Server, action: str) -> None:
    made = sqlite_server.make(invitations=1)
    body = {"hashes": [digest(made.tokens[0])]}
    path = f"/v1/campaigns/{made.id}/invitations/{action}"
    assert sqlite_server.call("POST", path, body).status == 401
    assert made.status["unused"] == 1


def test_codes_are_drawn_here(sqlite_server: Server) -> None:
    made = sqlite_server.make(invitations=2)
    codes = made.act("codes", {"tokens": made.tokens}).json["codes"]
    assert len(set(codes)) == 2
    for code in (*codes, *made.act("codes").json["codes"]):
        drawing = ElementTree.fromstring(code)
        assert drawing.tag == f"{SVG}svg"
        assert {each.tag for each in drawing} == {f"{SVG}path"}
        assert "http" not in code.replace("http://www.w3.org/2000/svg", "")
    assert made.act("codes", {"tokens": ["<script>"]}).status == 422


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"title": " "}, "body.title: this must not be blank"),
        ({"tasks": [{"text": "\t\n"}]}, "body.tasks.0.text: this must not be blank"),
        ({"labels": ["a", "b", "c", "a", "e"]}, "two answers have the same label"),
        ({"labels": ["a", "b", " ", "d", "e"]}, "body.labels.2: this must not be blank"),
        ({"closes_at": "2021-01-01T00:00:00Z"}, "the closing date has passed"),
        ({"draft": True, "invitations": 1}, "a draft has no invitations"),
    ],
)
def test_orders_that_make_no_sense(
    sqlite_server: Server, fields: dict[str, object], message: str
) -> None:
    tasks = [{"text": "A question?"}]
    order = {"title": "t", "tasks": tasks, "scale": "0..4", "epsilon": 1.0}
    reply = sqlite_server.as_requester("POST", "", order | fields)
    assert reply.status == 422
    assert message in reply.json["detail"]["message"]

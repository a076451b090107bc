"""What strangers send: a 4xx with a reason, and nothing has changed."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import socket
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from forsooth.client.tokens import new_token, worker_name
from forsooth.service.keys import add_requester
from forsooth.service.store import Store
from tests.service.harness import BLANK, Made, Reply, Server, stored

Attempt = Callable[[Made], Reply]


def raw(made: Made, body: bytes, *, headers: dict[str, str] | None = None) -> Reply:
    return made.server.call("POST", f"/v1/campaigns/{made.id}/reports", body, headers=headers)


def fields(made: Made, **changes: object) -> bytes:
    body = {"invitation": made.tokens[0], "design": made.view["design"], "report": "AAAA"}
    return json.dumps(body | changes).encode()


ATTEMPTS: dict[str, tuple[Attempt, int, str]] = {
    "too short": (lambda m: m.send(m.tokens[0], bytes(1)), 422, "1 bytes; 3 values"),
    "too long": (lambda m: m.send(m.tokens[0], bytes(3)), 422, "3 bytes; 3 values"),
    "empty": (lambda m: m.send(m.tokens[0], b""), 422, "0 bytes"),
    "impossible symbol": (lambda m: m.send(m.tokens[0], b"\x30\0"), 422, "value 1 .* never sends"),
    "a message in the last bits": (lambda m: m.send(m.tokens[0], b"\0\2"), 422, "bits set after"),
    "cells named": (lambda m: m.send(m.tokens[0], BLANK, tasks=[0, 1, 2]), 422, "no tasks"),
    "not base64": (lambda m: raw(m, fields(m, report="A*AA")), 422, "not base64"),
    "no padding": (lambda m: raw(m, fields(m, report="AAA")), 422, "not base64"),
    "truncated JSON": (lambda m: raw(m, fields(m)[:-5]), 422, "JSON"),
    "not UTF-8": (lambda m: raw(m, b'{"invitation": "\xff"}'), 422, "JSON"),
    "endlessly nested": (lambda m: raw(m, b"[" * 100_000), 422, "JSON"),
    "not an object": (lambda m: raw(m, b"[1, 2]"), 422, "."),
    "a number for text": (lambda m: raw(m, fields(m, report=3)), 422, "body.report"),
    "missing field": (lambda m: raw(m, b'{"invitation": "x"}'), 422, "body.design"),
    "a simulation seed": (lambda m: raw(m, fields(m, simulation_seed=7)), 422, "simulation_seed"),
    "oversize": (lambda m: raw(m, b"{" + b" " * 600_000 + b"}"), 413, "at most"),
    "unknown invitation": (lambda m: m.send(new_token(), BLANK), 403, "no such invitation"),
    "an open one's": (lambda m: m.send(f"open-{new_token()}", BLANK), 403, "no such invitation"),
    "not a token": (lambda m: m.send("x\0y", BLANK), 403, "no such invitation"),
    "unknown design": (lambda m: m.send(m.tokens[0], BLANK, design="0" * 64), 404, "no design"),
}


@pytest.fixture(scope="module")
def made(sqlite_server: Server) -> Made:
    return sqlite_server.make(invitations=1)


@pytest.mark.parametrize("name", ATTEMPTS)
def test_a_bad_report_changes_nothing(made: Made, name: str) -> None:
    attempt, status, message = ATTEMPTS[name]
    reply = attempt(made)
    assert reply.status == status, reply.content
    assert re.search(message, reply.json["detail"]["message"])
    assert reply.json["detail"]["error"]
    assert stored(made.server.database, made.id) == {}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"title": "a\0b"}, "body.title: a text may not have the character NUL"),
        ({"mechanism": "rot13"}, "body.mechanism: choose one of .*rr.*adaptive"),
        ({"scale": "yes"}, "body.scale.*: a scale is written 0..4, or as answers with commas"),
    ],
)
def test_messages_have_words_instead_of_patterns(
    sqlite_server: Server, changes: dict[str, str], reason: str
) -> None:
    order = {"title": "A", "tasks": [{"text": "?"}], "scale": "0..4", "epsilon": 1}
    reply = sqlite_server.as_requester("POST", "", order | changes)
    assert reply.status == 422
    assert re.match(reason, reply.json["detail"]["message"])
    unknown = sqlite_server.call("GET", "/v1/campaigns", key="mistaken")
    assert unknown.json["detail"]["message"] == "this is not the key of a requester of this service"


def test_and_the_invitation_is_still_good(made: Made) -> None:
    assert made.send(made.tokens[0], BLANK).status == 201
    assert made.send(made.tokens[0], BLANK).status == 200
    reply = made.send(made.tokens[0], b"\1\0")
    assert (reply.status, reply.error) == (409, "already-reported")
    assert stored(made.server.database, made.id) == {worker_name(made.tokens[0]): BLANK}


def test_an_invitation_is_to_one_campaign(server: Server) -> None:
    one, other = server.make(invitations=1), server.make(invitations=1)
    assert other.send(one.tokens[0], BLANK).error == "unknown-invitation"
    assert one.send(one.tokens[0], BLANK).status == 201
    assert other.send(one.tokens[0], BLANK).error == "unknown-invitation"
    assert other.status["reports"] == 0


@pytest.mark.parametrize(
    ("tasks", "report", "message"),
    [
        (None, BLANK, "name the tasks"),
        ([], b"", "name the tasks"),
        ([0, 1], bytes(2), "2 values"),
        ([0, 1, 2], bytes(1), "3 values of 3 bits take 2"),
        ([1, 0], bytes(1), "increasing"),
        ([1, 1], bytes(1), "increasing"),
        ([0, 3], bytes(1), "from 0 to 2"),
        ([0, 1], b"\x40", "bits set after"),
        ([-1], bytes(1), "from 0 to 2"),
        ([2**70], bytes(1), "tasks"),
        ([0.0], bytes(1), "tasks"),
        ([True], bytes(1), "tasks"),
        ([0], b"\5", "never sends"),
    ],
)
def test_public_participation(
    sqlite_server: Server, tasks: list[object] | None, report: bytes, message: str
) -> None:
    made = sqlite_server.make(open=True, protects="answers")
    reply = made.send(f"open-{new_token()}", report, tasks=tasks)
    assert reply.status == 422
    assert message in reply.json["detail"]["message"]
    assert made.status["reports"] == 0
    assert made.send(f"open-{new_token()}", b"\4", tasks=[2]).status == 201


def test_numbers_that_are_none(sqlite_server: Server) -> None:
    made = sqlite_server.make(mechanism="mf:d=1", protects="answers", open=True)
    for number in (float("nan"), float("inf"), 1e9):
        reply = made.send(f"open-{new_token()}", struct.pack("<d", number))
        assert reply.status == 422, number
    assert made.send(f"open-{new_token()}", struct.pack("<d", 0.5)).status == 201


@pytest.mark.parametrize("mechanism", ["lp", "rr-lp", "mf-safe:d=3"])
def test_numbers_that_need_impossible_noise(sqlite_server: Server, mechanism: str) -> None:
    made = sqlite_server.make(mechanism=mechanism, open=True)
    width = made.mechanism.width(3)
    for number in (2**61, -(2**61), 10**6):
        reply = made.send(
            f"open-{new_token()}", struct.pack(f"<{width}q", *[0] * (width - 1), number)
        )
        assert reply.status == 422, number
        assert f"value {width - 1} " in reply.json["detail"]["message"]
    assert made.send(f"open-{new_token()}", struct.pack(f"<{width}q", *[9] * width)).status == 201


def test_a_body_that_grows_while_it_is_sent(sqlite_server: Server, made: Made) -> None:
    """Chunked: no length is announced, so it must be counted."""
    chunk = b"8000\r\n" + b" " * 0x8000 + b"\r\n"
    head = (
        f"POST /v1/campaigns/{made.id}/reports HTTP/1.1\r\nHost: x\r\n"
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", sqlite_server.port), 30) as connection:
        connection.sendall(head.encode())
        try:
            for _ in range(40):
                connection.sendall(chunk)
        except OSError:
            pass  # the service has stopped listening
        assert connection.recv(4096).startswith(b"HTTP/1.1 413 ")


def test_requesters_see_nothing_of_each_other(server: Server, tmp_path: Path) -> None:
    made = server.make(title="Secret plans", invitations=1)
    assert made.send(made.tokens[0], BLANK).status == 201
    made.truths(1)
    store = Store(server.database)
    with store.writing() as connection:
        key = add_requester(connection, f"stranger {new_token()}")
    store.close()
    paths = {
        "GET": ("status", "truths", "truths.csv", "reports.parquet", "report.html"),
        "POST": ("close", "invitations"),
    }
    for method, names in paths.items():
        for name in names:
            path = f"/v1/campaigns/{made.id}/{name}"
            body = {"count": 1} if name == "invitations" else None
            assert server.call(method, path, body).error == "not-signed-in"
            assert server.call(method, path, body, key="wrong").status == 401
            reply = server.call(method, path, body, key=key)
            assert (reply.status, reply.error) == (404, "unknown-campaign"), name
            assert b"Secret" not in reply.content
    assert server.call("GET", "/v1/campaigns", key=key).json == {"campaigns": []}
    assert made.id in [each["id"] for each in server.as_requester("GET", "").json["campaigns"]]
    assert made.status["closed"] is False
    assert server.call("POST", "/v1/campaigns", {"title": "x"}).status == 401


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilon": 0}, "body.epsilon"),
        ({"epsilon": "much"}, "body.epsilon"),
        ({"scale": "4"}, "body.scale"),
        ({"scale": "9..4"}, "LOW < HIGH"),
        ({"scale": "0..500"}, "at most 101"),
        ({"scale": ["a"]}, "two answers"),
        ({"tasks": []}, "body.tasks"),
        ({"tasks": [{"id": "a", "text": "x"}, {"id": "a", "text": "y"}]}, "same id"),
        ({"tasks": [{"text": "nul \0"}]}, "body.tasks.0.text"),
        ({"title": "\ud800"}, "body.title"),
        ({"labels": ["low", "high"]}, "2 labels"),
        ({"mechanism": "magic"}, "body.mechanism"),
        ({"mechanism": "mf:d=1"}, "protects answers only"),
        ({"mechanism": "mf:d=9", "protects": "answers"}, "d ≤ tasks"),
        ({"open": True, "invitations": 3}, "no invitations"),
        ({"closes_at": "2031-01-01T00:00:00"}, "body.closes_at"),
        ({"closes_at": 0}, "body.closes_at"),
        ({"closes_at": "soon"}, "body.closes_at"),
        ({"max_reports": 0}, "body.max_reports"),
        ({"max_reports": "3"}, "body.max_reports"),
        ({"max_reports": 3.0}, "body.max_reports"),
        ({"target_width": 9}, "width"),
        ({"estimand": "truth"}, "body.estimand"),
        ({"estimand": ""}, "body.estimand"),
        ({"estimand": ["level"]}, "body.estimand"),
        ({"estimand": "opinion", "mechanism": "mf-safe:d=1"}, "estimand level"),
        ({"estimand": "label", "mechanism": "mf:d=1", "protects": "answers"}, "sums over tasks"),
        ({"surprise": 1}, "body.surprise"),
        ({"tasks": [{"text": "x", "image": "https://evil.example/a.png"}]}, "nowhere"),
        ({"tasks": [{"text": "x", "image": "javascript:alert(1)"}]}, "nowhere"),
        ({"tasks": [{"text": "x", "image": "//[bad"}]}, "nowhere"),
        ({"tasks": [{"text": "x", "image": "data:text/html;base64,AAAA"}]}, "nowhere"),
    ],
)
def test_a_campaign_that_makes_no_sense(
    sqlite_server: Server, changes: dict[str, object], message: str
) -> None:
    tasks = [{"text": "a"}, {"text": "b"}]
    order: dict[str, object] = {"title": "t", "tasks": tasks, "scale": "0..4", "epsilon": 1}
    before = sqlite_server.as_requester("GET", "").content
    reply = sqlite_server.as_requester("POST", "", order | changes)
    assert reply.status == 422, reply.content
    assert message in reply.json["detail"]["message"]
    assert sqlite_server.as_requester("GET", "").content == before


def test_markup_is_passed_on_as_text_and_formulas_are_defused(sqlite_server: Server) -> None:
    evil = ["=HYPERLINK(1)", "<script>alert(1)</script>", "+1+1", "-2", "@x", "\tx", 'a,"b"\n=c']
    tasks = [{"id": text, "text": text} for text in evil]
    made = sqlite_server.make(tasks=tasks, scale=["=no", "=yes"], open=True)
    assert [task["text"] for task in made.view["tasks"]] == evil
    assert made.send(f"open-{new_token()}", bytes(2)).status == 201
    made.truths(1)
    reply = sqlite_server.as_requester("GET", f"/{made.id}/truths.csv")
    rows = list(csv.DictReader(io.StringIO(reply.content.decode(), newline="")))
    assert [row["task"] for row in rows] == [
        "'=HYPERLINK(1)",
        "<script>alert(1)</script>",
        "'+1+1",
        "-2",
        "'@x",
        "'\tx",
        'a,"b"\n=c',
    ]
    assert {row["label"] for row in rows} <= {"'=no", "'=yes"}
    assert reply.headers["x-content-type-options"] == "nosniff"


def test_invitations_as_csv(sqlite_server: Server) -> None:
    made = sqlite_server.make()
    reply = sqlite_server.as_requester("POST", f"/{made.id}/invitations?format=csv", {"count": 300})
    header, *lines = reply.content.decode().splitlines()
    assert header == "invitation,link"
    tokens = [line.split(",")[0] for line in lines]
    assert len(set(tokens)) == 300
    assert not any(token.startswith(("-", "=", "+", "@")) for token in tokens)
    assert lines[0].split(",")[1] == f"{made.link}#{tokens[0]}"
    assert made.send(tokens[7], BLANK).status == 201
    assert made.status["invitations"] == 300


def test_no_token_and_no_key_is_in_the_database(sqlite_server: Server) -> None:
    made = sqlite_server.make(invitations=5)
    assert made.send(made.tokens[0], BLANK).status == 201
    path = Path(sqlite_server.database.removeprefix("sqlite:///"))
    content = path.read_bytes() + path.with_name(f"{path.name}-wal").read_bytes()
    secrets = [*made.tokens, sqlite_server.key]
    for secret in secrets:
        assert secret.encode() not in content
        assert base64.urlsafe_b64decode(f"{secret}=") not in content
    assert made.id.encode() in content

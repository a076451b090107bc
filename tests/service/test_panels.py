"""A stand-in follows the pages on Prolific, MTurk and e-mail word by word, in a real browser."""

from __future__ import annotations

import csv
import hmac
import json
import re
import socketserver
import threading
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_string, policy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from forsooth.client.tokens import worker_name
from tests.service.browser import PHONE, Browser, chromium, visit
from tests.service.harness import Made, Server, stored
from tests.service.test_one_file import ONE_FILE
from tests.service.test_pages import answer, review, send, sign_in

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"
SURVEY = "https://survey.example.org"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)


@pytest.fixture(scope="module")
def running() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def browser(running: Browser) -> Iterator[Browser]:
    yield running
    for context in running.contexts:
        context.close()


@dataclass
class Panel:
    """Pages by path, and all that was asked for or posted."""

    url: str
    pages: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    posted: list[dict[str, list[str]]] = field(default_factory=list)


@pytest.fixture
def panel() -> Iterator[Panel]:
    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.asked.append(self.path)
            self._send(found.pages.get(urlsplit(self.path).path, "Thank you"))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            found.posted.append(parse_qs(body))
            self._send("Submitted")

        def _send(self, text: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        found = Panel(f"http://127.0.0.1:{server.server_port}")
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield found
        server.shutdown()


def blocks(page: str, kind: str) -> list[str]:
    """The code blocks of a page of the documentation."""
    text = (HOW_TO / page).read_text(encoding="utf-8")
    return [block for found, block in BLOCK.findall(text) if found == kind]


def curl(server: Server, command: str, **variables: str) -> bytes:
    """What a curl command of the documentation does, at this server."""
    for name, value in {"KEY": server.key, **variables}.items():
        command = command.replace(f"${name}", value)
    found = re.fullmatch(
        r'curl -s "?(?P<url>\S+?)"? -H "Authorization: Bearer (?P<key>\S+)" \\\n'
        r"  -H \"Content-Type: application/json\" -d '(?P<body>.*?)'(?: -o \S+)?\n",
        command,
        re.S,
    )
    assert found, command
    path = found["url"].removeprefix(SURVEY)
    reply = server.call("POST", path, found["body"].encode(), key=found["key"])
    assert reply.status == 201, reply.content
    return reply.content


def made(server: Server, page: str, panel: Panel | None = None) -> Made:
    """The campaign of a page, with the panel's address as the stand-in has it."""
    order = blocks(page, "sh")[0]
    if panel:
        order = order.replace("https://app.prolific.com", panel.url)
    reply = json.loads(curl(server, order))
    return Made(server, reply["id"], reply["link"], [])


def token(campaign: str, person: str) -> str:
    """As the documentation says it."""
    digest = hmac.digest(campaign.encode(), person.encode(), "sha256")
    return f"open-{urlsafe_b64encode(digest).decode().rstrip('=')}"


def test_prolific(browser: Browser, sqlite_server: Server, panel: Panel) -> None:
    study = made(sqlite_server, "prolific.md", panel)
    (address,) = blocks("prolific.md", "text")
    address = address.strip().replace(f"{SURVEY}/c/ID", study.link)
    people, sent = ["5f1a", "60b2"], []
    for person in people:
        link = address.replace("{{%PROLIFIC_PID%}}", person)
        panel.pages["/study"] = f'<a href="{link}">Open study link in a new window</a>'
        worker = visit(browser, f"{panel.url}/study", width=PHONE)
        worker.page.get_by_role("link").click()
        answer(worker.page, ["often", "never"])
        review(worker.page)
        worker.page.get_by_role("button", name="Send the right-hand column").click()
        worker.page.wait_for_url("**/submissions/complete?cc=C1ABCDEF")
        assert not worker.complaints
        assert worker.warnings == 0
        sent += worker.reports
        to_service = [each for each in worker.requests if each.url.startswith(sqlite_server.url)]
        assert not [each for each in to_service if person in each.url + (each.post_data or "")]
    assert panel.asked.count("/submissions/complete?cc=C1ABCDEF") == 2
    reports = stored(sqlite_server.database, study.id)
    assert set(reports) == {worker_name(token(study.id, person)) for person in people}

    again = visit(browser, address.replace("{{%PROLIFIC_PID%}}", people[0]))  # another device
    answer(again.page, ["never"])
    review(again.page)
    same = again.page.locator("#body").text_content() == sent[0]  # by chance
    again.page.get_by_role("button", name="Send the right-hand column").click()
    if same:  # then the service has it already
        again.page.wait_for_url("**/submissions/complete?cc=C1ABCDEF")
    else:
        again.page.get_by_role("heading", name="This invitation has been used").wait_for()
    assert set(stored(sqlite_server.database, study.id)) == set(reports)

    nobody = visit(browser, study.link)
    nobody.page.get_by_text("Its address has no PROLIFIC_PID").wait_for()

    sqlite_server.as_requester("POST", f"/{study.id}/close", {})
    late = visit(browser, f"{study.link}?PROLIFIC_PID=late")
    late.page.wait_for_url("**/submissions/complete?cc=C2CLOSED")


def test_mturk(browser: Browser, sqlite_server: Server, panel: Panel) -> None:
    hit = made(sqlite_server, "mturk.md")
    (question,) = blocks("mturk.md", "html")
    panel.pages["/hit"] = question.replace(f"{SURVEY}/c/ID", hit.link)
    query = f"assignmentId=A1&hitId=H1&workerId=AW%261&turkSubmitTo={panel.url}"
    page = visit(browser, f"{panel.url}/hit?{query}").page
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Open the survey").click()
    tab = opened.value
    answer(tab, ["often", "never"])
    review(tab)
    assert "QUIET-HARBOUR-27" not in tab.locator("body").inner_text()
    send(tab)
    code = tab.locator("#code").inner_text()
    tab.reload()
    tab.get_by_text(f"Your completion code: {code}").wait_for()
    page.get_by_label("Completion code").fill(code)
    page.get_by_role("button", name="Submit").click()
    page.get_by_text("Submitted").wait_for()
    assert panel.posted == [{"assignmentId": ["A1"], "code": ["QUIET-HARBOUR-27"]}]
    assert set(stored(sqlite_server.database, hit.id)) == {worker_name(token(hit.id, "AW&1"))}


def test_email(
    browser: Browser, sqlite_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = made(sqlite_server, "email.md")
    invitations = curl(sqlite_server, blocks("email.md", "sh")[1], ID=campaign.id)
    (tmp_path / "invitations.csv").write_bytes(invitations)
    (tmp_path / "people.csv").write_text("name,email\nAda,ada@example.org\nBob,bob@example.org\n")
    monkeypatch.chdir(tmp_path)
    (script,) = blocks("email.md", "python")
    with mail_server() as (port, messages):
        exec(script.replace('"localhost", 25', f'"127.0.0.1", {port}'), {})
    sent = [message_from_string(each, policy=policy.default) for each in messages]
    links = re.findall(r"^http\S+", "\n".join(each.get_content() for each in sent), re.M)
    assert sorted(links) == sorted(
        row["link"] for row in csv.DictReader(invitations.decode().splitlines())
    )
    assert [each["To"] for each in sent] == ["ada@example.org", "bob@example.org"]
    for link in links:
        page = visit(browser, link).page
        answer(page, ["often", "never"])
        review(page)
        send(page)
    assert len(stored(sqlite_server.database, campaign.id)) == 2


@contextmanager
def mail_server() -> Iterator[tuple[int, list[str]]]:
    """As much of SMTP as takes messages."""
    messages: list[str] = []

    class Session(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(b"220 here\r\n")
            while line := self.rfile.readline().strip():
                if line.upper() == b"DATA":
                    self.wfile.write(b"354 go on\r\n")
                    lines = iter(lambda: self.rfile.readline().rstrip(b"\r\n"), b".")
                    messages.append(b"\n".join(lines).decode())
                self.wfile.write(b"221 bye\r\n" if line.upper() == b"QUIT" else b"250 ok\r\n")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Session) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server.server_address[1], messages
        server.shutdown()


def test_the_page_as_one_file_knows_panels(
    browser: Browser, sqlite_server: Server, panel: Panel
) -> None:
    study = made(sqlite_server, "prolific.md", panel)
    page = visit(browser, f"{ONE_FILE.as_uri()}#{study.link}#PROLIFIC_PID=5f1a").page
    answer(page, ["often", "never"])
    review(page)
    page.get_by_role("button", name="Send the right-hand column").click()
    page.wait_for_url("**/submissions/complete?cc=C1ABCDEF")
    assert set(stored(sqlite_server.database, study.id)) == {worker_name(token(study.id, "5f1a"))}


def test_the_form_makes_a_campaign_for_a_panel(browser: Browser, sqlite_server: Server) -> None:
    page = sign_in(browser, sqlite_server).page
    page.goto(f"{sqlite_server.url}/#/new")
    page.get_by_label("Title").fill("A panel")
    page.get_by_label("Questions", exact=False).first.fill("First?\nSecond?")
    page.get_by_label("Everyone answers for themselves").check()
    assert page.get_by_text("They come from a panel").is_hidden()
    page.get_by_label("Everybody with the link").check()
    page.get_by_text("They come from a panel").click()
    page.get_by_label("Completion code").fill("C1")
    page.get_by_role("button", name="Create the campaign").click()
    page.get_by_text("Name the parameter").wait_for()
    page.get_by_label("Name of the parameter").fill("workerId")
    page.get_by_label("Where people go who come too late").fill("https://panel.example/late")
    page.get_by_role("button", name="Create the campaign").click()
    page.locator("#campaign").wait_for()
    view = sqlite_server.call("GET", f"/v1/campaigns/{page.url.split('/')[-1]}").json
    assert view["panel"] == {
        "parameter": "workerId",
        "completion_code": "C1",
        "completion_url": None,
        "closed_url": "https://panel.example/late",
    }
    copied = sqlite_server.as_requester("GET", f"/{view['id']}/order").json
    assert copied["panel"] == view["panel"]


@pytest.mark.parametrize(
    ("panel", "changes", "reason"),
    [
        ({"parameter": "PID"}, {}, "needs a completion code or an address"),
        ({"parameter": "a b", "completion_code": "C"}, {}, "letters, digits, - and _"),
        ({"parameter": "PID", "completion_url": "javascript:alert(1)"}, {}, "begins with https://"),
        (
            {"parameter": "PID", "completion_url": "http://panel.example"},
            {},
            "begins with https://",
        ),
        ({"parameter": "PID", "completion_code": "C"}, {"open": False}, "come by an open link"),
    ],
)
def test_a_panel_that_makes_no_sense_is_refused(
    sqlite_server: Server, panel: dict[str, str], changes: dict[str, Any], reason: str
) -> None:
    order = {
        "title": "A",
        "tasks": [{"text": "?"}],
        "scale": "0..4",
        "epsilon": 1,
        "open": True,
        "panel": panel,
    }
    reply = sqlite_server.as_requester("POST", "", order | changes)
    assert reply.status == 422
    message = reply.json["detail"]["message"]
    assert reason in message
    assert "Value error" not in message

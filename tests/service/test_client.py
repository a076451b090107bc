"""The client trusts nobody: whatever a malicious service tries, nothing is sent to it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from forsooth import ForsoothError, Mechanism, Scale
from forsooth.client import WorkerCampaign, download_reports, transport
from forsooth.client.memory import Memory
from forsooth.client.tokens import new_token
from forsooth.client.transport import campaign_address
from forsooth.mechanisms import per_worker, rr

ID = "A" * 22
SCALE = Scale.parse("0..4")
WORKER = {"unit": "worker"}
WORDS = ["never", "rarely", "sometimes", "often", "always"]
PUBLIC = {"protects": "answers"}
OPEN_LINK = {"invitation_required": False}


class Liar:
    """A service that says whatever it is told to say."""

    def __init__(self) -> None:
        self.mechanism = rr(SCALE, 1.0).to_json()
        self.designs: dict[str, str] = {}  # that were served under their true digests
        self.campaign: dict[str, Any] = {}
        self.received: list[dict[str, Any]] = []
        self.url = ""
        self.failures = 0  # so many reports are first answered 503

    @property
    def view(self) -> dict[str, Any]:
        return {
            "title": "Tell me",
            "tasks": [{"id": "a", "text": "Do you?"}, {"id": "b", "text": "Would you?"}],
            "scale": {"values": list("01234"), "labels": WORDS},
            "epsilon": 1.0,
            "protects": "answers+participation",
            "design": sha256(self.mechanism.encode()).hexdigest(),
            "invitation_required": True,
        } | self.campaign

    def answer(self, path: str, body: bytes | None) -> tuple[int, bytes]:
        if body is not None:
            self.received.append(json.loads(body))
            self.failures -= 1
            status = 503 if self.failures >= 0 else 201
            return status, b'{"status": "accepted"}'
        if "/designs/" in path:
            self.designs[sha256(self.mechanism.encode()).hexdigest()] = self.mechanism
            return 200, self.designs.get(path.split("/")[-1], self.mechanism).encode()
        return 200, json.dumps(self.view).encode()


@pytest.fixture
def liar(monkeypatch: pytest.MonkeyPatch) -> Iterator[Liar]:
    monkeypatch.setattr(transport, "_PAUSE", 0.01)
    liar = Liar()

    class Handler(BaseHTTPRequestHandler):
        def reply(self, body: bytes | None = None) -> None:
            status, content = liar.answer(self.path, body)
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_GET(self) -> None:
            self.reply()

        def do_POST(self) -> None:
            self.reply(self.rfile.read(int(self.headers["Content-Length"])))

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    liar.url = f"http://127.0.0.1:{server.server_port}/c/{ID}"
    yield liar
    server.shutdown()
    server.server_close()


def client(liar: Liar, folder: Path, **settings: Any) -> WorkerCampaign:
    settings = {"invitation": "t" * 43} | settings
    return WorkerCampaign(settings.pop("url", liar.url), folder=folder, **settings)


def remembered(folder: Path) -> Memory:
    return Memory.from_json((folder / "memory.json").read_text())


def weakened(epsilon: float) -> str:
    """A table that gives less than it says."""
    honest, weak = rr(SCALE, 1.0), rr(SCALE, epsilon)
    data = json.loads(honest.to_json())
    data["parameters"] = json.loads(weak.to_json())["parameters"]
    return json.dumps(data)


def whole(epsilon: float, count: int = 2) -> str:
    """ε for everything that one worker says."""
    return per_worker(lambda share: rr(SCALE, share), epsilon, count=count).to_json()


@pytest.mark.parametrize(
    ("mechanism", "campaign", "settings", "reason"),
    [
        (weakened(3.0), {}, {}, "does not keep its promise"),
        (rr(SCALE, 3.0).to_json(), {}, {}, "promises ε = 1, its mechanism gives 3"),
        (rr(SCALE, 1.0, protects="answers").to_json(), {}, {}, "protect participation"),
        (rr(SCALE, 1.0).to_json(), {}, {"limit": 0.5}, "your limit is 0.5"),
        (rr(SCALE, 1.0).to_json(), {}, {"cap": 1.5}, "would be 2, and your limit is 1.5"),
        (rr(SCALE, 1.0).to_json(), {"design": "0" * 64}, {}, "digest differs"),
        (rr(Scale.parse("0..9"), 1.0).to_json(), {}, {}, "made for 0..9"),
        (whole(1.0), {}, {}, "promises ε per cell, its mechanism gives ε per worker"),
        (whole(3.0), WORKER, {}, "promises ε = 1, its mechanism gives 3"),
        (rr(SCALE, 1.0).to_json(), WORKER, {}, "promises ε per worker, its mechanism gives"),
        (whole(1.0).replace('"count": 2', '"count": 3'), WORKER, {}, "spend more"),
        (whole(1.0, count=3), WORKER, {}, "cannot sample 3 of 2"),
        (rr(SCALE, 1.0).to_json(), {}, {"total_limit": 1.5}, "you say, your limit is 1.5"),
        (whole(1.0), WORKER, {"total_limit": 0.9}, "ε = 1 for everything you say"),
        (whole(1.0), WORKER | {"unit": "person"}, {}, "the unit is cell or worker"),
        ("{}", {}, {}, "not a mechanism"),
        ("[" * 10_000, {}, {}, "not valid JSON"),
        (rr(SCALE, 1.0).to_json(), {"epsilon": "much"}, {}, "finite number"),
        (rr(SCALE, 1.0).to_json(), {"tasks": 2 * [{"id": "a", "text": "?"}]}, {}, "twice"),
        (rr(SCALE, 1.0).to_json(), {}, {"question_cap": 0.5}, "limit for one question is 0.5"),
        (rr(SCALE, 1.0, protects="answers").to_json(), PUBLIC, {"limit": 1.0}, "answers only"),
        (rr(SCALE, 1.0).to_json(), {"tasks": 3}, {}, "does not describe a campaign"),
        (rr(SCALE, 1.0).to_json(), {}, {"invitation": None}, "needs an invitation"),
        (rr(SCALE, 1.0).to_json(), {}, {"invitation": f"open-{new_token()}"}, "needs an invit"),
    ],
)
def test_lies_are_refused(
    liar: Liar,
    tmp_path: Path,
    mechanism: str,
    campaign: dict[str, Any],
    settings: dict[str, Any],
    reason: str,
) -> None:
    liar.mechanism, liar.campaign = mechanism, campaign
    with pytest.raises(ForsoothError, match=reason):
        client(liar, tmp_path, **settings).submit({"a": 3})
    assert liar.received == []
    assert not (tmp_path / "memory.json").exists()


def test_an_honest_service_gets_one_report(liar: Liar, tmp_path: Path) -> None:
    worker = client(liar, tmp_path, limit=1.0, cap=2.0)
    assert worker.mechanism == Mechanism.from_json(liar.mechanism)
    assert worker.submit({"a": 3}) == "accepted"
    (body,) = liar.received
    assert body.keys() == {"invitation", "design", "report"}
    assert len(body["report"]) == 4
    memory = remembered(tmp_path)
    assert memory.ledger.total == 2.0
    (kept,) = memory.campaigns.values()
    assert kept.accepted
    assert json.loads(kept.body or "") == body
    assert "often" not in (tmp_path / "memory.json").read_text()


def test_one_epsilon_for_everything(liar: Liar, tmp_path: Path) -> None:
    """Of two tasks one is drawn; the ledger has ε once, and the promise is one number."""
    liar.mechanism, liar.campaign = whole(1.0, count=1), WORKER
    worker = client(liar, tmp_path, limit=1.0, total_limit=1.0)
    assert [bound.epsilon for bound in worker.promise.bounds] == [1.0]
    worker.submit({"a": 3, "b": 0})
    (body,) = liar.received
    assert len(body["report"]) == 4  # one symbol
    assert remembered(tmp_path).ledger.total == 1.0


def test_a_worker_is_not_moved_to_another_table(liar: Liar, tmp_path: Path) -> None:
    """Asked again with another mechanism, the client sends the first report, and only that."""
    first = client(liar, tmp_path)
    first.submit({"a": 3})
    liar.mechanism, used = rr(SCALE, 0.5).to_json(), liar.mechanism
    again = client(liar, tmp_path)
    assert again.mechanism == Mechanism.from_json(used)
    again.submit({"a": 0, "b": 0})
    one, other = liar.received
    assert one == other
    liar.campaign = {"tasks": [{"id": "a", "text": "Do you?"}, {"id": "z", "text": "Would you?"}]}
    with pytest.raises(ForsoothError, match="second spend"):
        client(liar, tmp_path).submit({"a": 3})
    assert len(liar.received) == 2


def test_the_same_bytes_are_sent_until_they_arrive(liar: Liar, tmp_path: Path) -> None:
    liar.failures = 3
    assert client(liar, tmp_path).submit({"a": 3}) == "accepted"
    assert len(liar.received) == 4
    assert all(body == liar.received[0] for body in liar.received)
    liar.failures = 100
    with pytest.raises(ForsoothError, match="503.*attempts"):
        client(liar, tmp_path).submit({"a": 3})


def test_clones_aliases_and_fragments_yield_one_report(liar: Liar, tmp_path: Path) -> None:
    """Whatever address asks the same questions by the same rule gets the same values."""
    many = [{"id": f"q{j}", "text": f"Question {j}?"} for j in range(40)]
    liar.campaign = OPEN_LINK | {"tasks": many}
    clone = f"{liar.url[:-1]}B"
    fragments = [f"{liar.url}#open-{new_token()}" for _ in range(2)]
    aliases = [liar.url.replace("127.0.0.1", host) for host in ("localhost", "LOCALHOST.")]
    for number, url in enumerate([liar.url, *fragments, *aliases, clone]):
        answers = {task["id"]: number % 5 for task in many}
        client(liar, tmp_path, url=url, invitation=None).submit(answers)
    assert len({body["report"] for body in liar.received}) == 1
    assert len({body["invitation"] for body in liar.received}) == 3  # this host, its alias, a clone
    assert remembered(tmp_path).ledger.total == 40.0


def test_another_rule_for_the_same_question_is_a_fresh_spend(liar: Liar, tmp_path: Path) -> None:
    client(liar, tmp_path).submit({"a": 3})
    liar.mechanism = rr(SCALE, 0.99).to_json()
    clone = {"url": f"{liar.url[:-1]}B"}
    with pytest.raises(ForsoothError, match=r"“Do you\?” was answered before.*1\.99.*1\.09"):
        client(liar, tmp_path, **clone).submit({"a": 3})
    assert len(liar.received) == 1
    client(liar, tmp_path, **clone, question_cap=2.0).submit({"a": 3})
    assert remembered(tmp_path).ledger.total == pytest.approx(3.98)


def test_the_sum_over_campaigns_ends_at_the_cap(liar: Liar, tmp_path: Path) -> None:
    for number in range(3):
        texts = [f"Question {number}?", f"And {number}?"]
        liar.campaign = {"tasks": [{"id": text, "text": text} for text in texts]}
        client(liar, tmp_path, url=f"{liar.url[:-1]}{number}").submit({})
    liar.campaign = {"tasks": [{"id": "a", "text": "One more?"}]}
    last = {"url": f"{liar.url[:-1]}9"}
    with pytest.raises(ForsoothError, match=r"ε = 6 in all.* be 7, and your limit is 6\.9"):
        client(liar, tmp_path, **last).submit({})
    assert client(liar, tmp_path, **last, cap=7.0).submit({}) == "accepted"


def test_a_report_that_is_gone_is_not_made_again(liar: Liar, tmp_path: Path) -> None:
    client(liar, tmp_path).submit({"a": 3})
    path = tmp_path / "memory.json"
    data = json.loads(path.read_text())
    for kept in data["campaigns"].values():
        kept["body"] = None
    path.write_text(json.dumps(data))
    with pytest.raises(ForsoothError, match="its report is gone"):
        client(liar, tmp_path).submit({"a": 3})
    assert len(liar.received) == 1


def test_one_folder_is_one_person(liar: Liar, tmp_path: Path) -> None:
    client(liar, tmp_path).submit({"a": 3})
    with pytest.raises(ForsoothError, match="one folder is one person"):
        client(liar, tmp_path, invitation="u" * 43).submit({"a": 3})


def test_who_answered_what_may_be_public_if_the_worker_agrees(liar: Liar, tmp_path: Path) -> None:
    liar.mechanism, liar.campaign = rr(SCALE, 1.0, protects="answers").to_json(), PUBLIC
    assert client(liar, tmp_path, limit=1.0, protects="answers").submit({"b": 3}) == "accepted"
    assert liar.received[0]["tasks"] == [1]


def test_plain_http_is_for_this_machine_only(tmp_path: Path) -> None:
    for host in ("survey.example.org", "192.168.0.1", "[2001:db8::1]", "127.example.org"):
        with pytest.raises(ForsoothError, match="plain http"):
            WorkerCampaign(f"http://{host}/c/{ID}", folder=tmp_path)
        with pytest.raises(ForsoothError, match="plain http"):
            download_reports(f"http://{host}/c/{ID}", "key")
    for url in ("http://localhost", "http://127.0.0.7:8000", "http://[::1]", "https://example.org"):
        WorkerCampaign(f"{url}/c/{ID}", folder=tmp_path)


def test_a_redirection_is_not_followed(liar: Liar, tmp_path: Path) -> None:
    liar.answer = lambda *_: (302, b"")  # type: ignore[method-assign]
    with pytest.raises(ForsoothError, match="302"):
        client(liar, tmp_path).submit({"a": 3})


def test_addresses_that_mean_the_same() -> None:
    same = {
        campaign_address(f"{url}/c/{ID}{rest}")[0]
        for url in ("https://example.org", "HTTPS://EXAMPLE.org.:443", "https://user@example.org")
        for rest in ("", "/", "?a=b", "#open-x")
    }
    assert same == {f"https://example.org/v1/campaigns/{ID}"}
    port = campaign_address(f"https://[2001:DB8::1]:8443/sub/v1/campaigns/{ID}#x")
    assert port == (f"https://[2001:db8::1]:8443/sub/v1/campaigns/{ID}", "x")


def test_an_address_that_is_none(tmp_path: Path) -> None:
    for url in ("ftp://x/c/" + ID, "https://x/", "https://x/c/short", "x", ""):
        with pytest.raises(ForsoothError, match="a campaign's address"):
            WorkerCampaign(url, folder=tmp_path)
    with pytest.raises(ForsoothError, match="not whole"):
        WorkerCampaign(f"https://x/c/{ID}#half", folder=tmp_path)


def test_nobody_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "_PAUSE", 0.01)
    with pytest.raises(ForsoothError, match="cannot be reached"):
        WorkerCampaign(f"http://127.0.0.1:9/c/{ID}", folder=tmp_path).submit({"a": 1})

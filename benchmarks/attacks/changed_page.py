"""A changed byte in any file of the worker's page is found by `forsooth verify-page`.

Somebody serves a copy of the page with one line added to one of its files: a script that sends
answers as they are, a style that makes a warning invisible, a form in the HTML. They do so for
every file in turn. Then they keep all files and send the browser elsewhere: by a redirection, by a
header, by a changed manifest to match the changed files. The page as published must pass, else the
attack itself is broken.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from benchmarks.attacks import Outcome
from forsooth.service import manifest
from forsooth.service.page_check import check_page

STATIC = Path(manifest.__file__).parent / "static"
LINES = {
    ".js": b'\naddEventListener("change", (event) => fetch(`/?${event.target.value}`));\n',
    ".css": b"\n.warn, .bad { display: none !important; }\n",
    ".html": b'<form action="/answers"></form>\n',
}
Answer = tuple[int, dict[str, str], bytes]


def attack() -> Outcome:
    """Which of the changed pages pass as the published one."""
    names = list(manifest.installed().files)
    honest = {name: page_file(name) for name in (*names, manifest.NAME)}
    changed = {f"a line in {name}": honest | {name: with_a_line(name)} for name in names}
    script = with_a_line("worker.js")[2]
    changed |= {
        "a redirection": honest | {"worker.html": (302, {"Location": "/static/worker.html"}, b"")},
        "a header": honest
        | {"worker.html": (200, {"Refresh": "0; url=/x"}, honest["worker.html"][2])},
        "a new manifest": honest
        | {"worker.js": (200, {}, script), manifest.NAME: (200, {}, matching(script))},
    }
    if not passes(honest):
        return Outcome(False, "the published page does not pass: this attack is broken")
    unnoticed = [what for what, files in changed.items() if passes(files)]
    detail = f"{len(changed) - len(unnoticed)} of {len(changed)} changes found"
    return Outcome(not unnoticed, ", ".join([detail, *unnoticed]))


def page_file(name: str) -> Answer:
    return 200, {}, (STATIC / name).read_bytes()


def with_a_line(name: str) -> Answer:
    return 200, {}, page_file(name)[2] + LINES[Path(name).suffix]


def matching(script: bytes) -> bytes:
    """The manifest with the hash of a changed script."""
    files = manifest.installed().files
    old, new = files["worker.js"], sha256(script).hexdigest()
    return manifest.installed().content.replace(old.encode(), new.encode())


def passes(files: dict[str, Answer]) -> bool:
    with serving(files) as address:
        return check_page(address).holds


@contextmanager
def serving(files: dict[str, Answer]) -> Iterator[str]:
    """A server of these files; its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.rsplit("/", 1)[-1]
            status, headers, body = files.get(name, files[manifest.HTML])
            self.send_response(status)
            for header, value in headers.items():
                self.send_header(header, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()

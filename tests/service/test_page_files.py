"""The worker's page is the published one: manifest, integrity, verify-page.

After a change to the page: `node clients/js/build.mjs`.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from forsooth import ForsoothError
from forsooth.service import manifest
from forsooth.service.page_check import check_page
from forsooth.service.pages import STATIC, import_map_hash
from tests.clients.javascript import PACKAGE, node
from tests.conftest import Command
from tests.service.browser import PHONE, Browser, chromium, visit
from tests.service.harness import Server, serving
from tests.service.test_pages import assert_quiet, survey

ROOT = Path(__file__).parents[2]
ONE_FILE = PACKAGE / "forsooth-page.html"
HTML = (STATIC / manifest.HTML).read_text(encoding="utf-8")
LOADED = re.compile(
    r'<(?:link|script) [^>]*(?:src|href)="\.\./static/([^"]+)"(?: integrity="([^"]+)")?'
)


@pytest.fixture(scope="module")
def running() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def browser(running: Browser) -> Iterator[Browser]:
    yield running
    for context in running.contexts:
        context.close()


def integrity(name: str) -> str:
    return f"sha256-{base64.b64encode(sha256((STATIC / name).read_bytes()).digest()).decode()}"


def imported(name: str) -> set[str]:
    """The scripts that a script imports, and those that they import."""
    text = (STATIC / name).read_text(encoding="utf-8")
    code = re.sub(r"/\*.*?\*/|//.*", "", text, flags=re.DOTALL | re.M)
    assert not re.search(r"\bimport\(", code), "the manifest knows static imports only"
    names = set(re.findall(r'^(?:import|export)\b[^;"]*"\./([^"]+)"', text, re.M))
    return names.union(*map(imported, names))


def test_the_manifest_has_every_file_that_the_page_loads() -> None:
    loaded = {name for name, _ in LOADED.findall(HTML)}
    files = manifest.installed().files
    assert set(files) == {manifest.HTML} | loaded | imported("worker.js")
    for name, sha in files.items():
        assert sha256((STATIC / name).read_bytes()).hexdigest() == sha, "node clients/js/build.mjs"


def test_everything_that_is_loaded_has_its_integrity() -> None:
    assert all(found == integrity(name) for name, found in LOADED.findall(HTML))
    (text,) = re.findall(r'<script type="importmap">(.*?)</script>', HTML, re.DOTALL)
    mapped = json.loads(text)["integrity"]
    assert mapped == {f"../static/{name}": integrity(name) for name in imported("worker.js")}


def test_the_published_digests_are_those_of_the_files() -> None:
    """The newest section of the changelog, and the documentation."""
    one_file = sha256(ONE_FILE.read_bytes()).hexdigest()
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1]
    page = (ROOT / "docs" / "how-to" / "verify-page.md").read_text(encoding="utf-8")
    for text in (changelog, page):
        assert re.findall(r"worker's page:\s+`(.*)`", text) == [manifest.installed().digest]
        assert re.findall(r"SHA-256 of forsooth-page.html:\s+`(.*)`", text) == [one_file]


def test_what_is_built_is_up_to_date() -> None:
    done = node("--test", "test/build.test.js")
    assert done.returncode == 0, done.stdout[-5000:]


def test_a_service_serves_the_published_page(
    sqlite_server: Server, forsooth: Command, tmp_path: Path
) -> None:
    made = survey(sqlite_server, open=True)
    link = f"{made.link}#a-token"
    digest = manifest.installed().digest
    assert made.view["client"]["digest"] == digest
    for url, options in ((link, ["--digest", digest]), (sqlite_server.url, [])):
        done = forsooth("verify-page", url, *options, "--json")
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert (found["holds"], found["digest"]) == (True, digest)
        names = {each["name"] for each in found["files"]}
        assert names == {*manifest.installed().files, manifest.NAME}
        assert "a-token" not in str(found["files"])
    shown = forsooth("verify-page", "--show").stdout
    assert digest in shown
    assert manifest.installed().content.decode() in shown
    assert not list(tmp_path.iterdir())


def test_a_changed_byte_ends_in_exit_code_1(forsooth: Command, tmp_path: Path) -> None:
    for name in (*manifest.installed().files, manifest.NAME):
        (tmp_path / "static").mkdir(exist_ok=True)
        (tmp_path / "static" / name).write_bytes((STATIC / name).read_bytes())
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "index.html").write_text(HTML)
    script = tmp_path / "static" / "worker.js"
    script.write_text(script.read_text().replace("\nbegin();", "\nbegin() ;"))
    line = script.read_text()[: script.read_text().index("begin() ;")].count("\n") + 1
    with serving(tmp_path) as address:
        done = forsooth("verify-page", f"{address}/c/index.html")
    assert done.returncode == 1
    assert f"worker.js is changed, first in line {line} (" in done.stdout
    assert "does NOT serve the published page" in done.stdout


def test_another_release_is_verified_by_its_published_digest(tmp_path: Path) -> None:
    """Its manifest comes from the service, and counts only if it has the digest."""
    folder = tmp_path / "static"
    folder.mkdir()
    (tmp_path / "c").mkdir()
    for name in manifest.installed().files:
        (folder / name).write_bytes((STATIC / name).read_bytes() + b"\n")
    (tmp_path / "c" / "index.html").write_bytes((folder / manifest.HTML).read_bytes())
    sums = [
        f"{sha256((folder / name).read_bytes()).hexdigest()}  {name}\n"
        for name in manifest.installed().files
    ]
    other = manifest.Manifest("".join(sums).encode())
    (folder / manifest.NAME).write_bytes(other.content)
    with serving(tmp_path) as address:
        link = f"{address}/c/index.html"
        assert check_page(link, other.digest).holds
        assert len(check_page(link).problems) == len(other.files) + 1
        assert not check_page(link, "0" * 64).holds
        (folder / "dom.js").unlink()
        (missing,) = check_page(link, other.digest).problems
    assert (missing.name, missing.problem) == ("dom.js", "is answered with status 404")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "or --show"),
        (["http://127.0.0.1:1/", "--show"], "or --show"),
        (["http://127.0.0.1:1/"], "cannot be reached"),
        (["survey.example.org"], "an address is https://HOST/c/ID"),
        (["http://127.0.0.1:1/", "--digest", "sha384-abc"], "64 digits"),
    ],
)
def test_what_cannot_be_verified(forsooth: Command, arguments: list[str], reason: str) -> None:
    done = forsooth("verify-page", *arguments)
    assert done.returncode == 2
    assert reason in done.stderr
    assert "Traceback" not in done.stderr


def test_a_manifest_is_read_strictly() -> None:
    content = manifest.installed().content
    for wrong in (b"", content.replace(b"  ", b" "), content + b"../../etc/passwd\n", b"\xff\n"):
        with pytest.raises(ForsoothError, match="no manifest"):
            assert manifest.Manifest(wrong).files


def test_the_page_shows_the_digest_and_says_what_it_is_worth(
    browser: Browser, sqlite_server: Server
) -> None:
    worker = visit(browser, survey(sqlite_server, open=True).link, width=PHONE)
    page = worker.page
    page.get_by_text(manifest.installed().digest).wait_for(state="attached")
    page.get_by_text("The server that serves this page could serve a different one").click()
    said = worker.seen()
    for way in ("forsooth verify-page", "forsooth.client", "Node", "whom you trust"):
        assert way in said
    assert "This page is one file" not in said
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE
    assert_quiet(worker, sqlite_server)


@pytest.mark.parametrize("name", ["worker.js", "dom.js", "forsooth-client.js"])
def test_a_changed_script_does_not_run(browser: Browser, sqlite_server: Server, name: str) -> None:
    """Also one that another script imports: something between server and browser changed it."""
    link = survey(sqlite_server, open=True).link
    context = browser.new_context()
    page = context.new_page()
    body = (STATIC / name).read_text() + "\ndocument.title = 'changed';\n"
    context.route(
        f"**/{name}", lambda route: route.fulfill(body=body, content_type="text/javascript")
    )
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(link)
    page.wait_for_load_state("networkidle")
    assert page.title() == "A private survey"
    assert page.get_by_text("a part of this page is missing or changed").is_visible()
    assert page.locator("#survey").is_hidden()
    assert any("integrity" in complaint for complaint in complaints)


def test_the_policy_allows_the_import_map_and_nothing_else_inline(sqlite_server: Server) -> None:
    policy = sqlite_server.call("GET", "/c/x").headers["content-security-policy"]
    assert f"script-src 'self' '{import_map_hash()}';" in policy
    inline = re.findall(r"<script(?![^>]* src=)[^>]*>", HTML)
    assert inline == ['<script type="importmap">']

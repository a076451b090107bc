"""The worker's page as one file, opened from a folder or hosted elsewhere; what CORS allows."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from forsooth.service.pages import STATIC
from tests.clients.javascript import PACKAGE
from tests.service.browser import PHONE, Browser, Visitor, chromium, visit
from tests.service.harness import Server, serving
from tests.service.test_pages import answer, review, send, survey

ONE_FILE = PACKAGE / "forsooth-page.html"


@pytest.fixture(scope="module")
def running() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def browser(running: Browser) -> Iterator[Browser]:
    yield running
    for context in running.contexts:
        context.close()


def only_to(worker: Visitor, server: Server, page: str) -> None:
    """No complaint, and no request but for the page itself and to the service's API."""
    assert not worker.complaints
    urls = [request.url for request in worker.requests if not request.url.startswith("data:")]
    assert {url.split("#")[0] for url in urls if not url.startswith(f"{server.url}/v1/")} == {page}


def test_one_file_from_a_folder(browser: Browser, sqlite_server: Server) -> None:
    """Opened as a file, with the link pasted: it answers, and it remembers."""
    made = survey(sqlite_server, invitations=1)
    worker = visit(browser, ONE_FILE.as_uri(), width=PHONE)
    page = worker.page
    page.get_by_label("The link that you were sent").fill(f"{made.link}#{made.tokens[0]}")
    page.get_by_role("button", name="Open the survey").click()
    answer(page, ["often", None, "never"])
    assert len(review(page)) == 8
    body = page.locator("#body").text_content()
    send(page)
    assert worker.reports == [body]
    assert made.status["reports"] == 1
    page.reload()
    page.locator("#done").wait_for()  # IndexedDB has it
    page.get_by_text("The people who gave you this page could have changed it").click()
    assert "This page is one file" in worker.seen()
    assert "The server that serves this page" not in worker.seen()
    only_to(worker, sqlite_server, ONE_FILE.as_uri())


def test_one_file_on_another_site(browser: Browser, sqlite_server: Server) -> None:
    """Hosted by somebody else, with the link after its #; refusals can be read there, too."""
    made = survey(sqlite_server, invitations=1)
    with serving(PACKAGE) as address:
        page_url = f"{address}/{ONE_FILE.name}"
        worker = visit(browser, f"{page_url}#{made.link}#{made.tokens[0]}")
        answer(worker.page, ["often"])
        review(worker.page)
        send(worker.page)
        only_to(worker, sqlite_server, page_url)
        again = visit(browser, f"{page_url}#{made.link}#{made.tokens[0]}")
        again.page.get_by_role("heading", name="This invitation has been used").wait_for()
    assert made.status["reports"] == 1


def test_one_file_talks_to_the_service_of_its_link_only(
    browser: Browser, sqlite_server: Server
) -> None:
    made = survey(sqlite_server, open=True)
    page = visit(browser, f"{ONE_FILE.as_uri()}#{made.link}").page
    page.locator("#survey").wait_for()
    reached = """(url) => fetch(url).then(() => true, () => false)"""
    assert page.evaluate(reached, made.link.replace("/c/", "/v1/campaigns/"))
    with serving(STATIC) as elsewhere:
        assert not page.evaluate(reached, elsewhere)
    page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), {text: 'x=1'}))"
    )
    assert page.evaluate("typeof x") == "undefined"


@pytest.mark.parametrize("link", ["http://survey.example.org/c/abc", "survey.example.org/c/abc"])
def test_one_file_refuses_links_without_tls(browser: Browser, link: str) -> None:
    worker = visit(browser, f"{ONE_FILE.as_uri()}#{link}")
    worker.page.get_by_text("The link of a survey begins with https://").wait_for()
    assert worker.page.get_by_label("The link that you were sent").is_visible()
    assert len(worker.requests) == 1


def test_other_sites_may_use_the_workers_addresses_only(sqlite_server: Server) -> None:
    made = sqlite_server.make(open=True)
    foreign = {"Origin": "https://council.example"}
    preflight = foreign | {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
    }
    base = f"/v1/campaigns/{made.id}"
    allowed = "access-control-allow-origin"
    for path in (
        base,
        f"{base}/designs/{made.view['design']}",
        f"{base}/reports",
        "/v1/campaigns/x",
    ):
        headers = sqlite_server.call("GET", path, headers=foreign).headers
        assert headers[allowed] == "*"
        assert headers["access-control-expose-headers"] == "Retry-After"
        assert "access-control-allow-credentials" not in headers
        assert sqlite_server.call("OPTIONS", path, headers=preflight).status == 200
    signed = preflight | {"Access-Control-Request-Headers": "authorization"}
    assert sqlite_server.call("OPTIONS", base, headers=signed).status == 400
    for path in (
        "/",
        "/v1/campaigns",
        f"{base}/status",
        f"{base}/truths",
        f"{base}/reports.parquet",
        "/static/worker.js",
    ):
        assert allowed not in sqlite_server.call("GET", path, headers=foreign).headers
        assert allowed not in sqlite_server.call("OPTIONS", path, headers=preflight).headers

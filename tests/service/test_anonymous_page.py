"""Anonymous campaigns in a real browser: the worker's page, and the requester's form."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from forsooth.promise import ANONYMITY
from tests.service.browser import PHONE, Browser, Page, Visitor, chromium, visit
from tests.service.harness import Made, Server, stored
from tests.service.test_pages import answer, assert_quiet, review, sign_in

ANONYMOUS: dict[str, Any] = {"anonymous": True, "batch": 10, "invitations": 10}
TEN_MINUTES = "10:05"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture
def made(sqlite_server: Server) -> Made:
    return sqlite_server.make(**ANONYMOUS)


def arrive(browser: Browser, made: Made, token: str) -> Visitor:
    """Open the page in a fresh profile, with a clock that the test can move."""
    visitor = visit(browser, "about:blank", width=PHONE)
    visitor.page.clock.install()
    visitor.page.goto(f"{made.link}#{token}")
    return visitor


def send(page: Page) -> None:
    answer(page, ["0", "3", None])
    review(page)
    page.get_by_role("button", name="Send the right-hand column").click()
    page.locator("#waiting").wait_for()


def test_a_report_goes_out_later_without_the_invitation(browser: Browser, made: Made) -> None:
    token = made.tokens[0]
    visitor = arrive(browser, made, token)
    page = visitor.page
    assert ANONYMITY in re.sub(r"\s+", " ", page.locator("#assumption").inner_text())
    page.locator("#batch").filter(has_text=re.compile("^10$")).wait_for(state="attached")
    assert str(page.locator("#announced").text_content()) in made.link
    send(page)
    assert visitor.reports == []
    page.clock.fast_forward(TEN_MINUTES)
    page.locator("#done").wait_for()
    (report,) = visitor.reports
    (asked,) = [r for r in visitor.requests if r.url.endswith("/signatures")]
    assert json.loads(asked.post_data or "")["invitation"] == token
    assert [r for r in visitor.requests if token in (r.post_data or "")] == [asked]
    assert not any(token in r.url.split("#")[0] for r in visitor.requests)
    assert json.loads(report)["invitation"] != token
    assert len(stored(made.server.database, made.id)) == 1
    page.reload()
    page.locator("#done").wait_for()
    assert len(visitor.reports) == 1
    assert_quiet(visitor, made.server)
    page.context.close()


def test_somebody_comes_back_later(browser: Browser, made: Made) -> None:
    visitor = arrive(browser, made, made.tokens[1])
    page = visitor.page
    send(page)
    page.get_by_role("button", name="I will come back later").click()
    page.locator("#gone").wait_for()
    page.clock.fast_forward(TEN_MINUTES)
    page.reload()
    page.locator("#waiting").wait_for()
    assert visitor.reports == []  # not without being asked to
    page.get_by_role("button", name="Send it now").click()
    page.locator("#done").wait_for()
    assert len(visitor.reports) == 1
    assert_quiet(visitor, made.server)
    page.context.close()


def test_another_key_or_digest_is_refused(browser: Browser, made: Made) -> None:
    """Nothing is asked, nothing is signed."""
    other = made.server.make(**ANONYMOUS)
    mixed = made.link.split("=")[0] + "=" + other.link.split("=")[1]
    visitor = visit(browser, f"{mixed}#{made.tokens[2]}")
    visitor.page.locator("#problem").wait_for()
    assert "not the one that the link names" in visitor.seen()
    assert not visitor.page.locator("#survey").is_visible()
    assert not [r for r in visitor.requests if r.method == "POST"]
    visitor.page.context.close()


def test_an_invitation_that_has_been_used_elsewhere(browser: Browser, made: Made) -> None:
    one, two = (arrive(browser, made, made.tokens[3]) for _ in range(2))
    send(one.page)
    answer(two.page, ["0", None, None])
    review(two.page)
    two.page.get_by_role("button", name="Send the right-hand column").click()
    two.page.locator("#problem").wait_for()
    assert "This invitation has been used" in two.seen()
    assert two.reports == []
    for visitor in (one, two):
        visitor.page.context.close()


def test_a_preview_signs_and_sends_nothing(browser: Browser, made: Made) -> None:
    visitor = visit(browser, f"{made.link}#preview={'preview'.ljust(43, '-')}")
    page = visitor.page
    answer(page, ["0", "3", None])
    assert page.locator("#anonymity").is_visible()
    review(page)
    page.get_by_role("button", name="Send the right-hand column").click()
    page.locator("#done").wait_for()
    assert not [r for r in visitor.requests if r.method == "POST"]
    assert_quiet(visitor, made.server)
    page.context.close()


def test_the_form_makes_an_anonymous_campaign(browser: Browser, sqlite_server: Server) -> None:
    visitor = sign_in(browser, sqlite_server)
    page = visitor.page
    page.get_by_role("link", name="New campaign").click()
    page.get_by_label("Title").fill("Anonymous")
    page.get_by_label("Questions", exact=False).first.fill("How is it?")
    page.get_by_label("Everyone answers for themselves").check()
    page.get_by_label("Everybody with the link").check()
    page.get_by_label("Anonymous").check()
    assert page.get_by_label("People whom I invite").is_checked()
    for name in ("Everybody with the link", "Answers only"):
        assert page.get_by_label(name).is_disabled()
    count = page.get_by_label("How many invitations")
    count.fill("19")
    page.get_by_role("button", name="Create the campaign").click()
    assert not count.evaluate("field => field.checkValidity()")
    count.fill("20")
    page.get_by_role("button", name="Create the campaign").click()
    page.get_by_text("20 invitations are ready").wait_for()
    assert "?d=" in page.locator("#fresh-links").text_content()  # type: ignore[operator]
    assert_quiet(visitor, sqlite_server)
    page.context.close()

"""Every page, light and dark, as axe-core sees it: no serious finding; and by keyboard alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.javascript import PACKAGE
from tests.service.browser import PHONE, Browser, Page, chromium, visit
from tests.service.harness import Made, Server
from tests.service.test_one_file import ONE_FILE
from tests.service.test_pages import QUESTIONS, _report, answer, review, send, sign_in, survey

AXE = PACKAGE / "node_modules" / "axe-core" / "axe.min.js"
SERIOUS = ("serious", "critical")
SCHEMES = ("light", "dark")


@pytest.fixture(scope="module")
def running() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def browser(running: Browser) -> Iterator[Browser]:
    yield running
    for context in running.contexts:
        context.close()


def findings(page: Page) -> list[str]:
    """What is seriously wrong with the page as it stands, light and dark."""
    if not AXE.is_file():
        pytest.skip("axe-core is not here: npm ci in clients/js")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = []
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        for violation in page.evaluate("axe.run()")["violations"]:
            if violation["impact"] in SERIOUS:
                places = [node["target"] for node in violation["nodes"]]
                found.append(f"{scheme}: {violation['id']} at {places}")
    return found


def unfold(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")


@pytest.fixture(scope="module")
def answered(sqlite_server: Server) -> Made:
    """A campaign with results."""
    made = survey(sqlite_server, invitations=12, description="Among the staff.")
    _report(made, made.tokens)
    made.truths(12)
    return made


def test_axe_finds_what_is_wrong(browser: Browser, sqlite_server: Server) -> None:
    """A planted fault, so that silence means something."""
    page = visit(browser, survey(sqlite_server, open=True).link).page
    answer(page, ["often"])
    page.evaluate("document.querySelector('.lead').append(document.createElement('button'))")
    page.evaluate("document.querySelector('.lead').hidden = false")
    assert [each.split(" at ")[0] for each in findings(page)] == [
        f"{scheme}: button-name" for scheme in SCHEMES
    ]


def test_the_worker_s_page(browser: Browser, sqlite_server: Server) -> None:
    made = survey(sqlite_server, open=True, protects="answers", description="Among the staff.")
    page = visit(browser, made.link, width=PHONE).page
    page.get_by_role("button", name="I agree").wait_for()
    unfold(page)
    assert findings(page) == []
    page.get_by_role("button", name="I agree").click()
    answer(page, ["often", None, "never"])
    assert findings(page) == []
    review(page)
    unfold(page)
    assert findings(page) == []
    send(page)
    assert findings(page) == []


def test_long_scales_and_long_surveys(browser: Browser, sqlite_server: Server) -> None:
    tasks = [{"text": f"Question {number}?"} for number in range(60)]
    made = survey(sqlite_server, open=True, tasks=tasks, scale="0..20", labels=None)
    page = visit(browser, made.link).page
    page.get_by_label("Your answer").first.select_option("17")
    assert findings(page) == []
    review(page)
    assert findings(page) == []


def test_a_problem(browser: Browser, sqlite_server: Server) -> None:
    page = visit(browser, f"{sqlite_server.url}/c/{'x' * 22}").page
    page.get_by_role("heading", name="There is no such survey").wait_for()
    assert findings(page) == []


def test_the_page_as_one_file(browser: Browser, sqlite_server: Server) -> None:
    made = survey(sqlite_server, open=True)
    page = visit(browser, ONE_FILE.as_uri()).page
    page.get_by_label("The link that you were sent").wait_for()
    assert findings(page) == []
    page.get_by_label("The link that you were sent").fill(made.link)
    page.get_by_role("button", name="Open the survey").click()
    answer(page, ["often"])
    unfold(page)
    assert findings(page) == []


def test_the_requester_s_pages(
    browser: Browser, sqlite_server: Server, answered: Made, tmp_path: Path
) -> None:
    page = visit(browser, f"{sqlite_server.url}/").page
    page.get_by_label("Key").wait_for()
    assert findings(page) == []
    page = sign_in(browser, sqlite_server).page
    assert findings(page) == []
    page.get_by_role("link", name="New campaign").click()
    page.get_by_label("Title").fill("A survey")
    page.get_by_label("Everybody with the link").check()
    unfold(page)
    assert findings(page) == []
    page.goto(f"{sqlite_server.url}/#/c/{answered.id}")
    page.locator("#truth-rows tr").first.wait_for()
    assert findings(page) == []
    with page.expect_download() as download:
        page.get_by_role("button", name="Report (HTML)").click()
    report = tmp_path / "report.html"
    download.value.save_as(report)
    kept = visit(browser, report.as_uri()).page
    assert kept.get_by_text(QUESTIONS["q1"]).is_visible()
    assert findings(kept) == []


def test_the_whole_path_by_keyboard(browser: Browser, sqlite_server: Server) -> None:
    """From consent to "Thank you" with Tab, Space, arrows and Enter; where the focus is."""
    made = survey(sqlite_server, open=True, protects="answers")
    worker = visit(browser, made.link)
    page = worker.page
    page.locator("#consent").wait_for()
    press_until(page, "I agree: show the questions")
    page.keyboard.press("Enter")
    page.locator("#survey").wait_for()
    press_until(page, "never")
    page.keyboard.press("ArrowDown")
    page.get_by_text("1 of 8 answered").wait_for()
    press_until(page, "Forget my answers")
    page.keyboard.press("Shift+Tab")
    assert focused(page) == "See what will be sent"
    page.keyboard.press("Enter")
    page.locator("#review").wait_for()
    press_until(page, "Change answers")
    page.keyboard.press("Space")
    page.locator("#survey").wait_for()
    assert page.locator("#tasks :checked").get_attribute("value") == "1"
    press_until(page, "See what will be sent")
    page.keyboard.press("Enter")
    page.locator("#review").wait_for()
    assert page.evaluate("document.activeElement.id") == "review-title"
    press_until(page, "Send the right-hand column")
    page.keyboard.press("Enter")
    page.locator("#done").wait_for()
    assert page.evaluate("document.activeElement.id") == "done-title"
    assert made.status["reports"] == 1
    assert not worker.complaints


def press_until(page: Page, name: str) -> None:
    """Press Tab until the focus is on the control with this name; every stop can be seen."""
    for _ in range(80):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.matches('body, :focus-visible')")
        if focused(page) == name:
            return
    raise AssertionError(f"Tab does not lead to {name}")


def focused(page: Page) -> str:
    """What the focused control is called."""
    return str(
        page.evaluate(
            "(({ activeElement: e }) => (e.closest('label') ?? e).textContent.trim())(document)"
        )
    )

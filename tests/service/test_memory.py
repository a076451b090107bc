"""What the worker's page remembers, in a real browser: coins, values that were sent, and ε."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.service.browser import PHONE, Browser, Page, Visitor, chromium, visit
from tests.service.harness import Made, Server
from tests.service.test_pages import WORDS, answer, assert_quiet, review, send

MANY = [f"Have you done this thing number {place}?" for place in range(30)]
GIVEN: list[str | None] = [WORDS[place % len(WORDS)] for place in range(30)]


@pytest.fixture(scope="module")
def running() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def browser(running: Browser) -> Iterator[Browser]:
    yield running
    for context in running.contexts:
        context.close()


def survey(server: Server, texts: list[str] = MANY, **fields: object) -> Made:
    tasks = [{"text": text} for text in texts]
    return server.make(**{"tasks": tasks, "labels": WORDS, "open": True} | fields)


def message(page: Page) -> str:
    """Exactly what would be sent."""
    return page.locator("#body").text_content() or ""


def fill(page: Page, labels: list[str | None] = GIVEN) -> None:
    """Answer at once: these pages have many questions."""
    page.locator("#survey").wait_for()
    values = [None if label is None else str(WORDS.index(label)) for label in labels]
    page.evaluate(
        """(values) => values.forEach((value, place) => {
            document.querySelector(`input[name="task-${place}"]:checked`)?.click();
            if (value !== null)
                document.querySelector(`input[name="task-${place}"][value="${value}"]`).click();
        })""",
        values,
    )


def test_no_way_back_tosses_new_coins(browser: Browser, sqlite_server: Server) -> None:
    """Reload, another tab, back with another answer: the same message. By chance: P < 1e-9."""
    worker = visit(browser, survey(sqlite_server).link)
    page = worker.page
    fill(page)
    review(page)
    first = message(page)

    page.get_by_role("button", name="Change answers").click()
    page.locator("#tasks").get_by_role("group").first.get_by_role("radio", name="often").check()
    review(page)
    page.get_by_role("button", name="Change answers").click()
    page.locator("#tasks").get_by_role("group").first.get_by_role("radio", name="never").check()
    review(page)
    assert message(page) == first

    page.reload()
    page.locator("#review").wait_for()
    assert message(page) == first
    page.get_by_role("button", name="Change answers").click()
    page.get_by_role("button", name="Forget my answers").click()
    fill(page)
    review(page)
    assert message(page) == first

    tab = page.context.new_page()
    tab.goto(page.url)
    fill(tab)
    review(tab)
    assert message(tab) == first
    send(tab)
    page.locator("#done").wait_for()
    assert_quiet(worker, sqlite_server)
    assert worker.reports == []  # the other tab has sent


def test_an_answer_does_not_move_what_is_sent_for_another_question(
    browser: Browser, sqlite_server: Server
) -> None:
    """Where participation is public and skipped questions have no value. By chance: P < 1e-9."""
    worker = visit(browser, survey(sqlite_server, protects="answers").link)
    agree(worker)
    fill(worker.page, [None, *GIVEN[1:]])
    before = review(worker.page)
    assert before[0] == ("skipped", "nothing of its own")
    worker.page.get_by_role("button", name="Change answers").click()
    worker.page.locator("input[name=task-0]").first.evaluate("(input) => input.click()")
    after = review(worker.page)
    assert after[0][0] == WORDS[0]
    assert after[1:] == before[1:]


def agree(worker: Visitor) -> None:
    worker.page.get_by_role("button", name="I agree: show the questions").click()


def test_a_clone_gets_what_was_sent_before(browser: Browser, sqlite_server: Server) -> None:
    first, clone = survey(sqlite_server), survey(sqlite_server)
    worker = visit(browser, first.link)
    page = worker.page
    fill(page)
    sent = [text for _, text in review(page)]
    send(page)
    page.goto(clone.link)
    page.get_by_text("has answered 30 of these questions in another survey").wait_for()
    fill(page, ["always"] * 30)
    rows = review(page)
    assert [answered for answered, _ in rows] == ["always"] * 30
    assert [text for _, text in rows] == [f"{text} (as before)" for text in sent]
    send(page)
    page.get_by_text("How your device checked this").click()
    assert page.locator("#spent").inner_text() == "30"
    assert_quiet(worker, sqlite_server)


def test_another_rule_for_the_same_question_is_refused(
    browser: Browser, sqlite_server: Server
) -> None:
    questions = ["Do you smoke?", "Do you drink?"]
    worker = visit(browser, survey(sqlite_server, questions).link, width=PHONE)
    page = worker.page
    answer(page, ["often"])
    review(page)
    send(page)
    page.goto(survey(sqlite_server, ["Do you gamble?", *questions], epsilon=0.9).link)
    page.get_by_role("heading", name="You have answered one of these questions before").wait_for()
    problem = page.locator("#problem-text").inner_text()
    assert "“Do you smoke?” before, under another rule (ε = 1)" in problem
    assert "Nothing was sent. You can ask those who run the survey" in problem
    assert page.locator("#survey").is_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE
    assert len(worker.reports) == 1


def test_a_weaker_promise_is_shown_and_asked(browser: Browser, sqlite_server: Server) -> None:
    worker = visit(browser, survey(sqlite_server, protects="answers").link, width=PHONE)
    page = worker.page
    page.locator("#consent").wait_for()
    assert "does not hide which questions you answer" in page.locator("#reasons").inner_text()
    assert "Not protected: that you took part and which" in page.locator("#promise").inner_text()
    assert page.locator("#survey").is_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE
    agree(worker)
    page.locator("#survey").wait_for()
    assert page.locator("#consent").is_hidden()
    assert_quiet(worker, sqlite_server)


def test_surveys_that_add_up_are_asked(browser: Browser, sqlite_server: Server) -> None:
    """The first one states its own weak promise; from the second on the sum is asked."""
    worker = visit(browser, survey(sqlite_server, ["Do you smoke?"], epsilon=6).link)
    page = worker.page
    answer(page, ["often"])
    review(page)
    send(page)
    page.goto(survey(sqlite_server, ["Do you drink?"], epsilon=2).link)
    page.locator("#consent").wait_for()
    assert "so far has ε = 6 in all; with this survey it would be up to 8" in worker.seen()
    agree(worker)
    answer(page, ["never"])
    review(page)
    send(page)
    assert len(worker.reports) == 2


def test_lasting_storage_is_asked_for_and_not_waited_for(
    browser: Browser, sqlite_server: Server
) -> None:
    """Some browsers never answer the request."""
    worker = visit(browser, "about:blank")
    worker.page.add_init_script(
        "navigator.storage.persist = () => { window.asked = true; return new Promise(() => {}); }"
    )
    worker.page.goto(survey(sqlite_server, ["Do you smoke?"]).link)
    answer(worker.page, ["often"])
    review(worker.page)
    assert worker.page.evaluate("window.asked")
    send(worker.page)

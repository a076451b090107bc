"""Answering in a real browser: what is chosen can be seen, nothing is lost, reviews are short."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from forsooth.service.manifest import installed
from forsooth.service.pages import STATIC
from tests.service.browser import PHONE, Browser, Page, chromium, visit
from tests.service.harness import Server
from tests.service.test_forgetting import drafts
from tests.service.test_memory import MANY, fill
from tests.service.test_pages import (
    WORDS,
    answer,
    assert_quiet,
    contrast,
    review,
    send,
    survey,
)

KILOBYTES = 75  # at most, for all files of the worker's page, as they are sent
ADDRESS = "https://example.org/" + "a-very-long-path-without-any-space/" * 6
GIVEN: list[str | None] = ["often", None, "never"]


@pytest.fixture(scope="module")
def running() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def browser(running: Browser) -> Iterator[Browser]:
    yield running
    for context in running.contexts:
        context.close()


def chosen(page: Page) -> list[str | None]:
    """The labels of the first three questions that are chosen now."""
    groups = page.locator("#tasks").get_by_role("group")
    groups.first.wait_for()
    return [
        next(iter(group.locator(":checked + span").all_inner_texts()), None)
        for group in groups.all()[:3]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_chosen_answer_can_be_read_under_the_pointer(
    browser: Browser, sqlite_server: Server, scheme: str
) -> None:
    page = visit(browser, survey(sqlite_server, open=True).link).page
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
    answer(page, GIVEN)
    words = page.locator("#tasks :checked + span").first
    resting = colours(words)
    page.locator("#tasks :checked").first.hover()
    assert colours(words) == resting
    assert contrast(*resting) >= 4.5


def colours(words: object) -> tuple[str, str]:
    """Of a text and its background."""
    script = "(e) => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor]"
    one, other = words.evaluate(script)  # type: ignore[attr-defined]
    return _hex(one), _hex(other)


def _hex(colour: str) -> str:
    return "#" + "".join(f"{int(part):02x}" for part in re.findall(r"\d+", colour)[:3])


def test_answers_survive_until_they_are_sent(browser: Browser, sqlite_server: Server) -> None:
    worker = visit(browser, survey(sqlite_server, open=True).link, width=PHONE)
    page = worker.page
    page.get_by_text(installed().digest).wait_for(state="attached")
    answer(page, GIVEN)
    page.get_by_text("Kept on this device until sent").wait_for()
    page.reload()
    page.get_by_text("Your answers were kept").wait_for()
    assert worker.warnings == 1
    assert chosen(page) == GIVEN
    assert page.get_by_text("2 of 8 answered").is_visible()

    rows = review(page)
    page.go_back()
    assert page.locator("#review").is_hidden()
    assert chosen(page) == GIVEN
    page.go_forward()
    page.locator("#review").wait_for()
    page.reload()
    page.locator("#review").wait_for()
    assert [
        row.locator("td").nth(1).inner_text() for row in page.locator("#rows tbody tr").all()
    ] == [sent for _, sent in rows]
    page.get_by_role("button", name="Change answers").click()
    assert chosen(page) == GIVEN

    page.get_by_text("The server that serves this page").click()
    with page.context.expect_page() as source:
        page.get_by_role("link", name="the program that adds the noise").click()
    assert "forsooth-client" in (source.value.text_content("body") or "")
    assert chosen(page) == GIVEN

    review(page)
    before = worker.warnings
    send(page)
    assert drafts(page) == []
    page.go_back()
    assert page.locator("#done").is_visible()
    page.reload()
    page.locator("#done").wait_for()
    assert worker.warnings == before
    assert_quiet(worker, sqlite_server)


def test_answers_are_forgotten_with_one_click(browser: Browser, sqlite_server: Server) -> None:
    worker = visit(browser, survey(sqlite_server, open=True).link)
    page = worker.page
    answer(page, GIVEN)
    page.get_by_text("Kept on this device until sent").wait_for()
    assert drafts(page) == [{"q1": "3", "q3": "0"}]
    page.get_by_role("button", name="Forget my answers").click()
    page.get_by_text("Your answers are deleted from this device").wait_for()
    assert drafts(page) == []
    assert chosen(page) == [None, None, None]
    page.reload()
    assert chosen(page) == [None, None, None]
    assert worker.warnings == 0


def test_another_invitation_begins_without_answers(browser: Browser, sqlite_server: Server) -> None:
    made = survey(sqlite_server, invitations=2)
    page = visit(browser, f"{made.link}#{made.tokens[0]}").page
    answer(page, GIVEN)
    page.get_by_text("Kept on this device until sent").wait_for()
    page.goto(f"{made.link}#{made.tokens[1]}")
    page.wait_for_load_state()
    page.locator("#forget").wait_for(state="hidden")
    assert chosen(page) == [None, None, None]
    page.goto(f"{made.link}#{made.tokens[0]}")
    page.get_by_text("Your answers were kept").wait_for()
    assert chosen(page) == GIVEN


@pytest.mark.parametrize(
    ("fields", "sent", "summary"),
    [
        (
            {"mechanism": "lp"},
            r"-?[\d.,]+: (below|between|above) “\w+”.*|\w+",
            "Every number has noise",
        ),
        (
            {"mechanism": "staircase", "epsilon": 3},
            "never or rarely|sometimes|often or always|skipped",
            r"(\d) of 8 rows will be sent as something that stands for your answer, alone or",
        ),
        ({}, "|".join([*WORDS, "skipped"]), r"(\d) of 8 rows will be sent just as you answered"),
    ],
    ids=["lp", "staircase", "rr"],
)
def test_the_review_reads_what_is_sent(
    browser: Browser, sqlite_server: Server, fields: dict[str, object], sent: str, summary: str
) -> None:
    page = visit(browser, survey(sqlite_server, open=True, **fields).link).page
    answer(page, ["often"] * 8)  # merged answers are sent almost surely: P > 1 - 1e-8
    rows = review(page)
    assert all(re.fullmatch(sent, text) for _, text in rows), rows
    found = re.search(summary, page.locator("#summary").inner_text())
    assert found
    same = [one for one, other in rows if one in other.split(" or ")]
    assert [int(count) for count in found.groups()] in ([], [len(same)])


def test_many_merged_answers_are_a_range(browser: Browser, sqlite_server: Server) -> None:
    """Four of ten neighbours send the same."""
    made = survey(sqlite_server, open=True, mechanism="staircase", scale="0..9", labels=None)
    page = visit(browser, made.link).page
    answer(page, ["3"] * 8)
    texts = {sent for _, sent in review(page)}
    assert any(re.fullmatch(r"\d to \d", text) for text in texts)
    assert not [text for text in texts if text.count(",") > 2]


def test_texts_of_others_stay_within_the_page(browser: Browser, sqlite_server: Server) -> None:
    """Long words wrap, and every text runs in the direction of its own letters."""
    hebrew = "האם אתה עובד כשאתה חולה?"
    made = survey(
        sqlite_server,
        title=ADDRESS[:190],
        description=ADDRESS,
        tasks=[{"text": ADDRESS}, {"text": hebrew}],
        labels=["לא", ADDRESS[:190], "b", "c", "d"],
        open=True,
    )
    page = visit(browser, made.link, width=PHONE).page
    page.locator("#survey").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE
    boxes = page.locator("#tasks .text, #title, #description")
    widest = boxes.evaluate_all("(all) => Math.max(...all.map((e) => e.scrollWidth))")
    assert widest <= PHONE
    directions = page.locator("#tasks .text").evaluate_all(
        "(all) => all.map((e) => getComputedStyle(e).direction)"
    )
    assert directions == ["ltr", "rtl"]
    review(page)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE
    assert page.locator("#rows th[dir=auto]").count() == 2


def test_a_long_review_is_short(browser: Browser, sqlite_server: Server) -> None:
    """200 questions: 25 at a time, and the buttons are always in view."""
    texts = [f"{text} ({part})" for part in range(7) for text in MANY][:200]
    made = survey(sqlite_server, tasks=[{"text": text} for text in texts], open=True)
    page = visit(browser, made.link, width=PHONE).page
    fill(page, ["often"] * 200)
    review(page)
    assert page.evaluate("document.documentElement.scrollHeight") < 6000
    for name in ("Send the right-hand column", "Change answers"):
        box = page.get_by_role("button", name=name).bounding_box()
        assert box
        assert 0 <= box["y"] <= 900 - box["height"]
    assert page.locator("#rows tbody tr").count() == 200
    last = page.locator("#rows details").last
    heading = last.locator("summary").inner_text()
    assert re.fullmatch(r"Questions 176 to 200: 25 answered, \d+ changed", heading)
    last.locator("summary").click()
    shown = last.locator("tbody td:last-child").all_inner_texts()
    changed = sum("often" not in text for text in shown)
    assert heading.endswith(f" {changed} changed")
    send(page)


def test_the_page_is_light(sqlite_server: Server) -> None:
    zipped = {"Accept-Encoding": "gzip"}
    sizes = {
        name: len(sqlite_server.call("GET", f"/static/{name}", headers=zipped).content)
        for name in installed().files
    }
    assert min(sizes.values()) > 0
    assert sum(sizes.values()) < KILOBYTES * 1000
    assert sizes["forsooth-client.js"] < (STATIC / "forsooth-client.js").stat().st_size / 2

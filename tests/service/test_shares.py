"""A survey's results in the browser: two camps are seen as two, and how many more are needed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from forsooth import Answers
from forsooth.io import packing
from tests.service.browser import DESK, PHONE, Browser, Page, chromium
from tests.service.harness import Made, Server
from tests.service.test_pages import WORDS, assert_quiet, sign_in

PEOPLE = 400
TASKS = [
    {"id": "camps", "text": "How often do you work while ill?"},
    {"id": "peak", "text": "How often do you learn something new?"},
]
PEAK = np.repeat(np.arange(5), [40, 80, 160, 80, 40])


@pytest.fixture(scope="module")
def running() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def browser(running: Browser) -> Iterator[Browser]:
    yield running
    for context in running.contexts:
        context.close()


@pytest.fixture(scope="module")
def survey(sqlite_server: Server) -> Made:
    """Half say never and half always to one question; the other has one peak."""
    made = sqlite_server.make(
        title="How is it here?",
        tasks=TASKS,
        labels=WORDS,
        epsilon=2.0,
        estimand="opinion",
        invitations=PEOPLE,
    )
    camps = np.repeat([0, 4], PEOPLE // 2)
    send(made, {"camps": camps, "peak": np.random.default_rng(1).permutation(PEAK)})
    made.truths(PEOPLE)
    return made


def send(made: Made, columns: dict[str, np.ndarray]) -> None:
    """Everybody answers everything. Coins go by place, not by token: each run sends the same."""
    people = [f"w{place:03}" for place in range(len(next(iter(columns.values()))))]
    answers = {
        person: {task: int(column[place]) for task, column in columns.items()}
        for place, person in enumerate(people)
    }
    table = Answers.of(answers, "0..4", tasks=tuple(columns))
    reports = made.mechanism.perturb(table, simulation_seed=1)
    assert list(reports.workers) == people
    design, packed = made.view["design"], packing.pack(reports.values, reports.mechanism.bits)
    for token, report in zip(made.tokens, packed):
        assert made.send(token, report.tobytes(), design=design).status == 201


def open_results(browser: Browser, made: Made, width: int) -> Page:
    visitor = sign_in(browser, made.server, width=width)
    visitor.page.goto(f"{made.server.url}/#/c/{made.id}")
    visitor.page.locator(".question").first.wait_for()
    assert visitor.page.evaluate("document.documentElement.scrollWidth") == width
    assert_quiet(visitor, made.server)
    return visitor.page


def within(page: Page, question: int, shares: list[int]) -> list[bool]:
    """Per answer: does its interval, as shown, hold the true share, and tell something?"""
    rows = page.locator(".question").nth(question).locator("tr td.number").all_inner_texts()
    found = [[int(number) for number in re.findall(r"\d+", row)] for row in rows]
    assert all(low <= estimate <= high < low + 20 for estimate, low, high in found)
    return [low <= share <= high for share, (_, low, high) in zip(shares, found, strict=True)]


@pytest.mark.parametrize("width", [DESK, PHONE])
def test_two_camps_are_called_so(browser: Browser, survey: Made, width: int) -> None:
    page = open_results(browser, survey, width)
    assert page.locator("#divided-title").inner_text() == "People disagree on 1 of 2 questions"
    assert page.locator("#divided-list li").all_inner_texts() == [TASKS[0]["text"]]
    camps, peak = page.locator(".question").all()
    sign = camps.locator(".camps").inner_text()
    assert sign.startswith("People disagree")
    assert re.search(r"More people answer never and always than (rarely|sometimes|often),", sign)
    assert peak.locator(".camps").count() == 0
    assert "on the scale from 0 (never) to 4 (always)" in camps.inner_text()
    inside = [within(page, 0, [50, 0, 0, 0, 50]), within(page, 1, [10, 20, 40, 20, 10])]
    assert all(inside[0])
    assert sum(map(sum, inside)) >= 8  # of ten 90 % intervals; fewer in 7 % of crowds


def test_how_many_more_is_a_range_and_nothing_for_closed_campaigns(
    browser: Browser, sqlite_server: Server
) -> None:
    made = sqlite_server.make(
        tasks=TASKS, epsilon=2.0, estimand="opinion", invitations=80, target_width=0.3
    )
    camps = np.tile([0, 4], 40)
    send(made, {"camps": camps[:1], "peak": PEAK[:1]})
    page = open_results(browser, made, DESK)
    assert made.truths(1)["enough"]["more_reports"] is None
    assert page.locator("#enough").inner_text() == "Not yet"
    assert page.locator("#more").inner_text() == ""

    made.tokens = made.tokens[1:]
    send(made, {"camps": camps[1:], "peak": PEAK[::5][1:]})
    more = made.truths(80)["enough"]["more_reports"]
    assert 0 < 2 * more["low"] < more["high"]
    page.get_by_text("more reports are needed").wait_for()
    assert re.fullmatch(
        r"About [\d,]+ to [\d,]+ more reports are needed for the requested precision\.",
        page.locator("#more").inner_text(),
    )
    sqlite_server.as_requester("POST", f"/{made.id}/close", {})
    page.locator("#state").get_by_text("closed", exact=True).wait_for()
    page.locator("#enough").get_by_text("No", exact=True).wait_for()
    assert page.locator("#more").inner_text() == ""
    assert made.truths(80)["enough"]["more_reports"] is None


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures(browser: Browser, survey: Made, tmp_path: Path, scheme: str) -> None:
    """FORSOOTH_PICTURES=docs/images makes the picture of the documentation: light, on a desk."""
    wanted = os.environ.get("FORSOOTH_PICTURES")
    for width in (DESK, PHONE):
        page = open_results(browser, survey, width)
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        documented = wanted and (scheme, width) == ("light", DESK)
        folder = Path(wanted) if documented and wanted else tmp_path
        name = "survey-1280.png" if documented else f"survey-{width}-{scheme}.png"
        page.locator("#truths").screenshot(path=folder / name)
        assert (folder / name).stat().st_size < 200_000

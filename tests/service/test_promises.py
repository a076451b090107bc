"""What the pages say of a promise: the total first, honest in words and colour, and warnings.

FORSOOTH_PICTURES=docs/images python -m pytest tests/service/test_promises.py -k pictures

makes the pictures of the threat model anew: the worker's page at three ε.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from forsooth import Privacy
from forsooth.odds import STRENGTHS
from forsooth.promise import promise
from forsooth.service.pages import STATIC
from tests.clients.javascript import node
from tests.service.browser import DESK, PHONE, Browser, Page, chromium, visit
from tests.service.harness import Made, Server
from tests.service.test_pages import KILOBYTES, WORDS, answer, review, send, sign_in

TEN = [
    "Have you taken cocaine this year?",
    "Did you take cocaine this year?",
    "Do you gamble for money?",
    "Have you lied to your doctor?",
    "Did you drive after drinking?",
    "Have you stolen from an employer?",
    "Do you hide debts from family?",
    "Have you cheated in an exam?",
    "Do you take sleeping pills?",
    "Have you thought about suicide?",
]
EPSILONS = (0.5, 2.0, 6.0)
LOOKS = {"strong": "good", "moderate": "fair", "weak": "warn", "very weak": "bad"}


@pytest.fixture(scope="module")
def running() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def browser(running: Browser) -> Iterator[Browser]:
    yield running
    for context in running.contexts:
        context.close()


def ten(server: Server, **fields: object) -> Made:
    tasks = [{"text": text} for text in TEN]
    order = {"title": "Health and habits", "tasks": tasks, "labels": WORDS, "open": True}
    return server.make(**order | fields)


def shown_bounds(page: Page) -> list[tuple[str, str, int]]:
    """Per bound: its class in words, its colour, and how much of its bar is filled."""
    page.locator("#promise").wait_for()
    found = []
    for bound in page.locator("#promise .bound").all():
        look = (bound.get_attribute("class") or "").removeprefix("bound ")
        filled = bound.locator(".filled").count()
        found.append((bound.locator("strong").inner_text(), look, filled))
    return found


def test_words_colours_and_bars_rank_three_campaigns(
    browser: Browser, sqlite_server: Server
) -> None:
    """Less ε never looks weaker, and the three pages look different."""
    ranks = []
    for epsilon in EPSILONS:
        made = ten(sqlite_server, epsilon=epsilon)
        page = visit(browser, made.link, width=PHONE).page
        bounds = shown_bounds(page)
        words = promise(Privacy(epsilon), len(TEN), you=True)
        assert page.locator("#promise-title").inner_text() == words.title
        assert [name for name, _, _ in bounds] == [bound.strength for bound in words.bounds]
        for name, look, filled in bounds:
            assert look == LOOKS[name]
            assert filled == len(STRENGTHS) - STRENGTHS.index(name)
        whole = bounds[0][1]
        assert page.locator(f"#promise.{whole}").count() == 1
        assert whole != "good"  # ten answers at these ε are strongly protected nowhere
        assert "✓" not in page.locator("#promise").inner_text()
        for bound in words.bounds:
            assert (
                f"odds of 1 to 1 can become {bound.odds}" in page.locator("#promise").inner_text()
            )
        ranks.append(tuple(filled for _, _, filled in bounds))
    assert ranks == sorted(set(ranks), reverse=True)


def test_a_total_that_is_small_is_called_strong(browser: Browser, sqlite_server: Server) -> None:
    page = visit(browser, ten(sqlite_server, epsilon=0.1).link).page
    assert shown_bounds(page)[0] == ("strong", "good", 4)


def test_what_somebody_could_conclude(browser: Browser, sqlite_server: Server) -> None:
    made = ten(sqlite_server, epsilon=0.5, protects="answers")
    page = visit(browser, made.link, width=PHONE).page
    page.get_by_text("What could somebody conclude").click()
    rows = [row.inner_text().split("\t") for row in page.locator(".conclusions tbody tr").all()]
    words = promise(Privacy(0.5, "answers"), len(TEN), you=True)
    assert rows == [[row.about, row.half, row.rare] for row in words.conclusions]
    said = page.locator("#promise .sentences li").all_inner_texts()
    assert [*said, page.locator("#promise .open").inner_text()] == list(words.sentences)
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE


def test_the_page_does_not_say_that_answers_stay(browser: Browser, sqlite_server: Server) -> None:
    """At ε = 6 nine of ten rows are sent as answered; the page counts them."""
    made = ten(sqlite_server, epsilon=6)
    page = visit(browser, made.link).page
    answer(page, ["often"] * len(TEN))
    rows = review(page)
    same = sum(answered == sent for answered, sent in rows)
    summary = page.locator("#summary").inner_text()
    assert f"{same} of 10 rows will be sent just as you answered" in summary
    assert "protection" not in summary
    send(page)
    assert "Some of it may be just as you answered" in page.locator("#done").inner_text()
    html = (STATIC / "worker.html").read_text(encoding="utf-8")
    assert "never left" not in html
    assert "stay on this device" not in html


def test_one_number_for_everything(browser: Browser, sqlite_server: Server) -> None:
    """With unit = worker only the drawn tasks are asked, and one bound is promised."""
    made = ten(sqlite_server, unit="worker", sampled=2, epsilon=1.0)
    worker = visit(browser, made.link)
    page = worker.page
    assert shown_bounds(page) == [("strong", "good", 4)]
    assert page.locator("#tasks .task").count() == 2
    answer(page, ["often", "never"])
    assert len(review(page)) == 2
    send(page)
    assert "tasks" not in json.loads(worker.reports[0])
    assert made.status["spent"]["largest"] == 1.0
    assert not worker.complaints


def test_the_form_shows_the_total_and_warns(browser: Browser, sqlite_server: Server) -> None:
    page = sign_in(browser, sqlite_server).page
    page.get_by_role("link", name="New campaign").click()
    questions = page.get_by_label("Questions", exact=False).first
    total, warning = page.locator("#total"), page.locator("#preview-warning")

    page.get_by_label("ε per question").fill("1")
    questions.fill(TEN[2])
    assert total.inner_text() == "Everything one person says: ε = 1, strong"
    assert warning.is_hidden()
    questions.fill("\n".join(TEN[2:4]))
    assert total.inner_text() == "Everything one person says: ε = 2, moderate"
    assert warning.is_hidden()
    questions.fill("\n".join(TEN[:2]))
    assert "2 questions look alike" in warning.inner_text()
    questions.fill("\n".join(TEN))
    assert total.inner_text() == "Everything one person says: ε = 10, very weak"
    assert "protected very weakly: ε = 10, so 1 to 1 can become 22,027 to 1" in warning.inner_text()
    assert page.locator("#preview.bad").count() == 1

    page.get_by_role("button", name="Let ε cover everything one person says").click()
    assert total.inner_text() == "Everything one person says: ε = 1, strong"
    assert warning.is_hidden()
    page.get_by_label("ε per person").fill("1.5")
    page.get_by_label("How many questions each person is asked").fill("3")
    assert "Only 3 questions of 10" in (page.locator("#preview .sentences").text_content() or "")
    page.get_by_label("Title").fill("Health and habits")
    page.get_by_label("Everyone answers for themselves").check()
    page.get_by_label("Everybody with the link").check()
    page.get_by_role("button", name="Create the campaign").click()
    page.locator("#campaign").wait_for()
    made = sqlite_server.call("GET", f"/v1/campaigns/{page.url.split('/')[-1]}").json
    assert (made["unit"], made["sampled"], made["worker_total"]) == ("worker", 3, 1.5)
    assert "ε = 1.5 per person" in page.locator("#facts").inner_text()


@pytest.mark.parametrize(
    ("tasks", "questions"),
    [
        (TEN[:2], 2),
        (TEN[1:], None),
        (["Is this picture violent?", "Is this picture violent?"], 2),
        (["Do you work while ill?", "How often do you work from home?"], None),
        (["", "?"], None),
        (["Hast du Schulden?", "HAST DU SCHULDEN"], 2),
    ],
)
def test_questions_that_look_alike(tasks: list[str], questions: int | None) -> None:
    path = STATIC / "alike.js"
    script = (
        f"import({json.dumps(path.as_uri())}).then(({{ lookAlike }}) => console.log("
        f"JSON.stringify(lookAlike({json.dumps([{'text': text} for text in tasks])}))))"
    )
    done = node("--input-type=module", "-e", script)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found and found["questions"]) == questions


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures(browser: Browser, sqlite_server: Server, tmp_path: Path, scheme: str) -> None:
    """The promise at three ε on a phone and on a desk; light ones on a phone are in the docs."""
    wanted = os.environ.get("FORSOOTH_PICTURES")
    for epsilon in EPSILONS:
        made = ten(sqlite_server, epsilon=epsilon)
        for width in (PHONE, DESK):
            page = visit(browser, made.link, width=width).page
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            page.locator("#promise").wait_for()
            page.get_by_text("What could somebody conclude").click()
            assert page.evaluate("document.documentElement.scrollWidth") == width
            documented = wanted and (scheme, width) == ("light", PHONE)
            folder = Path(wanted) if documented and wanted else tmp_path
            name = f"promise-{epsilon:g}.png" if documented else f"{epsilon:g}-{width}-{scheme}.png"
            bottom = page.locator("#promise").bounding_box()
            assert bottom is not None
            height = math.ceil(bottom["y"] + bottom["height"] + 16)
            page.screenshot(
                path=folder / name,
                clip={"x": 0, "y": 0, "width": width, "height": height},
                full_page=True,
            )
            assert (folder / name).stat().st_size < KILOBYTES * 1000

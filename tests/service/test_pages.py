"""The pages in a real browser: made by hand there, answered there, and nothing given away.

FORSOOTH_PICTURES=docs/images .venv/bin/python -m pytest tests/service/test_pages.py -k pictures

makes the pictures of the documentation anew, with a crowd that is large enough to show truths.
"""

from __future__ import annotations

import base64
import csv
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from forsooth import Answers
from forsooth.io import packing
from forsooth.service.manifest import installed
from forsooth.service.pages import STATIC
from tests.service.browser import DESK, PHONE, Browser, Page, Visitor, chromium, visit
from tests.service.harness import Made, Server

WORDS = ["never", "rarely", "sometimes", "often", "always"]
MARKUP = "<img src=x onerror=alert(1)> <b>Is this bold?</b>"
QUESTIONS = {
    "q1": "I work while I am ill",
    "q2": "I take on more than I can finish",
    "q3": "My work is noticed",
    "q4": "I can say no to my manager",
    "q5": "I have looked for another job this year",
    "q6": "I hide mistakes from colleagues",
    "q7": "I sleep badly because of work",
    "q8": "I would recommend working here",
}
LEVELS = np.array([3.2, 2.4, 1.1, 0.7, 1.9, 1.5, 2.2, 3.0])  # of a crowd for the pictures
PICTURE = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
STRENGTHS = ("good", "accent", "warn", "bad")  # colours of the classes of a promise
STRENGTH_TINTS = ("good-tint", "tint", "warn-tint", "bad-tint")  # of the cards in which they stand
KILOBYTES = 200  # at most, for a picture


@pytest.fixture(scope="module")
def running() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def browser(running: Browser) -> Iterator[Browser]:
    yield running
    for context in running.contexts:
        context.close()


def survey(server: Server, **fields: object) -> Made:
    tasks = [{"id": name, "text": text} for name, text in QUESTIONS.items()]
    return server.make(**{"title": "How is it here?", "tasks": tasks, "labels": WORDS} | fields)


def answer(page: Page, labels: list[str | None]) -> None:
    """Choose a label per question, None to skip."""
    page.locator("#survey").wait_for()
    for place, label in enumerate(labels):
        if label is not None:
            group = page.locator("#tasks").get_by_role("group").nth(place)
            group.get_by_role("radio", name=label, exact=True).check()


def review(page: Page) -> list[tuple[str, str]]:
    """Go on to the two columns: what was answered, what will be sent."""
    page.get_by_role("button", name="See what will be sent").click()
    page.locator("#review").wait_for()
    rows = page.locator("#rows tbody tr").all()
    return [
        (row.locator("td").nth(0).inner_text(), row.locator("td").nth(1).inner_text())
        for row in rows
    ]


def send(page: Page) -> None:
    page.get_by_role("button", name="Send the right-hand column").click()
    page.locator("#done").wait_for()


def sign_in(browser: Browser, server: Server, *, width: int = DESK) -> Visitor:
    visitor = visit(browser, f"{server.url}/", width=width)
    visitor.page.get_by_label("Key").fill(server.key)
    visitor.page.get_by_role("button", name="Sign in").click()
    visitor.page.locator("#list").wait_for()
    return visitor


def assert_quiet(visitor: Visitor, server: Server) -> None:
    """No complaint in the console (a violated policy is one), no request to anywhere else."""
    assert not visitor.complaints
    elsewhere = {request.url for request in visitor.requests} - {
        request.url
        for request in visitor.requests
        if request.url.startswith((f"{server.url}/", "data:", "blob:"))
    }
    assert not elsewhere


def test_answers_are_in_no_request(browser: Browser, sqlite_server: Server) -> None:
    made = survey(sqlite_server, invitations=2)
    given: list[str | None] = ["often", "always", None, "rarely", "never", "often", None, "never"]
    posted = []
    nothing: list[str | None] = [None] * len(QUESTIONS)
    for token, labels in zip(made.tokens, (given, nothing)):
        worker = visit(browser, f"{made.link}#{token}")
        page = worker.page
        page.get_by_text(installed().digest).wait_for(state="attached")
        before = len(worker.requests)
        answer(page, labels)
        rows = review(page)
        body = page.locator("#body").text_content()
        page.wait_for_timeout(200)
        assert len(worker.requests) == before  # answering and looking ask for nothing
        send(page)
        page.wait_for_timeout(200)
        assert worker.reports == [body]
        assert len(worker.requests) == before + 1  # the report, and nothing else
        posted.append(json.loads(body or ""))

        assert [row[0] for row in rows] == [label or "skipped" for label in labels]
        report = base64.b64decode(posted[-1]["report"])
        symbols = packing.unpack_one(report, len(QUESTIONS), 3, np.dtype(np.uint8))
        assert [row[1] for row in rows] == [[*WORDS, "skipped"][symbol] for symbol in symbols]
        assert not any(token in request.url for request in worker.requests)
        assert_quiet(worker, sqlite_server)
    assert {frozenset(body) for body in posted} == {frozenset({"invitation", "design", "report"})}
    assert len({len(body["report"]) for body in posted}) == 1


def test_noise_is_added(browser: Browser, sqlite_server: Server) -> None:
    """Of 40 answers at ε = 1 all would stay as they are with probability 1e-18."""
    tasks = [{"id": f"q{j}", "text": f"Question {j}?"} for j in range(40)]
    made = survey(sqlite_server, tasks=tasks, open=True)
    worker = visit(browser, made.link)
    worker.page.locator("#survey").wait_for()
    worker.page.evaluate(
        "document.querySelectorAll('input[value=\"3\"]').forEach((input) => input.click())"
    )
    rows = review(worker.page)
    assert {answered for answered, _ in rows} == {"often"}
    assert {sent for _, sent in rows} != {"often"}


@pytest.mark.parametrize(
    ("fields", "sent"),
    [
        ({"mechanism": "lp", "scale": "0..20", "labels": None}, r"-?[\d.,]+"),
        ({"mechanism": "rr-lp", "scale": "0..20", "labels": None}, r"-?[\d.,]+|skipped"),
        ({"mechanism": "mf-safe"}, "nothing of its own"),
        ({"protects": "answers"}, f"{'|'.join(WORDS)}|nothing of its own"),
    ],
    ids=["lp", "rr-lp", "mf-safe", "answers"],
)
def test_other_promises(
    browser: Browser, sqlite_server: Server, fields: dict[str, object], sent: str
) -> None:
    tasks = [{"text": "How dark is it?", "image": PICTURE}, {"text": "And now?"}]
    made = survey(sqlite_server, tasks=tasks, open=True, **fields)
    worker = visit(browser, made.link, width=PHONE)
    page = worker.page
    if fields.get("protects") == "answers":
        page.get_by_role("button", name="I agree: show the questions").click()
    page.locator("#survey").wait_for()
    assert page.locator("#tasks img").evaluate("(image) => image.decode().then(() => image.width)")
    first = page.locator("#tasks").get_by_role("group").first
    if "scale" in fields:
        first.get_by_label("Your answer").select_option("17")
    else:
        first.get_by_role("radio", name="often").check()
    public = "which questions were answered." in page.locator("#promise .open").inner_text()
    assert public == ("protects" in fields)
    rows = review(page)
    assert all(re.fullmatch(sent, text.replace("Will be sent", "").strip()) for _, text in rows)
    send(page)
    assert ("tasks" in json.loads(worker.reports[0])) == public
    assert_quiet(worker, sqlite_server)


def test_offline_the_same_report_is_sent_again(browser: Browser, sqlite_server: Server) -> None:
    made = survey(sqlite_server, invitations=1)
    worker = visit(browser, f"{made.link}#{made.tokens[0]}")
    page = worker.page
    answer(page, ["often"])
    review(page)
    page.context.set_offline(True)
    page.get_by_role("button", name="Send the right-hand column").click()
    page.get_by_text("Trying again").wait_for()
    page.context.set_offline(False)
    page.locator("#done").wait_for()
    assert len(worker.reports) > 1
    assert len(set(worker.reports)) == 1
    assert made.status["reports"] == 1
    page.reload()
    page.locator("#done").wait_for()  # it knows that it has answered


def test_errors_are_for_people(browser: Browser, sqlite_server: Server) -> None:
    made = survey(sqlite_server, invitations=2)
    link = f"{made.link}#{made.tokens[0]}"
    first = visit(browser, link)
    answer(first.page, ["often"])
    review(first.page)
    late = visit(browser, f"{made.link}#{made.tokens[1]}")
    answer(late.page, ["never"])
    review(late.page)
    send(first.page)

    used = visit(browser, link)
    used.page.get_by_role("heading", name="This invitation has been used").wait_for()
    assert used.page.locator("#survey").is_hidden()  # nobody answers for nothing

    cut_off = visit(browser, made.link)
    cut_off.page.get_by_text("needs an invitation: open the whole link").wait_for()
    nowhere = visit(browser, f"{sqlite_server.url}/c/{'x' * 22}")
    nowhere.page.get_by_role("heading", name="There is no such survey").wait_for()

    sqlite_server.as_requester("POST", f"/{made.id}/close", {})
    late.page.get_by_role("button", name="Send the right-hand column").click()
    late.page.get_by_role("heading", name="This survey is closed").wait_for()
    late.page.reload()
    late.page.get_by_text("Your report is waiting on this device").wait_for()

    mistaken = visit(browser, f"{sqlite_server.url}/")
    mistaken.page.get_by_label("Key").fill("not the key")
    mistaken.page.get_by_role("button", name="Sign in").click()
    mistaken.page.get_by_role("alert").filter(has_text="key").wait_for()
    assert mistaken.page.evaluate("sessionStorage.length") == 0


def test_keyboard_alone(browser: Browser, sqlite_server: Server) -> None:
    made = survey(sqlite_server, invitations=1)
    page = visit(browser, f"{made.link}#{made.tokens[0]}").page
    page.locator("#survey").wait_for()
    page.get_by_role("radio").first.focus()
    page.keyboard.press("Space")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Tab")  # to "Clear"
    page.keyboard.press("Tab")  # to the next question
    page.keyboard.press("Space")
    assert page.get_by_text("2 of 8 answered").is_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # Clear
    assert page.get_by_text("1 of 8 answered").is_visible()
    page.keyboard.press("Enter")  # in a question: on to the review
    page.locator("#review").wait_for()
    assert page.evaluate("document.activeElement.id") == "review-title"
    assert page.locator("#rows td").first.inner_text() == "rarely"


def test_colours_can_be_read() -> None:
    """WCAG AA: 4.5 for text, 3 for the edges of controls, light and dark."""
    style = (STATIC / "style.css").read_text(encoding="utf-8")
    light, dark = (
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{3,6});", part))
        for part in re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    )
    grounds = ("paper", "card", "hover", "good-tint", "bad-tint", "warn-tint", "tint")
    for colours in (light, light | dark):
        for ground in grounds:
            for ink in ("ink", "soft"):
                assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
        for ink, ground in (
            *(("accent", ground) for ground in grounds),
            *((ink, "card") for ink in ("good", "bad", "warn")),
            ("good", "good-tint"),
            ("bad", "bad-tint"),
            *((ink, tint) for ink in STRENGTHS for tint in STRENGTH_TINTS),
            ("on-accent", "accent"),
        ):
            assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
        assert contrast(colours["edge"], colours["card"]) >= 3


def contrast(one: str, other: str) -> float:
    low, high = sorted(map(_luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = np.array([int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_nothing_inline_and_nothing_from_elsewhere() -> None:
    for name in ("index.html", "worker.html"):
        page = (STATIC / name).read_text(encoding="utf-8")
        page = re.sub(r'<script type="importmap">[^<]*</script>', "", page)  # no program
        assert not re.search(r"<style|<script(?![^>]* src=)|\sstyle=|\son\w+=|https?://", page)


def test_a_campaign_from_the_form_to_its_truths(
    browser: Browser, sqlite_server: Server, tmp_path: Path
) -> None:
    requester = sign_in(browser, sqlite_server)
    page = requester.page
    page.get_by_role("link", name="New campaign").click()
    page.get_by_label("Title").fill("<i>How</i> is it here?")
    table = tmp_path / "questions.csv"
    with table.open("w", newline="") as file:
        csv.writer(file).writerows(
            [("id", "text"), ("a", MARKUP), ("b", 'With "quotes", and\nlines')]
        )
    page.get_by_label("take them from a file").set_input_files(table)
    page.get_by_text("2 questions, from").wait_for()
    page.get_by_label("Words for them").fill(", ".join(WORDS))
    page.get_by_label("Each question has one right answer").check()
    assert "one value on the scale" in page.locator("#estimand").inner_text()
    page.get_by_label("ε per question").fill("2")
    assert "1 to 1 can become 55 to 1" in page.locator("#preview").inner_text()
    assert page.locator("#total").inner_text() == "Everything one person says: ε = 4, weak"
    page.get_by_label("How many invitations").fill("3")
    page.get_by_role("button", name="Create the campaign").click()

    page.get_by_text("3 invitations are ready").wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download invitations.csv").click()
    lines = download.value.path().read_text("utf-8-sig").splitlines()
    links = [row["link"] for row in csv.DictReader(lines)]
    assert links == (page.locator("#fresh-links").text_content() or "").split("\n")
    assert page.get_by_role("heading", name="<i>How</i> is it here?").is_visible()

    for link in links:
        worker = visit(browser, link, width=PHONE)
        answer(worker.page, ["often", "never"])
        assert MARKUP in worker.seen()
        review(worker.page)
        send(worker.page)
        assert worker.page.locator("b, i").count() == 0
        assert_quiet(worker, sqlite_server)

    page.get_by_text("From 3 reports.").wait_for(timeout=60_000)
    assert page.locator("#reports").inner_text() == "3"
    assert page.locator("#truth-chart canvas").count() == 1
    rows = page.locator("#truth-rows tr").all_inner_texts()
    assert [row.split("\t")[0] for row in rows] == [f"a {MARKUP}", 'b With "quotes", and\nlines']
    assert all(re.search(r"\((\d|\.)+\).* – ", row, re.DOTALL) for row in rows)
    assert "estimand level" in page.locator("#assumption").inner_text()
    assert page.locator("#opinions").is_hidden()
    exports = {
        "Truths (CSV)": b"task,",
        "Reports (Parquet)": b"PAR1",
        "Report (HTML)": b"<!doctype",
    }
    for name, beginning in exports.items():
        with page.expect_download() as download:
            page.get_by_role("button", name=name).click()
        assert download.value.path().read_bytes().startswith(beginning)
    page.get_by_role("button", name="Close the campaign").click()
    page.get_by_role("button", name="Close it").click()
    page.locator("#state").get_by_text("closed").wait_for()
    assert_quiet(requester, sqlite_server)

    report = tmp_path / "report.html"
    download.value.save_as(report)
    kept = visit(browser, report.as_uri())  # without the service
    assert MARKUP in kept.seen()
    assert kept.page.locator("b, i, img").count() == 0
    assert not kept.complaints
    assert len(kept.requests) == 1


def fill_form(page: Page, scale: str, kind: str) -> None:
    """A whole order for a new campaign, open to everybody."""
    page.goto(f"{page.url.split('#')[0]}#/new")
    page.get_by_label("Title").fill("Kinds of questions")
    page.get_by_label("Questions", exact=False).first.fill("First?\nSecond?")
    page.get_by_label("Answers, from low to high").fill(scale)
    page.get_by_label(kind).check()
    page.get_by_label("Everybody with the link").check()


@pytest.mark.parametrize(
    ("scale", "kind", "estimand"),
    [
        ("0..4", "Each question has one right answer", "level"),
        ("-5, 0, 5", "Each question has one right answer", "level"),
        ("0..1", "Each question has one right answer", "label"),
        ("no, yes", "Each question has one right answer", "label"),
        ("cat, dog, cow", "Each question has one right answer", "label"),
        ("0..4", "Everyone answers for themselves", "opinion"),
    ],
)
def test_the_form_asks_what_the_truth_is(
    browser: Browser, sqlite_server: Server, scale: str, kind: str, estimand: str
) -> None:
    page = sign_in(browser, sqlite_server).page
    fill_form(page, scale, kind)
    page.get_by_role("button", name="Create the campaign").click()
    page.locator("#campaign").wait_for()
    status = sqlite_server.as_requester("GET", f"/{page.url.split('/')[-1]}/status").json
    assert status["estimand"] == estimand


def test_the_form_refuses_what_makes_no_sense(browser: Browser, sqlite_server: Server) -> None:
    page = sign_in(browser, sqlite_server).page
    before = len(sqlite_server.as_requester("GET", "").json["campaigns"])
    fill_form(page, "0..4", "Everyone answers for themselves")
    page.get_by_label("Mechanism").select_option("mf-safe")
    page.get_by_role("button", name="Create the campaign").click()
    page.locator("#new-problem").get_by_text("sums over tasks").wait_for()
    page.reload()  # nothing chosen: the browser asks for a choice
    page.get_by_label("Title").fill("t")
    page.get_by_label("Questions", exact=False).first.fill("First?")
    page.get_by_role("button", name="Create the campaign").click()
    assert page.evaluate("document.querySelectorAll('input[name=truth]:invalid').length") == 2
    assert len(sqlite_server.as_requester("GET", "").json["campaigns"]) == before


@pytest.mark.parametrize("width", [DESK, PHONE])
def test_opinions_are_shown_as_bars(
    browser: Browser, sqlite_server: Server, tmp_path: Path, width: int
) -> None:
    made = survey(sqlite_server, estimand="opinion", invitations=30)
    _report(made, made.tokens)
    found = made.truths(30)
    requester = sign_in(browser, sqlite_server, width=width)
    page = requester.page
    page.goto(f"{sqlite_server.url}/#/c/{made.id}")
    page.locator(".question").first.wait_for()
    assert page.locator(".question").count() == len(QUESTIONS)
    assert page.locator(".question .fill").count() == len(QUESTIONS) * len(WORDS)
    share = found["truths"][0]["shares"][3]
    value, low, high = (f"{int(100 * share[name] + 0.5)}" for name in ("estimate", "low", "high"))
    row = page.locator(".question").first.locator("tr").nth(3)
    assert row.inner_text().split() == ["often", value, "%", f"({low}", "–", high, "%)"]
    assert "answers as given" in page.locator("#opinions").inner_text()
    assert "any mix of honest answers and guesses" in page.locator("#opinions").inner_text()
    assert "estimand opinion" in page.locator("#assumption").inner_text()
    assert page.locator("#truths-body").is_hidden()
    assert page.locator("#quality").is_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    with page.expect_download() as download:
        page.get_by_role("button", name="Report (HTML)").click()
    assert_quiet(requester, sqlite_server)

    report = tmp_path / "report.html"
    download.value.save_as(report)
    kept = visit(browser, report.as_uri(), width=width)
    assert kept.page.locator(".question svg .bar").count() == len(QUESTIONS) * len(WORDS)
    headings = kept.page.locator(".question h3").all_inner_texts()
    assert headings == [f"{name} {text}" for name, text in QUESTIONS.items()]
    assert kept.page.locator(".question").first.locator(".name").all_inner_texts() == WORDS
    assert "answers as given" in kept.seen()
    assert kept.page.evaluate("document.documentElement.scrollWidth") <= width
    assert not kept.complaints


def test_one_report_is_one(browser: Browser, sqlite_server: Server) -> None:
    made = survey(sqlite_server, invitations=1)
    _report(made, made.tokens)
    made.truths(1)
    page = sign_in(browser, sqlite_server).page
    page.goto(f"{sqlite_server.url}/#/c/{made.id}")
    page.get_by_text("From 1 report.").wait_for()


def test_labels_are_shown_with_their_probabilities(browser: Browser, sqlite_server: Server) -> None:
    made = survey(sqlite_server, estimand="label", epsilon=8, invitations=10)
    _report(made, made.tokens)
    made.truths(10)
    page = sign_in(browser, sqlite_server).page
    page.goto(f"{sqlite_server.url}/#/c/{made.id}")
    page.locator("#truth-rows tr").first.wait_for()
    assert page.get_by_role("columnheader", name="Probable answers").is_visible()
    assert re.search(r"\w+ \d+ %$", page.locator("#truth-rows tr").first.inner_text())


def test_pictures(browser: Browser, sqlite_server: Server, tmp_path: Path) -> None:
    """Both pages on a desk and on a phone: nothing sticks out, and people can look at them."""
    wanted = os.environ.get("FORSOOTH_PICTURES")
    folder, crowd = (Path(wanted), 300) if wanted else (tmp_path, 8)
    made = survey(
        sqlite_server,
        description="A survey among the staff. Noise is added to answers before they are sent.",
        invitations=crowd + 1,
        target_width=0.5,
    )
    _report(made, made.tokens[1:])
    made.truths(crowd)
    labels: list[str | None] = ["often", "sometimes", None, "rarely", None, "often", "never"]
    for width in (DESK, PHONE):
        worker = visit(browser, f"{made.link}#{made.tokens[0]}", width=width)
        answer(worker.page, labels)
        if width == PHONE:
            review(worker.page)
        worker.page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
        _picture(worker, folder / f"worker-{width}.png", height=1500)

        requester = sign_in(browser, sqlite_server, width=width)
        requester.page.goto(f"{sqlite_server.url}/#/c/{made.id}")
        requester.page.locator("#quality-chart canvas").wait_for()
        _picture(requester, folder / f"dashboard-{width}.png", height=1500)
        for visitor in (worker, requester):
            assert_quiet(visitor, sqlite_server)
            assert visitor.page.evaluate("document.documentElement.scrollWidth") == width


def _report(made: Made, tokens: list[str]) -> None:
    generator = np.random.default_rng(1)
    levels = LEVELS + generator.normal(0, 0.8, (len(tokens), len(LEVELS)))
    answered = generator.random(levels.shape) < 0.8
    answers = {
        token: {
            task: int(level)
            for task, level, given in zip(QUESTIONS, row.round().clip(0, 4), cells)
            if given
        }
        for token, row, cells in zip(tokens, levels, answered)
    }
    reports = made.mechanism.perturb(Answers.of(answers, "0..4", tasks=tuple(QUESTIONS)))
    design = made.view["design"]
    packed = packing.pack(reports.values, reports.mechanism.bits)
    for token, report in zip(reports.workers, packed):
        assert made.send(token, report.tobytes(), design=design).status == 201


def _picture(visitor: Visitor, path: Path, *, height: int) -> None:
    """The page from its top, as far down as is of interest."""
    page = visitor.page
    width = page.viewport_size["width"] if page.viewport_size else DESK
    content = page.evaluate("document.documentElement.scrollHeight")
    page.set_viewport_size({"width": width, "height": min(height, content)})
    page.wait_for_timeout(200)  # charts are drawn anew
    page.screenshot(path=path)
    assert path.stat().st_size < KILOBYTES * 1000

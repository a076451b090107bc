"""A campaign's life and its invitations on the requester's page, in a real browser.

FORSOOTH_PICTURES=docs/images python -m pytest tests/service/test_life_pages.py -k pictures

makes the pictures of the documentation anew.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from forsooth.client.tokens import new_token
from tests.service.browser import DESK, PHONE, Browser, Page, Visitor, chromium, visit
from tests.service.harness import BLANK, Made, Server
from tests.service.test_pages import (
    KILOBYTES,
    answer,
    assert_quiet,
    fill_form,
    review,
    send,
    sign_in,
    survey,
)

NAMES = ["Ann Lee", "Jörg Weiß", "=cmd()"]


@pytest.fixture(scope="module")
def running() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def browser(running: Browser) -> Iterator[Browser]:
    yield running
    for context in running.contexts:
        context.close()


def campaign_page(browser: Browser, made: Made, *, width: int = DESK) -> Visitor:
    requester = sign_in(browser, made.server, width=width)
    show(requester.page, made)
    return requester


def show(page: Page, made: Made) -> None:
    page.goto(f"{made.server.url}/#/c/{made.id}")
    page.locator("#campaign").wait_for()


def click(page: Page, name: str) -> None:
    page.get_by_role("button", name=name).click()


def state(page: Page, name: str) -> None:
    page.locator("#state").get_by_text(name, exact=True).wait_for()


def test_from_a_draft_to_its_deletion(browser: Browser, sqlite_server: Server) -> None:
    requester = sign_in(browser, sqlite_server)
    page = requester.page
    fill_form(page, "0..4", "Everyone answers for themselves")
    page.get_by_label("People whom I invite").check()
    click(page, "Save as a draft")
    state(page, "draft")
    made = Made(sqlite_server, page.url.split("/")[-1], "", [])
    assert page.locator("#share").is_hidden()

    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Preview").click()
    preview = opened.value
    preview.get_by_text("Participants see this page").wait_for()
    answer(preview, ["3", None])
    preview.close()

    page.get_by_role("link", name="Change").click()
    page.get_by_role("heading", name="Change the draft").wait_for()
    assert page.locator("textarea[name=table]").input_value() == "First?\nSecond?"
    page.locator("textarea[name=table]").fill("First?\nSecond?\nThird?")
    page.get_by_label("Erase reports after").fill("30")
    click(page, "Save as a draft")
    state(page, "draft")
    assert [task["text"] for task in made.view["tasks"]] == ["First?", "Second?", "Third?"]
    assert made.status["retention_days"] == 30

    click(page, "Open the campaign")
    page.locator("#opening").get_by_role("button", name="Open it").click()
    state(page, "open")
    assert page.get_by_role("link", name="Change").is_hidden()
    (token,) = (each["token"] for each in made.act("invitations", {"count": 1}).json["invitations"])
    worker = visit(browser, f"{sqlite_server.url}/c/{made.id}#{token}", width=PHONE)
    answer(worker.page, ["3", None, "0"])
    erases = "erases reports 30 days after the survey closes"
    assert erases in worker.page.locator("#promise").inner_text()

    click(page, "Pause")
    state(page, "paused")
    review(worker.page)
    worker.page.get_by_role("button", name="Send the right-hand column").click()
    worker.page.get_by_role("heading", name="This survey is paused").wait_for()
    late = visit(browser, f"{sqlite_server.url}/c/{made.id}#{token}")
    late.page.get_by_role("heading", name="This survey is paused").wait_for()
    assert late.page.locator("#survey").is_hidden()
    click(page, "Open it again")
    state(page, "open")
    worker.page.get_by_role("button", name="Send it now").click()
    worker.page.locator("#done").wait_for()

    click(page, "Close the campaign")
    page.get_by_role("button", name="Close it").click()
    state(page, "closed")
    page.get_by_text("Reports are erased on").wait_for()
    click(page, "Delete …")
    dialog = page.locator("#deleting")
    assert "1 report" in dialog.inner_text()
    now = dialog.get_by_role("button", name="Delete it")
    for typed in ("delete", "delete 2 reports"):
        dialog.get_by_label("To confirm").fill(typed)
        assert now.is_disabled()
    dialog.get_by_label("To confirm").fill("delete 1 report")
    now.click()
    state(page, "deleted")
    assert page.locator("#collected").is_hidden()
    click(page, "Restore")
    state(page, "closed")
    assert made.status["reports"] == 1
    click(page, "Delete …")
    dialog.get_by_label("Days in which").fill("0")
    dialog.get_by_label("To confirm").fill("delete 1 report")
    now.click()
    page.get_by_role("alert").filter(has_text="no such campaign").wait_for()
    gone = [text for text in requester.complaints if "404" not in text]  # the browser names it
    assert gone == []


@pytest.mark.parametrize("access", ["invitations", "open"])
def test_a_preview_sends_and_keeps_nothing(
    browser: Browser, sqlite_server: Server, access: str
) -> None:
    """The real page, to its end; no request but reading, and nothing on the device."""
    made = survey(sqlite_server, draft=True, open=access == "open")
    link = campaign_page(browser, made).page.get_by_role("link", name="Preview")
    visitor = visit(browser, link.get_attribute("href") or "", width=PHONE)
    page = visitor.page
    page.get_by_text("Participants see this page").wait_for()
    answer(page, ["often", None, "never"])
    rows = review(page)
    assert [given.split("\n")[-1] for given, _ in rows[:3]] == ["often", "skipped", "never"]
    send(page)
    assert {request.method for request in visitor.requests} == {"GET"}
    assert page.evaluate("indexedDB.databases().then((all) => all.length)") == 0
    assert page.evaluate("localStorage.length + sessionStorage.length") == 0
    assert_quiet(visitor, sqlite_server)
    page.reload()
    page.locator("#survey").wait_for()  # it has kept nothing
    without = visit(browser, f"{made.link}#{new_token()}")
    if access == "invitations":
        without.page.get_by_role("heading", name="This survey has not begun").wait_for()


def test_a_duplicate_is_the_same_campaign(browser: Browser, sqlite_server: Server) -> None:
    tasks = [
        {"id": "a", "text": 'With "quotes", commas\nand lines'},
        {"id": "b", "text": "Plain; or not?"},
    ]
    made = sqlite_server.make(
        tasks=tasks,
        scale=["no", "perhaps, or not", "yes"],
        estimand="label",
        unit="worker",
        sampled=2,
        protects="answers",
        mechanism="staircase",
        redesign_after=55,
        max_reports=9,
        retention_days=3,
        description="Please answer.",
        open=True,
    )
    page = campaign_page(browser, made).page
    page.get_by_role("link", name="Duplicate").click()
    page.get_by_role("heading", name="New campaign").wait_for()
    click(page, "Create the campaign")
    state(page, "open")
    again = Made(sqlite_server, page.url.split("/")[-1], "", [])
    assert again.id != made.id
    first, second = (
        sqlite_server.as_requester("GET", f"/{each.id}/order").json for each in (made, again)
    )
    assert second == first | {"title": "Copy of A survey"}
    page.get_by_role("link", name="Your campaigns").click()
    page.get_by_role("link", name="New campaign").click()
    assert page.get_by_label("Title").input_value() == ""  # nothing of the copy is left


def test_names_never_leave_the_browser(
    browser: Browser, sqlite_server: Server, tmp_path: Path
) -> None:
    made = sqlite_server.make()
    requester = campaign_page(browser, made)
    page = requester.page
    page.get_by_label("Names or addresses for").fill("\n".join(NAMES))
    page.get_by_text("3 people, with the columns: name").wait_for()
    click(page, "Make invitations")
    page.get_by_text("3 invitations are ready").wait_for()
    table = tmp_path / "invitations.csv"
    with page.expect_download() as download:
        click(page, "Download invitations.csv")
    download.value.save_as(table)
    with table.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == [*NAMES[:2], "'=cmd()"]
    tokens = [row["link"].split("#")[1] for row in rows]
    assert made.send(tokens[0], BLANK).status == 201

    with page.expect_download() as download:
        click(page, "Cards with QR codes")
    sheet = tmp_path / "invitations.html"
    download.value.save_as(sheet)
    printed = visit(browser, sheet.as_uri())
    assert printed.page.locator("article img").count() == 3
    assert printed.page.evaluate(
        "Promise.all([...document.images].map((image) => image.decode())).then(() => true)"
    )
    assert NAMES[1] in printed.seen()
    assert {request.url[:5] for request in printed.requests} <= {"file:", "data:"}

    page.get_by_text("Reminders: find or revoke").click()
    page.get_by_label("Your table").set_input_files(table)
    click(page, "Find unused links")
    page.get_by_text("Of 3 links: 2 unused, 1 used.").wait_for()
    with page.expect_download() as download:
        click(page, "Download reminders.csv")
    with download.value.path().open(encoding="utf-8-sig", newline="") as file:
        assert list(csv.reader(file)) == [["name", "link"], *([*row.values()] for row in rows[1:])]
    click(page, "Revoke these unused links")
    page.locator("#revoking").get_by_role("button", name="Revoke them").click()
    page.get_by_text("Revoked: 2 invitations.").wait_for()
    assert made.send(tokens[1], BLANK).error == "unknown-invitation"

    posted = "".join(f"{request.url}{request.post_data or ''}" for request in requester.requests)
    asked = [r.post_data or "" for r in requester.requests if r.url.endswith("/check")]
    assert [json.loads(each)["hashes"] for each in asked] == [
        [sha256(token.encode()).hexdigest() for token in tokens]
    ]
    assert not any(name in posted for name in ("Ann", "Jörg", "J%C3%B6rg", "cmd"))
    files = [
        path.read_bytes() for path in Path(sqlite_server.log).parent.glob("*") if path.is_file()
    ]
    assert not any(name in content for content in files for name in (b"Ann Lee", "Weiß".encode()))
    assert_quiet(requester, sqlite_server)


def test_a_table_of_people_keeps_its_columns(browser: Browser, sqlite_server: Server) -> None:
    page = campaign_page(browser, sqlite_server.make()).page
    page.get_by_label("Names or addresses for").fill(
        'name;email\n"Lee; Ann";ann@x.org\nBo;bo@x.org'
    )
    click(page, "Make invitations")
    with page.expect_download() as download:
        click(page, "Download invitations.csv")
    with download.value.path().open(encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["name", "email", "link"]
    assert [row[:2] for row in rows] == [["Lee; Ann", "ann@x.org"], ["Bo", "bo@x.org"]]


def test_links_are_not_lost_by_leaving(browser: Browser, sqlite_server: Server) -> None:
    made = sqlite_server.make()
    requester = campaign_page(browser, made)
    page = requester.page
    page.get_by_label("Invitations", exact=True).fill("2")
    click(page, "Make invitations")
    page.get_by_text("2 invitations are ready").wait_for()
    links = page.locator("#fresh-links").text_content()
    page.get_by_role("link", name="Your campaigns").click()
    page.get_by_role("heading", name="Leave without the links?").wait_for()
    click(page, "Stay")
    assert page.url.endswith(made.id)
    assert page.locator("#fresh-links").text_content() == links
    page.remove_listener("dialog", requester.asked)
    page.on("dialog", lambda dialog: dialog.dismiss())
    with page.expect_event("dialog") as asked:
        page.evaluate("setTimeout(() => location.reload())")
    assert asked.value.type == "beforeunload"
    assert page.locator("#fresh-links").text_content() == links

    page.get_by_role("link", name="Your campaigns").click()
    with page.expect_download() as download:
        click(page, "Download and leave")
    lines = download.value.path().read_text("utf-8-sig").splitlines()
    assert lines == ["link", *(links or "").split("\n")]
    page.get_by_role("heading", name="Your campaigns").wait_for()
    before = len(requester.complaints)
    page.reload()  # there is nothing to lose any more
    assert len(requester.complaints) == before


def test_lost_links_are_replaced(browser: Browser, sqlite_server: Server) -> None:
    made = sqlite_server.make(invitations=3)
    assert made.send(made.tokens[0], BLANK).status == 201
    page = campaign_page(browser, made).page
    page.get_by_text("Reminders: find or revoke").click()
    click(page, "Replace 2 unused invitations")
    page.locator("#replacing").get_by_role("button", name="Replace them").click()
    page.get_by_text("2 invitations are ready").wait_for()
    links = (page.locator("#fresh-links").text_content() or "").split("\n")
    assert made.send(made.tokens[1], BLANK).error == "unknown-invitation"
    assert made.send(links[0].split("#")[1], BLANK).status == 201
    assert (made.status["reports"], made.status["invitations"]) == (2, 3)


def test_the_open_link_warns_and_has_a_code(browser: Browser, sqlite_server: Server) -> None:
    page = campaign_page(browser, sqlite_server.make(open=True)).page
    assert "one person can send many reports" in page.locator("#share").inner_text()
    click(page, "QR code")
    image = page.locator("#code-picture")
    image.wait_for()
    assert image.evaluate("(image) => image.decode().then(() => image.naturalWidth > 0)")
    with page.expect_download() as download:
        click(page, "Download link.svg")
    assert download.value.path().read_text().startswith("<svg")
    page.goto(f"{page.url.split('#')[0]}#/new")
    page.get_by_label("Everybody with the link").check()
    assert "can send as many reports as they like" in page.locator("#sybil").inner_text()


@pytest.mark.parametrize(
    ("content", "questions", "said"),
    [
        ("text\nWie müde?\nGrößer?".encode("cp1252"), ["Wie müde?", "Größer?"], ""),
        ("text\nWie müde?".encode("utf-16"), ["Wie müde?"], ""),
        (b'id;text\n1;"Ill; or tired?"\n2;Home?', ["Ill; or tired?", "Home?"], ""),
        (b'"id","text"\n"1","Ill; or tired?"', ["Ill; or tired?"], ""),
        (b'"Fine" is how I feel\nSad?', ['"Fine" is how I feel', "Sad?"], ""),
        (b"Sex, text, question?\nSad?", ["Sex, text, question?", "Sad?"], ""),
        (b'"Do you, often, text?"\nSad?', ["Do you, often, text?", "Sad?"], ""),
        (b"text\nIll; or tired?\n", ["Ill; or tired?"], ""),
        (b"text,scale\nIll?,1..7\nSad?,1..7", ["Ill?", "Sad?"], "column scale: 1..7"),
        (b"text,note\nIll?,a\nSad?,b", ["Ill?", "Sad?"], "Not used: the column note"),
        (b"text,scale\nIll?,1..7\nSad?,1..5", None, "several scales"),
        (b"id;text\n1;Ill; or tired?", None, "Put texts that contain “;” in double quotes"),
        (b"Frage\tNummer\nIll?\t1\nSad?\t2", None, "no column is named text"),
        (b'id,text\n1,"Ill" or tired?', None, "Row 2 of the table cannot be read"),
    ],
)
def test_tables_as_people_have_them(
    form: Page, tmp_path: Path, content: bytes, questions: list[str] | None, said: str
) -> None:
    table = tmp_path / "questions.csv"
    table.write_bytes(content)
    form.get_by_label("take them from a file").set_input_files([])
    form.get_by_label("take them from a file").set_input_files(table)
    result = form.locator("#table-result")
    if questions:
        first, last = questions[0], questions[-1]
        ends = f"s, from “{first}” to “{last}”" if len(questions) > 1 else f": “{first}”"
        result.filter(has_text=f"{len(questions)} question{ends}").wait_for()
    result.filter(has_text=said).wait_for()
    if "column scale" in said:
        assert form.get_by_label("Answers, from low to high").input_value() == "1..7"


@pytest.fixture(scope="module")
def form(running: Browser, sqlite_server: Server) -> Page:
    page = sign_in(running, sqlite_server).page
    page.get_by_role("link", name="New campaign").click()
    return page


def test_the_form_creates_nothing_by_mistake(browser: Browser, sqlite_server: Server) -> None:
    requester = sign_in(browser, sqlite_server)
    page = requester.page
    fill_form(page, "0..4", "Everyone answers for themselves")
    page.get_by_label("Title").press("Enter")
    page.get_by_label("ε per question").press("Enter")
    mistakes = {
        "Title": (" ", "Kinds", "needs a title"),
        "Close at": ("2021-01-01T10:00", "", "closing date has passed"),
        "Words for them": ("a, b, c, b, d", "", "same words, “b”"),
    }
    for label, (wrong, right, message) in mistakes.items():
        page.get_by_label(label).fill(wrong)
        click(page, "Create the campaign")
        page.locator("#new-problem").get_by_text(message).wait_for()
        page.get_by_label(label).fill(right)
    made = [each for each in requester.requests if each.method == "POST" and "plan" not in each.url]
    assert made == []


def test_pictures(browser: Browser, sqlite_server: Server, tmp_path: Path) -> None:
    """Every state, on a desk and on a phone: nothing sticks out."""
    wanted = os.environ.get("FORSOOTH_PICTURES")
    made = survey(sqlite_server, draft=True, retention_days=30)
    for width in (DESK, PHONE):
        requester = campaign_page(browser, made, width=width)
        page = requester.page
        picture(page, tmp_path / f"draft-{width}.png", width)
        page.goto(f"{sqlite_server.url}/#/edit/{made.id}")
        page.get_by_role("heading", name="Change the draft").wait_for()
        picture(page, tmp_path / f"form-{width}.png", width)
        preview = visit(browser, f"{made.link}#preview={new_token()}", width=width)
        answer(preview.page, ["often"])
        folder = Path(wanted) if wanted and width == PHONE else tmp_path
        picture(preview.page, folder / f"preview-{width}.png", width)
    made.act("open")
    for width in (DESK, PHONE):
        page = campaign_page(browser, made, width=width).page
        page.get_by_label("Names or addresses for").fill("\n".join(NAMES[:2]))
        click(page, "Make invitations")
        page.get_by_text("2 invitations are ready").wait_for()
        page.get_by_text("Reminders: find or revoke").click()
        folder = Path(wanted) if wanted and width == DESK else tmp_path
        picture(page, folder / f"invitations-{width}.png", width)
        page.get_by_role("link", name="Your campaigns").click()
        page.get_by_role("heading", name="Leave without the links?").wait_for()
        picture(page, tmp_path / f"leaving-{width}.png", width)
    made.act("close")
    for width in (DESK, PHONE):
        page = campaign_page(browser, made, width=width).page
        click(page, "Delete …")
        picture(page, tmp_path / f"deleting-{width}.png", width)


def picture(page: Page, path: Path, width: int) -> None:
    page.wait_for_timeout(200)  # colours change slowly
    page.screenshot(path=path)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert path.stat().st_size < KILOBYTES * 1000

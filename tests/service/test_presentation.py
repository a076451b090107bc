"""Texts, logo, sections, pages, ends and order: what workers see, and what nobody stores.

FORSOOTH_PICTURES=docs/images python -m pytest tests/service/test_presentation.py -k pictures

makes the pictures of the documentation anew.
"""

from __future__ import annotations

import base64
import json
import os
import struct
import zlib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from forsooth.client import WorkerCampaign
from forsooth.errors import ForsoothError
from tests.clients.javascript import PACKAGE
from tests.service.browser import DESK, PHONE, Browser, Page, chromium, visit
from tests.service.harness import Made, Server, serving
from tests.service.test_forgetting import drafts
from tests.service.test_life_pages import picture
from tests.service.test_one_file import ONE_FILE, only_to
from tests.service.test_pages import assert_quiet, fill_form, review, send, sign_in


def png(width: int = 64, height: int = 24) -> bytes:
    """A blue picture."""

    def chunk(name: bytes, content: bytes) -> bytes:
        checked = struct.pack(">I", zlib.crc32(name + content))
        return struct.pack(">I", len(content)) + name + content + checked

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = (b"\0" + b"\x22\x66\xaa" * width) * height
    parts = (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def data_url(content: bytes, media_type: str = "image/png") -> str:
    return f"data:{media_type};base64,{base64.b64encode(content).decode()}"


TEXTS: dict[str, Any] = {
    "introduction": "We want to know how work is here.\nIt takes two minutes.",
    "consent": "I am 18 or older.\n<b>I take part of my own will.</b>",
    "thanks": "Thank you from all of us.",
}
SECTIONS = ["Work", "Work", "Work", "Work", "Rest", "Rest", "Rest", "Rest"]


@pytest.fixture(scope="module")
def running() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def browser(running: Browser) -> Iterator[Browser]:
    yield running
    for context in running.contexts:
        context.close()


def made(server: Server, *, sections: bool = False, **presentation: object) -> Made:
    """An open campaign with eight questions."""
    tasks = [
        {"id": f"q{place}", "text": f"Question {place}?"}
        | ({"section": section} if sections else {})
        for place, section in enumerate(SECTIONS)
    ]
    fields = {"tasks": tasks, "scale": "1..7", "open": True, "presentation": presentation}
    return server.make(**fields)


def questions(page: Page) -> list[str]:
    """The texts of all questions, in the order in which they are shown."""
    page.locator("#survey").wait_for()
    return page.locator("#tasks .text").all_text_contents()


def test_texts_and_consent(browser: Browser, sqlite_server: Server) -> None:
    logo = png()
    campaign = made(sqlite_server, logo=data_url(logo), **TEXTS)
    worker = visit(browser, campaign.link, width=PHONE)
    page = worker.page
    page.get_by_text("It takes two minutes.").wait_for()
    assert page.get_by_text("<b>I take part of my own will.</b>").is_visible()
    assert page.locator("#logo").evaluate("async (e) => (await e.decode(), e.naturalWidth)") == 64
    assert page.locator("#survey").is_hidden()
    page.get_by_role("button", name="Show the questions").click()
    assert page.locator("#survey").is_hidden()  # the box is not ticked
    page.get_by_label("I agree to take part").check()
    page.get_by_role("button", name="Show the questions").click()
    page.locator("#survey").wait_for()
    assert page.locator("#opening").is_hidden()
    assert not [request for request in worker.requests if request.method == "POST"]

    page.locator("#tasks").get_by_role("radio", name="4", exact=True).first.check()
    page.get_by_text("Kept on this device until sent").wait_for()
    page.reload()
    page.locator("#survey").wait_for()  # there are answers: the consent was given
    review(page)
    send(page)
    assert page.get_by_text("Thank you from all of us.").is_visible()
    page.reload()
    page.get_by_text("Thank you from all of us.").wait_for()
    assert set(json.loads(worker.reports[0])) == {"invitation", "design", "report"}
    assert_quiet(worker, sqlite_server)


def test_the_page_as_one_file_shows_them(browser: Browser, sqlite_server: Server) -> None:
    campaign = made(sqlite_server, logo=data_url(png()), shuffled=True, **TEXTS)
    worker = visit(browser, f"{ONE_FILE.as_uri()}#{campaign.link}")
    page = worker.page
    page.get_by_label("I agree to take part").check()
    page.get_by_role("button", name="Show the questions").click()
    assert len(questions(page)) == len(SECTIONS)
    assert page.locator("#logo").evaluate("async (e) => (await e.decode(), e.naturalWidth)") == 64
    only_to(worker, sqlite_server, ONE_FILE.as_uri())


def test_an_experiment_asks_for_consent_first(browser: Browser, sqlite_server: Server) -> None:
    campaign = made(sqlite_server, **TEXTS)
    with serving(PACKAGE) as address:
        page = visit(browser, f"{address}/package.json").page
        page.evaluate(
            """async (link) => {
                const { askIn } = await import("/src/embedded.js");
                askIn(document.body, link).then((found) => (globalThis.found = found));
            }""",
            campaign.link,
        )
        page.get_by_text("I take part of my own will.").wait_for()
        assert page.get_by_role("radio").count() == 0
        page.get_by_role("button", name="I agree to take part").click()
        page.get_by_role("radio", name="4").first.check()
        page.get_by_role("button", name="See what will be sent").click()
        page.get_by_role("button", name="Send", exact=True).click()
        page.wait_for_function("globalThis.found?.receipt === 'accepted'")
    assert campaign.status["reports"] == 1


def test_a_changed_logo_is_not_shown(browser: Browser, sqlite_server: Server) -> None:
    campaign = made(sqlite_server, logo=data_url(png()))
    context = browser.new_context()
    page = context.new_page()
    page.route("**/logos/*", lambda route: route.fulfill(body=png(32), content_type="image/png"))
    page.goto(campaign.link)
    with page.expect_response("**/logos/*"):
        page.reload()
    page.locator("#survey").wait_for()
    page.wait_for_timeout(100)
    assert page.locator("#logo").is_hidden()


def test_the_logo_is_served_as_what_it_is(sqlite_server: Server) -> None:
    logo = png()
    campaign = made(sqlite_server, logo=data_url(logo))
    shown = campaign.view["presentation"]["logo"]
    assert shown == {"digest": sha256(logo).hexdigest(), "media_type": "image/png"}
    path = f"/v1/campaigns/{campaign.id}/logos/{shown['digest']}"
    reply = sqlite_server.call("GET", path, headers={"Origin": "https://example.org"})
    assert (reply.status, reply.content) == (200, logo)
    headers = {name.lower(): value for name, value in reply.headers.items()}
    assert headers["content-type"] == "image/png"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["access-control-allow-origin"] == "*"  # for the page as one file
    assert sqlite_server.call("GET", path[:-1] + "z").error == "unknown-logo"


@pytest.mark.parametrize(
    ("logo", "why"),
    [
        (data_url(b"<svg onload='alert(1)'/>", "image/svg+xml"), "SVG is refused"),
        (data_url(b"<svg onload='alert(1)'/>"), "is no image/png"),
        (data_url(png(), "image/jpeg"), "is no image/jpeg"),
        (data_url(png() + bytes(100_000)), "at most 100,000"),
        ("https://example.org/logo.png", "must be a PNG"),
        ("data:image/png;base64,AAAAA", "not valid base64"),
    ],
)
def test_what_is_no_logo(sqlite_server: Server, logo: str, why: str) -> None:
    order = {"title": "t", "tasks": [{"text": "?"}], "scale": "0..4", "epsilon": 1.0}
    reply = sqlite_server.as_requester("POST", "", order | {"presentation": {"logo": logo}})
    assert reply.status == 422
    assert why in reply.json["detail"]["message"]


def test_an_order_is_drawn_on_the_device(browser: Browser, sqlite_server: Server) -> None:
    campaign = made(sqlite_server, sections=True, shuffled=True)
    plain = [task["text"] for task in campaign.view["tasks"]]
    orders = []
    for _ in range(4):
        page = visit(browser, campaign.link).page
        orders.append(questions(page))
        page.reload()
        assert questions(page) == orders[-1]
        page.context.close()
    for order in orders:
        assert set(order[:4]) == set(plain[:4])  # sections stay where they are
        assert set(order[4:]) == set(plain[4:])
    assert len(set(map(tuple, orders))) > 1  # all four are the same once in 576³ runs

    worker = visit(browser, campaign.link)
    page, given = worker.page, {}
    order = questions(page)
    for place, text in enumerate(order):
        given[text] = str(1 + place % 7)
        group = page.locator("#tasks").get_by_role("group").nth(place)
        group.get_by_role("radio", name=given[text], exact=True).check()
    rows = review(page)
    asked = page.locator("#rows tbody th").all_inner_texts()
    assert asked == order
    assert [answer for answer, _ in rows] == [given[text] for text in asked]
    sent = dict(zip(asked, (value for _, value in rows)))
    body = json.loads(page.locator("#body").text_content() or "")
    symbols = symbols_of(body["report"], campaign)
    labels = [*map(str, range(1, 8)), "skipped"]
    assert [labels[symbol] for symbol in symbols] == [sent[text] for text in plain]
    send(page)
    assert drafts(page) == []
    assert_quiet(worker, sqlite_server)


def symbols_of(report: str, campaign: Made) -> list[int]:
    """The values of a report in the order of the campaign's tasks."""
    bits = campaign.mechanism.bits
    number = int.from_bytes(base64.b64decode(report), "little")
    return [number >> place * bits & (1 << bits) - 1 for place in range(len(SECTIONS))]


def test_pages_and_sections(browser: Browser, sqlite_server: Server) -> None:
    campaign = made(sqlite_server, sections=True, per_page=3)
    page = visit(browser, campaign.link, width=PHONE).page
    page.get_by_text("Page 1 of 3").wait_for()
    assert headings(page) == ["Work"]
    assert page.get_by_role("button", name="Previous").is_hidden()
    choose(page, "Question 1?", "7")
    page.get_by_role("button", name="Next").click()
    page.get_by_text("Page 2 of 3 · 1 of 8 answered").wait_for()
    assert headings(page) == ["Work", "Rest"]
    choose(page, "Question 4?", "2")
    page.go_back()
    page.get_by_text("Page 1 of 3 · 2 of 8 answered").wait_for()
    page.go_forward()
    page.get_by_role("button", name="Next").click()
    page.get_by_text("Page 3 of 3").wait_for()
    assert headings(page) == ["Rest"]
    page.reload()
    page.get_by_text("Page 3 of 3 · 2 of 8 answered").wait_for()
    rows = review(page)
    answers = [answer.splitlines()[-1] for answer, _ in rows]
    assert answers == ["skipped", "7", "skipped", "skipped", "2", "skipped", "skipped", "skipped"]
    page.get_by_role("button", name="Change answers").click()
    page.get_by_text("Page 3 of 3").wait_for()
    page.get_by_role("button", name="Previous").click()
    page.get_by_text("Page 2 of 3").wait_for()


def headings(page: Page) -> list[str]:
    return page.locator("#tasks h2:visible").all_inner_texts()


def choose(page: Page, question: str, answer: str) -> None:
    group = page.get_by_role("group", name=question)
    group.get_by_role("radio", name=answer, exact=True).check()


@pytest.mark.parametrize("scale", ["1..7", "0..20"])
def test_words_for_the_ends(browser: Browser, sqlite_server: Server, scale: str) -> None:
    low, high = scale.split("..")
    order = {"scale": scale, "open": True, "presentation": {"ends": ["not at all", "very much"]}}
    page = visit(browser, sqlite_server.make(**order).link, width=PHONE).page
    page.locator("#survey").wait_for()
    first = page.locator("#tasks").get_by_role("group").first
    if scale == "1..7":
        first.get_by_role("radio", name=f"{low}: not at all").check()
        tops = first.locator(".choices span").evaluate_all(
            "(all) => all.map((each) => each.getBoundingClientRect().top)"
        )
        assert len(tops) == 7
        assert len(set(tops)) == 1  # one row, on a phone too
        assert first.get_by_text("very much").is_visible()
    else:
        first.get_by_role("combobox").select_option(label=f"{high}: very much")
        assert first.get_by_role("combobox").input_value() == high


def test_labels_and_ends_are_not_given_both(sqlite_server: Server) -> None:
    order: dict[str, Any] = {"title": "t", "tasks": [{"text": "?"}], "scale": "0..1"}
    order |= {"epsilon": 1.0, "labels": ["no", "yes"], "presentation": {"ends": ["a", "b"]}}
    reply = sqlite_server.as_requester("POST", "", order)
    assert reply.status == 422
    assert "choose one" in reply.json["detail"]["message"]


def test_the_python_client_asks_for_consent(sqlite_server: Server, tmp_path: Path) -> None:
    campaign = made(sqlite_server, ends=["not at all", "very much"], **TEXTS)
    worker = WorkerCampaign(campaign.link, folder=tmp_path)
    assert worker.asked.consent == TEXTS["consent"]
    assert worker.asked.labels == ("1: not at all", *"23456", "7: very much")
    with pytest.raises(ForsoothError, match=r"asks for consent.*nothing was sent"):
        worker.submit({"q1": 3})
    assert campaign.status["reports"] == 0
    assert worker.submit({"q1": 3}, agree=True) == "accepted"


def test_what_was_promised_stays(sqlite_server: Server) -> None:
    draft = made(sqlite_server, **TEXTS, logo=data_url(png()))
    order = sqlite_server.as_requester("GET", f"/{draft.id}/order").json
    assert order["presentation"]["logo"] == data_url(png())
    copy = sqlite_server.as_requester("POST", "", order | {"draft": True}).json["id"]
    changed = order | {"draft": True, "presentation": TEXTS | {"consent": "Something else."}}
    assert sqlite_server.as_requester("PUT", f"/{copy}", changed).status == 200
    view = sqlite_server.call("GET", f"/v1/campaigns/{copy}").json["presentation"]
    assert (view["consent"], view["logo"]) == ("Something else.", None)
    assert sqlite_server.as_requester("PUT", f"/{draft.id}", changed).status == 409
    assert draft.view["presentation"]["consent"] == TEXTS["consent"]


def test_the_form_has_all_of_it(browser: Browser, sqlite_server: Server, tmp_path: Path) -> None:
    logo = tmp_path / "logo.png"
    logo.write_bytes(png())
    requester = sign_in(browser, sqlite_server)
    page = requester.page
    fill_form(page, "1..7", "Everyone answers for themselves")
    table = "section,text\nWork,Is it hard?\nWork,Is it long?\nRest,Is it short?"
    page.get_by_label("Questions", exact=False).first.fill(table)
    page.get_by_label("Words for them").fill("")
    page.get_by_label("… or for the lowest only").fill("not at all")
    page.get_by_text("Texts, logo, order and pages").click()
    for name, text in TEXTS.items():
        page.get_by_label(name.capitalize(), exact=False).first.fill(text)
    page.get_by_label("Logo", exact=False).first.set_input_files(logo)
    page.locator("#logo-picture").wait_for()
    page.get_by_label("Questions in a random order").check()
    page.get_by_label("Questions per page").fill("2")
    save_draft = page.get_by_role("button", name="Save as a draft")
    save_draft.click()
    page.get_by_text("Give words for both ends").wait_for()
    page.get_by_label("and the highest").fill("very much")
    assert "2 sections" in page.locator("#table-result").inner_text()
    save_draft.click()
    page.locator("#campaign").wait_for()
    first = order_of(page, sqlite_server)
    assert first["presentation"] == TEXTS | {
        "logo": data_url(png()),
        "ends": ["not at all", "very much"],
        "shuffled": True,
        "per_page": 2,
    }
    assert [task["section"] for task in first["tasks"]] == ["Work", "Work", "Rest"]

    page.get_by_role("link", name="Change").click()
    page.get_by_role("button", name="Remove the logo").click()
    save_draft.click()
    page.locator("#campaign").wait_for()
    second = order_of(page, sqlite_server)
    assert second["presentation"] == first["presentation"] | {"logo": None}
    assert second["tasks"] == first["tasks"]

    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Preview").click()
    preview = opened.value
    preview.on("dialog", lambda dialog: dialog.accept())  # leave with answers
    for _ in range(2):  # it is another preview each time
        preview.get_by_label("I agree to take part").check()
        preview.get_by_role("button", name="Show the questions").click()
        preview.get_by_role("radio", name="1: not at all").first.check()
        preview.get_by_text("Page 1 of 2 · 1 of 3 answered").wait_for()
        preview.reload()
    assert_quiet(requester, sqlite_server)


def order_of(page: Page, server: Server) -> Any:
    """What was ordered for the campaign that is shown."""
    campaign = page.url.rpartition("/")[2]
    return server.as_requester("GET", f"/{campaign}/order").json


def test_pictures(browser: Browser, sqlite_server: Server, tmp_path: Path) -> None:
    """Consent, a page of questions and the thanks, at both widths and in both themes."""
    folder = Path(os.environ.get("FORSOOTH_PICTURES", tmp_path))
    shown = {"shuffled": True, "per_page": 3, "ends": ["not at all", "very much"]}
    campaign = made(sqlite_server, sections=True, logo=data_url(png(240, 60)), **shown, **TEXTS)
    for width in (DESK, PHONE):
        page = visit(browser, campaign.link, width=width).page
        page.get_by_label("I agree to take part").check()
        picture(page, folder / f"consent-{width}.png", width)
        page.get_by_role("button", name="Show the questions").click()
        page.get_by_role("button", name="Next").click()
        page.get_by_role("radio", name="4", exact=True).locator("visible=true").first.check()
        picture(page, folder / f"sections-{width}.png", width)

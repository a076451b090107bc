"""After sending, the page has no answers any more, neither on the screen nor in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.service.browser import Browser, Page, chromium, visit
from tests.service.harness import Server
from tests.service.test_pages import PICTURE, QUESTIONS, answer, review, send, survey

# Objects that hold answers, by the prototype under which they are found.
HOLDERS = {
    "Map": "['q1', 'q2'].some((id) => each.has(id))",
    "Object": "Object.hasOwn(each, 'answer') || Object.hasOwn(each, 'codes')",
}
PLANTED = """
    const box = document.querySelector("#tasks .task");
    window.planted = [new Map([["q1", "3"]]), { answer: "3" }, box];
"""
ELEMENT = 1  # a node's type


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


def held(page: Page) -> dict[str, int]:
    """How many holders of answers there are, in the document and elsewhere in the page's memory."""
    session = page.context.new_cdp_session(page)
    session.send("DOM.enable")
    session.send("HeapProfiler.collectGarbage")
    nodes: Any = session.send("DOM.getDetachedDomNodes")
    trees = [each["treeNode"] for each in nodes["detachedNodes"]]
    found = {
        "shown": page.locator("#tasks *, #rows *, #summary:not(:empty), #body:not(:empty)").count(),
        "detached": sum(tree["nodeType"] == ELEMENT for tree in trees),  # not single attributes
    }
    for kind, holds in HOLDERS.items():
        prototype = session.send("Runtime.evaluate", {"expression": f"{kind}.prototype"})
        objects: Any = session.send(
            "Runtime.queryObjects", {"prototypeObjectId": prototype["result"]["objectId"]}
        )
        count = f"function () {{ return this.filter((each) => {holds}).length; }}"
        counted = session.send(
            "Runtime.callFunctionOn",
            {
                "objectId": objects["objects"]["objectId"],
                "functionDeclaration": count,
                "returnByValue": True,
            },
        )
        found[kind] = counted["result"]["value"]
    session.detach()
    return found


def drafts(page: Page) -> object:
    """The answers that are on the disk."""
    return page.evaluate(
        """() => new Promise((resolve) => {
            indexedDB.open("forsooth-drafts", 1).onsuccess = ({ target: { result } }) => {
                const all = result.transaction("drafts").objectStore("drafts").getAll();
                all.onsuccess = () => resolve(all.result.map((each) => Object.fromEntries(each)));
                result.close();
            };
        })"""
    )


@pytest.mark.parametrize("scale", ["0..4", "0..20"])
def test_after_sending_the_page_has_no_answers(
    browser: Browser, sqlite_server: Server, scale: str
) -> None:
    made = survey(sqlite_server, open=True, scale=scale, labels=None)
    page = visit(browser, made.link).page
    page.locator("#survey").wait_for()
    if scale == "0..20":
        for box in page.get_by_label("Your answer").all():
            box.select_option("17")
    else:
        answer(page, ["3"] * len(QUESTIONS))
    review(page)
    assert drafts(page) == [dict.fromkeys(QUESTIONS, "17" if scale == "0..20" else "3")]
    page.evaluate(PLANTED)  # what a page that does not forget would have
    send(page)
    assert held(page) == {"shown": 0, "detached": 1, "Map": 1, "Object": 1}
    page.evaluate("delete window.planted")
    assert set(held(page).values()) == {0}
    assert drafts(page) == []
    html = page.content()
    assert not [text for text in QUESTIONS.values() if text in html]


def test_a_report_that_waits_has_no_answers_beside_it(
    browser: Browser, sqlite_server: Server
) -> None:
    """The service is closed meanwhile: the report is kept, and cannot be changed any more."""
    made = survey(sqlite_server, open=True)
    page = visit(browser, made.link).page
    answer(page, ["often", "never"])
    review(page)
    sqlite_server.as_requester("POST", f"/{made.id}/close", {})
    page.get_by_role("button", name="Send the right-hand column").click()
    page.get_by_role("heading", name="This survey is closed").wait_for()
    assert set(held(page).values()) == {0}
    assert drafts(page) == []


def test_the_other_tab_has_no_answers_either(browser: Browser, sqlite_server: Server) -> None:
    """One of two tabs sends; the other one says so by itself, or when it sends, too."""
    made = survey(sqlite_server, open=True)
    one = visit(browser, made.link).page
    other, late = one.context.new_page(), one.context.new_page()
    late.add_init_script("window.BroadcastChannel = class { postMessage() {} }")
    for page in (other, late):
        page.goto(made.link)
    for page in (one, other, late):
        answer(page, ["often", "never"])
        review(page)
    send(one)
    other.locator("#done").wait_for()
    assert "Nothing has been sent yet" not in other.locator("body").inner_text()
    late.get_by_role("button", name="Send the right-hand column").click()
    late.get_by_role("heading", name="This device has answered already").wait_for()
    for page in (other, late):
        assert set(held(page).values()) == {0}
        assert drafts(page) == []


def test_pictures_are_loaded_at_once(browser: Browser, sqlite_server: Server) -> None:
    """Not when they come into view: their server would learn how far somebody has scrolled."""
    tasks = [{"text": f"How dark is picture {number}?", "image": PICTURE} for number in range(40)]
    page = visit(browser, survey(sqlite_server, tasks=tasks, open=True).link).page
    page.locator("#survey").wait_for()
    loaded = page.locator("#tasks img").evaluate_all("(all) => all.map((each) => each.loading)")
    assert loaded == ["eager"] * len(tasks)

"""Private questions inside jsPsych and SurveyJS: their data have a receipt and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.clients.javascript import PACKAGE
from tests.service.browser import Browser, Page, Visitor, chromium, visit
from tests.service.harness import Made, Server, serving

CLIENTS = PACKAGE.parent
LABELS = ["aardvark", "badger", "cormorant", "dormouse", "egret"]  # words that occur nowhere else
HOURS = 3_600_000  # milliseconds


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def clients() -> Iterator[str]:
    with serving(CLIENTS) as address:
        yield address


def example(name: str) -> None:
    if not (CLIENTS / name / "node_modules").is_dir():
        pytest.skip(f"the packages of clients/{name} are not here: npm ci installs them")


def start(browser: Browser, clients: str, name: str, made: Made) -> Visitor:
    link = quote(f"{made.link}#{made.tokens[0]}", safe="")
    visitor = visit(browser, "about:blank")  # the clock goes first
    visitor.page.clock.install()
    visitor.page.goto(f"{clients}/{name}/example/index.html?campaign={link}")
    return visitor


def answer(page: Page, label: str) -> None:
    """Choose, take ten hours for it, look away, send."""
    page.get_by_label(label).first.check()
    page.clock.fast_forward(10 * HOURS)
    page.evaluate("window.dispatchEvent(new Event('blur'))")
    page.get_by_role("button", name="See what will be sent").click()
    page.get_by_role("cell", name=label).first.wait_for()
    page.get_by_role("button", name="Send", exact=True).click()


def survey(server: Server) -> Made:
    return server.make(labels=LABELS, invitations=1)


def is_silent(collected: object, made: Made) -> None:
    """Neither an answer, nor the invitation, nor the report."""
    text = json.dumps(collected)
    assert not [word for word in (*LABELS, *made.tokens, '"report"') if word in text]


def test_jspsych_keeps_a_receipt_only(
    browser: Browser, clients: str, sqlite_server: Server
) -> None:
    example("jspsych")
    kept = []
    for label in (LABELS[0], LABELS[4]):
        made = survey(sqlite_server)
        visitor = start(browser, clients, "jspsych", made)
        page = visitor.page
        page.get_by_role("button", name="Continue").click()
        answer(page, label)
        page.get_by_role("button", name="Continue").click()
        page.get_by_text("Thank you.").wait_for()
        collected = page.evaluate("collected")
        is_silent(collected, made)
        _, private, after = collected["trials"]
        assert set(private) == {
            *("design", "receipt", "trial_type", "trial_index", "plugin_version", "time_elapsed")
        }
        assert private["receipt"] == "accepted"
        assert private["design"] == made.view["design"]
        assert after["time_elapsed"] < HOURS, "the clock stands still during the question"
        assert collected["interactions"] == []
        assert json.loads(visitor.reports[0]).keys() == {"invitation", "design", "report"}
        kept.append({key: private[key] for key in ("receipt", "trial_type", "trial_index")})
        assert not visitor.complaints
    assert kept[0] == kept[1]


def test_surveyjs_keeps_a_receipt_only(
    browser: Browser, clients: str, sqlite_server: Server
) -> None:
    example("surveyjs")
    made = survey(sqlite_server)
    visitor = start(browser, clients, "surveyjs", made)
    page = visitor.page
    page.get_by_label(LABELS[0]).first.wait_for()
    page.get_by_role("button", name="Next page").click()
    assert page.get_by_label(LABELS[0]).first.is_visible(), "the question comes first"
    answer(page, LABELS[1])
    page.get_by_text("Your report has been sent.").wait_for()
    data = page.evaluate("survey.data")
    assert data == {"private": {"design": made.view["design"], "receipt": "accepted"}}
    is_silent(page.evaluate("[survey.data, survey.getPlainData(), values]"), made)
    page.get_by_role("button", name="Next page").click()
    page.get_by_text("Your profession").wait_for()
    page.get_by_role("button", name="Next page").click()
    page.get_by_text("Thank you.").wait_for()
    assert page.evaluate("survey.data") == data
    assert len(visitor.reports) == 1
    assert not visitor.complaints


@pytest.mark.parametrize("name", ["jspsych", "surveyjs"])
def test_who_takes_no_part_goes_on(
    browser: Browser, clients: str, sqlite_server: Server, name: str
) -> None:
    example(name)
    visitor = start(browser, clients, name, survey(sqlite_server))
    page = visitor.page
    if name == "jspsych":
        page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Take no part").click()
    if name == "jspsych":
        page.get_by_role("button", name="Continue").click()
        page.get_by_text("Thank you.").wait_for()
        found: Any = page.evaluate("collected")["trials"][1]
    else:
        page.wait_for_function("survey.data.private")
        found = page.evaluate("survey.data")["private"]
    assert (found["design"], found["receipt"]) == (None, "none")
    assert visitor.reports == []


@pytest.mark.parametrize(
    "extra", ["save_trial_parameters: { link: true }", "extensions: [{ type: Recorder }]"]
)
def test_what_would_record_the_trial_is_refused(browser: Browser, clients: str, extra: str) -> None:
    """Before anything is asked."""
    example("jspsych")
    visitor = visit(browser, f"{clients}/jspsych/example/index.html")
    refused = visitor.page.evaluate(f"""async () => {{
        const {{ default: Plugin }} = await import("../src/index.js");
        class Recorder {{}}
        const trial = {{ link: "http://127.0.0.1:1/c/x", {extra} }};
        const asked = new Plugin(null).trial(document.body, trial, () => {{}});
        return asked.then(() => "", (error) => error.message);
    }}""")
    assert refused.startswith("forsooth: ")


@pytest.mark.parametrize("name", ["jspsych", "surveyjs"])
def test_a_link_that_leads_nowhere_stops_no_experiment(
    browser: Browser, clients: str, sqlite_server: Server, name: str
) -> None:
    example(name)
    link = f"{sqlite_server.url}/c/x"
    visitor = visit(browser, f"{clients}/{name}/example/index.html?campaign={link}")
    page = visitor.page
    if name == "jspsych":
        page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Continue without these questions").click()
    assert page.get_by_role("alert").count() == 0


@pytest.mark.parametrize("name", ["jspsych", "surveyjs"])
def test_the_packages(name: str) -> None:
    """No addresses in their locks; nothing but the client and the library they are for."""
    lock = json.loads((CLIENTS / name / "package-lock.json").read_text())
    assert "resolved" not in json.dumps(lock)
    package = json.loads((CLIENTS / name / "package.json").read_text())
    assert not package.get("dependencies")
    assert len(package["peerDependencies"]) == 2
    assert all(each.get("dev") for path, each in lock["packages"].items() if path)
    assert Path(CLIENTS / name / "README.md").is_file()

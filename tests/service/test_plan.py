"""The plan in the form: the planner's own numbers, presets that are called what they are."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forsooth import Scale, mechanisms
from forsooth.mechanisms import ChannelMechanism
from forsooth.odds import LIMITS, strength
from forsooth.planning.estimate import Expected
from forsooth.service.pages import STATIC
from tests.service.browser import DESK, PHONE, Browser, Page, chromium
from tests.service.harness import Reply, Server
from tests.service.test_pages import assert_quiet, sign_in

ORDER = {"scale": "0..4", "tasks": 8, "epsilon": 1.0, "workers": 30}


@pytest.fixture(scope="module")
def running() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def browser(running: Browser) -> Iterator[Browser]:
    yield running
    for context in running.contexts:
        context.close()


def ask(server: Server, **fields: object) -> Reply:
    return server.call("POST", "/v1/plan", ORDER | fields, key=server.key)


def answer(server: Server, **fields: object) -> Any:
    reply = ask(server, **fields)
    assert reply.status == 200, reply.content
    return reply.json


@pytest.mark.parametrize("estimand", ["level", "opinion"])
def test_the_numbers_are_the_planners(sqlite_server: Server, estimand: Any) -> None:
    scale = Scale.parse("0..4")
    expected = Expected(scale, 0.6, noise="1", estimand=estimand)
    rr = mechanisms.rr(scale, 1.0)
    assert isinstance(rr, ChannelMechanism)
    found = answer(sqlite_server, estimand=estimand, density=0.6)
    assert [each["workers"] for each in found["expected"]] == [30, 90, 300]
    for each in found["expected"]:
        assert each["error"] == pytest.approx(expected.error(rr, each["workers"]))
    assert found["constant_error"] == pytest.approx(expected.constant_error)
    assert expected.error(rr, found["needed"]) <= 0.7 * expected.constant_error
    assert expected.error(rr, 0.8 * found["needed"]) > 0.7 * expected.constant_error
    assert (found["worker_total"], found["strength"]) == (8.0, "very weak")
    assert (found["density"], found["noise"]) == (0.6, 1.0)


def test_what_the_plan_depends_on(sqlite_server: Server) -> None:
    def error(**fields: object) -> float:
        return float(answer(sqlite_server, **fields)["expected"][0]["error"])

    plain = error()
    assert error(protects="answers") < plain
    assert error(epsilon=2.0) < plain
    assert error(density=0.2) > plain
    assert error(noise=2.0) > plain
    assert error(mechanism="staircase") < plain
    assert error(mechanism="adaptive") == plain
    whole = answer(sqlite_server, unit="worker", workers=240)
    assert whole["worker_total"] == 1.0
    assert whole["expected"][0]["error"] == pytest.approx(plain)  # each question has 30 of 240
    assert answer(sqlite_server, scale="no,yes")["estimand"] == "label"


def test_no_quick_estimate_is_no_number(sqlite_server: Server) -> None:
    for fields in ({"mechanism": "lp"}, {"mechanism": "mf-safe"}):
        found = answer(sqlite_server, **fields)
        assert found["expected"] == []
        assert found["needed"] is None
    assert answer(sqlite_server, scale="0..30", mechanism="staircase")["expected"] == []


def test_who_may_ask_and_how_often(sqlite_server: Server, tmp_path: Path) -> None:
    assert sqlite_server.call("POST", "/v1/plan", ORDER).status == 401
    for wrong in ({"scale": "0"}, {"mechanism": "magic"}, {"workers": 0}, {"scale": "0..1000"}):
        assert ask(sqlite_server, **wrong).status == 422
    server = Server(f"sqlite:///{tmp_path}/forsooth.db", tmp_path, rate_plan=0.2).start()
    try:
        assert [ask(server).status for _ in range(3)] == [200, 200, 429]
        assert server.as_requester("GET", "").status == 200
    finally:
        server.stop()


def test_presets_are_the_limits_of_the_classes() -> None:
    """Balanced is moderate and no more."""
    script = (STATIC / "plan.js").read_text(encoding="utf-8")
    presets = {
        name: float(total) for name, total in re.findall(r"^  (\w+): ([\d.]+),", script, re.M)
    }
    assert list(presets) == ["strong", "balanced", "light"]
    for total, (name, factor) in zip(presets.values(), LIMITS, strict=True):
        assert total == math.floor(100 * math.log(factor)) / 100
        assert strength(total) == name


def fill(page: Page, questions: int) -> None:
    page.get_by_role("link", name="New campaign").click()
    page.get_by_label("Title").fill("Health and habits")
    words = ("apples", "trains", "music", "sleep", "garden", "winter", "money")
    text = "\n".join(f"How much do you like {word}?" for word in words[:questions])
    page.get_by_label("Questions", exact=False).first.fill(text)
    page.get_by_label("Everyone answers for themselves").check()


@pytest.mark.parametrize("width", [DESK, PHONE])
def test_the_plan_follows_the_form(browser: Browser, sqlite_server: Server, width: int) -> None:
    requester = sign_in(browser, sqlite_server, width=width)
    page = requester.page
    fill(page, 7)
    plan = page.locator("#plan")
    shown: list[str] = []
    for people in ("30", "3000"):
        plan.get_by_label("People").fill(people)
        plan.get_by_text(f"With {int(people):,} people expect ±").wait_for()
        shown.append(page.locator("#plan-answer").inner_text())
    wide, narrow = (float(re.findall(r"± ([\d.]+\d)", text)[0]) for text in shown)
    expected = answer(sqlite_server, tasks=7, epsilon=0.42, workers=3000, estimand="opinion")[
        "expected"
    ][0]["error"]
    assert narrow == float(f"{expected:.2g}")
    assert wide > 2 * narrow
    assert plan.get_attribute("class") == "card"
    plan.get_by_label("People").fill("30")
    plan.get_by_text("hardly better than guessing").wait_for()
    assert "warn" in (plan.get_attribute("class") or "")
    plan.get_by_text("What this assumes").click()
    assumed = page.locator("#plan-assumed").inner_text()
    assert "differ by about 1" in assumed
    assert "80 % of the questions" in assumed
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert_quiet(requester, sqlite_server)


def test_presets_keep_the_total(browser: Browser, sqlite_server: Server) -> None:
    requester = sign_in(browser, sqlite_server)
    page = requester.page
    fill(page, 7)
    total, epsilon = page.locator("#total"), page.get_by_label("ε per question")
    for name, word, most in (("Strong", "strong", 1.09), ("Light", "weak", 6.9)):
        page.get_by_label(name, exact=False).first.check()
        assert total.inner_text().endswith(f", {word}")
        assert 0.98 * most < 7 * float(epsilon.input_value()) <= most
    page.get_by_label("Balanced").check()
    assert "Participants read “moderate”" in page.locator("#preset-balanced").inner_text()
    assert page.locator("#preview h2").inner_text().startswith("Moderate protection")
    assert epsilon.input_value() == "0.42"
    page.get_by_role("radio", name="Everything one person says").check()
    assert page.get_by_label("ε per person").input_value() == "2.94"
    page.get_by_label("ε per person").fill("0.5")
    assert page.get_by_label("My own ε").is_checked()
    page.get_by_label("Each question by itself").check()
    assert epsilon.input_value() == "0.5"
    page.get_by_label("Balanced").check()
    page.get_by_role("button", name="Create the campaign").click()
    page.locator("#campaign").wait_for()
    made = sqlite_server.call("GET", f"/v1/campaigns/{page.url.split('/')[-1]}").json
    assert made["epsilon"] == 0.42
    assert json.dumps(made["worker_total"]).startswith("2.9")


def test_the_kind_of_answers_can_be_chosen(browser: Browser, sqlite_server: Server) -> None:
    page = sign_in(browser, sqlite_server).page
    fill(page, 1)
    kind, scale = page.locator("#kind"), page.get_by_label("Answers, from low to high")
    assert kind.is_hidden()
    page.get_by_label("Each question has one right answer").check()
    assert "one true value on the scale, and people estimate it" in kind.inner_text()
    assert page.get_by_label("Steps on a scale").is_checked()
    scale.fill("cat, dog, horse")
    assert page.get_by_label("Separate answers").is_checked()
    scale.fill("cold, mild, hot")
    page.get_by_label("Steps on a scale").check()
    assert "one value on the scale" in page.locator("#estimand").inner_text()
    page.get_by_role("button", name="Create the campaign").click()
    page.locator("#campaign").wait_for()
    status = sqlite_server.as_requester("GET", f"/{page.url.split('/')[-1]}/status").json
    assert status["estimand"] == "level"

"""The report of a campaign: true to its numbers, closed to strangers, alive in a real browser."""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forsooth import Answers, Reports, infer, mechanisms
from forsooth.study import demo
from forsooth.study.campaign_outlook import outlook
from forsooth.study.campaign_page import campaign_page
from forsooth.study.campaign_words import promises, verdict
from forsooth.truths import Truths

EVIL = "<script>alert('1')</script> & \"q\""


def crowd(workers: int = 60, tasks: int = 4) -> Answers:
    """Everybody answers everything; a task's answers lie around its number."""
    random = np.random.default_rng(3)
    return Answers.of(
        {
            f"<i>w{i}</i>": {
                f"{EVIL} {j}": int(np.clip(j + random.integers(-1, 2), 0, 4)) for j in range(tasks)
            }
            for i in range(workers)
        },
        "0..4",
    )


@pytest.fixture(scope="module")
def private() -> tuple[Truths, Reports]:
    answers = crowd()
    reports = mechanisms.rr(answers.scale, 2.0).perturb(answers)
    return infer(reports), reports


def texts(page: str) -> str:
    """What a reader sees, in one line."""
    return re.sub(r"\s+", " ", re.sub(r"<(style|script)>.*?</\1>|<[^>]*>", " ", page, flags=re.S))


def test_everything_is_escaped_and_nothing_is_fetched(private: tuple[Truths, Reports]) -> None:
    truths, reports = private
    page = campaign_page(truths, [reports], title=EVIL, lead=EVIL)
    assert page.count("<script") == 1
    assert "<i>" not in page
    assert page.count(escape(EVIL)) == 4 + 3  # tasks; title, heading and lead
    assert not re.search(r"https?:|src=|@import|url\(", page)


def test_the_truths_are_those_that_were_found(private: tuple[Truths, Reports]) -> None:
    truths, reports = private
    page = campaign_page(truths, [reports], title="t")
    for value, low, high in zip(truths.estimate, truths.low, truths.high):
        assert f'data-value="{value:.6g}">{value:.2f}<' in page
        assert f"{low:.2f} – {high:.2f}" in page


def test_the_promise_in_words(private: tuple[Truths, Reports]) -> None:
    truths, reports = private
    text = texts(campaign_page(truths, [reports], title="t"))
    assert "ε = 2 per cell" in text
    assert f"factor of at most {math.exp(2):.3g}" in text
    assert f"{1 / (1 + math.exp(-2)):.1%}".replace("%", " %") in text
    assert "total of at most ε = 8" in text
    assert "whether a task was answered at all" in text
    assert "not private" not in text.lower()


def test_public_participation_is_said_to_be_public() -> None:
    answers = crowd()
    reports = mechanisms.grr(answers.scale, 1.0, protects="answers").perturb(answers)
    text = texts(campaign_page(infer(reports), [reports], title="t"))
    assert "does not hide which tasks a worker answered" in text
    assert "100.0% of all cells" in text


def test_what_is_not_private_says_so() -> None:
    answers = crowd()
    seeded = mechanisms.rr(answers.scale, 1.0).perturb(answers, simulation_seed=7)
    for part, why in ((answers, "plain answers"), (seeded, "simulation seed 7")):
        text = texts(campaign_page(infer(part), [part], title="t"))
        assert "ε per cell not private" in text
        assert why in text


def test_several_promises_are_told_apart() -> None:
    answers = crowd()
    parts = [
        mechanisms.rr(answers.scale, epsilon).perturb(answers.of_workers(chosen))
        for epsilon, chosen in ((1.0, np.arange(40)), (2.0, np.arange(40, 60)))
    ]
    first, second, _ = promises(parts)
    assert first.startswith("40 workers")
    assert "ε = 1 per cell" in first
    assert second.startswith("20 workers")
    assert "ε = 2 per cell" in second


def test_a_hopeless_epsilon_is_called_hopeless() -> None:
    answers = crowd(workers=12)
    reports = mechanisms.rr(answers.scale, 0.01).perturb(answers, simulation_seed=1)
    truths = infer(reports)
    word, why = verdict(truths, [reports])
    assert word == "no"
    assert "ε is too small" in why
    assert verdict(infer(answers), [answers])[0] == "yes"


def test_more_workers_buy_a_smaller_error(private: tuple[Truths, Reports]) -> None:
    truths, reports = private
    found = outlook(truths, [reports])
    assert found is not None
    assert found.unperturbed is not None
    errors = [found.now, *found.with_times.values()]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > 1.5 * errors[-1]
    assert found.unperturbed < found.now


def test_the_outlook_comes_true() -> None:
    """Four times the workers have about the error that was announced (within a factor of 1.7)."""
    survey = demo.survey()
    mechanism = mechanisms.grr(demo.SCALE, 1.0, protects="answers")
    announced, found = [], []
    for seed in range(5):
        few = survey.answers.of_workers(np.arange(seed * 400, seed * 400 + 400))
        reports = mechanism.perturb(few, simulation_seed=seed)
        foreseen = outlook(infer(reports), [reports])
        assert foreseen is not None
        announced.append(foreseen.with_times[4])
        many = survey.answers.of_workers(np.arange(1600) + 100 * seed)
        more = infer(mechanism.perturb(many, simulation_seed=seed))
        found.append(more.error(survey.truth))
    assert 1 / 1.7 < np.mean(announced) / np.mean(found) < 1.7


@pytest.mark.parametrize("name", ["lp", "two-layer", "mf:d=2", "mf-safe:d=2", "staircase"])
@pytest.mark.parametrize("method", ["posterior", "algorithm1"])
def test_every_mechanism_has_a_page(name: str, method: str) -> None:
    answers = crowd(workers=20)
    mechanism = mechanisms.build(name, answers.scale, 1.0, tasks=len(answers.tasks))
    reports = mechanism.perturb(answers)
    text = texts(campaign_page(infer(reports, method), [reports], title="t"))
    assert "What the workers were promised" in text
    assert "nan" not in text.lower().split()


def test_labels_without_an_order_have_a_chance_instead_of_an_interval() -> None:
    answers = Answers.of({f"w{i}": {"a": "cat", "b": "dog"} for i in range(9)}, "cat,dog,cow")
    text = texts(campaign_page(infer(answers, unordered=True), [answers], title="t"))
    assert "its chance" in text
    assert "90 % interval" not in text.split("How good")[0]


def test_a_single_task_and_a_single_worker() -> None:
    answers = Answers.of({"w": {"a": 1}}, "0..1")
    assert "nothing to tell apart" in campaign_page(infer(answers), [answers], title="t")


def test_a_large_campaign_has_a_page_that_can_be_sent() -> None:
    random = np.random.default_rng(0)
    rows = {
        f"worker {i}": {f"task {j}": int(random.integers(5)) for j in random.integers(1500, size=9)}
        for i in range(2000)
    }
    answers = Answers.of(rows, "0..4")
    page = campaign_page(infer(answers, "mean"), [answers], title="t")
    assert "The first 1,000 of" in page
    assert "The 300 best and worst of 2,000 workers" in page
    assert len(page) < 1_500_000


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, headless."""
    sync_api = pytest.importorskip("playwright.sync_api")
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("chromium is not here: the page cannot be looked at in a browser")
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.mark.parametrize("width", [1280, 390])
def test_in_a_browser(
    browser: Any, private: tuple[Truths, Reports], tmp_path: Path, width: int
) -> None:
    """No console errors, no request, nothing wider than the screen, and headings sort."""
    truths, reports = private
    path = tmp_path / "report.html"
    path.write_text(campaign_page(truths, [reports], title=EVIL), encoding="utf-8")
    page = browser.new_page(viewport={"width": width, "height": 900})
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on("request", lambda request: said.append(request.url))
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    table = page.locator("table.sortable").first
    column = (
        "t => [...t.tBodies[0].rows].map(r => Number(r.querySelector('.number').dataset.value))"
    )
    for order in (1, -1):
        table.get_by_role("button", name="truth").click()
        found = np.array(table.evaluate(column))
        assert (np.diff(order * found) >= 0).all()
    assert page.evaluate("getComputedStyle(document.body).maxWidth") == "992px"  # the style is on
    page.close()
    assert said == [path.as_uri()]

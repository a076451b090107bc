"""The report of a campaign: its numbers and words, escaping, and the page in a real browser."""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from markupsafe import escape

from forsooth import Answers, Reports, infer, mechanisms
from forsooth.estimand import MEANING
from forsooth.report.outlook import outlook
from forsooth.report.page import campaign_page
from forsooth.report.words import on_scale, percent, promises
from forsooth.shuffling import certify
from forsooth.shuffling.certificate import rounded_up
from forsooth.study import demo
from forsooth.truths import Calibration, Difference, Posterior, Shares, Truths, Valleys

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
        tasks=[f"{EVIL} {j}" for j in range(tasks)],
    )


@pytest.fixture(scope="module")
def private() -> tuple[Truths, Reports]:
    answers = crowd()
    reports = mechanisms.rr(answers.scale, 2.0).perturb(answers)
    return infer(reports), reports


def texts(page: str) -> str:
    """What a reader sees, in one line."""
    plain = re.sub(r"<(style|script)>.*?</\1>|<[^>]*>", " ", page, flags=re.S)
    return re.sub(r"\s+", " ", unescape(plain))


def made_up(
    estimand: str, *, tasks: int = 4, unordered: bool = False, valley: float = 0.3
) -> tuple[Truths, Reports]:
    """A result with an arbitrary posterior, so that pages do not depend on the engine."""
    answers, random = crowd(tasks=tasks), np.random.default_rng(5)
    scale, workers = answers.scale, len(answers.workers)
    grid = np.array(scale.values) if estimand == "label" else np.linspace(0, 4, 65)
    middle = np.linspace(0.6, 3.4, tasks)
    mass = np.exp(-0.5 * ((grid - middle[:, None]) / 0.25) ** 2)
    mass /= mass.sum(axis=1, keepdims=True)
    cumulative = mass.cumsum(axis=1)
    low, estimate, high = (grid[(cumulative >= q).argmax(axis=1)] for q in (0.05, 0.5, 0.95))
    share, part = random.dirichlet(np.ones(5), tasks), np.linspace(0.5, 0.9, tasks)
    shares = Shares(share, 0.8 * share, 0.8 * share + 0.2, part, part - 0.05, part + 0.05)
    depth = np.linspace(0.0, valley, tasks)
    valleys = Valleys(depth, depth - 0.1, depth + 0.1, np.tile([0, 2, 4], (tasks, 1)))
    deviation = np.full(workers, math.nan) if estimand == "opinion" else random.random(workers)
    posterior = Posterior(
        estimand=estimand,
        grid=grid,
        mass=mass,
        answers=np.full((len(grid), 5), 0.2),
        model="test",
        participation=0.7,
        participation_interval=(0.66, 0.75),
        deviation_interval=(0.5 * deviation, 1.5 * deviation),
        unordered=unordered,
        shares=shares if estimand == "opinion" else None,
        valleys=valleys if estimand == "opinion" else None,
        seed=17,
    )
    truths = Truths(
        method="posterior",
        scale=scale,
        tasks=answers.tasks,
        estimate=estimate,
        low=low,
        high=high,
        support=np.full(tasks, workers),
        workers=answers.workers,
        quality=np.full(workers, 1 / workers),
        deviation=deviation,
        iterations=5,
        converged=True,
        posterior=posterior,
    )
    return truths, mechanisms.rr(scale, 2.0).perturb(answers)


KINDS = ("level", "label", "opinion")


@pytest.mark.parametrize("estimand", KINDS)
def test_everything_is_escaped_and_nothing_is_fetched(estimand: str) -> None:
    truths, reports = made_up(estimand)
    group = Difference(truths.tasks[0], EVIL, EVIL, 0.1, -0.1, 0.3)
    truths = replace(truths, differences=(group,), prediction_sets=((EVIL,),) * 4)
    page = campaign_page(truths, [reports], title=EVIL, lead=EVIL)
    assert page.count("<script") == 1
    assert "<i>" not in page
    # Tasks; title, heading and lead. Opinion has two tables and a difference between two groups.
    assert page.count(escape(EVIL)) == {"level": 4, "label": 8, "opinion": 13}[estimand] + 3
    assert not re.search(r"https?:|src=|@import|url\(", page)


@pytest.mark.parametrize("estimand", KINDS)
def test_questions_and_labels_are_escaped_too(estimand: str) -> None:
    truths, reports = made_up(estimand)
    labels = [f"{EVIL} {code}" for code in range(5)]
    questions = dict.fromkeys(truths.tasks, f"{EVIL} asked")
    page = campaign_page(truths, [reports], title="t", labels=labels, questions=questions)
    assert page.count("<script") == 1
    assert page.count(escape(f"{EVIL} asked")) >= 4
    assert escape(labels[0]) in page
    assert EVIL not in page


@pytest.mark.parametrize("estimand", KINDS)
def test_questions_and_labels_stand_in_for_names(estimand: str) -> None:
    truths, reports = made_up(estimand)
    truths = replace(truths, tasks=("a", "b", "c", "d"))
    words = ["never", "rarely", "sometimes", "often", "always"]
    page = campaign_page(
        truths, [reports], title="t", labels=words, questions={"a": "Do you sleep?"}
    )
    assert '<td class="name worded"><span class="soft">a</span> Do you sleep?' in page
    assert '<td class="name">b' in page
    text = texts(page)
    assert "never always" in text  # the ends of the charts
    if estimand == "opinion":
        assert "The answers count from 0 (never) to 4 (always)." in text
        assert page.count('<td class="name">sometimes</td>') == 4
    else:
        assert f"<td>{words[1]}</td>" in page.replace(' class="less"', "")


def test_division_is_marked() -> None:
    """Depths of 0, 0.1, 0.2 and 0.3, each ± 0.1: the last two are certainly above 0.05."""
    truths, reports = made_up("opinion")
    page = campaign_page(truths, [reports], title="t")
    text = texts(page)
    assert "people divided on 2 of 4" in text
    assert "People are divided on 2 of 4 questions." in text
    assert "divided More people answer 0 and 4 than 2 , by 30 (20 – 40) points" in text
    assert page.count('<strong class="badge">divided</strong>') == 2
    assert page.count('<span class="badge">divided</span>') == 2
    joint = texts(campaign_page(made_up("opinion", valley=0.1)[0], [reports], title="t"))
    assert "people divided on 0 of 4" in joint
    assert "People are divided" not in joint
    assert "More people answer" not in joint
    assert truths.posterior is not None
    unjudged = replace(truths.posterior, valleys=None)
    rest = texts(campaign_page(replace(truths, posterior=unjudged), [reports], title="t"))
    assert "divided" not in rest


def test_the_truths_are_those_that_were_found(private: tuple[Truths, Reports]) -> None:
    truths, reports = private
    page = campaign_page(truths, [reports], title="t")
    for value, low, high in zip(truths.estimate, truths.low, truths.high):
        assert f'data-value="{value:.6g}">{value:.2f}<' in page
        assert f"{low:.2f} – {high:.2f}" in page


@pytest.mark.parametrize("estimand", KINDS)
def test_the_assumption_is_named(estimand: str) -> None:
    truths, reports = made_up(estimand)
    text = texts(campaign_page(truths, [reports], title="t"))
    assert f"Assumed: {MEANING[estimand]} (estimand {estimand} )" in text
    assert f"estimand {estimand}, seed 17" in text
    for other in KINDS:
        assert (f"--estimand {other}" in text) == (other != estimand)
    classic = replace(truths, method="mean", posterior=None)
    assert "Assumed" not in campaign_page(classic, [reports], title="t")


def test_sums_allow_no_other_assumption() -> None:
    truths, _ = made_up("level")
    sums = mechanisms.build("mf-safe:d=2", truths.scale, 1.0, tasks=4).perturb(crowd())
    text = texts(campaign_page(truths, [sums], title="t"))
    assert "Reports of sums allow no other assumption" in text
    assert "--estimand" not in text


def test_opinions_have_a_bar_for_every_answer() -> None:
    truths, reports = made_up("opinion")
    assert truths.posterior is not None
    shares = truths.posterior.shares
    assert shares is not None
    page = campaign_page(truths, [reports], title="t")
    text = texts(page)
    for task in range(4):
        for answer in range(5):
            bounds = (a[task, answer] for a in (shares.estimate, shares.low, shares.high))
            value, low, high = (f"{100 * each:.0f}" for each in bounds)
            assert f"{value} % ({low} – {high} %)" in text
        low, mean, high = (
            on_scale(truths.scale, float(a[task]))
            for a in (truths.low, truths.estimate, truths.high)
        )
        assert f"Mean {mean} ({low} – {high}). Answered by" in text
    assert page.count('class="bar pale"') == 4 * 5
    assert "answers as given" in text
    assert "any mix of honest answers and guesses is also a possible population" in text
    assert "List of workers" not in text
    assert "Distribution of the answers" not in text
    assert "70 % (66 – 75 %) of all cells were answered" in text
    assert "The estimated means are expected to be off by" in text


def test_a_share_without_guesses() -> None:
    """(1 − g) p + g/K is what is seen if a share g guesses: the example inverts it."""
    truths, reports = made_up("opinion")
    assert truths.posterior is not None
    assert truths.posterior.shares is not None
    largest = truths.posterior.shares.estimate.max()
    honest = percent((largest - 0.1 / 5) / 0.9).replace("\N{NO-BREAK SPACE}", " ")
    assert f"would be {honest} among the other answers" in texts(
        campaign_page(truths, [reports], title="t")
    )


def test_groups_are_compared() -> None:
    truths, reports = made_up("opinion")
    without = texts(campaign_page(truths, [reports], title="t"))
    assert "Differences between groups" not in without
    pair = Difference(truths.tasks[0], "night", "day", 0.31, 0.12, 0.52)
    text = texts(campaign_page(replace(truths, differences=(pair,)), [reports], title="t"))
    assert re.search(r"night\s+day\s+0.31\s+0.12 – 0.52", text)


def test_labels_have_a_probability_for_each_answer() -> None:
    truths, reports = made_up("label")
    assert truths.posterior is not None
    text = texts(campaign_page(truths, [reports], title="t"))
    for row, task in zip(truths.posterior.mass, truths.tasks):
        for label, chance in zip(truths.scale.labels, row):
            named = f"{label} {percent(chance)}".replace("\N{NO-BREAK SPACE}", " ")
            assert (named in text) or chance < 0.005, (task, named)
    assert "prediction set" not in text
    sets = replace(truths, prediction_sets=(("1", "2"), ("1",), (), ("3",)))
    text = texts(campaign_page(sets, [reports], title="t"))
    assert "prediction set: 1, 2" in text
    assert "prediction set: empty" in text


def test_calibration_shows_both_widths() -> None:
    truths, reports = made_up("level")
    assert "Calibration" not in campaign_page(truths, [reports], title="t")
    calibrated = replace(truths, calibration=Calibration(0.92, 24, 0.615, 0.984))
    text = texts(campaign_page(calibrated, [reports], title="t"))
    assert "calibrated on 24 gold tasks" in text
    assert "at least 92 %" in text
    assert re.search(r"without calibration\s+0.615\s+calibrated, as shown\s+0.984", text)


def test_the_requested_precision_decides() -> None:
    truths, reports = made_up("level")
    for target, word in ((2.0, "Yes"), (0.1, "No"), (None, "Yes")):
        text = texts(campaign_page(truths, [reports], title="t", target_width=target))
        assert re.search(rf"Was it enough\? {word} ?\. The estimates are expected", text)
        assert (f"at most {target} is required" in text) == (target == 0.1)


def test_the_promise_in_words() -> None:
    truths, reports = made_up("level")
    text = texts(campaign_page(truths, [reports], title="t"))
    assert "Very weak protection of everything one person says" in text
    total, single = (
        text.index("All 4 answers together: ε = 8"),
        text.index("A single answer: ε = 2"),
    )
    assert total < single
    assert f"{math.ceil(math.exp(8)):,} to 1" in text[total:single]
    assert "only if the person's other answers tell nothing about it" in text[single:]
    assert "whether a question was answered or skipped" in text
    assert "not private" not in text.lower()


def test_anonymity_is_stated_with_its_assumption() -> None:
    answers = crowd()
    reports = mechanisms.rr(answers.scale, 1.0).perturb(answers)
    truths, _ = made_up("level")
    page = texts(campaign_page(truths, [reports], title="t"))
    found = certify(reports.mechanism, tasks=4, reports=60)
    for release in ("counts", "reports"):
        everything, one = (
            rounded_up(found.bound(release, unit).epsilon) for unit in ("worker", "cell")
        )
        assert re.search(rf"(task|order) +{re.escape(everything)} +{re.escape(one)} ", page)
    assert "anything, with names (local) 4 1" in page
    assert "at least 30 of 60 reports" in page


def test_anonymity_is_left_out_where_nothing_is_certified() -> None:
    answers = crowd()
    truths, _ = made_up("level")
    noise = mechanisms.lp(answers.scale, 1.0).perturb(answers)
    simulated = mechanisms.rr(answers.scale, 1.0).perturb(answers, simulation_seed=1)
    two = [mechanisms.rr(answers.scale, epsilon).perturb(answers) for epsilon in (1.0, 2.0)]
    for parts in ([noise], [simulated], [answers], two):
        assert "What anonymity would add" not in campaign_page(truths, parts, title="t")


def test_public_participation_is_said_to_be_public() -> None:
    answers = crowd()
    reports = mechanisms.grr(answers.scale, 1.0, protects="answers").perturb(answers)
    truths, _ = made_up("level")
    text = texts(campaign_page(_public(truths), [reports], title="t"))
    assert "Not protected: that the person took part and which questions were answered" in text
    assert "100.0% of all cells" in text
    assert "It is public which tasks a worker answered" in text


def _public(truths: Truths) -> Truths:
    """Participation is counted, not estimated."""
    assert truths.posterior is not None
    posterior = replace(truths.posterior, participation=None, participation_interval=None)
    return replace(truths, posterior=posterior)


def test_what_is_not_private_says_so() -> None:
    answers = crowd()
    seeded = mechanisms.rr(answers.scale, 1.0).perturb(answers, simulation_seed=7)
    for part, why in ((answers, "plain answers"), (seeded, "simulation seed 7")):
        text = texts(campaign_page(made_up("level")[0], [part], title="t"))
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
    assert "A single answer: ε = 1." in first
    assert second.startswith("20 workers")
    assert "A single answer: ε = 2." in second


def test_a_tiny_epsilon_is_not_enough() -> None:
    answers = crowd(workers=12)
    reports = mechanisms.rr(answers.scale, 0.01).perturb(answers, simulation_seed=1)
    truths = infer(reports)
    assert "enough? no" in texts(campaign_page(truths, [reports], title="t"))
    assert "enough? yes" in texts(campaign_page(infer(answers), [answers], title="t"))


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


def test_labels_without_an_order_have_no_interval() -> None:
    answers = Answers.of({f"w{i}": {"a": "cat", "b": "dog"} for i in range(9)}, "cat,dog,cow")
    text = texts(campaign_page(infer(answers, unordered=True), [answers], title="t"))
    assert "most probable answer" in text
    assert "expected wrong labels" in text
    assert "90 % interval" not in text.split("Accuracy of the workers")[0]
    assert "--estimand level" not in text


def test_a_single_task_and_a_single_worker() -> None:
    answers = Answers.of({"w": {"a": 1}}, "0..1")
    text = texts(campaign_page(infer(answers), [answers], title="t"))
    assert "The 90 % interval is" in text


def test_a_large_campaign_has_a_page_that_can_be_sent() -> None:
    random = np.random.default_rng(0)
    rows = {
        f"worker {i}": {f"task {j}": int(random.integers(5)) for j in random.integers(1500, size=9)}
        for i in range(2000)
    }
    answers = Answers.of(rows, "0..4")
    page = campaign_page(infer(answers, "mean"), [answers], title="t")
    assert "The first 1,000 of" in page
    assert "The 300 most and least accurate of 2,000 workers" in page
    assert len(page) < 1_500_000


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, headless."""
    sync_api = pytest.importorskip("playwright.sync_api")
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("Chromium is not installed")
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("estimand", KINDS)
def test_in_a_browser(browser: Any, tmp_path: Path, estimand: str, width: int) -> None:
    """No console errors, no request, nothing wider than the screen, and headings sort."""
    truths, reports = made_up(estimand)
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
    name = {"level": "truth", "label": "task", "opinion": "mean"}[estimand]
    kind = ".name" if estimand == "label" else ".number"
    column = (
        f"t => [...t.tBodies[0].rows].map(r => r.querySelector('{kind}'))"
        ".map(c => c.dataset.value === undefined ? c.textContent : Number(c.dataset.value))"
    )
    for falling in (False, True):
        table.get_by_role("button", name=name).click()
        found = table.evaluate(column)
        assert found == sorted(found, reverse=falling)
    assert page.evaluate("getComputedStyle(document.body).maxWidth") == "992px"  # the style is on
    page.close()
    assert said == [path.as_uri()]

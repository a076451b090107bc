"""How results show themselves: text, notebooks, frames and figures."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from forsooth import Answers, ForsoothError, Truths, infer, mechanisms, plan
from forsooth.auditing import audit
from tests.test_truths import result

EVIL = "<script>alert('q')</script> & $x$"


@pytest.fixture
def truths() -> Truths:
    return result("label")


def test_a_result_has_a_length_and_is_indexed_by_task(truths: Truths) -> None:
    assert len(truths) == 2
    assert list(truths) == ["q1", "q2"]
    assert "q1" in truths
    assert "nope" not in truths
    one = truths["q2"]
    assert (one.task, one.truth, one.low, one.support) == ("q2", 2.0, 1.9, 6)
    assert (one.label, one.probability, one.shares) == ("often", 0.8, None)
    assert result("opinion")["q1"].shares == {"never": 0.7, "rarely": 0.2, "often": 0.1}
    sets = replace(truths, prediction_sets=(("never",), ("rarely", "often")))
    assert sets["q2"].prediction_set == ("rarely", "often")


@pytest.mark.parametrize("task", ["nope", 0, None, ["q1"], slice(1)], ids=str)
def test_a_task_that_is_not_there(truths: Truths, task: Any) -> None:
    with pytest.raises(ForsoothError, match="there is no task .*; tasks are named q1, q2"):
        truths[task]


def test_frames(truths: Truths) -> None:
    assert isinstance(truths.to_frame(), pa.Table)
    frame = truths.to_frame("pandas")
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == list(truths.columns())
    assert frame["probability"].tolist() == [0.7, 0.8]
    workers = truths.workers_frame("polars")
    assert isinstance(workers, pl.DataFrame)
    assert workers["worker"].to_list() == ["ann"]
    with pytest.raises(ForsoothError, match="careless people"):
        result("opinion").workers_frame()
    with pytest.raises(ForsoothError, match="unknown backend"):
        truths.to_frame("nope")


@pytest.mark.parametrize(
    ("make", "kind"), [(pd.DataFrame, pd.DataFrame), (pl.DataFrame, pl.DataFrame)]
)
def test_results_come_in_the_library_of_the_answers(make: Any, kind: type) -> None:
    frame = make({"task": ["p", "q"], "worker": ["a", "a"], "label": [1, 2]})
    assert isinstance(infer(frame, "mean", scale="0..4").to_frame(), kind)
    reports = mechanisms.rr("0..4", epsilon=3).perturb(frame, simulation_seed=1)
    assert isinstance(infer(reports, "mean").workers_frame(), kind)


def shown() -> list[Any]:
    """One of everything, with names that try to be HTML."""
    answers = Answers.of({EVIL: {f"{EVIL} {j}": 1 for j in range(60)}, "b": {EVIL: 2}}, "0..4")
    mechanism = mechanisms.two_layer("0..4", epsilon=1)
    evil_scale = Answers.of({"a": {"t": EVIL}}, [EVIL, "b"])
    found = audit(mechanism, draws=2000, simulation_seed=1)
    fast = plan("0..4", tasks=20, density=0.5, workers=500, epsilon=2.0, fast=True)
    return [
        answers,
        evil_scale,
        mechanism,
        mechanism.perturb(answers, simulation_seed=1),
        infer(answers, "mean"),
        infer(evil_scale),
        result("level"),
        result("opinion"),
        found,
        fast,
        replace(fast, workers=None, reason="<i>too few</i>"),
    ]


def test_everything_shows_itself_in_a_few_escaped_lines() -> None:
    for one in shown():
        text, html = repr(one), one._repr_html_()
        assert len(text.splitlines()) <= 12, text
        assert max(map(len, text.splitlines())) <= 120, text
        assert "<script" not in html
        assert "<i>" not in html
        assert html.startswith("<div><strong>")
        assert html.count("<div") == html.count("</div>")


def test_private_answers_do_not_show_themselves() -> None:
    answers = Answers.of({"ann": {"q1": "sick"}, "bob": {"q1": "well"}}, "sick,well")
    assert "private" in repr(answers)
    for text in (repr(answers), answers._repr_html_()):
        assert "ann" not in text
        assert "q1" not in text


def test_what_the_texts_say() -> None:
    answers = Answers.of({"a": {"t1": 1, "t2": 4}, "b": {"t1": 2}}, "0..4")
    assert repr(answers) == (
        "Answers of 2 workers to 2 tasks\n  3 answers, 75 % of all cells, scale 0..4; private"
    )
    assert repr(mechanisms.two_layer("0..4", epsilon=1)) == (
        "Mechanism two-layer on the scale 0..4\n  ε = 2 per cell; protects answers+participation\n"
        "  more than the ε = 1 that was asked for"
    )
    reports = mechanisms.rr("0..4", epsilon=3).perturb(answers, simulation_seed=1)
    assert "no privacy" in repr(reports)
    assert len(reports) == 2
    assert "nothing is private" in repr(infer(answers, "mean"))
    assert "… 1 more" in repr(infer(Answers.of({"a": dict.fromkeys("abcdef", 1)}, "0..4"), "mean"))
    assert "1 task" in repr(infer(Answers.of({"a": {"t": 1}}, "0..4"), "mean"))


def test_audit_and_plan_as_frames() -> None:
    found = audit(mechanisms.rr("0..4", epsilon=1), draws=2000, simulation_seed=1)
    frame = found.to_frame("pandas")
    assert frame["exact"].max() <= 1
    assert frame["neighbours"].tolist() == ["value", "participation"]
    assert "the claim holds" in repr(found)
    made = plan("0..4", tasks=5, density=0.8, workers=40, epsilon=2.0, repeats=2)
    assert made.to_frame("polars")["workers"].to_list() == [40]
    assert "rehearsed" in repr(made)


@pytest.mark.parametrize("estimand", ["level", "label", "opinion"])
def test_plots_return_their_axes(estimand: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    truths = replace(result(estimand), tasks=(EVIL, "q2"))
    axes = truths.plot()
    assert len(axes.get_yticklabels()) == 2
    pyplot.savefig(tmp_path / "plot.png")  # `$` in a name is no formula
    given = pyplot.figure().subplots()
    assert truths.plot(given, tasks=["q2"]) is given
    assert [label.get_text() for label in given.get_yticklabels()] == ["q2"]
    with pytest.raises(ForsoothError, match="there is no task 'nope'"):
        truths.plot(tasks=["nope"])
    pyplot.close("all")


def test_a_plot_of_many_tasks_says_how_many_it_leaves_out() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    truths = infer(Answers.of({"a": {f"t{j}": 1 for j in range(50)}}, "0..4"), "mean")
    assert truths.plot().get_ylabel() == "the first 40 of 50 tasks"
    pyplot.close("all")


def test_a_plot_without_matplotlib_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from forsooth import infer, ForsoothError\n"
        "truths = infer({'a': {'t': 1}}, 'mean', scale='0..4')\n"
        "try: truths.plot()\n"
        "except ForsoothError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert 'pip install "forsooth[plots]"' in done.stdout


def test_numbers_that_are_missing_are_a_dash() -> None:
    assert "–" in repr(replace(result(), low=np.array([np.nan, 1.0])))

"""What `infer`, `error` and `coverage` take, and the errors that say what to pass instead."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from forsooth import Answers, ForsoothError, Truths, infer, mechanisms
from forsooth.errors import AssumptionWarning
from forsooth.inference import METHODS
from forsooth.inference.estimates import Rules
from forsooth.inference.options import UNORDERED, USES

ROWS = [
    {"task": f"q{j}", "worker": f"w{i}", "label": (j + (i == 0)) % 5}
    for i in range(5)
    for j in range(5)
]
FRAME = pd.DataFrame(ROWS)
WORDS = FRAME.assign(label=FRAME["label"].map(dict(enumerate("abcde"))))
NAN = float("nan")


@pytest.fixture(scope="module")
def truths() -> Truths:
    return infer(FRAME, "median", scale="0..4")


@pytest.mark.parametrize(
    "make",
    [
        lambda: FRAME,
        lambda: pl.DataFrame(ROWS),
        lambda: pa.Table.from_pylist(ROWS),
        lambda: ROWS,
        lambda: FRAME.pivot(index="worker", columns="task", values="label"),
        lambda: Answers.of(FRAME, "0..4"),
        lambda: {f"w{i}": {f"q{j}": (j + (i == 0)) % 5 for j in range(5)} for i in range(5)},
    ],
)
def test_plain_answers(make: Any, truths: Truths) -> None:
    found = infer(make(), "median", scale=range(5))
    assert found.estimate.tolist() == truths.estimate.tolist() == [0, 1, 2, 3, 4]
    assert "nothing was perturbed" in found.notices[-1]


def test_a_path(tmp_path: Path, truths: Truths) -> None:
    answers = Answers.of(FRAME, "0..4")
    answers.write(tmp_path / "answers.csv")
    answers.write(tmp_path / "answers.parquet")
    for path in (tmp_path / "answers.csv", str(tmp_path / "answers.parquet")):
        assert infer(path, "median", scale="0..4").estimate.tolist() == truths.estimate.tolist()
    folder = tmp_path / "reports"
    folder.mkdir()
    reports = mechanisms.rr("0..4", epsilon=3).perturb(replace(answers, assumed=()))
    reports.write(folder / "reports.parquet")
    expected = infer(reports, "mean").estimate.tolist()
    for path in (folder, folder / "reports.parquet"):
        assert infer(path, "mean").estimate.tolist() == expected
        assert infer(path, "mean").notices == ()


def test_simulated_reports_are_said_to_be() -> None:
    answers, mechanism = Answers.of(FRAME, "0..4"), mechanisms.rr("0..4", epsilon=3)
    reports = mechanism.perturb(answers, simulation_seed=7)
    truths = infer(reports, "mean")
    assert truths.notices == ("reports were made with the simulation seed 7: they protect nobody",)
    assert "protect nobody" in repr(truths)
    assert "protect nobody" in truths._repr_html_()


def test_an_assumed_scale_is_said() -> None:
    with pytest.warns(AssumptionWarning, match=r"suggest 0\.\.4. Pass scale=") as caught:
        truths = infer(FRAME, "mean")
    assert Path(caught[0].filename) == Path(__file__), "the warning names the caller's line"
    assert str(truths.scale) == "0..4"
    assert "suggest 0..4" in truths.notices[0]


@pytest.mark.parametrize(
    ("labels", "scale"),
    [([1, 5], "1..5"), ([0.5, 2], "0.5,2"), (["b", "a"], "a,b"), ([True, False], "False,True")],
)
def test_which_scale_is_assumed(labels: list[Any], scale: str) -> None:
    frame = pd.DataFrame({"task": ["p", "q"], "worker": ["a", "a"], "label": labels})
    with pytest.warns(AssumptionWarning):
        assert str(infer(frame, "majority").scale) == scale


def test_words_have_no_order_unless_it_is_given() -> None:
    with pytest.warns(AssumptionWarning, match="the labels a, b, c, d, e, without an order"):
        truths = infer(WORDS)
    assert truths.posterior is not None
    assert truths.posterior.unordered
    assert truths.columns()["label"] == list("abcde")
    with pytest.warns(AssumptionWarning), pytest.raises(ForsoothError, match="needs the order"):
        infer(WORDS, estimand="level")
    for method in USES:
        if method not in UNORDERED | {"posterior"}:
            with (
                pytest.warns(AssumptionWarning),
                pytest.raises(ForsoothError, match="needs the order of the labels: pass scale="),
            ):
                infer(WORDS, method)
    assert infer(WORDS, "median", scale="a,b,c,d,e").estimate.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("data", "options", "complaint"),
    [
        (None, {}, "cannot read NoneType: pass a pandas"),
        (7, {"scale": "0..4"}, "cannot read int"),
        ([], {}, "there are no reports.*pass Reports, Answers"),
        ([1], {}, "row 1 is int, not a dict"),
        ("nowhere.csv", {}, "does not exist"),
        (FRAME.assign(label=3), {}, "every answer is 3.*pass scale="),
        (FRAME.assign(label=NAN), {}, "every answer is missing"),
        (FRAME.assign(label=[NAN, *range(24)]), {"scale": "0..30"}, "row 1: the answer is empty"),
        (FRAME.assign(label=[NAN, *range(24)]), {}, "row 1: the answer is empty"),
        (FRAME.assign(label=np.arange(25) * 1000), {"scale": "0..4"}, "not on the scale"),
        (FRAME.drop(columns="worker"), {"scale": "0..4"}, "no column 'worker'"),
        (Answers.of(FRAME, "0..4"), {"scale": "0..5"}, "on the scale 0..4, not 0..5"),
        ([Answers.of(FRAME, "0..4"), FRAME], {}, "DataFrame among the reports"),
    ],
)
@pytest.mark.filterwarnings("ignore::forsooth.errors.AssumptionWarning")
def test_what_cannot_be_inferred_from(data: Any, options: Any, complaint: str) -> None:
    with pytest.raises(ForsoothError, match=complaint):
        infer(data, **options)


TRUTHS = {
    "dict": {"q0": 1, "q3": 3},
    "dict-of-text": {"q0": "1", "q3": "3"},
    "series": pd.Series({"q3": 3.0, "q0": 1.0}),
    "series-nan": pd.Series({"q3": 3.0, "q0": 1.0, "q1": NAN}),
    "pandas": pd.DataFrame({"task": ["q0", "q3"], "truth": [1, 3]}),
    "pandas-index": pd.DataFrame({"gold": [1, 3]}, index=pd.Index(["q0", "q3"], name="task")),
    "polars": pl.DataFrame({"task": ["q0", "q3"], "gold": [1, 3]}),
    "rows": [{"task": "q0", "truth": 1}, {"task": "q3", "truth": 3}],
    "columns": {"task": ["q0", "q3"], "truth": [1, 3]},
    "array": np.array([1, NAN, NAN, 3, NAN]),
    "list": [1, None, None, 3, None],
    "polars-series": pl.Series([1, None, None, 3, None]),
}


@pytest.mark.parametrize("known", TRUTHS.values(), ids=TRUTHS)
def test_truths_in_any_form(known: Any, truths: Truths) -> None:
    assert truths.error(known) == 0.5
    assert 0 <= truths.coverage(known) <= 1
    found = infer(FRAME, "median", scale="0..4", gold=known)
    assert found.estimate.tolist() == [1, 1, 2, 3, 4]


def test_truths_in_a_file(tmp_path: Path, truths: Truths) -> None:
    (tmp_path / "truths.csv").write_text("task,truth\nq0,1\nq3,3\n")
    assert truths.error(tmp_path / "truths.csv") == 0.5


def test_truths_that_are_labels() -> None:
    found = infer(WORDS, "majority", scale="a,b,c,d,e")
    assert found.error({"q0": "b", "q1": "b"}) == 0.5
    assert found.error(["a", "b", None, None, None]) == 0


@pytest.mark.parametrize(
    ("known", "complaint"),
    [
        (2.0, "truth: cannot read float"),
        (None, "truth: cannot read NoneType"),
        ({"nope": 1}, "truth: task 'nope' is not in the campaign.*its tasks are q0, q1, q2, …"),
        (pd.Series([1.0, 2.0]), "task '0' is not in the campaign"),
        ({"q0": "x"}, "'q0': 'x' is no number and no answer of the scale"),
        ({"q0": [1, 2], "q1": 3}, "no number"),
        ({"q0": NAN}, "no truth is known"),
        ({}, "no truth is known"),
        ([1, 2], "2 values for 5 tasks"),
        (np.zeros((5, 2)), "5 values for 5 tasks"),
        ([1, 2, 3, float("inf"), 5], "not on the scale"),
        (pd.Series([1, 2], index=["q0", "q0"]), "task 'q0' is there twice"),
        (pd.DataFrame({"task": ["q0"], "value": [1]}), "no column 'truth' or 'gold'"),
        ("nowhere.csv", "truth: nowhere.csv does not exist"),
    ],
)
def test_truths_that_cannot_be_read(known: Any, complaint: str, truths: Truths) -> None:
    for measure in (truths.error, truths.coverage):
        with pytest.raises(ForsoothError, match=complaint):
            measure(known)


@pytest.mark.parametrize(
    ("gold", "complaint"),
    [
        ({"q0": 7}, "gold: the truth 7 of task 'q0' is off the scale"),
        ({"nope": 1}, "gold: task 'nope' is not in the campaign"),
        (7, "gold: cannot read int"),
        ({"q0": "x"}, "gold: 'q0': 'x' is no number"),
    ],
)
def test_gold_that_is_wrong(gold: Any, complaint: str) -> None:
    with pytest.raises(ForsoothError, match=complaint):
        infer(FRAME, scale="0..4", gold=gold)


def test_groups_in_any_form() -> None:
    group = {f"w{i}": "old" if i < 3 else "young" for i in range(5)}
    table = pd.DataFrame({"worker": group.keys(), "group": group.values()})
    results = [
        infer(FRAME, scale="0..4", estimand="opinion", groups=groups).differences
        for groups in (group, pd.Series(group), table, pl.from_pandas(table))
    ]
    assert results[0]
    assert all(result == results[0] for result in results)
    with pytest.raises(ForsoothError, match="groups: cannot read int"):
        infer(FRAME, scale="0..4", estimand="opinion", groups=3)
    with pytest.raises(ForsoothError, match="worker 'w4' has no group"):
        infer(FRAME, scale="0..4", estimand="opinion", groups={**group, "w4": None})


OTHER = {"tolerance": 1e-3, "max_iterations": 7, "ties": "low"}


@pytest.mark.parametrize("method", USES)
@pytest.mark.parametrize("option", OTHER)
def test_an_option_is_used_or_refused(method: str, option: str) -> None:
    """`USES` is true: an option that a method is said not to use is refused, others accepted."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if option in USES[method]:
            infer(FRAME, method, scale="0..4", **{option: OTHER[option]})  # type: ignore[arg-type]
            return
    with pytest.raises(ForsoothError, match=f"the method {method} has no option {option}; it is"):
        infer(FRAME, method, scale="0..4", **{option: OTHER[option]})  # type: ignore[arg-type]


@pytest.mark.parametrize("method", USES)
def test_the_methods_use_what_they_are_said_to_use(method: str) -> None:
    """The functions themselves, asked which rules they look at."""
    looked: set[str] = set()

    class Watched(Rules):
        def __getattribute__(self, name: str) -> Any:
            looked.add(name)
            return super().__getattribute__(name)

    if method in METHODS:
        answers, rules = Answers.of(FRAME, "0..4"), Watched()
        looked.clear()
        METHODS[method](answers.cells(), answers.scale, rules, np.full(5, NAN))
        assert looked & set(OTHER) == USES[method]


@pytest.mark.parametrize(
    "options",
    [
        {"estimate": "nope"},
        {"estimand": "nope"},
        {"model": "nope"},
        {"gold_use": "nope"},
        {"ties": "x"},
        {"method": "nope"},
        {"tolerance": 0.0},
        {"method": "mean", "estimate": "nope"},
        {"method": "mean", "gold_use": "calibrate"},
        {"method": "mean", "groups": {}},
        {"method": "mean", "estimand": "level"},
        {"scale": 5},
    ],
    ids=str,
)
def test_unknown_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ForsoothError):
        infer(FRAME, **{"scale": "0..4", **options})


def test_a_misspelled_keyword_is_refused() -> None:
    with pytest.raises(TypeError, match="tolerence"):
        infer(FRAME, scale="0..4", tolerence=1e-3)  # type: ignore[call-arg]

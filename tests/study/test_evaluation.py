from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from forsooth import ForsoothError, infer, mechanisms
from forsooth.study.evaluation import Study, evaluate, summarise
from forsooth.study.figures import plot_against_epsilon

SMALL = "synthetic:workers=150,tasks=20,sparsity=0.7"


def study(**changes: Any) -> Study:
    settings: dict[str, Any] = {
        "data": SMALL,
        "epsilons": (0.5, 4.0),
        "mechanisms": ("lp", "rr", "mf:d=3"),
        "methods": ("algorithm1", "mean"),
        "repeats": 2,
        "seed": 1,
    }
    return Study(**(settings | changes))


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    return evaluate(study())


def test_every_combination_is_there(result: dict[str, Any]) -> None:
    assert len(result["runs"]) == 2 * 2 * 3 * 2
    assert len(result["summary"]) == 2 * 3 * 2
    keys = {
        "data",
        "mechanism",
        "method",
        "protects",
        "epsilon",
        "repeat",
        "mae",
        "mae_original",
        "mae_change",
        "mae_constant",
        "mae_middle",
        "coverage",
    }
    assert all(keys <= run.keys() for run in result["runs"])


def test_a_run_can_be_redone_by_hand(result: dict[str, Any]) -> None:
    run = result["runs"][0]
    dataset = study().dataset(0)
    original = infer(dataset.answers, "algorithm1").error(dataset.truth)
    assert run["mae_original"] == original
    assert run["mae_change"] == run["mae"] - original
    assert run["mae_constant"] == np.abs(dataset.truth - np.median(dataset.truth)).mean()
    assert run["mae_middle"] == np.abs(dataset.truth - 4.5).mean()
    again = infer(study().jobs()[0].reports(dataset), run["method"])
    inside = (again.low <= dataset.truth) & (dataset.truth <= again.high)
    assert run["coverage"] == pytest.approx(inside.mean())


def test_processes_do_not_change_the_figures(result: dict[str, Any]) -> None:
    seen: list[tuple[int, int]] = []
    parallel = evaluate(
        study(), processes=2, progress=lambda done, total: seen.append((done, total))
    )
    assert parallel == result
    assert seen[-1] == (12, 12)


def test_seeds_and_repeats(result: dict[str, Any]) -> None:
    assert evaluate(study(seed=2))["runs"][0]["mae"] != result["runs"][0]["mae"]
    by_repeat = {run["repeat"]: run["mae_constant"] for run in result["runs"]}
    assert by_repeat[0] != by_repeat[1]


def test_the_true_guarantee_is_reported() -> None:
    runs = evaluate(study(mechanisms=("two-layer", "mf", "grr"), epsilons=(1.0,), repeats=1))[
        "runs"
    ]
    said = {run["mechanism"]: (run["protects"], run["guarantee"]) for run in runs}
    assert said == {
        "two-layer": ("answers+participation", 2.0),
        "mf": ("answers", 1.0),
        "grr": ("answers", 1.0),
    }
    public = evaluate(study(protects="answers", epsilons=(1.0,), repeats=1))["runs"]
    assert {run["protects"] for run in public} == {"answers"}


def test_the_summary_is_mean_and_standard_error(result: dict[str, Any]) -> None:
    row = result["summary"][0]
    values = [
        run["mae_change"]
        for run in result["runs"]
        if all(run[key] == row[key] for key in ("mechanism", "method", "epsilon"))
    ]
    assert row["mae_change"] == pytest.approx(np.mean(values))
    assert row["mae_change_median"] == pytest.approx(np.median(values))
    assert row["mae_change_se"] == pytest.approx(np.std(values, ddof=1) / np.sqrt(2))
    assert summarise(result["runs"][:1])[0]["mae_change_se"] is None


def test_mirroring_exposes_shrinkage() -> None:
    """MF shrinks towards 0. That helps where truths are near 0 and hurts on the mirrored scale."""
    changes = [
        evaluate(study(mechanisms=("mf:ridge=5",), epsilons=(1.0,), mirror=mirror))["summary"][0]
        for mirror in (False, True)
    ]
    assert changes[1]["mae_change"] > changes[0]["mae_change"] + 1


def test_the_paper_s_order_on_its_synthetic_crowd() -> None:
    paper = study(
        data="synthetic:",
        epsilons=(1.0, 5.0),
        mechanisms=("lp", "rr", "mf"),
        methods=("algorithm1",),
        repeats=1,
    )
    found = {(r["mechanism"], r["epsilon"]): r["mae_change"] for r in evaluate(paper)["runs"]}
    assert 3.0 < found["lp", 1.0] < 3.7
    assert 3.2 < found["rr", 1.0] < 3.8
    assert 1.3 < found["rr", 5.0] < 1.9
    assert found["mf", 1.0] < 0.6
    assert found["mf", 5.0] < 0.6


@pytest.mark.parametrize(
    "changes",
    [
        {"epsilons": (0.0,)},
        {"epsilons": ()},
        {"mechanisms": ("magic",)},
        {"mechanisms": ("mf:d=21",)},
        {"methods": ("magic",)},
        {"repeats": 0},
        {"seed": -1},
        {"protects": "all"},
        {"estimand": "mood"},
        {"data": "nothing"},
    ],
)
def test_bad_studies_are_refused_before_any_work(changes: dict[str, Any]) -> None:
    with pytest.raises(ForsoothError):
        study(**changes)


def test_the_estimand_is_that_of_the_data_unless_one_is_asked_for() -> None:
    """Sums tell about levels only, so they are read so unless the study insists."""
    dataset = replace(study().dataset(0), estimand="label")
    rr, mf = (study().mechanism(name, 1.0, dataset) for name in ("rr", "mf:d=3"))
    assert study().dataset(0).estimand == "level"
    assert dataset.mirrored().estimand == "label"
    assert study().estimand_of(dataset, rr) == "label"
    assert study().estimand_of(dataset, mf) == "level"
    assert study(estimand="opinion").estimand_of(dataset, rr) == "opinion"
    assert study(estimand="opinion").estimand_of(dataset, mf) == "opinion"


def test_the_posterior_says_which_estimand_it_had() -> None:
    settings: dict[str, Any] = {
        "mechanisms": ("rr", "adaptive"),
        "methods": ("posterior", "mean"),
        "epsilons": (2.0,),
        "repeats": 1,
    }
    for estimand, expected in ((None, "level"), ("opinion", "opinion"), ("label", "label")):
        result = evaluate(study(**settings, estimand=estimand))
        found = {(row["method"], row["estimand"]) for row in result["summary"]}
        assert found == {("posterior", expected), ("mean", None)}


def test_the_figure(result: dict[str, Any], tmp_path: Path) -> None:
    for name in ("f.png", "f.svg"):
        plot_against_epsilon(result["summary"], tmp_path / name)
    with Image.open(tmp_path / "f.png") as image:
        assert min(image.size) > 400
    text = (tmp_path / "f.svg").read_text()
    for words in ("lp · algorithm1", "mf:d=3 · mean, answers only", "best constant", "middle"):
        assert words in text
    with pytest.raises(ForsoothError, match="its ending must be"):
        plot_against_epsilon(result["summary"], tmp_path / "f.txt")


def test_every_mechanism_can_be_evaluated() -> None:
    everything = study(mechanisms=tuple(mechanisms.BUILDERS), epsilons=(1.0,), repeats=1)
    assert len(evaluate(everything)["runs"]) == 2 * len(mechanisms.BUILDERS)

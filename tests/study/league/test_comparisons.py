from __future__ import annotations

import pytest

from forsooth.study.league import sets
from forsooth.study.league.comparisons import Comparison, Verdict, compare
from forsooth.study.league.entries import Entry
from forsooth.study.league.results import LeagueResults, LeagueScore
from forsooth.study.paper.results import Measured
from tests.study.league.worlds import SOURCE, world


def score(value: float, se: float | None, mechanism: str = "rr") -> LeagueScore:
    measured: dict[str, Measured | None] = {"error": Measured(value, se, 3)}
    return LeagueScore(SOURCE, Entry(mechanism, "posterior"), 1.0, measured, 0.1)


@pytest.mark.parametrize(
    ("ours", "rival", "se", "verdict"),
    [
        (0.10, 0.20, 0.01, "win"),
        (0.20, 0.10, 0.01, "loss"),
        (0.10, 0.12, 0.01, "tie"),  # 2 · 0.01 · √2 = 0.028
        (0.10, 0.104, None, "tie"),  # below 0.005
        (0.10, 0.106, None, "win"),
        (0.398, 0.50, 0.01, "neither"),  # the constant has 0.4
        (0.50, 0.30, 0.01, "loss"),
    ],
)
def test_verdicts(ours: float, rival: float, se: float | None, verdict: Verdict) -> None:
    each = Comparison(score(ours, se), score(rival, se), 0.4, None)
    assert each.verdict == verdict
    assert bool(each.reason) == (verdict == "loss")


def test_reasons() -> None:
    """By the plain answers of the same set."""
    ours, rival = score(0.2, 0.01), score(0.1, 0.01)
    assert "we lose, too" in Comparison(ours, rival, 0.4, "loss").reason
    assert "we do not lose" in Comparison(ours, rival, 0.4, "win").reason
    assert "not measured" in Comparison(ours, rival, 0.4, None).reason
    plain = score(0.2, 0.01, "plain"), score(0.1, 0.01, "plain")
    assert "assumptions" in Comparison(*plain, 0.4, None).reason


def test_the_best_rival_under_the_same_promise_is_met() -> None:
    """Not our other entries, and not those that protect less."""
    results = LeagueResults(
        world(
            {
                ("guess", "best-constant"): 0.5,
                ("plain", "posterior"): 0.05,
                ("plain", "median"): 0.06,
                ("rr", "posterior"): 0.3,
                ("adaptive", "posterior"): 0.1,
                ("oue", "its own"): 0.28,
                ("rr", "median"): 0.2,
                ("pm", "its own"): 0.01,
            }
        )
    )
    (each,) = compare(results, "level", "cell")
    assert (each.ours.entry.label, each.rival.entry.label) == ("rr · posterior", "rr · median")
    assert (each.verdict, each.plain, each.constant) == ("loss", "win", 0.5)
    assert compare(results, "level", "values") == [], "we did not run there"
    assert compare(results, "label", "cell") == []


def test_means_and_standard_errors() -> None:
    (other,) = sets.find(["synthetic-middle"], None, 0)
    runs = world({("rr", "posterior"): 0.2}, repeats=(0.1, 0.0, -0.1))
    runs += world({("rr", "posterior"): 0.4}, repeats=(0.0,), source=other)
    results = LeagueResults(runs)
    entry = Entry("rr", "posterior")
    found = results.get(SOURCE, entry, 1.0)
    assert found is not None
    assert found.error.value == pytest.approx(0.2)
    assert found.error.se == pytest.approx(0.1 / 3**0.5)
    mean = results.mean("level", entry, 1.0)
    assert mean is not None
    assert mean[0].value == pytest.approx(0.3)
    assert mean[0].se == pytest.approx(0.1 / 3**0.5 / 2)
    assert mean[1] == 2
    assert results.mean("level", entry, 2.0) is None

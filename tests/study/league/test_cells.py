"""Measures by hand on the set of `own`: q1 has the answers 1 and 1, q2 has 0 and 2."""

from __future__ import annotations

from dataclasses import replace
from math import log
from pathlib import Path

import numpy as np
import pytest

from forsooth.study.league import sets
from forsooth.study.league.cells import LeagueCell
from forsooth.study.league.entries import Entry
from forsooth.study.paper.cells import RunSetting
from forsooth.study.rivals import INFERENCE, Aggregated, Rival
from tests.study.league.test_sets import own

SETTING = RunSetting(1)


@pytest.fixture
def labels(tmp_path: Path) -> sets.LeagueSet:
    (found,) = sets.find([own(tmp_path)], None, 0)
    return found


@pytest.fixture
def levels(tmp_path: Path) -> sets.LeagueSet:
    text = '{"mine": {"scale": "0..2", "estimand": "level"}}'
    (found,) = sets.find([own(tmp_path, text)], None, 0)
    return found


def ran(source: sets.LeagueSet, mechanism: str, method: str, epsilon: float = 0.0) -> object:
    return LeagueCell(source, Entry(mechanism, method), epsilon, 0).run(SETTING)


def test_labels(labels: sets.LeagueSet) -> None:
    """Majority: P(1) = 1 for q1; P(0) = P(2) = 1/2 for q2, of which the lower one is taken."""
    assert ran(labels, "plain", "majority") == {
        "error": 0.0,
        "mae": 0.0,
        "accuracy": 1.0,
        "log_loss": pytest.approx(log(2) / 2),
        "coverage": None,
    }


def test_levels(levels: sets.LeagueSet) -> None:
    """Mean: 1 for q1 and 1 for q2, whose truth is 0; the range is 2."""
    found = ran(levels, "plain", "mean")
    assert isinstance(found, dict)
    assert (found["mae"], found["error"], found["accuracy"]) == (0.5, 0.25, None)
    assert 0 <= found["coverage"] <= 1


def test_certain_and_wrong_is_not_infinite(
    labels: sets.LeagueSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A method of one's own is one function and one line of the registry."""
    always_2 = np.array([[0, 0, 1.0], [0, 0, 1.0]])

    def stubborn(data: object) -> Aggregated:
        del data
        return Aggregated(np.full(2, 2.0), np.full(2, 2.0), always_2)

    monkeypatch.setitem(INFERENCE, "stubborn", Rival("stubborn", ("label",), stubborn, "nobody"))
    found = ran(labels, "plain", "stubborn")
    assert isinstance(found, dict)
    assert found["accuracy"] == 0
    assert found["log_loss"] == pytest.approx(log(1e6))


def test_guesses_of_labels(labels: sets.LeagueSet) -> None:
    """The truths are 1 and 0."""
    constant, blind = (ran(labels, "guess", name) for name in ("best-constant", "blind"))
    assert isinstance(constant, dict)
    assert isinstance(blind, dict)
    assert constant["error"] == 0.5
    assert blind["error"] == pytest.approx(2 / 3)
    assert blind["log_loss"] == pytest.approx(log(3))


def test_guesses_of_levels(levels: sets.LeagueSet) -> None:
    constant, blind = (ran(levels, "guess", name) for name in ("best-constant", "blind"))
    assert isinstance(constant, dict)
    assert isinstance(blind, dict)
    assert (constant["mae"], blind["mae"]) == (0.5, 0.5)


@pytest.mark.parametrize("mechanism", ["mf:d=2", "mf-safe:d=2"])
def test_of_sums_a_label_is_the_answer_nearest_to_the_mean(
    labels: sets.LeagueSet, mechanism: str
) -> None:
    found = ran(labels, mechanism, "posterior", 2.0)
    assert isinstance(found, dict)
    assert found["accuracy"] == 1 - found["error"]
    assert found["log_loss"] is None


def test_private_runs_are_repeatable_and_repeats_differ() -> None:
    (source,) = sets.find(["synthetic:workers=40,tasks=6,sparsity=0.2"], None, 1)
    for mechanism, method in (("rr", "posterior"), ("oue", "its own")):
        cell = LeagueCell(source, Entry(mechanism, method), 2.0, 0)
        first = cell.run(SETTING)
        assert first == cell.run(SETTING)
        assert first["mae"] != replace(cell, repeat=1).run(SETTING)["mae"]


def test_methods_share_the_reports() -> None:
    """The noise depends on everything but the method."""
    (source,) = sets.find(["synthetic:workers=40,tasks=6,sparsity=0.2"], None, 1)
    cell = LeagueCell(source, Entry("rr", "mean"), 2.0, 0)
    seed = cell._noise_seed(1)
    assert seed == replace(cell, entry=Entry("rr", "median"))._noise_seed(1)
    others = [replace(cell, epsilon=3.0), replace(cell, repeat=1)]
    others.append(replace(cell, entry=Entry("grr", "mean")))
    assert len({seed, cell._noise_seed(2), *(each._noise_seed(1) for each in others)}) == 5

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from forsooth import Answers, ForsoothError, Scale
from forsooth.client.permanent import PermanentReports
from forsooth.mechanisms import build, rr

SCALE = Scale.parse("0..4")
TASKS = [f"t{j:02}" for j in range(40)]


def worker(answer: int = 3, name: str = "ann") -> Answers:
    return Answers.of({name: dict.fromkeys(TASKS, answer)}, SCALE, tasks=TASKS)


@pytest.mark.parametrize("name", ["rr", "grr", "lp", "mf", "mf-safe", "two-layer"])
def test_asked_again_the_same_report(tmp_path: Path, name: str) -> None:
    mechanism = build(name, SCALE, 1.0, tasks=40)
    first = PermanentReports(tmp_path).report("survey", mechanism, worker())
    again = PermanentReports(tmp_path).report("survey", mechanism, worker())
    assert np.array_equal(first.values, again.values)
    assert first.mechanism == again.mechanism == mechanism


def test_a_changed_answer_does_not_change_the_report(tmp_path: Path) -> None:
    store, mechanism = PermanentReports(tmp_path / "deep" / "store"), rr(SCALE, 1.0)
    first = store.report("survey", mechanism, worker(3))
    assert np.array_equal(first.values, store.report("survey", mechanism, worker(0)).values)


def test_campaigns_and_workers_are_kept_apart(tmp_path: Path) -> None:
    store, mechanism = PermanentReports(tmp_path), rr(SCALE, 1.0)
    made = [
        store.report(campaign, mechanism, worker(name=name)).values.tobytes()
        for campaign, name in (("a", "bc"), ("ab", "c"), ("a", "b"), ("b", "b"))
    ]
    assert len(set(made)) == 4


def test_another_mechanism_for_the_same_campaign_is_refused(tmp_path: Path) -> None:
    store = PermanentReports(tmp_path)
    store.report("survey", rr(SCALE, 1.0), worker())
    with pytest.raises(ForsoothError, match="second spend"):
        store.report("survey", rr(SCALE, 2.0), worker())
    with pytest.raises(ForsoothError, match="one worker at a time"):
        store.report("survey", rr(SCALE, 1.0), Answers.of({"a": {}, "b": {}}, SCALE, tasks=TASKS))


def test_processes_that_race_agree(tmp_path: Path) -> None:
    program = (
        "import sys; from forsooth import Answers, mechanisms, Scale;"
        "from forsooth.client.permanent import PermanentReports;"
        "scale = Scale.parse('0..4');"
        "answers = Answers.of({'ann': {}}, scale, tasks=[str(i) for i in range(50)]);"
        "store = PermanentReports(sys.argv[1]);"
        "print(store.report('s', mechanisms.rr(scale, 1.0), answers).values.tobytes().hex())"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        for _ in range(6)
    ]
    assert len({process.communicate()[0] for process in processes}) == 1
    assert len(list(tmp_path.iterdir())) == 1

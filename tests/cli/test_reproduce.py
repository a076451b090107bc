from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from forsooth.cli.long_runs import Announcer
from tests.conftest import Command

AUDITS = ("reproduce", "privacy", "--quick", "--processes", "2", "-o", "out")  # four cells


def test_a_run_that_is_killed_goes_on(forsooth: Command, tmp_path: Path) -> None:
    """SIGKILL half-way: what was finished is not done again, and nobody is left behind."""
    cells = tmp_path / "out" / "cells"
    killed = subprocess.Popen(
        [sys.executable, "-m", "forsooth", *AUDITS],
        cwd=tmp_path,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        _wait(lambda: len(list(cells.glob("*.json"))) >= 2)
    finally:
        killed.send_signal(signal.SIGKILL)
        killed.wait()
    finished = {path.name: path.stat().st_mtime_ns for path in cells.glob("*.json")}
    assert 2 <= len(finished) < 4
    _wait(lambda: not _alive(killed.pid))

    done = forsooth(*AUDITS, "--json")
    assert done.returncode == 0, done.stderr
    assert f"{4 - len(finished)} of 4 cells to compute" in done.stderr
    (claim,) = json.loads(done.stdout)["claims"]
    assert (claim["id"], claim["verdict"]) == ("14-privacy", "contradicted")
    assert claim["counterexamples"] == ["MF, neighbours in participation"]
    now = {path.name: path.stat().st_mtime_ns for path in cells.glob("*.json")}
    assert len(now) == 4
    assert {name: now[name] for name in finished} == finished

    again = forsooth(*AUDITS, "--json")
    assert "to compute" not in again.stderr
    assert json.loads(again.stdout) == json.loads(done.stdout)
    refused = forsooth(*AUDITS, "--seed", "5")
    assert refused.returncode == 2
    assert "with seed 0" in refused.stderr
    assert "--fresh" in refused.stderr


def _wait(ready: object, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not ready():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_missing_data_and_data_of_one_s_own(forsooth: Command, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        "task,worker,label\n" + "".join(f"t{j},w{i},{j % 3}\n" for i in range(9) for j in range(3))
    )
    (tmp_path / "t.csv").write_text("task,truth\nt0,0\nt1,1\nt2,2\n")
    own = ("--data", "a.csv", "--truth-file", "t.csv", "--scale", "0..2")
    done = forsooth(
        "reproduce", "1", "real-mf", "--quick", "-o", "out", *own, "--processes", 1, "--json"
    )
    assert done.returncode == 0, done.stderr
    assert "Get it from" in done.stderr
    document = json.loads(done.stdout)
    assert [claim["verdict"] for claim in document["claims"]] == ["not-run", "not-run"]
    assert (tmp_path / "out" / "figures" / "own.csv").read_text().count("\n") > 30
    assert [Path(figure).name for figure in document["figures"]] == ["own.svg"]
    assert "data missing (wsd, adult)" in (tmp_path / "out" / "report.html").read_text()


def test_the_time_that_is_left_is_measured(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A machine on which a tenth of the work takes three minutes is not announced as a fast one."""
    now = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    advanced: list[tuple[int, int]] = []
    announce = Announcer(lambda done, total: advanced.append((done, total)))
    for share, seconds in ((0.05, 90), (0.1, 180), (0.2, 360), (0.5, 600), (0.99, 700)):
        now[0] = 1000.0 + seconds
        announce(share)
    said = [line for line in capfd.readouterr().err.splitlines() if "left" in line]
    assert said == [
        "note: 10% done after 3 minutes, about 27 minutes left",
        "note: 50% done after 10 minutes, about 10 minutes left",
    ]
    assert advanced == [(5, 100), (10, 100), (20, 100), (50, 100), (99, 100)]


def test_claims_about_real_data(forsooth: Command, data_dir: Path) -> None:
    done = forsooth("reproduce", "1", "--quick", "--data-dir", data_dir)
    assert done.returncode == 0, done.stderr
    assert "9 of 12" in done.stdout
    assert "report.html" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("magic",), "unknown claim 'magic'; the claims are: 1 datasets, 2 distributions"),
        (("99",), "14 privacy, 15 split"),
        (("1", "--truth-file", "t.csv"), "belong to --data"),
        (("1", "--estimand", "label"), "belong to --data"),
        (("1", "--data", "none.csv"), "neither a file nor a data set"),
        (("1", "-o", "file"), "it is a file"),
        (("1", "-o", "full"), "is not empty"),
        (("1", "--seed", "-1"), "--seed"),
    ],
)
def test_bad_input(
    forsooth: Command, tmp_path: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("x")
    done = forsooth("reproduce", "--quick", *arguments)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr


def test_help_shows_an_example(forsooth: Command) -> None:
    assert "Example" in forsooth("reproduce", "--help").stdout

"""infer on folders, with a state that grows, on a cluster, and killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from forsooth import mechanisms
from forsooth.inference.engines.state import PooledState
from forsooth.io.report_files import write_in_pieces
from forsooth.study.synthetic import SyntheticCrowd
from tests.conftest import Command


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three files of one campaign, in pieces."""
    answers = SyntheticCrowd(workers=600, tasks=50, sparsity=0.7, truth_mean=3).draw(1).answers
    rr = mechanisms.rr(answers.scale, 3.0)
    (tmp_path / "reports").mkdir()
    for number in range(3):
        some = answers.span(200 * number, 200 * (number + 1))
        pieces = rr.perturb_in_pieces(some, simulation_seed=number, cells=3000)
        write_in_pieces(tmp_path / "reports" / f"{number}.parquet", pieces)
    return tmp_path / "reports"


def truths(path: Path) -> dict[str, list[float]]:
    return {row.pop("task"): [*row.values()] for row in pq.read_table(path).to_pylist()}


def approx(path: Path) -> dict[str, object]:
    """Sums are added in another order: the same numbers to 1e-8."""
    return {task: pytest.approx(row, abs=1e-8) for task, row in truths(path).items()}


SIMULATED = "reports were made with the simulation seeds 0, 1, 2: they protect nobody"


def test_a_folder_a_cluster_and_a_state(forsooth: Command, folder: Path, tmp_path: Path) -> None:
    done = forsooth(
        "infer", folder, "-o", "here.parquet", "--worker-output", "workers.csv", "--json"
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["workers"], document["tasks"], document["converged"]) == (600, 50, True)
    assert document["notices"] == [SIMULATED]
    assert f"note: {SIMULATED}" in done.stderr
    assert len((tmp_path / "workers.csv").read_text().splitlines()) == 601

    done = forsooth("infer", folder, "-o", "there.parquet", "--cluster", "local")
    assert done.returncode == 0, done.stderr
    assert truths(tmp_path / "there.parquet") == approx(tmp_path / "here.parquet")
    assert SIMULATED in done.stderr
    assert not (tmp_path / "there.parquet.checkpoint").exists()

    forsooth("infer", folder, "-o", "pooled.parquet", "--model", "pooled")
    first, rest = folder / "0.parquet", folder
    assert forsooth("infer", first, "--state", "state.parquet").returncode == 0
    done = forsooth("infer", rest, "--state", "state.parquet", "-o", "grown.parquet", "--json")
    assert json.loads(done.stdout)["workers"] == 600
    assert truths(tmp_path / "grown.parquet") == approx(tmp_path / "pooled.parquet")
    done = forsooth("infer", folder, "--state", "state.parquet")
    assert "no new reports" in done.stderr
    done = forsooth("infer", "--state", "state.parquet")
    assert done.returncode == 0
    assert SIMULATED in done.stderr


def test_every_method_takes_a_folder(forsooth: Command, folder: Path) -> None:
    done = forsooth("infer", folder, "--method", "algorithm1", "--json")
    assert json.loads(done.stdout)["workers"] == 600


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--state", "s.parquet", "--worker-output", "w.csv"), "knows nothing of single workers"),
        (("--model", "pooled", "--report", "r.html"), "knows nothing of single workers"),
        (("--state", "s.parquet", "--method", "mean"), "are for posterior inference from files"),
        (("--cluster", "local", "--report", "r.html"), "write no --report"),
        (("--model", "other"), "unknown model 'other'; known: auto, pooled"),
        (("--cluster", "nonsense"), "no cluster answers at 'nonsense'"),
        (("--state", "reports/0.parquet"), "is not a state of infer --state"),
    ],
)
def test_what_does_not_go_together(
    forsooth: Command, folder: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    before = sorted(folder.parent.rglob("*"))
    done = forsooth("infer", folder, *arguments)
    assert done.returncode == 2
    assert complaint in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert sorted(folder.parent.rglob("*")) == before


def test_a_killed_state_is_the_one_before_or_the_one_after(folder: Path, tmp_path: Path) -> None:
    """SIGKILL at many moments: whatever is there can be read, and the next run completes it."""
    state = tmp_path / "state.parquet"
    command = [sys.executable, "-m", "forsooth", "infer", "--state", str(state)]
    subprocess.run([*command, str(folder / "0.parquet")], check=True, capture_output=True)
    start = time.monotonic()
    before = state.read_bytes()
    subprocess.run([*command, str(folder)], check=True, capture_output=True)
    whole, after = time.monotonic() - start, state.read_bytes()
    for share in (0.3, 0.5, 0.6, 0.7, 0.8, 0.9):
        state.write_bytes(before)
        running = subprocess.Popen(
            [*command, str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(share * whole)
        os.kill(running.pid, signal.SIGKILL)
        running.wait()
        assert len(PooledState.read(state).workers) in (200, 600)
        assert state.read_bytes() in (before, after)
    subprocess.run([*command, str(folder)], check=True, capture_output=True)
    assert len(PooledState.read(state).workers) == 600

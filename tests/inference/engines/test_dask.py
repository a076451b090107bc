"""A real scheduler and real worker processes on loopback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from forsooth import Truths, infer, mechanisms
from forsooth.errors import ForsoothError
from forsooth.inference.engines.dask import connect
from forsooth.inference.engines.files import infer_files
from forsooth.io.report_files import ReportFiles, write_in_pieces
from forsooth.study.synthetic import SyntheticCrowd

pytest.importorskip("distributed")


@dataclass
class Loopback:
    """A scheduler and workers, each a process of its own."""

    folder: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def address(self) -> str:
        address: str = json.loads((self.folder / "scheduler.json").read_text())["address"]
        return address

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        file = str(self.folder / "scheduler.json")
        command = [sys.executable, "-m", "dask", *arguments, "--scheduler-file", file]
        log = (self.folder / f"{len(self.processes)}.log").open("wb")
        self.processes.append(subprocess.Popen(command, stdout=log, stderr=log))
        log.close()
        return self.processes[-1]

    def worker(self) -> subprocess.Popen[bytes]:
        local = str(self.folder / f"space-{len(self.processes)}")
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", local)
        return self.start("worker", *options)

    def stop(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.fixture
def loopback(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loopback]:
    cluster = Loopback(tmp_path_factory.mktemp("cluster"))
    try:
        cluster.start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        deadline = time.monotonic() + 60
        while not (cluster.folder / "scheduler.json").exists():
            assert time.monotonic() < deadline, "the scheduler does not start"
            time.sleep(0.1)
        yield cluster
    finally:
        cluster.stop()


def written(folder: Path, workers: int, tasks: int) -> ReportFiles:
    """Reports in a dozen pieces."""
    answers = SyntheticCrowd(workers, tasks, sparsity=0.7, truth_mean=3).draw(1).answers
    rr = mechanisms.rr(answers.scale, 3.0)
    pieces = rr.perturb_in_pieces(answers, simulation_seed=1, cells=workers * tasks // 12)
    write_in_pieces(folder / "reports.parquet", pieces)
    return ReportFiles.open([folder])


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> ReportFiles:
    """So many workers that they are grouped into types."""
    return written(tmp_path_factory.mktemp("reports"), 1200, 80)


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> ReportFiles:
    """So few workers that every cell has its own message."""
    return written(tmp_path_factory.mktemp("few"), 60, 20)


@pytest.fixture(scope="module")
def here(files: ReportFiles) -> Truths:
    return infer_files(files)


def same(ours: Truths, other: Truths) -> None:
    assert ours.posterior is not None
    assert other.posterior is not None
    np.testing.assert_allclose(ours.posterior.mass, other.posterior.mass, atol=1e-8)
    np.testing.assert_allclose(ours.deviation, other.deviation, atol=1e-8)
    assert ours.workers == other.workers


def test_a_scheduler_without_workers_is_said_so(loopback: Loopback) -> None:
    with pytest.raises(ForsoothError, match="has no workers"), connect(loopback.address):
        pass


def test_a_cluster_gives_what_one_process_gives_though_a_worker_is_killed(
    loopback: Loopback, files: ReportFiles, few: ReportFiles, here: Truths, tmp_path: Path
) -> None:
    victim, _ = loopback.worker(), loopback.worker()
    shares: list[float] = []

    def progress(share: float) -> None:
        """In the middle of the third pass after the counting."""
        shares.append(share)
        if sum(each == 1 for each in shares) >= 3 and share < 1 and victim.poll() is None:
            os.kill(victim.pid, signal.SIGKILL)
            victim.wait()

    with connect(loopback.address, progress) as engine:
        truths = infer_files(files, engine=engine, checkpoint=tmp_path / "checkpoint")
        exact = infer_files(few, engine=engine)
    assert victim.returncode == -signal.SIGKILL
    same(truths, here)
    same(exact, infer(few.read()))
    assert here.workers == infer(files.read()).workers


def test_what_is_wrong_with_a_file_is_said_through_the_cluster(
    loopback: Loopback, files: ReportFiles, tmp_path: Path
) -> None:
    loopback.worker()
    data = bytearray(Path(files.paths[0]).read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "spoilt.parquet").write_bytes(data)
    with (
        connect(loopback.address) as engine,
        pytest.raises(ForsoothError, match=r"spoilt.parquet, row group \d+ is not a whole"),
    ):
        infer_files(ReportFiles.open([tmp_path]), engine=engine)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense"])
def test_a_cluster_that_does_not_answer_is_an_error_in_time(address: str) -> None:
    start = time.monotonic()
    with pytest.raises(ForsoothError, match=f"no cluster answers at '{address}'"), connect(address):
        pass
    assert time.monotonic() - start < 30

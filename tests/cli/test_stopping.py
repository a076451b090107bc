"""Ctrl-C: one short line, exit code 130, no process left, no file half-written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

CROWD = "synthetic:workers=2000,tasks=400,sparsity=0.5"
_COMMANDS = {
    "evaluate": ("evaluate", "--data", CROWD, "--processes", "2", "--plot", "f.svg"),
    "evaluate in one process": ("evaluate", "--data", CROWD, "--processes", "1"),
    "plan": (
        *("plan", "--tasks", "500", "--scale", "0..9", "--density", "0.3", "--workers", "20000"),
        *("--epsilon", "1", "--processes", "2"),
    ),
    "reproduce": ("reproduce", "--quick", "--processes", "2", "-o", "out"),
    "demo": ("demo", "--estimand", "opinion"),
    "audit": ("audit", "--all", "--draws", "10000000"),
    "bench": ("bench", "scale"),
}


@pytest.mark.parametrize("wait", [1.5, 3.5])
@pytest.mark.parametrize("command", _COMMANDS.values(), ids=_COMMANDS)
def test_it_stops_quietly_and_soon(command: tuple[str, ...], wait: float, tmp_path: Path) -> None:
    """As a terminal does it: the signal goes to the whole group of processes."""
    running = subprocess.Popen(
        [sys.executable, "-m", "forsooth", *command],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    time.sleep(wait)
    if running.poll() is not None:
        running.communicate()
        pytest.skip("it was done before it could be stopped")
    os.killpg(running.pid, signal.SIGINT)
    start = time.monotonic()
    out, said = running.communicate(timeout=60)
    if out:
        pytest.skip("it was done when it was stopped")
    assert time.monotonic() - start < 10  # usually below one; the machine may be busy
    assert running.returncode in (130, -signal.SIGINT), said  # 130 in a shell, both
    assert "Traceback" not in said
    assert said.splitlines()[-1] == "error: stopped"
    while _alive(running.pid):  # multiprocessing's own helper ends when its parents have
        assert time.monotonic() - start < 20
        time.sleep(0.05)
    assert not [path for path in tmp_path.iterdir() if path.name != "out"]


def _alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True

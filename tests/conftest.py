"""Shared fixtures: a small crowd, the real data where it is, the command as a person runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from forsooth import Answers, Scale

Command = Callable[..., "subprocess.CompletedProcess[str]"]

# A busy machine is no bug: how long an example takes is not what these tests are about.
settings.register_profile("forsooth", deadline=None)
settings.load_profile("forsooth")


@pytest.fixture
def scale() -> Scale:
    return Scale.parse("0..4")


@pytest.fixture
def answers() -> Answers:
    """Three workers, three tasks, four NULLs."""
    rows = {"ann": {"q1": 0, "q2": 4}, "bob": {"q1": 1}, "cyd": {"q1": 0, "q3": 3}}
    return Answers.of(rows, "0..4", tasks=["q1", "q2", "q3"])


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The real data sets; tests that need them are skipped, visibly, where they are not."""
    folder = os.environ.get("FORSOOTH_DATA")
    if not folder:
        pytest.skip("FORSOOTH_DATA is not set: the real data sets are not here")
    return Path(folder).resolve()


@pytest.fixture
def forsooth(tmp_path: Path) -> Command:
    """Run the command in an empty folder, as a process of its own."""

    def run(
        *arguments: object, environment: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        variables = {key: value for key, value in os.environ.items() if key != "FORSOOTH_DATA"}
        return subprocess.run(
            [sys.executable, "-m", "forsooth", *map(str, arguments)],
            cwd=tmp_path,
            env=variables | (environment or {}),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run

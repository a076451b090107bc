from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from forsooth import ForsoothError
from forsooth.io.files import replacing


def test_a_new_file_takes_its_name(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    with replacing(target) as temporary:
        temporary.write_text("new")
        assert not target.exists()
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]
    assert target.stat().st_mode & 0o777 == 0o666 & ~_umask()


def test_an_error_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old")
    with pytest.raises(RuntimeError), replacing(target) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_killed_process_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old")
    program = (
        "import os, signal, sys\n"
        "from forsooth.io.files import replacing\n"
        "with replacing(sys.argv[1]) as temporary:\n"
        "    temporary.write_text('half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(target)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert target.read_text() == "old"


def test_paths_that_cannot_be_written(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere" / "out.txt"):
        with pytest.raises(ForsoothError, match="cannot write"), replacing(path):
            pass


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

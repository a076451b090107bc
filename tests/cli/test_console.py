"""What a terminal of 40, 80 and 200 columns shows, and that work shows progress."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from forsooth.cli import console

COLUMNS = ("question", "true", "interval", "what it is")
ROWS = [
    ("Kept quiet about a mistake of yours?", 2.13, "1.9 – 2.5", "words and more words"),
    ("[bold]q[/bold]", 10, "0 – 4", ""),
]


def shown(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int) -> str:
    monkeypatch.setattr(console.output, "width", width)
    console.print_table(COLUMNS, ROWS, title="A title", decimals=2)
    return capsys.readouterr().out


@pytest.mark.parametrize("width", [30, 40, 80, 200])
def test_a_table_fits_and_breaks_no_word(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    text = shown(capsys, monkeypatch, width)
    assert max(map(len, text.splitlines())) <= width
    for word in ("question", "mistake", "yours?", "2.13", "1.9 – 2.5", "[bold]q[/bold]", "A title"):
        assert word in text
    rows = text.splitlines()
    assert ("true: 2.13" in text) == (width == 30)
    if width >= 80:
        assert len(rows) == 4
        assert rows[1].split() == ["question", "true", "interval", "what", "it", "is"]


def terminal(*command: str, columns: int, folder: Path) -> tuple[int, str]:
    """The command's exit code and all that a terminal of this width shows."""
    import pty

    main, other = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "forsooth", *command],
        cwd=folder,
        env=os.environ | {"COLUMNS": str(columns), "TERM": "xterm"},
        stdout=other,
        stderr=other,
        stdin=subprocess.DEVNULL,
    )
    os.close(other)
    text = b""
    while True:
        try:
            some = os.read(main, 4096)
        except OSError:
            break
        if not some:
            break
        text += some
    os.close(main)
    return running.wait(), text.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
@pytest.mark.parametrize("columns", [40, 80, 200])
def test_the_demo_in_a_terminal(columns: int, tmp_path: Path) -> None:
    code, text = terminal("demo", columns=columns, folder=tmp_path)
    assert code == 0
    assert "inferring from the reports" in text  # progress
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    lines = [line.rstrip() for line in re.split(r"\r?\n|\r", plain)]
    assert max(map(len, lines)) <= columns
    assert "Mean error: open" in plain


def test_errors_keep_long_words_whole(tmp_path: Path) -> None:
    name = "a-very-long-name-" * 4 + ".csv"
    code, text = terminal("infer", name, columns=40, folder=tmp_path)
    assert code == 2
    assert name in text


@pytest.mark.parametrize("columns", [40, 80])
def test_help_names_every_option_in_full(columns: int, tmp_path: Path) -> None:
    code, text = terminal("infer", "--help", columns=columns, folder=tmp_path)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    assert code == 0
    for flag in ("--worker-output", "--max-iterations", "--differences-output", "--checkpoint"):
        assert flag in plain
    assert max(map(len, re.split(r"\r?\n", plain))) <= columns

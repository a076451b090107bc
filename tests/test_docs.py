"""Every code block of the README and of docs/ is run, top to bottom.

The README starts in an empty folder, as its reader does; a page of docs/ has an answers.csv.

The first line of a block names what it is:

* ``python`` runs in this process; blocks of one page see each other's names.
* ``sh`` runs in a shell that has the ``forsooth`` command; it must succeed.
* ``output`` is what the ``python`` block before it prints: it must print that again.
* ``console`` is what a person typed after ``$`` and what came back: it must come back again.
* ``text``, ``json`` and ``csv`` are not code.

A block that cannot run here (it needs a server, data that are not ours to give, or minutes) says so
in a comment on the line before it: ``<!-- not run: needs a server -->``.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tempfile
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.test_campaign import ANSWERS

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
DOCS = ROOT / "docs"
PAGES = [README, *sorted(DOCS.rglob("*.md"))]
NOTEBOOKS = sorted(DOCS.rglob("*.ipynb"))
_BLOCK = re.compile(
    r"(?:^<!-- not run: (?P<excuse>[^\n]+) -->\n+)?^```(?P<kind>[a-z]*)\n(?P<text>.*?)^```$",
    re.S | re.M,
)
NOT_CODE = {"text", "json", "csv"}
MOST_EXCUSES = 22


@dataclass(frozen=True)
class Block:
    kind: str
    text: str
    excuse: str | None

    def run(self, names: dict[str, object], printed: str = "") -> str:
        """Run it; what it prints is `printed` for the next block."""
        if self.kind == "python":
            with redirect_stdout(io.StringIO()) as caught:
                exec(self.text, names)
            return caught.getvalue()
        if self.kind == "output":
            assert printed.split() == self.text.split()
        elif self.kind == "sh":
            shell(self.text)
        elif self.kind == "console":
            for typed, expected in re.findall(
                r"^\$ ([^\n]*)\n(.*?)(?=^\$ |\Z)", self.text, re.S | re.M
            ):
                assert shell(typed).split() == expected.split()
        else:
            assert self.kind in NOT_CODE, f"a block of no known kind:\n{self.text}"
        return ""


def shell(script: str) -> str:
    """What the script prints; the forsooth of this environment is on its path."""
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "100",
    }
    done = subprocess.run(
        ["sh", "-e", "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = [Block(m["kind"], m["text"], m["excuse"]) for m in _BLOCK.finditer(text)]
    assert 2 * len(found) == len(re.findall(r"^```", text, re.M)), "a block that was not understood"
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_its_code_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if page != README:
        (tmp_path / "answers.csv").write_text(ANSWERS)
    names: dict[str, object] = {"__name__": page.stem}
    printed = ""
    for block in blocks(page):
        if block.excuse is None:
            printed = block.run(names, printed)


def test_the_first_minute_starts_from_nothing() -> None:
    """The README's first commands are init and what init says comes next."""
    first = next(block for block in blocks(README) if block.excuse is None)
    commands = [line.split("#")[0].strip() for line in first.text.splitlines()]
    assert commands[0] == "forsooth init"
    assert [f"  {command}" for command in commands[1:3]] == following()


def following() -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        said = shell(f"cd {folder} && forsooth init")
    return [line for line in said.splitlines() if line.startswith("  forsooth")]


def test_few_blocks_have_an_excuse() -> None:
    """A block that another test follows word by word needs none."""
    excuses = [block.excuse for page in PAGES for block in blocks(page) if block.excuse]
    followed = [re.match(r"(tests/\S+\.py) follows this page$", excuse) for excuse in excuses]
    assert all((ROOT / found[1]).is_file() for found in followed if found)
    assert followed.count(None) <= MOST_EXCUSES


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("python", "raise ValueError\n"),
        ("sh", "forsooth infer nowhere.parquet\n"),
        ("console", "$ echo one\ntwo\n"),
        ("output", "what was not printed\n"),
        ("", "anything\n"),
    ],
)
def test_a_block_that_is_wrong_is_noticed(kind: str, text: str) -> None:
    with pytest.raises((AssertionError, ValueError)):
        Block(kind, text, None).run({})


def test_links_between_the_pages_lead_somewhere() -> None:
    for page in (*PAGES, *NOTEBOOKS):
        for link in links(page):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_every_picture_is_on_a_page() -> None:
    shown = {(page.parent / link).resolve() for page in PAGES for link in links(page)}
    pictures = set((DOCS / "images").iterdir())
    assert pictures
    assert pictures <= shown


def links(page: Path) -> list[str]:
    """Where the page points to within the repository, without the places on a page."""
    return re.findall(r"\]\((?!https?:|#)([^)#\s]+)", page.read_text(encoding="utf-8"))


def test_the_readme_is_short_and_has_one_picture() -> None:
    text = README.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
    assert len(re.findall(r"!\[|<img", text)) == 1

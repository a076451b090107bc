"""bench: the command on small sizes, and what it says of what is missing, fails or is too slow."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from PIL import Image

from forsooth.bench import NAMES, suite
from forsooth.bench.measure import in_child, race
from forsooth.bench.page import BenchResults
from forsooth.bench.peers import Peers
from forsooth.bench.rows import Quantity, Row, Target
from forsooth.bench.setting import BenchSetting
from forsooth.bench.suite import Benchmark
from tests.conftest import Command

NOWHERE = Peers("/nowhere/python")
SLOW = Row(
    "a planted snail", Quantity(5, "s"), "a hare", Quantity(1, "s"), target=Target("ours", 2)
)


def python_that(tmp_path: Path, script: str) -> Path:
    """An interpreter that runs a shell script, whatever it is given."""
    path = tmp_path / "python"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def test_a_quick_run(forsooth: Command, tmp_path: Path) -> None:
    """Without the other libraries: what is compared with them says so, the rest is measured."""
    lacking = python_that(tmp_path, """echo '{"problem": "not installed"}'""")
    files = ("-o", "page.md", "-o", "page.json")
    done = forsooth("bench", "packing", "lp", "--quick", "--json", *files, "--peers", lacking)
    assert done.returncode == 0, done.stderr
    assert "1 of 2: lp" in done.stderr
    assert "no result" in done.stderr
    document = json.loads(done.stdout)
    assert document == json.loads((tmp_path / "page.json").read_text())
    assert document["quick"]
    assert {"processor", "cores", "memory", "Python", "numpy"} <= set(document["machine"])
    laplace, packing = document["benchmarks"]
    numpy, diffprivlib = laplace["rows"]
    assert numpy["ours"]["unit"] == numpy["theirs"]["unit"] == "cells/s"
    assert numpy["ratio"] == numpy["ours"]["value"] / numpy["theirs"]["value"]
    assert (diffprivlib["problem"], diffprivlib["theirs"]) == ("not installed", None)
    assert [row["target"] for row in packing["rows"]] == ["≥ 500M symbols/s"] * 2
    assert all(row["met"] in (True, False) for row in packing["rows"])

    page = (tmp_path / "page.md").read_text()
    assert "diffprivlib, Laplace: not installed |" in page
    assert "figures are no result" in page
    assert "[as JSON](page.json)" in page
    assert str(tmp_path) not in page


def test_memory_and_time_against_cells(forsooth: Command, tmp_path: Path) -> None:
    done = forsooth("bench", "scale", "--quick", "-o", "page.md", "--plot", "scale.png", "--json")
    assert done.returncode == 0, done.stderr
    (scale,) = json.loads(done.stdout)["benchmarks"]
    assert scale["problem"] is None
    found = [row["details"] for row in scale["rows"] if row["details"]]
    assert [each["cells"] for each in found] == [10**5, 10**6]
    assert all(0 < each["passes"] < each["seconds"] for each in found)
    assert all(each["converged"] and each["mean_error"] < 1 for each in found)
    assert found[1]["mean_error"] < 0.1  # a thousand workers know nearly everything
    assert all(5e7 < each["peak_memory"] < 1e9 for each in found)
    assert found[1]["file"] == pytest.approx(10**6 / 4, rel=0.1)
    with Image.open(tmp_path / "scale.png") as image:
        assert image.width > 800
    assert "](scale.png)" in (tmp_path / "page.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("magic",), "unknown benchmark 'magic'; known: rr, perturb,"),
        (("rr", "--plot", "f.png"), "ask for it, too"),
        (("scale", "--plot", "f.txt"), "its ending must be"),
        (("rr", "-o", "page.html"), ".md or .json"),
        (("rr", "-o", "nowhere/page.md"), "does not exist"),
    ],
)
def test_bad_input(forsooth: Command, arguments: tuple[str, ...], complaint: str) -> None:
    done = forsooth("bench", *arguments)
    assert done.returncode == 2
    assert complaint in " ".join(done.stderr.split())


def test_all_that_are_named_exist() -> None:
    assert tuple(each.name for each in suite.find([])) == NAMES


def test_a_missed_target_is_seen() -> None:
    outcome = suite.run(Benchmark("snail", "A snail", lambda _: [SLOW]), quick=True, peers=NOWHERE)
    results = BenchResults({"processor": "a pocket calculator"}, False, [outcome])
    assert "| a planted snail | 5 s | a hare: 1 s | 0.2× | ≤ 2 s | NO |" in results.markdown()
    document = results.to_dict()
    assert document["missed"] == 1
    assert document["benchmarks"][0]["rows"][0]["met"] is False


@pytest.mark.parametrize(
    ("ours", "theirs", "target", "met"),
    [
        (Quantity(100, "cells/s"), None, Target("ours", 100), True),
        (Quantity(99, "cells/s"), None, Target("ours", 100), False),
        (Quantity(3, "B"), None, Target("ours", 2), False),
        (Quantity(1, "s"), Quantity(2, "s"), Target("ratio", 2), True),
        (Quantity(1, "cells/s"), Quantity(2, "cells/s"), Target("ratio", 2), False),
        (Quantity(1, "s"), None, Target("ratio", 2), None),
        (Quantity(1, "s"), Quantity(2, "s"), None, None),
    ],
)
def test_targets(
    ours: Quantity, theirs: Quantity | None, target: Target | None, met: bool | None
) -> None:
    assert Row("", ours, "", theirs, target=target).met is met


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("echo \"ImportError: no 'x' in 'y' (/some/where/y.py)\" >&2; exit 1", "no 'x' in 'y'"),
        ("exit 3", "no reason given"),
    ],
)
def test_a_peer_that_fails(tmp_path: Path, script: str, problem: str) -> None:
    """Its last words are reported, without the paths of this machine."""
    found = Peers(str(python_that(tmp_path, script))).measure("OpenDP", values=[1])
    row = found.row("rr", Quantity(1, "cells/s"), "seconds", Target("ratio", 2), of=1)
    assert row.problem.startswith("failed: ")
    assert row.problem.endswith(problem)
    assert row.met is None
    assert "not measured" in row.texts()


@pytest.mark.skipif(find_spec("opendp") is not None, reason="OpenDP is installed here")
def test_a_peer_that_is_not_installed() -> None:
    """Asked of a real Python, by the program that measures it."""
    found = Peers(sys.executable).measure("OpenDP", values=[1])
    assert (found.name, found.figures, found.problem) == ("OpenDP", {}, "not installed")


def test_a_peer_without_a_python() -> None:
    assert NOWHERE.measure("OpenDP").problem == "failed: No such file or directory"


def test_a_benchmark_that_fails_costs_only_itself() -> None:
    def work(setting: BenchSetting) -> Iterator[Row]:
        yield SLOW
        raise MemoryError(f"{setting.folder} is full\nof sand")

    outcome = suite.run(Benchmark("sand", "Sand", work), quick=True, peers=NOWHERE)
    assert outcome.rows == (SLOW,)
    assert outcome.problem == "failed: MemoryError:  is full"
    assert outcome.problem in BenchResults({}, False, [outcome]).markdown()


def test_memory_is_that_of_the_child() -> None:
    """Neither this process's, which holds some too, nor forgotten when it is given back."""
    held = bytearray(b"x") * 400_000_000
    _, little = in_child(bytearray, 1)
    length, much = in_child(_use, 200_000_000)
    assert length == 200_000_000
    assert little < len(held) / 2
    assert 190e6 < much - little < 260e6


def _use(size: int) -> int:
    return len(bytearray(b"x") * size)


def test_the_faster_wins() -> None:
    slow, fast = race(lambda: sum(range(200_000)), lambda: sum(range(2_000)), rounds=5)
    assert slow > 10 * fast > 0

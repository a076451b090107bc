"""init: a first table, clearly simulated, that never replaces another one."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from tests.conftest import Command


def test_it_writes_a_simulated_table_once(forsooth: Command, tmp_path: Path) -> None:
    done = forsooth("init")
    assert done.returncode == 0, done.stderr
    assert "4,191 simulated answers by 300 workers to 20 tasks" in done.stdout
    path = tmp_path / "answers.csv"
    before = path.read_bytes()
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4191
    for row in rows:
        assert row["task"].startswith("simulated task ")
        assert row["worker"].startswith("simulated worker ")
        assert row["label"] in "0123456789"
    again = forsooth("init")
    assert again.returncode == 2
    assert "answers.csv exists already and is kept" in again.stderr
    assert path.read_bytes() == before
    path.unlink()
    document = json.loads(forsooth("init", "--json").stdout)
    assert path.read_bytes() == before
    assert (document["size"], document["scale"], document["simulated"]) == (4191, "0..9", True)


def test_what_it_says_comes_next_works(forsooth: Command, tmp_path: Path) -> None:
    for command in json.loads(forsooth("init", "--json").stdout)["next"]:
        done = forsooth(*command.split()[1:])
        assert done.returncode == 0, done.stderr
    assert "Enough: yes" in done.stdout
    names = {"answers.csv", "reports.parquet", "truths.csv", "report.html"}
    assert {path.name for path in tmp_path.iterdir()} == names

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from forsooth import ForsoothError, version
from forsooth.study.paper import measuring
from forsooth.study.paper.cells import DataSource, ErrorCell, RunSetting, own
from forsooth.study.paper.scopes import small
from forsooth.study.paper.store import Finished, ResultStore

CELL = ErrorCell(DataSource("synthetic:workers=30,tasks=5", 30, 5), "rr", 1.0, "algorithm1", 0)


def opened(folder: Path, seed: int = 1, fresh: bool = False) -> ResultStore:
    return ResultStore.open(folder, seed=seed, scope="quick", fresh=fresh)


def test_what_is_kept_is_found_again(tmp_path: Path) -> None:
    store = opened(tmp_path / "new" / "out")
    assert store.get(CELL) is None
    store.put(CELL, Finished({"mae": 1.5}, 0.25))
    assert opened(tmp_path / "new" / "out").get(CELL) == Finished({"mae": 1.5}, 0.25)
    manifest = json.loads((tmp_path / "new" / "out" / "run.json").read_text())
    assert (manifest["seed"], manifest["scope"]) == (1, "quick")


def test_every_part_of_a_cell_matters() -> None:
    others = [
        replace(CELL, source=small(0.9)),
        replace(CELL, source=replace(CELL.source, digest="changed")),
        replace(CELL, mechanism="lp"),
        replace(CELL, epsilon=2.0),
        replace(CELL, method="posterior"),
        replace(CELL, repeat=1),
        replace(CELL, estimand="label"),
    ]
    assert len({cell.key for cell in (CELL, *others)}) == 8


@pytest.mark.parametrize("damage", ["", '{"cell": ', "[]", '{"cell": {}, "seconds": 1}'])
def test_a_damaged_file_counts_as_unfinished(tmp_path: Path, damage: str) -> None:
    store = opened(tmp_path)
    store.put(CELL, Finished({"mae": 1.5}, 0.25))
    store.path(CELL).write_text(damage)
    assert store.get(CELL) is None


def test_another_seed_version_or_source_is_refused(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.put(CELL, Finished({"mae": 1.5}, 0.25))
    with pytest.raises(ForsoothError, match=r"with seed 1; .* with seed 2.*--fresh"):
        opened(tmp_path, seed=2)
    manifest = tmp_path / "run.json"
    manifest.write_text(manifest.read_text().replace('"forsooth": "', '"forsooth": "9.'))
    with pytest.raises(ForsoothError, match=r"results of forsooth 9\."):
        opened(tmp_path)
    source = version.source_digest()
    manifest.write_text(manifest.read_text().replace('"9.', '"').replace(source, "other"))
    with pytest.raises(
        ForsoothError, match=rf"results of forsooth .*\+other with .*\+{source} with"
    ):
        opened(tmp_path)
    assert opened(tmp_path, seed=2, fresh=True).get(CELL) is None


def test_other_people_s_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    for fresh in (False, True):
        with pytest.raises(ForsoothError, match="is not empty and not a folder of"):
            opened(tmp_path, fresh=fresh)
    with pytest.raises(ForsoothError, match="it is a file"):
        opened(tmp_path / "thesis.tex")
    assert (tmp_path / "thesis.tex").read_text() == "precious"


def test_only_what_is_missing_is_measured(tmp_path: Path) -> None:
    store = opened(tmp_path)
    cells = [replace(CELL, repeat=repeat) for repeat in range(4)]
    store.put(cells[1], Finished({"mae": 99.0}, 0.25))
    seen: list[float] = []
    measuring.measure(cells, RunSetting(1), store, progress=seen.append)
    assert seen == pytest.approx([1 / 3, 2 / 3, 1])
    kept = store.get(cells[1])
    assert kept is not None
    assert kept.result == {"mae": 99.0}
    assert measuring.unfinished(cells, store) == []


def test_processes_do_not_change_the_numbers(tmp_path: Path) -> None:
    cells = [replace(CELL, repeat=repeat) for repeat in range(3)]
    stores = opened(tmp_path / "one"), opened(tmp_path / "two")
    for processes, store in enumerate(stores, 1):
        measuring.measure(cells, RunSetting(1), store, processes=processes)
    one, two = ([store.get(cell) for cell in cells] for store in stores)
    assert [each and each.result for each in one] == [each and each.result for each in two]


def test_the_forecast_learns_from_what_is_finished(tmp_path: Path) -> None:
    store = opened(tmp_path)
    cells = [replace(CELL, repeat=repeat) for repeat in range(4)]
    assert measuring.forecast(cells, store, 2) == pytest.approx(2 * CELL.seconds)
    store.put(cells[0], Finished({}, 2.0))
    assert measuring.forecast(cells, store, 1) == pytest.approx(3 * 2.0)


def test_a_changed_file_is_other_data(tmp_path: Path) -> None:
    answers, truth = tmp_path / "a.csv", tmp_path / "t.csv"
    answers.write_text("task,worker,label\nq,ann,1\nq,bob,2\n")
    truth.write_text("task,truth\nq,1\n")
    first = own(str(answers), str(truth), "0..4", "error", None)
    assert (first.workers, first.tasks) == (2, 1)
    truth.write_text("task,truth\nq,2\n")
    assert own(str(answers), str(truth), "0..4", "error", None) != first

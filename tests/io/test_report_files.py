from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forsooth import Answers, mechanisms
from forsooth.errors import ForsoothError
from forsooth.estimand import Estimand
from forsooth.inference.engines import register
from forsooth.inference.engines.register import Register, hashes
from forsooth.io.report_files import ReportFiles, write_in_pieces
from forsooth.study.synthetic import SyntheticCrowd


@pytest.fixture(scope="module")
def answers() -> Answers:
    return SyntheticCrowd(workers=500, tasks=40, sparsity=0.8).draw(1).answers


def write(
    answers: Answers, path: Path, cells: int = 4000, estimand: Estimand | None = None
) -> None:
    rr = mechanisms.rr(answers.scale, 1.0)
    pieces = rr.perturb_in_pieces(answers, simulation_seed=1, cells=cells)
    write_in_pieces(path, (replace(piece, estimand=estimand) for piece in pieces))


def test_pieces_are_row_groups_and_hold_everybody(answers: Answers, tmp_path: Path) -> None:
    write(answers, tmp_path / "reports.parquet")
    files = ReportFiles.open([tmp_path])
    assert [piece.workers for piece in files.pieces()] == [100] * 5
    names = [name for piece in files.pieces() for name in piece.names()]
    assert tuple(names) == answers.workers
    (whole,) = files.read()
    pieces = [each.values for piece in files.pieces() for each in piece.reports()]
    np.testing.assert_array_equal(np.concatenate(pieces), whole.values)


def test_a_large_row_group_is_read_in_parts(
    answers: Answers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mechanisms.rr(answers.scale, 1.0).perturb(answers).write(tmp_path / "one.parquet")
    (piece,) = ReportFiles.open([tmp_path]).pieces()
    monkeypatch.setattr("forsooth.io.report_files.PIECE_CELLS", 3000)
    assert [len(each.workers) for each in piece.reports()] == [75] * 6 + [50]


def test_a_spoilt_row_group_is_named(answers: Answers, tmp_path: Path) -> None:
    """One bit of the third row group's data, turned over on the disk."""
    path = tmp_path / "reports.parquet"
    write(answers, path)
    column = pq.ParquetFile(path).metadata.row_group(2).column(1)
    data = bytearray(path.read_bytes())
    data[column.data_page_offset + column.total_compressed_size - 20] ^= 4
    path.write_bytes(data)
    pieces = list(ReportFiles.open([path]).pieces())
    for piece in pieces[:2]:
        list(piece.reports())
    with pytest.raises(ForsoothError, match=r"reports.parquet, row group 2 is not a whole"):
        list(pieces[2].reports())


def test_a_truncated_file_is_named_before_anything_is_read(
    answers: Answers, tmp_path: Path
) -> None:
    write(answers, tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes((tmp_path / "a.parquet").read_bytes()[:-9])
    with pytest.raises(ForsoothError, match=r"b.parquet is not a whole reports file"):
        ReportFiles.open([tmp_path])


def test_another_campaign_is_named(answers: Answers, tmp_path: Path) -> None:
    write(answers, tmp_path / "a.parquet")
    write(
        SyntheticCrowd(workers=10, tasks=39, sparsity=0.5).draw(1).answers, tmp_path / "b.parquet"
    )
    with pytest.raises(ForsoothError, match=r"b.parquet is of another campaign .* list of tasks"):
        ReportFiles.open([tmp_path])
    other = Answers.of({"w": {answers.tasks[0]: 1}}, "0..3", tasks=answers.tasks)
    write(other, tmp_path / "b.parquet")
    with pytest.raises(ForsoothError, match=r"b.parquet is of another campaign .* its scale"):
        ReportFiles.open([tmp_path])


def test_the_estimand_of_several_files(answers: Answers, tmp_path: Path) -> None:
    """Files that state nothing agree with all others; the files may differ where nobody asks."""
    halves = answers.span(0, 250), answers.span(250, 500)
    stated: tuple[tuple[Estimand | None, Estimand | None], ...] = (
        (None, None),
        ("label", None),
        ("label", "label"),
    )
    for first, second in stated:
        write(halves[0], tmp_path / "a.parquet", estimand=first)
        write(halves[1], tmp_path / "b.parquet", estimand=second)
        files = ReportFiles.open([tmp_path])
        assert files.estimand == first
        assert [part.estimand for part in files.read()] == [first, second]
    write(halves[1], tmp_path / "b.parquet", estimand="opinion")
    files = ReportFiles.open([tmp_path])
    assert files.only(files.paths[1:]).estimand == "opinion"
    with pytest.raises(ForsoothError, match="different estimands: label, opinion.*--estimand"):
        files.estimand  # noqa: B018


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ForsoothError, match="holds no Parquet file"):
        ReportFiles.open([tmp_path])
    with pytest.raises(ForsoothError, match="does not exist"):
        ReportFiles.open([tmp_path / "nothing"])
    with pytest.raises(ForsoothError, match="no-such-protocol://x cannot be read"):
        ReportFiles.open(["no-such-protocol://x"])
    with pytest.raises(ForsoothError, match="infer needs files or folders"):
        ReportFiles.open([])


def test_addresses_are_read_like_paths(answers: Answers, tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    write(answers, tmp_path / "reports.parquet")
    remote = fsspec.filesystem("memory")
    remote.put(str(tmp_path / "reports.parquet"), "/campaign/reports.parquet")
    for source in ("memory://campaign", "memory://campaign/reports.parquet"):
        files = ReportFiles.open([source])
        assert files.workers == 500
        assert files.read()[0].workers == answers.workers
    with pytest.raises(ForsoothError, match="memory://nowhere does not exist"):
        ReportFiles.open(["memory://nowhere"])


# The register


@given(st.lists(st.integers(0, 40), max_size=60), st.integers(1, 8))
def test_the_register_finds_what_a_set_finds(numbers: list[int], held: int) -> None:
    """In memory, and with so few held that everything goes to disk."""
    names = [f"worker {number}" for number in numbers]
    twice = {name for name in names if names.count(name) > 1}
    for limit in (10**6, held):
        seen = Register(limit)
        for name in names:
            seen.add(hashes([name]))
        assert set(seen.repeated().tolist()) == set(hashes(sorted(twice)).tolist())


def test_hashes_are_as_good_as_names() -> None:
    found = hashes(f"worker {number}" for number in range(200_000))
    assert len(np.unique(found)) == 200_000
    assert register.hashes(["worker 7"])[0] == found[7]

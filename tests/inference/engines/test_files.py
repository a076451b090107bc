from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from forsooth import Answers, Mechanism, Reports, Truths, infer, mechanisms
from forsooth.errors import ForsoothError
from forsooth.estimand import ESTIMANDS, Estimand
from forsooth.inference.engines.base import Here
from forsooth.inference.engines.files import infer_files
from forsooth.inference.engines.state import FORMAT, PooledState
from forsooth.inference.posterior import Options, latent
from forsooth.inference.posterior.propagate import propagate
from forsooth.io.report_files import Piece, ReportFiles, write_in_pieces
from forsooth.study.synthetic import SyntheticCrowd

WORKERS = 600


@pytest.fixture(scope="module")
def answers() -> Answers:
    return SyntheticCrowd(workers=WORKERS, tasks=60, sparsity=0.7, truth_mean=3).draw(1).answers


@pytest.fixture(scope="module")
def rr(answers: Answers) -> Mechanism:
    return mechanisms.rr(answers.scale, 3.0)


@pytest.fixture(scope="module")
def parts(answers: Answers, rr: Mechanism) -> list[Reports]:
    """Three hundred workers, two hundred, one hundred."""
    edges = (0, 300, 500, WORKERS)
    spans = [answers.span(*edge) for edge in pairwise(edges)]
    return [rr.perturb(span, simulation_seed=number) for number, span in enumerate(spans)]


@pytest.fixture(scope="module")
def folder(parts: list[Reports], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reports")
    for number, part in enumerate(parts):
        write_in_pieces(folder / f"{number}.parquet", pieces_of(part))
    return folder


def pieces_of(part: Reports, size: int = 70) -> Iterator[Reports]:
    for start in range(0, len(part.workers), size):
        names, values = part.workers[start : start + size], part.values[start : start + size]
        yield Reports(part.mechanism, part.tasks, names, values, None, part.simulation_seed)


def same(ours: Truths, other: Truths) -> None:
    assert ours.posterior is not None
    assert other.posterior is not None
    np.testing.assert_allclose(ours.posterior.mass, other.posterior.mass, atol=1e-8)
    np.testing.assert_allclose(ours.estimate, other.estimate, atol=1e-8)
    np.testing.assert_array_equal(ours.support, other.support)
    assert ours.iterations == other.iterations


@pytest.mark.parametrize("estimand", ESTIMANDS)
def test_few_reports_in_files_give_what_memory_gives(
    parts: list[Reports], estimand: Estimand, tmp_path: Path
) -> None:
    """So few that every cell has its own message, in pieces of seven workers."""
    few = next(pieces_of(parts[0], 40))
    write_in_pieces(tmp_path / "reports.parquet", pieces_of(few, 7))
    ours = infer_files(ReportFiles.open([tmp_path]), options=Options(estimand=estimand))
    memory = infer(few, estimand=estimand)
    same(ours, memory)
    assert ours.workers == memory.workers
    np.testing.assert_allclose(ours.deviation, memory.deviation, atol=1e-8)


def test_files_give_what_memory_gives(folder: Path, parts: list[Reports]) -> None:
    files = ReportFiles.open([folder])
    assert files.workers == WORKERS
    assert [piece.workers for piece in files.pieces()] == [70, 70, 70, 70, 20, 70, 70, 60, 70, 30]
    ours, memory = infer_files(files), infer(parts)
    same(ours, memory)
    assert ours.workers == memory.workers
    np.testing.assert_allclose(ours.deviation, memory.deviation, atol=1e-8)


def test_quality_is_computed_only_if_wanted(folder: Path, parts: list[Reports]) -> None:
    truths = infer_files(ReportFiles.open([folder]), workers=False)
    same(truths, infer(parts))
    assert truths.workers == ()
    assert truths.quality.shape == (0,)


@pytest.mark.parametrize("name", ["grr", "lp", "two-layer", "staircase"])
def test_every_kind_of_report_goes_through_files(
    answers: Answers, name: str, tmp_path: Path
) -> None:
    some = answers.span(0, 200)
    mechanism = mechanisms.build(name, some.scale, 3.0, tasks=len(some.tasks))
    pieces = list(mechanism.perturb_in_pieces(some, simulation_seed=1, cells=2000))
    assert len(pieces) == 7
    write_in_pieces(tmp_path / "reports.parquet", pieces)
    same(infer_files(ReportFiles.open([tmp_path / "reports.parquet"])), infer(pieces))


def test_two_mechanisms_are_two_parts(
    answers: Answers, parts: list[Reports], tmp_path: Path
) -> None:
    other = mechanisms.lp(answers.scale, 3.0).perturb(answers.span(500, WORKERS), simulation_seed=9)
    for number, part in enumerate((parts[0], other, parts[1])):
        part.write(tmp_path / f"{number}.parquet")
    files = ReportFiles.open([tmp_path])
    assert [part.workers for part in files.parts] == [500, 100]
    same(infer_files(files), infer([parts[0], other, parts[1]]))


def test_gold_and_options_reach_the_files(
    folder: Path, parts: list[Reports], answers: Answers
) -> None:
    gold = {answers.tasks[0]: 9.0, answers.tasks[7]: 2.0}
    options = Options(estimate="mean", model="pooled")
    ours = infer_files(ReportFiles.open([folder]), options=options, gold=gold)
    same(ours, infer(parts, estimate="mean", model="pooled", gold=gold))
    assert ours.estimate[0] == 9.0


# Nobody reports twice


def test_a_worker_in_two_files_is_named_with_both(parts: list[Reports], tmp_path: Path) -> None:
    again = next(pieces_of(parts[0], 1))
    parts[0].write(tmp_path / "a.parquet")
    again.write(tmp_path / "b.parquet")
    with pytest.raises(ForsoothError, match=r"worker '.+' reports twice \(1 such; .*a.*b") as error:
        infer_files(ReportFiles.open([tmp_path]))
    assert repr(again.workers[0]) in str(error.value)


# A killed inference goes on


class Interrupted(Here):
    """An engine that counts its passes over all pieces, and breaks down after some."""

    def __init__(self, passes: int = 10**9) -> None:
        super().__init__()
        self.left, self.done = passes, 0

    def total(self, work: Callable[[Sequence[Piece]], Any], pieces: Sequence[Piece]) -> Any:
        if not self.left:
            raise KeyboardInterrupt
        self.left, self.done = self.left - 1, self.done + 1
        return super().total(work, pieces)


def test_a_killed_inference_goes_on_from_its_checkpoint(folder: Path, tmp_path: Path) -> None:
    files, checkpoint = ReportFiles.open([folder]), tmp_path / "checkpoint"
    whole = Interrupted()
    truths = infer_files(files, engine=whole)
    for passes in (1, 3, whole.done - 1):
        with pytest.raises(KeyboardInterrupt):
            infer_files(files, engine=Interrupted(passes), checkpoint=checkpoint)
        rest = Interrupted()
        same(infer_files(files, engine=rest, checkpoint=checkpoint), truths)
        assert rest.done == whole.done - passes
        assert not checkpoint.exists()


@pytest.mark.parametrize("estimand", ["level", "label"])
def test_a_killed_inference_of_few_reports_goes_on(
    parts: list[Reports], estimand: Estimand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where passes are cheap, the results of whole integration points are kept."""
    next(pieces_of(parts[0], 40)).write(tmp_path / "reports.parquet")
    files, checkpoint = ReportFiles.open([tmp_path]), tmp_path / "checkpoint"
    options = Options(estimand=estimand)
    truths = infer_files(files, options=options)
    runs: list[int] = []

    def counted(*arguments: Any, **named: Any) -> Any:
        if len(runs) == limit:
            raise KeyboardInterrupt
        runs.append(1)
        return propagate(*arguments, **named)

    monkeypatch.setattr(latent, "propagate", counted)
    limit = 10**9
    infer_files(files, options=options)
    number = len(runs)
    for limit in {0, number // 2}:
        runs.clear()
        with pytest.raises(KeyboardInterrupt):
            infer_files(files, options=options, checkpoint=checkpoint)
        runs.clear()
        done, limit = limit, 10**9
        same(infer_files(files, options=options, checkpoint=checkpoint), truths)
        assert len(runs) == number - done
        assert not checkpoint.exists()


def test_a_checkpoint_of_a_file_that_was_replaced_is_refused(
    answers: Answers, rr: Mechanism, tmp_path: Path
) -> None:
    """The same name, workers and size; other coins."""
    path, checkpoint = tmp_path / "reports.parquet", tmp_path / "checkpoint"
    rr.perturb(answers).write(path)
    with pytest.raises(KeyboardInterrupt):
        infer_files(ReportFiles.open([path]), engine=Interrupted(2), checkpoint=checkpoint)
    rr.perturb(answers).write(path)
    with pytest.raises(ForsoothError, match="the checkpoint of another inference"):
        infer_files(ReportFiles.open([path]), checkpoint=checkpoint)


def test_a_checkpoint_of_something_else_is_refused(folder: Path, tmp_path: Path) -> None:
    files, checkpoint = ReportFiles.open([folder]), tmp_path / "checkpoint"
    with pytest.raises(KeyboardInterrupt):
        infer_files(files, engine=Interrupted(2), checkpoint=checkpoint)
    with pytest.raises(ForsoothError, match="the checkpoint of another inference"):
        infer_files(files, options=Options(unordered=True), checkpoint=checkpoint)
    checkpoint.write_bytes(b"PK\x03\x04 broken")
    with pytest.raises(ForsoothError, match="is not a checkpoint of forsooth"):
        infer_files(files, checkpoint=checkpoint)


def test_a_checkpoint_of_another_source_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, checkpoint = ReportFiles.open([folder]), tmp_path / "checkpoint"
    with monkeypatch.context() as older:
        older.setattr("forsooth.inference.checkpoint.exact_version", lambda: "0.1.0+0ld")
        with pytest.raises(KeyboardInterrupt):
            infer_files(files, engine=Interrupted(2), checkpoint=checkpoint)
    with pytest.raises(
        ForsoothError, match=r"written by forsooth 0\.1\.0\+0ld; this is .*Remove it"
    ):
        infer_files(files, checkpoint=checkpoint)
    with np.load(checkpoint) as file:
        kept = {name: file[name] for name in file.files if name != "forsooth"}
    with checkpoint.open("wb") as opened:
        np.savez(opened, **kept)  # as before versions were written down
    with pytest.raises(ForsoothError, match="written by an earlier version of forsooth"):
        infer_files(files, checkpoint=checkpoint)


# A state that grows


def test_a_state_grows_by_new_files_only(
    folder: Path, parts: list[Reports], tmp_path: Path
) -> None:
    path, read = tmp_path / "state.parquet", []
    for number in range(3):
        state = PooledState.read(path)
        files = state.new(
            ReportFiles.open([folder / f"{each}.parquet" for each in range(number + 1)])
        )
        assert files is not None
        engine = Interrupted()
        read.append([Path(file).name for file in files.paths])
        state.with_reports(files, engine).write(path)
        assert engine.done == 1
    assert read == [["0.parquet"], ["1.parquet"], ["2.parquet"]]
    state = PooledState.read(path)
    assert state.new(ReportFiles.open([folder])) is None
    assert len(state.workers) == WORKERS
    same(state.infer(Options(model="pooled")), infer(parts, model="pooled"))


def test_a_state_counts_nobody_twice(folder: Path, parts: list[Reports], tmp_path: Path) -> None:
    state = PooledState().with_reports(ReportFiles.open([folder / "0.parquet"]))
    next(pieces_of(parts[0], 5)).write(tmp_path / "again.parquet")
    files = state.new(ReportFiles.open([tmp_path / "again.parquet"]))
    assert files is not None
    with pytest.raises(ForsoothError, match=r"reports twice \(5 such"):
        state.with_reports(files)


def test_a_state_of_another_version_is_continued(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An upgrade must not force anybody to count again."""
    path = tmp_path / "state.parquet"
    state = PooledState().with_reports(ReportFiles.open([folder / "0.parquet"]))
    state.write(path)
    monkeypatch.setattr("forsooth.version.__version__", "9.9.9")
    monkeypatch.setattr("forsooth.version.exact_version", lambda: "9.9.9+0ther")
    kept = PooledState.read(path)
    assert kept.tasks == state.tasks
    assert kept.new(ReportFiles.open([folder / "0.parquet"])) is None


@pytest.mark.parametrize("number", [1, FORMAT + 1])
def test_a_state_of_another_format_is_refused(folder: Path, tmp_path: Path, number: int) -> None:
    path = tmp_path / "state.parquet"
    PooledState().with_reports(ReportFiles.open([folder / "0.parquet"])).write(path)
    table = pq.read_table(path)
    about = json.loads(table.schema.metadata[b"forsooth-state"])
    assert about.pop("format") == FORMAT
    if number > 1:  # format 1 had no number
        about["format"] = number
    metadata = {b"forsooth-state": json.dumps(about)}
    pq.write_table(table.replace_schema_metadata(metadata), path)
    with pytest.raises(ForsoothError, match=rf"has format {number}; .*continues format {FORMAT}"):
        PooledState.read(path)


def test_a_state_of_another_campaign_or_of_nothing(
    folder: Path, answers: Answers, tmp_path: Path
) -> None:
    state = PooledState().with_reports(ReportFiles.open([folder / "0.parquet"]))
    small = SyntheticCrowd(workers=20, tasks=5).draw(1).answers
    mechanisms.rr(small.scale, 1.0).perturb(small).write(tmp_path / "other.parquet")
    with pytest.raises(ForsoothError, match="other.parquet is of another campaign than the state"):
        state.with_reports(ReportFiles.open([tmp_path / "other.parquet"]))
    with pytest.raises(ForsoothError, match="there are no reports"):
        PooledState().infer(Options(model="pooled"))
    (tmp_path / "text.parquet").write_text("not Parquet")
    with pytest.raises(ForsoothError, match="is not a state of infer --state"):
        PooledState.read(tmp_path / "text.parquet")
    with pytest.raises(ForsoothError, match="is not a state of infer --state"):
        PooledState.read(folder / "0.parquet")
    with pytest.raises(ForsoothError, match="for the pooled model"):
        state.infer(Options())

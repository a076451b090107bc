"""What holds for all of them: same shape whatever was answered, seeds, JSON, options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from forsooth import Answers, ForsoothError, Mechanism, Reports, Scale
from forsooth.io import packing
from forsooth.mechanisms import BUILDERS, build
from forsooth.mechanisms.randomness import SimulatedRandomness
from forsooth.privacy import Unit

SCALE = Scale.parse("1..5")
TASKS = [f"t{task:02}" for task in range(30)]
PROTECTING = [name for name in BUILDERS if name not in ("grr", "mf")]
NOTHING: dict[str, object] = {}
EVERYTHING: dict[str, object] = dict.fromkeys(TASKS, 5)


def make(name: str) -> Mechanism:
    return build(name, SCALE, 1.0, tasks=len(TASKS))


def table(row: dict[str, object], workers: int = 1) -> Answers:
    return Answers.of({f"w{i:03}": row for i in range(workers)}, SCALE, tasks=TASKS)


class Counting:
    """Randomness that counts the words it gives."""

    def __init__(self) -> None:
        self.given = 0
        self._source = SimulatedRandomness(0)

    def words(self, count: int) -> NDArray[np.uint32]:
        self.given += count
        return self._source.words(count)


def fingerprints(
    mechanism: Mechanism, folder: Path, write: Callable[[Reports, Path], None] = Reports.write
) -> list[object]:
    """All that one can see of three reports besides their values: nothing, one cell, everything."""
    seen: list[object] = []
    rows: list[dict[str, object]] = [NOTHING, {TASKS[3]: 1}, EVERYTHING]
    for number, row in enumerate(rows):
        coins = Counting()
        mechanism.randomise(table(row), coins)
        path = folder / f"{number}.parquet"
        write(mechanism.perturb(table(row)), path)
        file = pq.read_table(path)
        seen.append((coins.given, file.schema, file.schema.metadata, file["report"].nbytes))
    return seen


@pytest.mark.parametrize("name", PROTECTING)
def test_a_report_does_not_tell_how_many_cells_were_answered(name: str, tmp_path: Path) -> None:
    """Same shape, same type, same bytes per row, same metadata, same number of coins."""
    first, second, third = fingerprints(make(name), tmp_path)
    assert first == second == third


def shorter_for_a_null(reports: Reports, path: Path) -> None:
    """A planted bug: cells that read as NULL are not written."""
    reports.write(path)
    file = pq.read_table(path)
    bits = reports.mechanism.bits
    left = [values[values != SCALE.null] for values in reports.values]
    short = [packing.pack(values[None], bits).tobytes() for values in left]
    pq.write_table(file.set_column(1, "report", pa.array(short, pa.binary())), path)


def test_a_report_that_is_shorter_for_a_null_is_caught(tmp_path: Path) -> None:
    """By the test above, and by the collector, who refuses the file. ε is so large that a NULL
    stays a NULL: the shorter report tells how many there are."""
    mechanism = build("rr", SCALE, 300.0, tasks=len(TASKS))
    first, second, third = fingerprints(mechanism, tmp_path, shorter_for_a_null)
    assert first != second != third
    with pytest.raises(ForsoothError, match="must be fixed_size_binary"):
        Reports.read(tmp_path / "0.parquet")


@pytest.mark.parametrize("name", BUILDERS)
def test_fresh_noise_unless_a_seed_is_named(name: str) -> None:
    mechanism, answers = make(name), table(EVERYTHING, workers=20)
    first, second = mechanism.perturb(answers), mechanism.perturb(answers)
    assert not np.array_equal(first.values, second.values)
    assert first.simulation_seed is None
    seeded = [mechanism.perturb(answers, simulation_seed=7) for _ in range(2)]
    assert np.array_equal(seeded[0].values, seeded[1].values)
    assert seeded[0].simulation_seed == 7


@pytest.mark.parametrize("name", BUILDERS)
def test_json_and_parquet_round_trips(name: str, tmp_path: Path) -> None:
    mechanism = make(name)
    assert Mechanism.from_json(mechanism.to_json()) == mechanism
    reports = mechanism.perturb(table({TASKS[0]: 1, TASKS[9]: 2}, workers=7))
    reports.write(tmp_path / "r.parquet")
    again = Reports.read(tmp_path / "r.parquet")
    assert again.mechanism == mechanism
    assert (again.tasks, again.workers) == (reports.tasks, reports.workers)
    assert np.array_equal(again.values, reports.values)
    assert again.values.dtype == reports.values.dtype
    assert np.array_equal(again.cells().value, reports.cells().value)
    assert np.array_equal(again.cells().task, reports.cells().task)


@pytest.mark.parametrize("name", ["lp", "rr", "two-step", "two-layer"])
def test_public_participation(name: str) -> None:
    mechanism = build(name, SCALE, 1.0, tasks=30, protects="answers")
    assert mechanism.guarantee.protects == "answers"
    reports = mechanism.perturb(table({TASKS[0]: 1, TASKS[9]: 2}, workers=3))
    cells = reports.cells()
    assert cells.task.tolist() == [0, 9] * 3
    assert cells.worker.tolist() == [0, 0, 1, 1, 2, 2]


def test_unbiased_enough_at_a_huge_epsilon() -> None:
    """With ε = 300 the reports are the answers, NULL and all (one flip in 2^32)."""
    answers = table({TASKS[1]: 4, TASKS[2]: 1}, workers=4)
    for name in ("rr", "two-step"):
        cells = build(name, SCALE, 300.0, tasks=30).perturb(answers).cells()
        assert cells.value.tolist() == [4, 1] * 4


@pytest.mark.parametrize(
    ("specification", "complaint"),
    [
        ("magic", "unknown mechanism 'magic'; known: lp, rr, grr, two-step, rr-lp, two-layer, mf"),
        ("mf:q=3", "unknown option 'q'; it has: d, ridge, solver, steps, seed"),
        ("mf:d=x", "d must be int"),
        ("rr:d=3", "unknown option 'd'; it has: none"),
        ("mf:d=31", "d ≤ tasks"),
        ("two-step:first=2", "between 0 and 1"),
    ],
)
def test_unknown_names_and_options(specification: str, complaint: str) -> None:
    with pytest.raises(ForsoothError, match=complaint):
        build(specification, SCALE, 1.0, tasks=30)


def test_options_after_a_colon() -> None:
    mechanism = build("mf:d=9,ridge=0.5", SCALE, 1.0, tasks=30)
    assert mechanism.parameters()["ridge"] == 0.5
    assert mechanism.width(30) == 9


def test_asking_mf_for_participation_is_refused() -> None:
    with pytest.raises(ForsoothError, match="mf protects answers only"):
        build("mf", SCALE, 1.0, tasks=30, protects="answers+participation")


@pytest.mark.parametrize("epsilon", [0.0, -1.0, float("nan"), float("inf")])
@pytest.mark.parametrize("name", BUILDERS)
def test_bad_epsilon(name: str, epsilon: float) -> None:
    with pytest.raises(ForsoothError, match="ε must be"):
        build(name, SCALE, epsilon, tasks=30)


def test_a_mechanism_for_another_scale(answers: Answers) -> None:
    with pytest.raises(ForsoothError, match="made for 1..5"):
        make("rr").perturb(answers)


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", "null", '{"forsooth": 2, "kind": "channel"}', '{"forsooth": 1, "kind": "x"}'],
)
def test_what_is_not_a_mechanism(text: str) -> None:
    with pytest.raises(ForsoothError):
        Mechanism.from_json(text)


@pytest.mark.parametrize("name", BUILDERS)
@pytest.mark.parametrize("unit", ["cell", "worker"])
def test_blocks_do_not_mix_workers(name: str, unit: Unit, monkeypatch: pytest.MonkeyPatch) -> None:
    """In blocks of one worker the reports read as the answers, as they do in one block.

    ε is so large that nothing is flipped and noise is negligible.
    """
    if unit == "worker" and name in ("mf", "mf-safe", "two-layer"):
        pytest.skip("has no cells to sample, or spends 2ε")
    for module in ("mechanisms.base", "mechanisms.sampled", "mechanisms.safe_factorization"):
        monkeypatch.setattr(f"forsooth.{module}.BLOCK_CELLS", 30)
    monkeypatch.setattr("forsooth.mechanisms.matrix_factorization._BLOCK_NUMBERS", 1)
    rows = {
        f"w{i:02}": {task: 1 + (i + j) % 5 for j, task in enumerate(TASKS) if (i * j) % 3}
        for i in range(23)
    }
    answers = Answers.of(rows, SCALE, tasks=TASKS)
    options = {"lp": "lp:null=1", "mf": "mf:d=30,ridge=1e-6", "mf-safe": "mf-safe:d=30"}
    specification = options.get(name, name)
    epsilon = 450_000.0  # two-layer's guarantee is twice that
    mechanism = build(specification, SCALE, epsilon, tasks=30, unit=unit, sampled=5)
    reports = mechanism.perturb(answers)
    if name == "mf-safe":
        sketch = mechanism.sketch(answers.rows(0, 23), answers.workers)  # type: ignore[attr-defined]
        assert np.array_equal(reports.values, sketch)
        return
    cells = reports.cells()
    wanted = answers.rows(0, 23)[cells.worker, cells.task]
    given = wanted != SCALE.null
    if name == "two-layer":
        exact = np.rint(cells.value) == wanted + 1
        assert exact[given].mean() > 0.9
        return
    np.testing.assert_allclose(cells.value[given], 1 + wanted[given], atol=0.05)
    assert given.sum() == (answers.size if unit == "cell" else mechanism.eligible(answers).size)

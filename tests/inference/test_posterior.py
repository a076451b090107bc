"""The default method from reports to results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from forsooth import Answers, ForsoothError, Reports, Scale, Truths, infer, mechanisms
from forsooth.dataset import Dataset
from forsooth.estimand import ESTIMANDS, Estimand
from forsooth.inference.engines.files import infer_files
from forsooth.inference.engines.state import PooledState
from forsooth.inference.posterior import Options
from forsooth.io.report_files import ReportFiles, write_in_pieces
from forsooth.study.synthetic import SyntheticCrowd

Array = NDArray[np.float64]
SCALE = Scale.parse("0..4")


@cache
def crowd(seed: int = 1, workers: int = 200, tasks: int = 24) -> Dataset:
    """Half of the workers are careful; half of the cells are answered."""
    small = SyntheticCrowd(workers, tasks, sparsity=0.5, truth_mean=2, sigma_good=0.5, scale=SCALE)
    return small.draw(seed)


@cache
def labelled(seed: int = 1, workers: int = 200, tasks: int = 24) -> Dataset:
    """Half of the workers are right in nine of ten cells, the others guess."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, SCALE.size, tasks)
    guesses = random.integers(0, SCALE.size, (workers, tasks))
    right = (random.random(guesses.shape) < 0.9) & (np.arange(workers)[:, None] % 2 == 0)
    codes = np.where(right, truth, guesses)
    worker, task = np.nonzero(random.random(codes.shape) < 0.5)
    names, questions = (tuple(f"{at:03}" for at in range(n)) for n in codes.shape)
    places = worker.astype(np.int32), task.astype(np.int32)
    answers = Answers(SCALE, names, questions, *places, codes[worker, task].astype(np.uint8))
    return Dataset("labelled", answers, truth.astype(float), "label")


def reports(name: str, epsilon: float, answers: Answers, seed: int = 1) -> Reports:
    mechanism = mechanisms.build(name, answers.scale, epsilon, tasks=len(answers.tasks))
    return mechanism.perturb(answers, simulation_seed=seed)


def same(ours: Truths, other: Truths, tolerance: float = 1e-8) -> None:
    assert ours.posterior
    assert other.posterior
    for name in ("estimate", "low", "high", "support"):
        np.testing.assert_allclose(getattr(ours, name), getattr(other, name), atol=tolerance)
    np.testing.assert_allclose(ours.posterior.mass, other.posterior.mass, atol=tolerance)
    assert ours.iterations == other.iterations


# What is asked


def test_defaults_are_by_the_scale() -> None:
    two = Answers.of({"a": {"q": 0}, "b": {"q": 1}}, "0..1")
    many = Answers.of({"a": {"q": 0}, "b": {"q": 1}}, SCALE)
    for data, options, estimand in (
        (two, {}, "label"),
        (many, {}, "level"),
        (many, {"unordered": True}, "label"),
        (two, {"estimand": "level"}, "level"),
    ):
        asked: dict[str, Any] = options
        truths = infer(data, **asked)
        assert truths.posterior
        assert truths.posterior.estimand == estimand
        assert truths.posterior.seed == Options().seed


def test_reports_state_the_estimand_and_the_reader_overrides() -> None:
    stated = replace(reports("rr", 2.0, crowd().answers), estimand="label")
    for asked, estimand in ((None, "label"), ("level", "level")):
        truths = infer(stated, estimand=asked)  # type: ignore[arg-type]
        assert truths.posterior
        assert truths.posterior.estimand == estimand


def bad(name: str) -> Callable[[], Truths]:
    answers = crowd(workers=30, tasks=12).answers
    rr, sums = reports("rr", 1.0, answers), reports("mf-safe", 1.0, answers)
    tasks, workers = answers.tasks, answers.workers
    few = dict.fromkeys(tasks[:9], 2.0)
    asked: dict[str, tuple[Reports, dict[str, Any]]] = {
        "unknown estimand": (rr, {"estimand": "mood"}),
        "unknown estimate": (rr, {"estimate": "guess"}),
        "unknown model": (rr, {"model": "classes"}),
        "unordered levels": (rr, {"estimand": "level", "unordered": True}),
        "labels of sums": (sums, {"estimand": "label"}),
        "opinions of sums": (sums, {"estimand": "opinion"}),
        "gold between answers": (rr, {"estimand": "label", "gold": {tasks[0]: 2.5}}),
        "gold off the scale": (rr, {"gold": {tasks[0]: 7.0}}),
        "gold of a stranger": (rr, {"gold": {"nobody": 1.0}}),
        "few gold tasks": (rr, {"gold": few, "gold_use": "calibrate"}),
        "no gold tasks": (rr, {"gold_use": "calibrate"}),
        "unknown gold use": (rr, {"gold": few, "gold_use": "guess"}),
        "one group": (rr, {"estimand": "opinion", "groups": dict.fromkeys(workers, "a")}),
        "no group": (rr, {"estimand": "opinion", "groups": dict.fromkeys(workers[1:], "a")}),
        "groups of levels": (rr, {"estimand": "level", "groups": dict.fromkeys(workers, "a")}),
    }
    data, options = asked[name]
    return lambda: infer(data, **options)


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("unknown estimand", "unknown estimand 'mood'; known: level, label, opinion"),
        ("unknown estimate", "unknown estimate 'guess'; known: median, mean, mode"),
        ("unknown model", "unknown model 'classes'; known: auto, pooled"),
        ("unordered levels", "labels without an order have no level"),
        ("labels of sums", "the estimand label needs reports of cells"),
        ("opinions of sums", "the estimand opinion needs reports of cells"),
        ("gold between answers", "the truth 2.5 of task 't00' is no answer"),
        ("gold off the scale", "off the scale"),
        ("gold of a stranger", "'nobody' is not in the campaign"),
        ("few gold tasks", "9 tasks have a known truth, and calibration needs at least 10"),
        ("no gold tasks", "0 tasks have a known truth"),
        ("unknown gold use", "unknown gold use 'guess'"),
        ("one group", "there is one group only"),
        ("no group", r"worker 'w00' has no group \(1 such\)"),
        ("groups of levels", "estimand opinion"),
    ],
)
def test_bad_requests(name: str, complaint: str) -> None:
    with pytest.raises(ForsoothError, match=complaint):
        bad(name)()


# What comes out


@pytest.mark.parametrize("name", ["rr", "grr", "two-step", "two-layer", "staircase", "lp", "plain"])
@pytest.mark.parametrize("estimand", ["level", "label"])
def test_truths_are_found_through_every_mechanism(name: str, estimand: Estimand) -> None:
    """ε = 4 and a hundred answers per task: better than the best constant by far."""
    found = crowd() if estimand == "level" else labelled()
    data = found.answers if name == "plain" else reports(name, 4.0, found.answers)
    truths, truth = infer(data, estimand=estimand), found.truth
    constant = float(np.abs(truth - np.median(truth)).mean())
    assert truths.error(truth) < (0.6 if name in {"lp", "two-layer"} else 0.4) * constant
    assert truths.coverage(truth) >= 0.7
    assert truths.workers == found.answers.workers
    assert truths.quality.sum() == pytest.approx(1)


@pytest.mark.parametrize("name", ["rr", "grr", "plain"])
def test_careful_workers_have_smaller_deviations(name: str) -> None:
    found = crowd()
    answers = found.answers
    data = answers if name == "plain" else reports(name, 4.0, answers)
    truths = infer(data)
    error = np.abs(np.array(answers.scale.values)[answers.code] - found.truth[answers.task])
    real = np.bincount(answers.worker, error) / np.bincount(answers.worker)
    assert np.corrcoef(real, np.log(truths.deviation))[0, 1] > 0.6
    assert truths.posterior
    low, high = truths.posterior.deviation_interval
    assert ((low <= truths.deviation) & (truths.deviation <= high)).all()


def test_participation_is_found_where_it_is_hidden() -> None:
    answers = crowd().answers
    share = answers.size / (len(answers.workers) * len(answers.tasks))
    hidden, public = infer(reports("rr", 4.0, answers)), infer(reports("grr", 4.0, answers))
    assert hidden.posterior
    assert public.posterior
    assert hidden.posterior.participation == pytest.approx(share, abs=0.1)
    assert public.posterior.participation is None


def test_the_pooled_model_knows_no_worker_and_is_less_exact() -> None:
    error = {"auto": 0.0, "pooled": 0.0}
    for seed in range(4):
        found = crowd(seed)
        for model in error:
            truths = infer(reports("grr", 3.0, found.answers), model=model)  # type: ignore[arg-type]
            error[model] += truths.error(found.truth)
    assert error["auto"] < error["pooled"]


def test_labels_without_an_order() -> None:
    """Nine in twenty say A, the others B or D: the median label is B, the likeliest A."""
    said = ["A"] * 9 + ["B"] * 5 + ["D"] * 6
    rows = {f"w{i:02}": {f"t{j}": said[i] for j in range(6)} for i in range(20)}
    answers = Answers.of(rows, "A,B,C,D")
    unordered = infer(answers, unordered=True)
    assert unordered.posterior
    assert unordered.posterior.unordered
    assert unordered.columns()["label"] == ["A"] * 6
    np.testing.assert_array_equal(unordered.low, unordered.estimate)
    np.testing.assert_array_equal(unordered.high, unordered.estimate)
    np.testing.assert_allclose(
        unordered.columns()["probability"], unordered.posterior.mass.max(axis=1)
    )


def test_the_names_of_labels_without_an_order_do_not_matter() -> None:
    answers, names = labelled().answers, np.array([3, 0, 4, 1, 2])
    swapped = replace(answers, code=names.astype(answers.code.dtype)[answers.code])
    ours, other = infer(answers, unordered=True), infer(swapped, unordered=True)
    np.testing.assert_array_equal(names[ours.estimate.astype(int)], other.estimate)


@pytest.mark.parametrize("estimate", ["median", "mean", "mode"])
def test_the_estimate_is_what_was_asked(estimate: Any) -> None:
    truths = infer(reports("rr", 2.0, crowd().answers), estimand="label", estimate=estimate)
    assert truths.posterior
    mass, grid = truths.posterior.mass, truths.posterior.grid
    wanted = {
        "mean": mass @ grid,
        "mode": grid[mass.argmax(axis=1)],
        "median": grid[(mass.cumsum(axis=1) < 0.5).sum(axis=1)],
    }
    np.testing.assert_allclose(truths.estimate, wanted[estimate])


# Opinions


def camps(epsilon: float, seed: int, people: int = 400) -> tuple[Reports, Array]:
    """Three questions with two camps each; the shares of the answers among all."""
    random = np.random.default_rng(seed)
    shares = np.array([[0.45, 0.1, 0, 0.1, 0.35], [0.7, 0, 0, 0, 0.3], [0.2, 0.3, 0, 0.3, 0.2]])
    codes = np.stack([random.choice(5, people, p=row) for row in shares], axis=1)
    rows = {
        f"w{i:03}": {f"t{j}": int(code) for j, code in enumerate(row)}
        for i, row in enumerate(codes)
    }
    return reports("rr", epsilon, Answers.of(rows, SCALE), seed), shares


def test_two_camps_are_two_camps() -> None:
    """ε = 2, 400 people. Of fifteen shares in three campaigns at most one in four lies outside."""
    inside, truths = [], None
    for seed in range(3):
        data, shares = camps(2.0, seed)
        truths = infer(data, estimand="opinion")
        assert truths.posterior
        found = truths.posterior.shares
        assert found
        inside.append((found.low <= shares) & (shares <= found.high))
        assert (found.estimate[1, [0, 4]] > found.estimate[1, 1:4].max()).all()
        assert (np.abs(truths.estimate - shares @ np.arange(5)) < 0.6).all()
    assert np.mean(inside) > 0.75
    assert truths
    assert truths.workers == ()
    with pytest.raises(ForsoothError, match="careless people cannot be identified"):
        truths.worker_columns()
    assert "share_4_high" in truths.columns()


def test_groups_are_compared_by_their_means() -> None:
    """One group says 1, the other 3; the third question divides nobody."""
    rows = {
        f"w{i:03}": {"t0": 1 if i % 2 else 3, "t1": 3 if i % 2 else 1, "t2": 2} for i in range(300)
    }
    data = reports("grr", 3.0, Answers.of(rows, SCALE))
    groups = {name: "odd" if at % 2 else "even" for at, name in enumerate(data.workers)}
    truths = infer(data, estimand="opinion", groups=groups)
    assert [(each.task, each.group, each.other) for each in truths.differences] == [
        (task, "even", "odd") for task in data.tasks
    ]
    for each, wanted in zip(truths.differences, (2.0, -2.0, 0.0)):
        assert each.low <= each.estimate <= each.high
        assert each.estimate == pytest.approx(wanted, abs=0.4)
        assert (each.low <= 0 <= each.high) == (wanted == 0)


# Mixed campaigns


def test_a_mixed_campaign_uses_all_reports() -> None:
    """Cells of two mechanisms and sums, each of a third of the workers."""
    cells, everything = [], []
    for seed in range(4):
        found = SyntheticCrowd(450, 24, sparsity=0.5, truth_mean=4, sigma_bad=2.0).draw(seed)
        parts = [
            reports(name, epsilon, found.answers.span(150 * at, 150 * at + 150), seed)
            for at, (name, epsilon) in enumerate((("rr", 1.0), ("grr", 0.5), ("mf-safe", 4.0)))
        ]
        truths, without = infer(parts, estimand="level"), infer(parts[:2], estimand="level")
        assert truths.workers == found.answers.workers
        assert (truths.support >= without.support).all()
        everything.append(truths.error(found.truth))
        cells.append(without.error(found.truth))
    assert np.mean(everything) < np.mean(cells)


def test_two_mechanisms_tell_more_than_one() -> None:
    one, both = [], []
    for seed in range(4):
        found = crowd(seed)
        first = reports("rr", 1.5, found.answers.span(0, 100))
        second = reports("grr", 1.0, found.answers.span(100, 200))
        one.append(infer(first).error(found.truth))
        both.append(infer([first, second]).error(found.truth))
    assert np.mean(both) < np.mean(one)


@pytest.mark.parametrize(("name", "most"), [("mf", 1.3), ("mf-safe", 1.0)])
def test_sums_alone(name: str, most: float) -> None:
    """`mf` tells hardly more than the level of all truths: it is about as good as a constant."""
    errors, constants, covered = [], [], []
    for seed in range(4):
        found = SyntheticCrowd(600, 24, sparsity=0.5, truth_mean=4).draw(seed)
        truths = infer(reports(name, 4.0, found.answers))
        assert truths.posterior
        assert truths.posterior.estimand == "level"
        assert len(truths.deviation) == 600
        errors.append(truths.error(found.truth))
        constants.append(np.abs(found.truth - np.median(found.truth)).mean())
        covered.append(truths.coverage(found.truth))
    assert np.mean(errors) < most * np.mean(constants)
    assert np.mean(covered) >= 0.75


def test_the_order_of_the_parts_does_not_matter() -> None:
    answers = crowd().answers
    parts = [reports("rr", 2.0, answers.span(0, 120)), reports("rr", 2.0, answers.span(120, 200))]
    same(infer(parts), infer(parts[::-1]))


# The same everywhere


@pytest.mark.parametrize("estimand", ESTIMANDS)
def test_the_same_reports_give_the_same_result(estimand: Estimand) -> None:
    data = reports("rr", 2.0, crowd(workers=60).answers)
    first, second = (infer(data, estimand=estimand) for _ in range(2))
    same(first, second, 0)


@pytest.mark.parametrize("workers", [40, 1500], ids=["exact", "typed"])
@pytest.mark.parametrize("estimand", ESTIMANDS)
def test_files_in_pieces_give_what_memory_gives(
    estimand: Estimand, workers: int, tmp_path: Path
) -> None:
    answers = crowd(workers=workers).answers
    cells = 24 * workers // 3
    pieces = list(
        mechanisms.rr(SCALE, 3.0).perturb_in_pieces(answers, simulation_seed=1, cells=cells)
    )
    assert len(pieces) > 2
    write_in_pieces(tmp_path / "reports.parquet", pieces)
    ours = infer_files(ReportFiles.open([tmp_path]), options=Options(estimand=estimand))
    values = np.concatenate([piece.values for piece in pieces])
    whole = replace(pieces[0], workers=answers.workers, values=values)
    for data in (pieces, whole):
        memory = infer(data, estimand=estimand)
        same(ours, memory)
        np.testing.assert_allclose(ours.deviation, memory.deviation, atol=1e-8)
        assert ours.workers == memory.workers


@pytest.mark.parametrize("estimand", ESTIMANDS)
@pytest.mark.parametrize("name", ["rr", "grr"])
def test_a_state_gives_what_the_pooled_model_gives(
    name: str, estimand: Estimand, tmp_path: Path
) -> None:
    data = reports(name, 2.0, crowd().answers)
    data.write(tmp_path / "reports.parquet")
    state = PooledState().with_reports(ReportFiles.open([tmp_path / "reports.parquet"]))
    state.write(tmp_path / "state.parquet")
    ours = PooledState.read(tmp_path / "state.parquet").infer(Options(estimand, model="pooled"))
    pooled = infer(data, estimand=estimand, model="pooled")
    same(ours, pooled)
    assert ours.posterior
    assert pooled.posterior
    assert ours.posterior.participation == pooled.posterior.participation
    if ours.posterior.shares:
        assert pooled.posterior.shares
        np.testing.assert_allclose(
            ours.posterior.shares.participation, pooled.posterior.shares.participation
        )

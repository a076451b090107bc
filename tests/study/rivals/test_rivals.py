"""What holds for every rival of inference."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from forsooth import Scale, mechanisms
from forsooth.cells import Cells
from forsooth.estimand import ESTIMANDS
from forsooth.study.rivals import INFERENCE, Annotations
from forsooth.study.rivals.classic import CLASSIC
from forsooth.study.synthetic import SyntheticCrowd
from tests.study.rivals.crowds import small

BY_NAME = pytest.mark.parametrize("name", INFERENCE)


@BY_NAME
def test_it_is_described(name: str) -> None:
    """Its name, what it is for, where it is from."""
    rival = INFERENCE[name]
    assert rival.name == name
    assert rival.citation
    assert rival.estimands
    assert set(rival.estimands) <= set(ESTIMANDS)


@BY_NAME
@pytest.mark.parametrize("cells", [0, 1, 3])
def test_hardly_any_answers(name: str, cells: int) -> None:
    """Tasks and workers without a cell: an estimate on the scale all the same."""
    rows = np.full((3, 4), np.nan)
    rows.flat[:cells] = [2.0, 1.0, 1.0][:cells]
    found = INFERENCE[name].infer(Annotations(Cells.from_rows(rows), Scale.parse("1..3")))
    for estimand in INFERENCE[name].estimands:
        estimate = found.estimate(estimand)
        assert estimate.shape == (4,)
        assert ((estimate >= 1) & (estimate <= 3)).all()
    assert np.isin(found.label, [1, 2, 3]).all()


@BY_NAME
def test_everybody_agrees(name: str) -> None:
    """Then every rival gives their answer, and a label is likelier than any other."""
    truth = np.array([0.0, 1, 2, 2, 1, 0, 1, 2])
    found = INFERENCE[name].infer(
        Annotations(Cells.from_rows(np.tile(truth, (6, 1))), Scale.parse("0..2"))
    )
    np.testing.assert_array_equal(found.label, truth)
    if found.probability is not None:
        np.testing.assert_allclose(found.probability.sum(axis=1), 1)


@BY_NAME
def test_better_than_nothing(name: str) -> None:
    """On a crowd of which all workers are right more often than not."""
    data = small()
    truth = np.random.default_rng(3).integers(0, 3, 40)
    assert np.mean(INFERENCE[name].infer(data).label == truth) > 0.6


@BY_NAME
def test_reports_are_read_as_answers(name: str) -> None:
    """Noisy numbers too, which count for the nearest answer where a rival needs answers."""
    answers = SyntheticCrowd.parse("synthetic:workers=20,tasks=10").draw(2).answers
    for mechanism in (mechanisms.lp(answers.scale, 1), mechanisms.rr(answers.scale, 1)):
        data = Annotations.of(mechanism.perturb(answers, simulation_seed=1))
        found = INFERENCE[name].infer(data)
        assert np.isfinite(found.level).all()
        assert np.isin(found.label, answers.scale.values).all()


def test_every_rival_is_documented() -> None:
    """The classic methods have their own sections, the others a row of the table."""
    page = (Path(__file__).parents[3] / "docs" / "methods.md").read_text(encoding="utf-8")
    for name, rival in INFERENCE.items():
        if rival in CLASSIC:
            assert re.search(rf"^## .*\b{name}\b", page, re.M), name
        else:
            assert f"| `{name}` | {', '.join(rival.estimands)} |" in page

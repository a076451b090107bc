"""GLAD: figures of crowd-kit, and its gradient."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import softmax

from forsooth.cells import Cells
from forsooth.scale import Scale
from forsooth.study.rivals import INFERENCE, Annotations
from forsooth.study.rivals.glad import log_joint, loss
from tests.study.rivals.crowds import accuracy, league_set, small

PUBLISHED = {"product": 0.928, "relevance": 0.511}  # https://doi.org/10.21105/joss.06227, Table 3


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_accuracies(data_dir: Path, name: str) -> None:
    """Those of crowd-kit on D_Product and S_Rel."""
    dataset = league_set(data_dir, name)
    found = INFERENCE["glad"].infer(Annotations.of(dataset.answers))
    assert accuracy(found, dataset) == pytest.approx(PUBLISHED[name], abs=0.001)


def test_the_first_step_of_crowd_kit() -> None:
    """Its test has 0.995664 for two answers that agree; from α = b = 1: 1/(1 + e^(−2e))."""
    data = Annotations(Cells.from_rows(np.zeros((2, 1))), Scale.parse("0..1"))
    found = softmax(log_joint(data, np.ones(3)), axis=1)
    np.testing.assert_allclose(found, np.array([[0.995664, 0.004336]]), atol=1e-6)


def test_the_gradient() -> None:
    """Against finite differences, at a random point."""
    data = small()
    point = np.random.default_rng(1).normal(1, 0.5, data.workers + data.tasks)
    numeric = approx_fprime(point, lambda x: loss(data, x)[0], 1e-7)
    np.testing.assert_allclose(loss(data, point)[1], numeric, atol=1e-4)


def test_the_objective_is_the_posterior() -> None:
    """−ln Σ_z P(answers, z | α, b) − ln P(α, b), written out for one task of three answers."""
    data = Annotations(Cells.from_rows(np.array([[0.0], [2.0]])), Scale.parse("0..2"))
    ability, ease = np.array([0.7, 1.6]), 0.4
    right = 1 / (1 + np.exp(-ability * np.exp(ease)))
    wrong = (1 - right) / 2
    evidence = right[0] * wrong[1] + wrong[0] * wrong[1] + wrong[0] * right[1]
    prior = 0.5 * (((ability - 1) ** 2).sum() + (ease - 1) ** 2)
    found, _ = loss(data, np.append(ability, ease))
    assert found == pytest.approx(prior - np.log(evidence))

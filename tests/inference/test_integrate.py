"""The points of the global numbers: from which posterior they come."""

from __future__ import annotations

import numpy as np
import pytest

from forsooth import Scale
from forsooth.inference.posterior.evidence import evidence_of
from forsooth.inference.posterior.integrate import POINTS, global_points, sample
from forsooth.inference.posterior.model import Level
from forsooth.study.synthetic import SyntheticCrowd

SCALE = Scale.parse("0..9")
DRAWN = SyntheticCrowd(workers=60, tasks=20, sparsity=0.3, truth_mean=4.5, truth_sd=2).draw(seed=3)
UNKNOWN = np.full(20, -1)


def test_points_of_a_normal_likelihood() -> None:
    """N(0, 1) and one observation of 1.5 ± 0.5: N(1.2, 0.2), within four standard errors."""
    points = sample(lambda z: -0.5 * ((z[:, 0] - 1.5) / 0.5) ** 2, 3, np.random.default_rng(5))
    assert points.shape == (POINTS, 3)
    assert points[:, 0].mean() == pytest.approx(1.2, abs=4 * np.sqrt(0.2 / POINTS))
    assert points[:, 0].var() == pytest.approx(0.2, rel=4 * np.sqrt(2 / POINTS))
    assert points[:, 1:].mean() == pytest.approx(0, abs=4 * np.sqrt(0.5 / POINTS))


def test_known_truths_tell_of_the_global_numbers() -> None:
    """Plain answers: known truths that the answers contradict make a typical error larger."""
    part = evidence_of(DRAWN.answers)
    crowd = Level(SCALE, np.full(10, 0.1), part.hidden)
    nodes = len(crowd.nodes)
    right = np.abs(DRAWN.truth[:, None] - crowd.nodes).argmin(axis=1)
    error = {
        name: global_points(crowd, [part], None, known, seed=0)[:, 2].mean()
        for name, known in (("right", right), ("wrong", nodes - 1 - right))
    }
    assert error["wrong"] > error["right"] + 0.5

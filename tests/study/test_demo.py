from __future__ import annotations

import numpy as np
import pytest

from forsooth.estimand import ESTIMANDS
from forsooth.study.demo import QUESTIONS, SCALE, survey


def test_the_survey_has_a_truth_for_every_estimand() -> None:
    level, label, opinion = (survey(estimand) for estimand in ESTIMANDS)
    assert level.truth.tolist() == list(QUESTIONS.values())
    assert set(label.truth) <= set(SCALE.values)
    cells = opinion.answers.cells()
    means = np.bincount(cells.task, cells.value) / cells.per_task()
    np.testing.assert_allclose(opinion.truth, means, atol=0.1)
    assert np.abs(level.truth - means).max() > 0.2
    assert survey().answers.code.tolist() == level.answers.code.tolist()
    assert opinion.constant_error() == pytest.approx(level.constant_error(), rel=0.6)

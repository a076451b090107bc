from __future__ import annotations

import numpy as np
import pytest

from forsooth import ForsoothError, Scale
from forsooth.study.synthetic import SyntheticCrowd


def test_the_paper_s_crowd() -> None:
    dataset = SyntheticCrowd.parse("synthetic:workers=2000,tasks=200,sparsity=0.9").draw(1)
    answers = dataset.answers
    assert (len(answers.workers), len(answers.tasks), answers.scale.size) == (2000, 200, 10)
    assert answers.size / (2000 * 200) == pytest.approx(0.1, abs=0.003)
    assert (dataset.truth >= 0).all()
    assert (dataset.truth == 0).mean() == pytest.approx(0.5, abs=0.15)
    assert answers.workers == tuple(sorted(answers.workers))


def test_half_the_workers_are_good() -> None:
    dataset = SyntheticCrowd(
        workers=300, tasks=400, sparsity=0.2, truth_mean=50, truth_sd=5, scale=Scale.parse("0..100")
    ).draw(2)
    cells = dataset.answers.cells()
    residual = cells.value - dataset.truth[cells.task]
    deviation = np.sqrt(cells.per_worker(residual**2) / cells.per_worker())
    good = deviation < 3
    assert good.sum() == 150
    assert deviation[good].mean() == pytest.approx(np.sqrt(1 + 1 / 12), abs=0.03)
    assert deviation[~good].mean() == pytest.approx(5, abs=0.1)


def test_answers_are_rounded_and_clipped() -> None:
    sharp = SyntheticCrowd(
        workers=50, tasks=50, sparsity=0, good=1, sigma_good=0, truth_mean=4, truth_sd=3
    )
    dataset = sharp.draw(3)
    cells = dataset.answers.cells()
    assert np.abs(cells.value - dataset.truth[cells.task]).max() <= 0.5
    assert dataset.truth.max() <= 9


def test_everybody_answers_something() -> None:
    answers = SyntheticCrowd(workers=500, tasks=10, sparsity=0.99).draw(4).answers
    assert np.diff(answers.starts).min() == 1


def test_seeds() -> None:
    crowd = SyntheticCrowd(workers=20, tasks=20)
    assert crowd.draw(1).answers == crowd.draw(1).answers
    assert crowd.draw(1).answers != crowd.draw(2).answers


@pytest.mark.parametrize(
    "text",
    [
        "synthetic:workers=0",
        "synthetic:sparsity=1",
        "synthetic:good=2",
        "synthetic:truth-sd=-1",
        "synthetic:truth-mean=nan",
        "synthetic:colour=red",
        "synthetic:tasks=many",
        "other:tasks=1",
    ],
)
def test_bad_crowds(text: str) -> None:
    with pytest.raises(ForsoothError):
        SyntheticCrowd.parse(text)

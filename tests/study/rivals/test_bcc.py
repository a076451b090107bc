"""iBCC and EBCC: figures that their authors published, and what they promise.

The figures are those of the notebooks in https://github.com/yuan-li/truth-inference-at-scale, which
hold the results of the paper (EBCC with M = 10 and 40 starts).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.special import digamma

from forsooth.study.rivals import INFERENCE, Annotations
from forsooth.study.rivals.ebcc import variational
from tests.study.rivals.crowds import accuracy, league_set, small

PUBLISHED = {  # accuracy of iBCC, of EBCC
    "weather-amt": (0.8567, 0.8567),
    "sentiment-sp": (0.9150, 0.9152),
    "product": (0.9383, 0.9349),
    "face": (0.6404, 0.6353),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_accuracies(data_dir: Path, name: str) -> None:
    """iBCC has no random start and must be equal; EBCC has other random starts."""
    dataset = league_set(data_dir, name)
    data, (ibcc, ebcc) = Annotations.of(dataset.answers), PUBLISHED[name]
    assert accuracy(INFERENCE["ibcc"].infer(data), dataset) == pytest.approx(ibcc, abs=5e-5)
    assert accuracy(INFERENCE["ebcc"].infer(data), dataset) == pytest.approx(ebcc, abs=0.01)


def test_correlated_workers(data_dir: Path) -> None:
    """On zencrowd-us (published: 0.827 and 0.912) subtypes are worth eight points."""
    dataset = league_set(data_dir, "zencrowd-us")
    data = Annotations.of(dataset.answers)
    assert accuracy(INFERENCE["ibcc"].infer(data), dataset) == pytest.approx(0.827, abs=0.01)
    assert accuracy(INFERENCE["ebcc"].infer(data), dataset) == pytest.approx(0.912, abs=0.01)


def test_published_bound(data_dir: Path) -> None:
    """The best start on product has the authors' evidence lower bound, −17345.

    They leave out the constant Σ ln B of the priors, as here.
    """
    data = Annotations.of(league_set(data_dir, "product").answers)
    shares, random = data.vote_shares, np.random.default_rng(0)
    starts = [shares[:, :, None] * random.dirichlet(np.ones(10), shares.shape) for _ in range(6)]
    bounds = [variational(data, start, shares.sum(axis=0)).bound for start in starts]
    assert max(bounds) == pytest.approx(-17345, abs=1)


def test_ibcc_is_a_fixed_point_of_its_formulas() -> None:
    """One more round, answer by answer, changes nothing."""
    data = small()
    found = INFERENCE["ibcc"].infer(data).probability
    assert found is not None
    votes = list(zip(data.worker, data.task, data.code))
    matrices = np.tile(1 + 3 * np.eye(3), (data.workers, 1, 1))  # worker × class × answer
    for worker, task, code in votes:
        matrices[worker, :, code] += found[task]
    prior = 1 + found.sum(axis=0)
    logs = np.tile(digamma(prior) - digamma(prior.sum()), (data.tasks, 1))
    for worker, task, code in votes:
        row = matrices[worker]
        logs[task] += digamma(row[:, code]) - digamma(row.sum(axis=1))
    again = np.exp(logs - logs.max(axis=1, keepdims=True))
    np.testing.assert_allclose(again / again.sum(axis=1, keepdims=True), found, atol=2e-3)


def test_the_same_seed_gives_the_same_result() -> None:
    """The starts are random, but fixed."""
    first, second = (INFERENCE["ebcc"].infer(small()).probability for _ in range(2))
    assert first is not None
    np.testing.assert_array_equal(first, np.asarray(second))
    np.testing.assert_allclose(first.sum(axis=1), 1)

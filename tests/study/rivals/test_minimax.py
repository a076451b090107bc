"""Minimax conditional entropy: its features, its gradient, the authors' own iteration."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.special import softmax

from forsooth.study.rivals import INFERENCE
from forsooth.study.rivals.minimax import FIRMNESS, Ordinal
from tests.study.rivals.crowds import small


def test_splits_of_three_answers() -> None:
    """Whether truth (rows) and answer (columns) are above 0 or not; above 1 or not."""
    splits = Ordinal(small(), FIRMNESS).splits.reshape(2, 2, 2, 3, 3)
    both, truth_only = splits[0, 0], splits[0, 1]
    np.testing.assert_array_equal(both[0], [[0, 0, 0], [0, 1, 1], [0, 1, 1]])
    np.testing.assert_array_equal(both[1], [[0, 0, 0], [0, 0, 0], [0, 0, 1]])
    np.testing.assert_array_equal(truth_only[0], [[0, 0, 0], [1, 0, 0], [1, 0, 0]])
    np.testing.assert_array_equal(splits.sum(axis=(0, 1)), np.ones((2, 3, 3)))


@pytest.mark.parametrize("given", [True, False])
def test_the_gradient(given: bool) -> None:
    """Against finite differences, at a random point."""
    data = small()
    model, truths = Ordinal(data, FIRMNESS), data.vote_shares if given else None
    point = np.random.default_rng(1).normal(0, 0.3, model.penalty.size)
    numeric = approx_fprime(point, lambda x: model.loss(x, truths)[0], 1e-7)
    np.testing.assert_allclose(model.loss(point, truths)[1], numeric, atol=1e-4)


def test_it_arrives_where_the_authors_iteration_does() -> None:
    """Theirs alternates between P(z_j) and the numbers of workers and tasks."""
    data = small()
    model, truths = Ordinal(data, FIRMNESS), data.vote_shares
    point = np.zeros(model.penalty.size)
    for _ in range(100):
        point = minimize(model.loss, point, (truths,), "L-BFGS-B", jac=True).x
        before, truths = truths, softmax(model.log_joint(point)[0], axis=1)
        if np.abs(truths - before).max() < 1e-4:
            break
    found = INFERENCE["minimax-ordinal"].infer(data).probability
    np.testing.assert_allclose(np.asarray(found), truths, atol=0.01)

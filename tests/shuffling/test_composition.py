from __future__ import annotations

from math import comb, exp

import pytest

from forsooth.shuffling.composition import PrivacyLoss

TOLERANCE = 1e-14


def response(local: float, epsilon: float) -> float:
    """δ(ε) of randomized response with two answers."""
    return max(0.0, (exp(local) - exp(epsilon)) / (1 + exp(local)))


def composed(local: float, copies: int, epsilon: float) -> float:
    """The same for some independent copies: the log-ratio is ε₀ times (kept − changed)."""
    found = 0.0
    for kept in range(copies + 1):
        one = comb(copies, kept) * exp(local * kept) / (1 + exp(local)) ** copies
        other = comb(copies, kept) * exp(local * (copies - kept)) / (1 + exp(local)) ** copies
        found += max(0.0, one - exp(epsilon) * other)
    return found


@pytest.mark.parametrize("copies", [1, 2, 3, 10, 100])
def test_randomized_response_composes_exactly(copies: int) -> None:
    """All its likelihood ratios are among the nodes, so that nothing is lost."""
    local = 0.3
    loss = PrivacyLoss.of(lambda epsilon: response(local, epsilon), local)
    loss = loss.times(copies, TOLERANCE)
    for share in (0.0, 0.05, 0.2, 0.6, 0.95):
        epsilon = share * copies * local
        truth = composed(local, copies, epsilon)
        assert truth <= loss.delta(epsilon) <= truth * (1 + 1e-7) + 1e-10


@pytest.mark.parametrize("copies", [2, 10, 100])
def test_between_the_nodes_it_is_an_upper_bound(copies: int) -> None:
    local, largest = 0.3, 0.487
    loss = PrivacyLoss.of(lambda epsilon: response(local, epsilon), largest)
    loss = loss.times(copies, TOLERANCE)
    for share in (0.05, 0.2, 0.6):
        epsilon = share * copies * local
        truth = composed(local, copies, epsilon)
        assert truth <= loss.delta(epsilon) < 1.03 * truth + 1e-3


def test_what_lies_beyond_the_last_node_counts_in_full() -> None:
    loss = PrivacyLoss.of(lambda epsilon: response(1.0, epsilon), 0.5)
    assert loss.infinite == pytest.approx(response(1.0, 0.5))
    assert loss.times(3, TOLERANCE).delta(10.0) >= 3 * response(1.0, 0.5) * 0.999


def test_noise_in_the_bounds_keeps_it_a_bound() -> None:
    """A curve that is not convex in its last digits is brought back to a convex one."""
    wobble = iter(1 + 1e-3 * (number % 3) for number in range(1000))
    loss = PrivacyLoss.of(lambda epsilon: response(0.3, epsilon) * next(wobble), 0.3)
    assert (loss.mass >= 0).all()
    for epsilon in (0.0, 0.1, 0.25):
        assert response(0.3, epsilon) <= loss.delta(epsilon) < 1.01 * response(0.3, epsilon)

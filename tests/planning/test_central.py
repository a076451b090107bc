from __future__ import annotations

from typing import Any

import pytest

import forsooth
from forsooth import ForsoothError, plan
from forsooth.planning.central import MOST_LOCAL, CentralPromise
from forsooth.shuffling import certify


def test_a_central_promise_is_kept_by_the_largest_epsilon() -> None:
    central = CentralPromise(0.5)
    asked: dict[str, Any] = {"tasks": 10, "density": 0.5, "workers": 3000, "mechanism": "rr"}
    found = plan("0..4", **asked, central=central, fast=True)
    certificate = found.certificate
    assert certificate is not None
    assert found.epsilon is not None
    assert found.question.asked == "mae"
    assert 0.48 < certificate.bound("counts", "worker").epsilon <= 0.5
    assert certificate.senders.honest == 1500
    more = found.campaign.built(1.02 * found.epsilon)
    assert more is not None
    assert certify(more, tasks=10, reports=3000).bound("counts", "worker").epsilon > 0.5
    local = plan("0..4", **asked, epsilon=0.05, fast=True)
    assert found.mae is not None
    assert local.mae is not None
    assert found.mae < 0.2 * local.mae, "0.05 for each of ten cells is 0.5 without anonymity"


def test_a_central_promise_for_each_cell_allows_more() -> None:
    def rr(epsilon: float) -> forsooth.Mechanism:
        return forsooth.mechanisms.rr("0..4", epsilon)

    found = {
        unit: CentralPromise(0.5, unit=unit).local_epsilon(rr, 10, 3000)
        for unit in ("cell", "worker")
    }
    assert found["cell"] > 1.5 * found["worker"]
    stricter = CentralPromise(0.5, delta=1e-9, unit="cell").local_epsilon(rr, 10, 3000)
    assert stricter < found["cell"]
    assert CentralPromise(20.0, unit="cell").local_epsilon(rr, 10, 3000) == MOST_LOCAL


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"workers": None}, "give workers beside it"),
        ({"epsilon": 1.0}, "takes the place"),
        ({"target_mae": 0.3}, "takes the place"),
        ({"central": CentralPromise(0.001)}, "9 workers are too few"),
        ({"mechanism": "lp"}, "not for lp"),
        ({"mechanism": "adaptive"}, "two mechanisms"),
        ({"protects": "answers"}, "how many people"),
    ],
)
def test_bad_questions(changes: dict[str, Any], complaint: str) -> None:
    asked: dict[str, Any] = {"workers": 9, "central": CentralPromise(1.0)} | changes
    with pytest.raises(ForsoothError, match=complaint):
        plan("0..4", tasks=30, density=0.5, fast=True, **asked)


@pytest.mark.parametrize("changes", [{"epsilon": 0.0}, {"unit": "person"}])
def test_a_promise_is_checked(changes: dict[str, Any]) -> None:
    with pytest.raises(ForsoothError, match=r"ε must be|the unit is"):
        CentralPromise(**({"epsilon": 1.0} | changes))


def test_the_better_mechanism_is_taken_at_its_own_epsilon() -> None:
    asked: dict[str, Any] = {"tasks": 1, "density": 0.5, "workers": 500, "fast": True}
    best = plan("0..4", **asked, central=CentralPromise(0.5))
    each = [
        plan("0..4", **asked, mechanism=name, central=CentralPromise(0.5))
        for name in ("rr", "staircase")
    ]
    assert best.mae == min(found.mae for found in each if found.mae is not None)
    assert each[0].epsilon != each[1].epsilon

"""Wrong arguments: an error for people, never a TypeError from deep inside, never ignored."""

# mypy: disable-error-code="arg-type"

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest

from forsooth import Answers, ForsoothError, Mechanism, Reports, infer, mechanisms, plan
from forsooth.auditing import audit

ANSWERS = Answers.of({"a": {"t": 1, "u": 2}, "b": {"t": 2}}, "0..4")


@pytest.mark.parametrize(
    "call",
    [
        lambda: mechanisms.rr("0..4", epsilon=1, protects="x"),
        lambda: mechanisms.rr("0..4", epsilon="3"),
        lambda: mechanisms.lp("0..4", 1, null="x"),
        lambda: mechanisms.lp("0..4", 1, sensitivity="x"),
        lambda: mechanisms.two_step("0..4", 1, first="x"),
        lambda: mechanisms.mf("0..4", 1, tasks=5, solver="x"),
        lambda: mechanisms.mf("0..4", 1, tasks="x"),
        lambda: mechanisms.mf("0..4", 1, tasks=5, ridge=-1),
        lambda: mechanisms.mf_safe("0..4", 1, tasks=5, centre="x"),
        lambda: mechanisms.mf_safe("0..4", 1, tasks=5, kappa=float("nan")),
        lambda: mechanisms.staircase("0..4", 1, density="x"),
        lambda: mechanisms.staircase("0..4", 1, truth=3),
        lambda: mechanisms.staircase("0..4", 1, estimand="x"),
        lambda: mechanisms.build("rr:foo=1", "0..4", 1, tasks=3),
        lambda: mechanisms.build("rr", "0..4", 1, tasks=3, unit="x"),
        lambda: mechanisms.build(3, "0..4", 1, tasks=3),
        lambda: mechanisms.rr("0..4", 1).perturb(ANSWERS, simulation_seed=-1),
        lambda: mechanisms.rr("0..4", 1).perturb(ANSWERS, simulation_seed="x"),
        lambda: mechanisms.rr("0..4", 1).perturb(ANSWERS, simulation_seed=1.5),
        lambda: infer(ANSWERS, tolerance="x"),
        lambda: infer(ANSWERS, "crh", tolerance="x"),
        lambda: infer(ANSWERS, "crh", max_iterations=2.5),
        lambda: infer(ANSWERS, 3),
        lambda: infer(ANSWERS, ["mean"]),
        lambda: infer(ANSWERS, estimand=3),
        lambda: infer(ANSWERS, unordered="yes"),
        lambda: infer(ANSWERS, gold_use=None),
        lambda: audit("rr"),
        lambda: audit(mechanisms.rr("0..4", 1), draws=0),
        lambda: audit(mechanisms.rr("0..4", 1), draws="x"),
        lambda: audit(mechanisms.rr("0..4", 1), alpha=2),
        lambda: plan(5, tasks=3, density=0.5, workers=3, epsilon=1),
        lambda: plan("0..4", tasks="x", density=0.5, workers=3, epsilon=1, fast=True),
        lambda: plan("0..4", tasks=3, density="x", workers=3, epsilon=1, fast=True),
        lambda: plan("0..4", tasks=3, density=0.5, workers="3", epsilon=1, fast=True),
        lambda: plan("0..4", tasks=3, density=0.5, workers=3, epsilon=1, mechanism="x", fast=True),
        lambda: plan("0..4", tasks=3, density=0.5, workers=3, target_mae="x", fast=True),
        lambda: Reports.read(5),
        lambda: Reports.read(ANSWERS),
        lambda: Mechanism.from_json(5),
        lambda: Mechanism.from_json("{}"),
        lambda: infer(ANSWERS, "mean").write(5),
        lambda: infer(ANSWERS, "mean").write("x.xyz"),
    ],
)
def test_wrong_arguments(call: Callable[[], object]) -> None:
    with pytest.raises(ForsoothError):
        call()


def test_a_mechanism_reads_tables_on_its_own_scale() -> None:
    mechanism = mechanisms.rr("0..4", epsilon=2)
    frame = ANSWERS.to_frame("pandas")
    expected = mechanism.perturb(ANSWERS, simulation_seed=1).values.tolist()
    assert mechanism.perturb(frame, simulation_seed=1).values.tolist() == expected
    nested = {"a": {"t": 1, "u": 2}, "b": {"t": 2}}
    assert mechanism.perturb(nested, simulation_seed=1).values.tolist() == expected
    with pytest.raises(ForsoothError, match="not on the scale 0..4"):
        mechanism.perturb(pd.concat([frame, frame.tail(1).assign(task="v", label="7")]))


def test_noise_may_be_a_number() -> None:
    assert mechanisms.staircase("0..4", 1, noise=1) == mechanisms.staircase("0..4", 1, noise="1")

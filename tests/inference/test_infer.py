from __future__ import annotations

import numpy as np
import pytest

from forsooth import Answers, ForsoothError, infer, mechanisms

TASKS = [f"t{j}" for j in range(6)]


def group(letter: str, scale: str = "0..4", tasks: list[str] = TASKS) -> Answers:
    return Answers.of(
        {f"{letter}{i:02}": dict.fromkeys(tasks, 3) for i in range(30)}, scale, tasks=tasks
    )


def test_several_mechanisms_in_one_campaign() -> None:
    """At a huge ε every mechanism's reports are the answers; together they are 90 workers."""
    parts = [
        mechanisms.build(name, group(letter).scale, 50.0, tasks=6).perturb(group(letter))
        for name, letter in (("rr", "a"), ("lp", "b"), ("grr", "c"))
    ]
    truths = infer(parts)
    assert len(truths.workers) == 90
    np.testing.assert_allclose(truths.estimate, 3, atol=0.2)
    assert truths.support.tolist() == [90] * 6


def test_reports_of_different_campaigns_are_refused() -> None:
    first = mechanisms.rr(group("a").scale, 1.0).perturb(group("a"))
    for other, complaint in (
        (group("b", scale="0..5"), "scales 0..4 and 0..5"),
        (group("b", tasks=TASKS[:5]), "lists of tasks differ"),
        (group("a"), "worker 'a00' reports twice"),
    ):
        with pytest.raises(ForsoothError, match=complaint):
            infer([first, mechanisms.rr(other.scale, 1.0).perturb(other)])
    with pytest.raises(ForsoothError, match="no reports"):
        infer([])


def test_mf_is_inferred_on_u_times_v() -> None:
    answers = group("a")
    reports = mechanisms.mf(answers.scale, 1.0, tasks=6, d=2).perturb(answers, simulation_seed=1)
    readings = reports.values @ reports.mechanism.matrix  # type: ignore[attr-defined]
    np.testing.assert_allclose(infer(reports, "mean").estimate, readings.mean(axis=0))


def test_labels_are_named_in_the_result() -> None:
    truths = infer(Answers.of({"a": {"p": "G", "q": "X"}}, "G,P,R,X,B"), "mean")
    assert truths.columns()["label"] == ["G", "X"]
    assert "label" not in infer(group("a")).columns()

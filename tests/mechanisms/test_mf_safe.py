from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from forsooth import Answers, ForsoothError, Mechanism, Scale, infer
from forsooth.mechanisms import mf_safe
from forsooth.study.synthetic import SyntheticCrowd

SCALE = Scale.parse("0..4")


def test_no_neighbours_are_further_apart_than_the_noise_is_made_for() -> None:
    """All vectors over two tasks, all neighbours, several workers: L1 distance of the sketches."""
    mechanism = mf_safe(SCALE, 1.0, tasks=2, d=2)
    vectors = list(itertools.product(range(SCALE.size + 1), repeat=2))
    codes = np.array(vectors)
    farthest = 0
    for worker in ("ann", "bob", "cyd", "dan"):
        sketches = mechanism.sketch(codes, (worker,) * len(vectors))
        for (i, one), (j, other) in itertools.combinations(enumerate(vectors), 2):
            if sum(a != b for a, b in zip(one, other)) == 1:
                farthest = max(farthest, int(np.abs(sketches[i] - sketches[j]).sum()))
    assert farthest == mechanism.sensitivity
    assert mechanism.rate * farthest == Fraction(1)


def test_presence_costs_no_extra_budget() -> None:
    """With the middle as centre and κ = range / 2, Δ is the range itself."""
    mechanism = mf_safe(SCALE, 1.0, tasks=9)
    assert mechanism.sensitivity == mechanism.centred[-1] - mechanism.centred[0]


def test_a_null_adds_nothing() -> None:
    mechanism = mf_safe(SCALE, 1.0, tasks=5, d=3)
    nothing = mechanism.sketch(np.full((4, 5), SCALE.null), tuple("abcd"))
    assert not nothing.any()


def test_profiles_are_public_balanced_and_different_for_everybody() -> None:
    mechanism = mf_safe(SCALE, 1.0, tasks=400, d=8)
    names = [f"worker {i}" for i in range(50)]
    place, sign = mechanism.profiles(names, 400)
    again, _ = replace(mechanism).profiles(names, 400)
    assert np.array_equal(place, again)
    assert np.bincount(place.ravel(), minlength=8).min() > 0.9 * place.size / 8
    assert abs(sign.mean()) < 0.03
    assert len({tuple(row) for row in place.tolist()}) == 50
    assert not np.array_equal(
        place, mf_safe(SCALE, 1.0, tasks=400, d=8, seed=1).profiles(names, 400)[0]
    )


def test_readings_are_right_on_average() -> None:
    """Without privacy noise (huge ε) and with a place for every task, means are recovered."""
    crowd = SyntheticCrowd(workers=3000, tasks=20, sparsity=0.3, truth_mean=5, truth_sd=2).draw(1)
    mechanism = mf_safe(crowd.answers.scale, 1e5, tasks=20, d=20)
    estimate = infer(mechanism.perturb(crowd.answers, simulation_seed=1), "mean").estimate
    np.testing.assert_allclose(estimate, infer(crowd.answers, "mean").estimate, atol=0.35)


def test_it_learns_more_than_lp_and_is_the_same_on_the_mirrored_scale() -> None:
    from forsooth.study.evaluation import Study, evaluate

    found = {}
    for mirror in (False, True):
        study = Study("synthetic:", (3.0,), ("lp", "mf-safe"), repeats=1, seed=1, mirror=mirror)
        for run in evaluate(study)["runs"]:
            found[run["mechanism"], mirror] = run["mae_change"]
    assert found["mf-safe", False] < found["lp", False] - 2
    assert abs(found["mf-safe", True] - found["mf-safe", False]) < 0.3


def test_a_campaign_without_any_answer() -> None:
    answers = Answers.of({"a": {}, "b": {}}, SCALE, tasks=["x", "y"])
    truths = infer(mf_safe(SCALE, 1.0, tasks=2).perturb(answers))
    assert np.isfinite(truths.estimate).all()
    assert (truths.estimate >= 0).all()
    assert (truths.estimate <= 4).all()


@pytest.mark.parametrize(
    "options",
    [
        {"d": 0},
        {"d": 10},
        {"centre": 5.0},
        {"centre": -1.0},
        {"centre": float("nan")},
        {"kappa": 0.0},
        {"kappa": -1.0},
        {"kappa": float("inf")},
        {"kappa": float("nan")},
    ],
)
def test_bad_options(options: dict[str, float]) -> None:
    with pytest.raises(ForsoothError, match="mf-safe"):
        mf_safe(SCALE, 1.0, tasks=9, **options)  # type: ignore[arg-type]


def test_another_centre_and_kappa_cost_what_they_cost() -> None:
    mechanism = mf_safe(SCALE, 1.0, tasks=9, centre=0.0, kappa=1.0)
    steps = 2.0**mechanism.grid
    assert mechanism.sensitivity * steps == 5  # |4 − 0| + 1


def test_forged_parameters_are_refused() -> None:
    honest = mf_safe(SCALE, 1.0, tasks=9)
    assert Mechanism.from_json(honest.to_json()) == honest
    with pytest.raises(ForsoothError, match="does not keep its promise"):
        replace(honest, sensitivity=honest.sensitivity - 1)
    with pytest.raises(ForsoothError, match="does not keep its promise"):
        replace(honest, presence=honest.presence + 1)

"""A crowd in outline: the arithmetic, and what it is for."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from forsooth import Answers, Reports, Scale, infer, mechanisms
from forsooth.inference.estimates import Rules
from forsooth.inference.posterior.ascent import Ascent
from forsooth.inference.posterior.evidence import campaign_of
from forsooth.inference.posterior.model import Crowd as Model
from forsooth.inference.posterior.outline import _Outlines, no_outline_fits, outlined
from forsooth.inference.posterior.picture import Picture, averaged
from forsooth.inference.posterior.pooled import Pooled, fit_pooled
from forsooth.study.synthetic import Crowd
from tests.inference.test_posterior_crowds import answers_of, noisy

OUTLINE = sys.modules[outlined.__module__]
SCALE = Scale.parse("0..9")


def fitted(
    data: Reports | Answers, gold: dict[int, int] | None = None
) -> tuple[Pooled, np.ndarray]:
    campaign = campaign_of([data])
    pinned = np.full(len(data.tasks), -1)
    for task, place in (gold or {}).items():
        pinned[task] = place
    pooled, ascent = fit_pooled(Model(data.scale), campaign.evidence, pinned, Rules())
    return pooled, ascent.point


def picture_of(pooled: Pooled, point: np.ndarray) -> Picture:
    return pooled.picture(Ascent(point, (0.0,), converged=True))


def reports_of(name: str, epsilon: float, seed: int, **crowd: float) -> tuple[Reports, np.ndarray]:
    dataset = Crowd(**{"workers": 300, "tasks": 40, "sparsity": 0.7, **crowd}).draw(seed)  # type: ignore[arg-type]
    mechanism = mechanisms.build(name, dataset.answers.scale, epsilon, tasks=40)
    return mechanism.perturb(dataset.answers, simulation_seed=seed), dataset.truth


@pytest.mark.parametrize("name", ["rr", "grr", "lp"])
def test_an_outline_is_a_point_of_the_pooled_model(name: str) -> None:
    """Likelihoods and posteriors are those of the model that is written out elsewhere."""
    pooled, _ = fitted(reports_of(name, 1.0, 1)[0], gold={3: 8})
    outlines, random = _Outlines(pooled), np.random.default_rng(1)
    points = random.random((5, outlines.dimensions))
    wholes = [
        np.concatenate([weights, kinds, [rate, 1 - rate], [1.0]])
        for weights, kinds, rate in zip(*outlines.parameters(points))
    ]
    found = [pooled.posterior(whole) for whole in wholes]
    np.testing.assert_allclose(
        outlines.log_likelihood(points), [likelihood for _, likelihood in found], atol=0.01
    )
    shares = random.dirichlet(np.ones(5))
    expected = np.tensordot(shares, np.array([mass[:, 0] for mass, _ in found]), 1)
    mass = outlines.mass(points, shares)[pooled.tally.place]
    np.testing.assert_allclose(mass, expected, atol=1e-4)
    assert mass[3, 8] == pytest.approx(1)


def test_outlines_reach_over_all_of_the_scale() -> None:
    outlines = _Outlines(fitted(reports_of("rr", 1.0, 1)[0])[0])
    places = [(0, 0.1, 0), (1, 0.1, 0), (0.5, 0, 1)]  # both ends, anywhere
    corners = np.array([[*place, 0.5, 0.5, 0.5] for place in places])
    weights, kinds, rates = outlines.parameters(corners)
    low, high, flat = weights @ outlines.pooled.crowd.shapes
    assert low[0] > 0.25 > low[-1]
    assert high[-1] > 0.25 > high[0]
    np.testing.assert_allclose(flat, 1 / len(flat))
    np.testing.assert_allclose(kinds.sum(axis=1), 1)
    assert ((rates > 0) & (rates < 1)).all()


@pytest.mark.parametrize("mean", [0, 9])
def test_few_nats_place_the_truths_nearly_as_well_as_knowing_them(mean: float) -> None:
    """ε = 0.5, seeds that were not looked at before; the free prior alone fails in several."""
    above, alone = [], []
    for seed in range(900, 906):
        crowd = Crowd(workers=2000, tasks=200, sparsity=0.9, truth_mean=mean)
        dataset = crowd.draw(seed)
        reports = mechanisms.rr(SCALE, 0.5).perturb(dataset.answers, simulation_seed=seed)
        constant = dataset.constant_error()
        above.append(infer(reports, model="pooled").error(dataset.truth) - constant)
        pooled, point = fitted(reports)
        mass, grid = picture_of(pooled, point).mass, pooled.crowd.grid
        median = grid[(np.cumsum(mass, axis=1) >= 0.5).argmax(axis=1)]
        alone.append(np.abs(median - dataset.truth).mean() - constant)
    assert np.median(above) < 0.03
    assert np.mean(above) < 0.1
    assert np.mean(above) < np.mean(alone) - 0.02


def test_where_reports_say_a_lot_the_free_shares_decide() -> None:
    """Truths at both ends of the scale: no outline has that shape."""
    random = np.random.default_rng(3)
    truth = random.choice([0.0, 9.0], 300)
    codes = np.clip(noisy(random, truth, 200, 3.0), 0, 9)
    answers = answers_of(codes, random.random(codes.shape) < 0.2, SCALE)
    pooled, point = fitted(mechanisms.grr(SCALE, 1.0).perturb(answers, simulation_seed=1))
    free, outline = picture_of(pooled, point), outlined(pooled)
    np.testing.assert_allclose(averaged([free, outline]).mass, free.mass, atol=1e-3)
    assert np.abs(outline.mass - free.mass).max() > 0.1  # they would have said something else


def test_where_reports_say_nothing_outlines_decide() -> None:
    pooled, point = fitted(reports_of("rr", 0.05, 4)[0])
    free, outline = picture_of(pooled, point), outlined(pooled)
    together = averaged([free, outline])
    np.testing.assert_allclose(together.mass, outline.mass, atol=1e-4)
    np.testing.assert_allclose(together.mass.sum(axis=1), 1)
    assert 0 < together.participation < 1
    assert np.abs(outline.mass - free.mass).max() > 0.01  # they would have said something else


def test_some_of_very_many_tasks_show_that_no_outline_fits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dataset = Crowd(workers=500, tasks=300, sparsity=0.5).draw(5)
    pooled, point = fitted(mechanisms.rr(SCALE, 4.0).perturb(dataset.answers, simulation_seed=1))
    assert not no_outline_fits(pooled, point)
    monkeypatch.setattr(OUTLINE, "_MANY", 150)
    assert no_outline_fits(pooled, point)
    pooled, point = fitted(mechanisms.rr(SCALE, 0.2).perturb(dataset.answers, simulation_seed=1))
    assert not no_outline_fits(pooled, point)


@pytest.mark.parametrize("levels", [5, 21])
def test_a_few_nats_of_chance_do_not_lead_away_from_the_middle(levels: int) -> None:
    """Truths anywhere on the scale, reports that say next to nothing: the middle is best.

    If outlines could begin anywhere alike, the medians would be 0.14 and 0.18 of the range away.
    """
    away = []
    for seed in range(900, 924):
        random = np.random.default_rng(seed)
        truth = random.integers(0, levels, 150).astype(float)
        codes = np.clip(noisy(random, truth, 60, levels / 6), 0, levels - 1)
        answers = answers_of(
            codes, random.random(codes.shape) < 0.05, Scale.parse(f"0..{levels - 1}")
        )
        reports = mechanisms.grr(answers.scale, 0.5).perturb(answers, simulation_seed=seed)
        estimate = infer(reports, model="pooled").estimate
        away.append(abs(float(np.median(estimate)) / (levels - 1) - 0.5))
    assert np.mean(away) < 0.1

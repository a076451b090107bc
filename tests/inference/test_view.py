"""Names or a measure: the reports decide how a short scale is to be looked at."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from forsooth import Answers, Reports, Scale, infer, mechanisms
from forsooth.inference.checkpoint import Checkpoint
from forsooth.inference.estimates import Rules
from forsooth.inference.posterior.ascent import Ascent
from forsooth.inference.posterior.evidence import campaign_of
from forsooth.inference.posterior.labels import Labels
from forsooth.inference.posterior.measure import Rating
from forsooth.inference.posterior.model import Crowd
from forsooth.inference.posterior.names import as_names, of_one_model
from forsooth.inference.posterior.outline import outlined
from forsooth.inference.posterior.picture import Picture
from forsooth.inference.posterior.pooled import Pooled, fit_pooled
from forsooth.inference.posterior.view import Seen, View, chances, views_of
from tests.inference.test_posterior_crowds import answers_of


def films(seed: int, per_task: float = 20.0) -> tuple[Answers, np.ndarray]:
    """Half stars from 1 to 10, of which most people give whole ones only; opinions differ."""
    random = np.random.default_rng(seed)
    truth = np.clip(random.normal(6.5, 0.9, 300), 0, 9)
    felt = truth + random.normal(0, 0.8, (250, 1)) + random.normal(0, 1.6, (250, 300))
    whole = random.random((250, 1)) < 0.8
    said = np.where(whole, 2 * np.rint((felt - 1) / 2) + 1, np.rint(felt))
    keep = random.random(felt.shape) < per_task / 250
    return answers_of(np.clip(said, 0, 9), keep, Scale.parse("0..9")), truth


def lecturers(seed: int) -> tuple[Answers, np.ndarray]:
    """Marks from 0 to 4, of students who hardly agree; nobody's mean is a whole number."""
    random = np.random.default_rng(seed)
    truth = np.clip(random.normal(2.2, 0.5, 300), 0, 4)
    felt = truth + random.normal(0, 1.2, (500, 300))
    keep = random.random(felt.shape) < 0.06
    return answers_of(np.clip(np.rint(felt), 0, 4), keep, Scale.parse("0..4")), truth


def moods(seed: int, middle: float = 3.0) -> tuple[Answers, np.ndarray]:
    """How well each of 80 words fits: from 0 to 6, and people are as different as can be."""
    random = np.random.default_rng(seed)
    inclined = np.clip(random.normal(middle, 1.2, 80), 0.2, 5.8) / 6
    felt = random.beta(1.2 * inclined, 1.2 * (1 - inclined), (300, 80))
    keep = random.random(felt.shape) < 0.1
    means = 6 * inclined
    return answers_of(np.rint(6 * felt), keep, Scale.parse("0..6")), means


def names(seed: int) -> tuple[Answers, np.ndarray]:
    """One of five is true."""
    random = np.random.default_rng(seed)
    truth = random.choice(5, 300, p=[0.5, 0.1, 0.1, 0.1, 0.2]).astype(float)
    felt = truth + random.uniform(0.3, 1.2, (200, 1)) * random.normal(size=(200, 300))
    keep = random.random(felt.shape) < 0.04
    return answers_of(np.clip(np.rint(felt), 0, 4), keep, Scale.parse("0..4")), truth


def seen(data: Answers | Reports) -> tuple[list[View], np.ndarray]:
    campaign, unknown = campaign_of([data]), np.full(len(data.tasks), -1)
    views = views_of(Crowd(data.scale), campaign.evidence, unknown, Rules(), Checkpoint())
    said = [view.together(campaign.workers) for view in views]
    return views, chances(said, campaign.workers)


def only_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """No measure, and no means of answers."""
    module = sys.modules[View.__module__]
    monkeypatch.setattr(module, "rated", lambda *_, **__: None)
    monkeypatch.setattr(module, "_readable", lambda *_: False)


@pytest.mark.parametrize("text", ["0..4", "1..10", "0,1,2,5"])
def test_whoever_rates_keeps_the_mean(text: str) -> None:
    scale = Scale.parse(text)
    rating = Rating(scale, np.random.default_rng(1).lognormal(0, 2, scale.size))
    means = rating.answers[:-1] @ np.asarray(scale.values)
    inside = np.clip(rating.grid, scale.low + scale.range / 20, scale.high - scale.range / 20)
    np.testing.assert_allclose(means, np.broadcast_to(inside, means.shape), atol=1e-6 * scale.range)
    np.testing.assert_allclose(rating.shapes.sum(axis=1), 1)
    base = rating.base(np.full(scale.size, 1 / scale.size))
    assert base.sum() == pytest.approx(1)
    assert (base > 0).all()


@pytest.mark.parametrize(("mechanism", "epsilon"), [("plain", 0.0), ("grr", 4.0), ("rr", 5.0)])
def test_ratings_are_means(mechanism: str, epsilon: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Taken for names, the stars that people like are taken for truths."""
    ours, theirs, as_names = [], [], []
    for seed in range(3):
        answers, truth = films(seed)
        data: Answers | Reports = answers
        if epsilon:
            built = mechanisms.build(mechanism, answers.scale, epsilon, tasks=300)
            data = built.perturb(answers, simulation_seed=seed)
        ours.append(infer(data).error(truth))
        theirs.append(infer(data, "algorithm1").error(truth))
        with monkeypatch.context() as patch:
            only_names(patch)
            as_names.append(infer(data).error(truth))
    assert np.mean(ours) < np.mean(theirs) + 0.02
    assert np.mean(ours) < 0.9 * np.mean(as_names)


def test_truths_between_the_answers() -> None:
    """Plain answers on five levels: as good as Algorithm 1, whose truths lie anywhere."""
    errors = []
    for seed in range(3):
        answers, truth = lecturers(seed)
        errors.append([infer(answers, each).error(truth) for each in ("posterior", "algorithm1")])
    ours, theirs = np.mean(errors, axis=0)
    assert ours < theirs + 0.02


@pytest.mark.parametrize("epsilon", [1.0, 3.0, None])
def test_names_stay_names(epsilon: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    answers, truth = names(3)
    data: Answers | Reports = answers
    if epsilon:
        data = mechanisms.grr(answers.scale, epsilon).perturb(answers, simulation_seed=1)
    with_both = infer(data).error(truth)
    only_names(monkeypatch)
    assert with_both < infer(data).error(truth) + 0.02


@pytest.mark.parametrize("levels", [5, 10])
def test_normal_errors_of_any_size_are_normal_errors(levels: int) -> None:
    """σ lies between two rungs of the ladder; likings would mend that, and bend the ends."""
    scale, errors = Scale.parse(f"0..{levels - 1}"), []
    for seed in range(1, 4):
        random = np.random.default_rng(seed)
        truth = random.uniform(0, levels - 1, 120)
        felt = truth + random.normal(size=(300, 120))
        said = np.clip(np.rint(felt), 0, levels - 1)
        answers = answers_of(said, random.random(said.shape) < 0.3, scale)
        rating = seen(answers)[0][1].pooled.crowd
        assert isinstance(rating, Rating)
        np.testing.assert_array_equal(rating.liked, 1)
        errors.append([infer(answers, each).error(truth) for each in ("posterior", "algorithm1")])
    ours, theirs = np.mean(errors, axis=0)
    assert ours < theirs + 0.02


def test_the_reports_decide() -> None:
    views, likely = seen(films(1)[0])
    assert likely[1] > 0.99
    assert [view.pooled.crowd.is_measure for view in views] == [False, True]
    views, likely = seen(names(1)[0])
    assert likely[0] > 0.99


def test_two_answers_and_labels_are_names() -> None:
    random = np.random.default_rng(4)
    codes, keep = random.integers(0, 2, (30, 40)), random.random((30, 40)) < 0.3
    assert len(seen(answers_of(codes, keep, Scale.parse("0..1")))[0]) == 1
    campaign = campaign_of([names(2)[0]])
    unknown, labels = np.full(300, -1), Labels(campaign.scale)
    assert len(views_of(labels, campaign.evidence, unknown, Rules(), None)) == 1


def pooled_of(data: Answers | Reports) -> tuple[Pooled, Ascent]:
    unknown = np.full(len(data.tasks), -1)
    return fit_pooled(Crowd(data.scale), campaign_of([data]).evidence, unknown, Rules())


def test_every_picture_of_names_has_a_double_whose_truths_are_means() -> None:
    pooled, ascent = pooled_of(moods(1)[0])
    crowd, picture = pooled.crowd, pooled.picture(ascent)
    grid, values = crowd.grid, np.asarray(crowd.scale.values)
    close = 0.51 * (grid[1] - grid[0])
    names, double = picture.apart(crowd)
    assert np.logaddexp(names.evidence, double.evidence) == pytest.approx(
        picture.evidence + np.log(2)
    )
    np.testing.assert_array_equal(names.mass, picture.mass)
    np.testing.assert_allclose(double.mass.sum(axis=1), 1)
    expected = picture.mass @ picture.answers @ values
    np.testing.assert_allclose(double.mass @ grid, expected, atol=close)
    met = double.mass.mean(axis=0) > 0.01
    np.testing.assert_allclose((double.answers @ values)[met], grid[met], atol=close)


def test_outlines_are_of_names_or_of_means_one_by_one() -> None:
    """Reports that say little: those at an end stay where they are, those in the middle do not."""
    answers, _ = moods(3)
    pooled, _ = pooled_of(mechanisms.grr(answers.scale, 0.3).perturb(answers, simulation_seed=1))
    picture, crowd = outlined(pooled), pooled.crowd
    names, double = picture.apart(crowd)
    assert np.logaddexp(names.evidence, double.evidence) == pytest.approx(
        picture.evidence + np.log(2)
    )
    far, near = (each.mass.mean(axis=0) @ np.abs(crowd.grid - 3) for each in (names, double))
    assert far > near + 0.5
    for each in (names, double):
        np.testing.assert_allclose(each.mass.sum(axis=1), 1, atol=1e-5)


def test_gold_has_no_doubles() -> None:
    """It says where on the scale the truths are, which a double would move."""
    answers, truth = moods(1)
    campaign, pinned = campaign_of([answers]), np.full(len(truth), -1)
    pinned[:20] = Crowd(answers.scale).nearest(truth[:20])
    views = views_of(Crowd(answers.scale), campaign.evidence, pinned, Rules(), None)
    assert len(views[1].pictures) <= 2  # free shares and outlines
    known = dict(zip(answers.tasks[:20], truth[:20]))
    others = np.where(np.arange(len(truth)) < 20, np.nan, truth)
    assert infer(answers, gold=known).error(others) < infer(answers, "mean").error(others) + 0.02


@pytest.mark.parametrize("epsilon", [2.0, 5.0, None])
def test_opinions_are_not_taken_for_answers_at_random(
    epsilon: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names of which half are at random would be far off the middle; what is answered is not."""
    errors = []
    for seed in range(8):
        answers, truth = moods(seed)
        data: Answers | Reports = answers
        if epsilon:
            data = mechanisms.grr(answers.scale, epsilon).perturb(answers, simulation_seed=seed)
        with monkeypatch.context() as patch:
            only_names(patch)
            taken_for_names = infer(data).error(truth)
        theirs = infer(data, "algorithm1").error(truth)
        errors.append((infer(data).error(truth), theirs, taken_for_names))
    ours, algorithm1, taken_for_names = np.mean(errors, axis=0)
    assert ours < algorithm1 + 0.02
    assert ours < 0.75 * taken_for_names


def test_right_answers_and_truths_at_an_end_speak_for_names() -> None:
    def speak(data: Answers | Reports) -> float:
        pooled, ascent = pooled_of(data)
        picture = pooled.picture(ascent)
        return float(as_names(pooled.crowd, picture.mass.mean(axis=0), picture.answers))

    assert speak(names(1)[0]) > 3
    assert speak(moods(1)[0]) < -2
    at_the_end, _ = moods(1, middle=-1.0)
    assert speak(at_the_end) > speak(moods(1)[0]) + 2
    assert of_one_model(np.array([-2.0, 2.0])).tolist() == [-1, 2]


def said(evidence: float, trust: float, likelier: float = 0.0) -> Seen:
    nothing = np.zeros((1, 1))
    return Seen(Picture(nothing, nothing, 0.5, evidence), nothing, trust, evidence, likelier)


def test_class_models_decide_by_more_than_they_leave_out() -> None:
    """Six nats decide for the pooled models, but not for the class models of a thousand workers."""
    pooled, classes = (chances([said(0.0, trust), said(6.0, trust)], 1000) for trust in (0.0, 0.8))
    hardly = chances([said(0.0, 0.001), said(6.0, 0.001)], 1000)
    assert hardly[1] == pytest.approx(pooled[1])
    assert pooled[1] > 0.95
    assert classes[1] < 0.6
    assert chances([said(0.0, 0.8, 2.0), said(6.0, 0.8)], 1000)[1] < 0.2
    assert chances([said(0.0, 0.8), said(1000.0, 0.8)], 1000)[1] > 0.99

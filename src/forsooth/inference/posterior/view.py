"""Two ways to look at a scale: as names, one of which is true, and as a measure.

Nobody says which it is. Of content that is harmless, mild or adult one name is the truth, and
workers confuse them in ways of their own, or answer at random. A rating has no true answer:
opinions differ, and its truth is what is answered on average, anywhere on the scale. Either view
has pooled models and models with worker classes, and on a scale of three to ten answers both are
asked.

Reports tell them apart by the evidence of the best model of each, but not always: answers of which
half are at random, around some truths, look like opinions around others. So every pooled model of
names counts for the other view, too, with what is answered to θ on average in place of θ. Between
these two nothing but what is known beforehand decides: most of those who give names are right, and
ratings are seldom all at an end of the scale. A finer scale is a measure; two answers are names, as
are labels without an order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from forsooth.inference.posterior.classes import (
    ABOUT,
    fit_again,
    fit_alike,
    fit_apart,
    fit_classes,
    fit_rated,
)
from forsooth.inference.posterior.confusions import confused, spread
from forsooth.inference.posterior.heldout import Means, class_sources, pooled_sources
from forsooth.inference.posterior.measure import HOPELESS, measured, rated
from forsooth.inference.posterior.model import normalised_exp
from forsooth.inference.posterior.names import log_chances, of_one_model
from forsooth.inference.posterior.outline import no_outline_fits, outlined
from forsooth.inference.posterior.picture import averaged
from forsooth.inference.posterior.pooled import fit_pooled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from forsooth.inference.checkpoint import Checkpoint
    from forsooth.inference.estimates import Rules
    from forsooth.inference.posterior.ascent import Ascent
    from forsooth.inference.posterior.batches import Batches
    from forsooth.inference.posterior.classes import ClassFit
    from forsooth.inference.posterior.confusions import Confused
    from forsooth.inference.posterior.evidence import Campaign, Evidence
    from forsooth.inference.posterior.measure import Measured
    from forsooth.inference.posterior.model import Crowd
    from forsooth.inference.posterior.picture import Picture
    from forsooth.inference.posterior.pooled import Pooled

    Array = NDArray[np.float64]

_HALF_TRUST = 0.5  # nats per worker
_NEGLIGIBLE = 1e-3  # a view that is less likely changes nothing
_SURE = 4.0  # nats with which names need no rival, unless it is good


@dataclass(frozen=True, eq=False)
class Seen:
    """What the models of a view say together."""

    picture: Picture  # of the pooled ones
    finer: Array  # P(θ | reports) of the class models, tasks × grid
    trust: float  # the weight of those
    evidence: float
    likelier: float = 0.0  # nats, beside that
    leading: ClassFit | None = None  # the class model with most weight among them

    @property
    def mass(self) -> Array:
        """P(θ | reports), tasks × grid."""
        return (1 - self.trust) * self.picture.mass + self.trust * self.finer


@dataclass(frozen=True, eq=False)
class View:
    """The models of one view.

    Free shares and kinds of error come first, then confusions, then the other pictures.
    """

    pooled: Pooled
    ascent: Ascent
    strict: Confused | None
    pictures: list[Picture]
    fits: list[ClassFit]
    price: float  # nats, for the shares that all of them may choose
    likelier: float = 0.0  # nats, before any report; pictures have them in their evidence

    def told(self, batches: Batches) -> View:
        """The same models with what batches tell of their tasks; outlines hear nothing of it.

        How much that is, the best class model says: the pooled ones take workers for truths.
        """
        pooled, strict, fits = self.pooled, self.strict, self.fits
        crowd, group, pictures = pooled.crowd, pooled.group, self.pictures
        shapes = [crowd.shapes] + ([strict.pooled.crowd.shapes] * 2 if strict else [])
        free = pictures[0].mass
        weights = pooled.split(pooled.shrunk(self.ascent.point)).weights[group]
        judges = [(fit.mass.sum(axis=1), fit.before[group], s) for fit, s in zip(fits, shapes)]
        best = int(np.argmax([fit.bound for fit in fits])) if fits else 0
        chances = batches.chances(*(judges[best] if fits else (free, weights, crowd.shapes)))
        told = [fit.told(batches.told(*judge, chances)) for fit, judge in zip(fits, judges)]
        heard = [replace(pictures[0], mass=batches.told(free, weights, crowd.shapes, chances))]
        if strict:
            heard.append(replace(pictures[1], mass=spread(crowd, strict.told(batches, chances))))
        return replace(self, pictures=[*heard, *pictures[len(heard) :]], fits=told)

    def together(self, workers: int) -> Seen:
        """The pooled and the class models, averaged."""
        picture = averaged(self.pictures)
        if not self.fits:
            return Seen(picture, picture.mass, 0.0, picture.evidence)
        rival = picture.evidence + self.price  # class models are as free, and do not pay
        bounds, weights = self._weights(rival, workers)
        masses = [self.fits[0].mass.sum(axis=1)]
        masses += [spread(self.pooled.crowd, fit.mass.sum(axis=1)) for fit in self.fits[1:]]
        finer = sum(weight * mass for weight, mass in zip(weights, masses))
        trust = _trust((max(bounds) - rival) / workers)
        leading = self.fits[int(np.argmax(weights))]
        if (evidence := max(bounds) - self.price) < picture.evidence:
            return Seen(picture, finer, trust, picture.evidence, leading=leading)
        return Seen(picture, finer, trust, evidence, self.likelier, leading)

    def held_out(self, seen: Seen, parts: Sequence[Evidence], known: NDArray[np.bool_]) -> Seen:
        """The same, where answers can be read, with means of them as far as they predict better."""
        crowd, picture = self.pooled.crowd, seen.picture
        if not _readable(crowd, parts):
            return seen
        means = Means.of(crowd, parts, picture.mass, picture.answers, alike=not self.fits)
        mass = means.beside(picture.mass, pooled_sources(parts, picture.answers), known)
        finer = seen.finer
        if seen.trust and seen.leading:
            finer = means.beside(finer, class_sources(crowd, parts, seen.leading), known)
        return replace(seen, picture=replace(picture, mass=mass), finer=finer)

    def _weights(self, rival: float, workers: int) -> tuple[list[float], Array]:
        """The bounds of the class models, and their weights: each beside all before it."""
        bounds, weights = [fit.bound for fit in self.fits], np.ones(1)
        for number, bound in enumerate(bounds[1:], start=1):
            before = max(bounds[:number])
            gain = (bound - max(before, rival)) / workers
            trust = _trust(gain) if before > rival else float(gain > 0)
            weights = np.append((1 - trust) * weights, trust)
        return bounds, weights


def views_of(
    crowd: Crowd,
    parts: tuple[Evidence, ...],
    pinned: NDArray[np.intp],
    rules: Rules,
    checkpoint: Checkpoint | None,
) -> list[View]:
    """One view, or two; without a `checkpoint` they have no class models."""
    pooled, ascent = measured(*fit_pooled(crowd, parts, pinned, rules), rules)
    first = _first(pooled, ascent, rules, checkpoint)
    return _with_measure(first, rules, checkpoint) or [first]


def _first(pooled: Pooled, ascent: Ascent, rules: Rules, checkpoint: Checkpoint | None) -> View:
    """Names on a short scale, and a measure on a fine one."""
    free = pooled.picture(ascent)
    strict = confused(pooled, ascent, free, rules)
    pictures = [free]
    if strict:
        pictures.append(strict.picture(pooled))
    if pooled.crowd.ordered and not no_outline_fits(pooled, ascent.point):
        pictures.append(outlined(pooled))
    fits = _class_models(pooled, ascent, strict, rules, checkpoint) if checkpoint else []
    return View(pooled, ascent, strict, pictures, fits, pooled.price)


def _with_measure(first: View, rules: Rules, checkpoint: Checkpoint | None) -> list[View] | None:
    """The same scale as names and as a measure, if it may be one.

    Gold tells at which answers the truths are, and so a model of names from its double.
    """
    crowd, seen = first.pooled.crowd, averaged(first.pictures)
    nats = seen.as_names(crowd)
    found = rated(first.pooled, first.ascent, rules, if_hopeless=bool(nats < _SURE))
    if found is None:
        return None
    free = _free(found, first.price)
    if nats > _SURE and free.evidence < seen.evidence - HOPELESS:
        return None
    as_these = float(log_chances(of_one_model(nats))[0])
    agreed = seen.by_agreement(crowd)  # a measure's own truths are elsewhere
    as_those = float(log_chances(of_one_model(agreed))[1])
    names, doubles = zip(*(each.apart(crowd) for each in first.pictures))
    pictures = [replace(free, evidence=free.evidence + as_those)]
    if not no_outline_fits(found.pooled, found.ascent.point):
        outlines = outlined(found.pooled)
        likelier = float(log_chances(agreed)[1])
        pictures.append(replace(outlines, evidence=outlines.evidence + likelier))
    if (first.pooled.pinned < 0).all():
        pictures += doubles
    fits = []
    if checkpoint:
        rival = max(fit.bound for fit in first.fits)
        fits.append(fit_rated(found, rules, rival, checkpoint))
    return [
        replace(first, pictures=list(names), likelier=as_these),
        View(found.pooled, found.ascent, None, pictures, fits, first.price, as_those),
    ]


def _free(found: Measured, price: float) -> Picture:
    """The picture of a measure, which counts as free as names are, but for its likings."""
    picture = found.pooled.picture(found.ascent)
    return replace(picture, evidence=picture.evidence + found.pooled.price - price - found.owed)


def _class_models(
    pooled: Pooled, ascent: Ascent, strict: Confused | None, rules: Rules, checkpoint: Checkpoint
) -> list[ClassFit]:
    """Kinds of error; workers who share one confusion matrix; kinds of workers with one each."""
    point = pooled.shrunk(ascent.point)
    fit = fit_classes(pooled, point, rules, checkpoint)
    if strict is None:
        return [fit]
    rival = pooled.likelihood(point)
    alike = fit_alike(strict, rules, rival, checkpoint)
    fit = fit_again(pooled, point, fit, alike, rules, checkpoint)
    return [fit, alike, fit_apart(strict, alike, rules, max(alike.bound, rival), checkpoint)]


def _readable(crowd: Crowd, parts: Sequence[Evidence]) -> bool:
    """Can single answers be read, and have they a mean?"""
    some = any(part.per_task.any() for part in parts)
    return some and crowd.ordered and crowd.scale.size > 2 and not any(p.hidden for p in parts)


@dataclass(frozen=True, eq=False)
class Decided:
    """What both views say together, with the workers of the likelier one."""

    mass: Array  # P(θ | reports), tasks × grid
    answers: Array  # P(a | θ), grid × answers
    participation: float
    iterations: int
    converged: bool
    trust: float
    likeliest: View


def decided(views: list[View], campaign: Campaign, known: NDArray[np.bool_]) -> Decided:
    """The average of the views; tasks whose truth is `known` stay as they are."""
    seen = [view.together(campaign.workers) for view in views]
    weights = chances(seen, campaign.workers)
    weights = np.where(weights < _NEGLIGIBLE, 0, weights) / weights[weights >= _NEGLIGIBLE].sum()
    heard = [
        (weight, view, view.held_out(each, campaign.evidence, known))
        for weight, view, each in zip(weights, views, seen)
        if weight
    ]
    ascents = [fit for _, view, _ in heard for fit in view.fits]
    pictures = [each.picture for _, _, each in heard]
    _, likeliest, first = max(heard, key=lambda each: each[0])
    return Decided(
        mass=sum(weight * each.mass for weight, _, each in heard),
        answers=sum(weight * each.picture.answers for weight, _, each in heard),
        participation=float(sum(w * each.picture.participation for w, _, each in heard)),
        iterations=sum(p.iterations for p in pictures) + sum(len(fit.history) for fit in ascents),
        converged=all(p.converged for p in pictures) and all(fit.converged for fit in ascents),
        trust=first.trust,
        likeliest=likeliest,
    )


def chances(seen: list[Seen], workers: int) -> Array:
    """How likely each view is.

    What class models leave out of a worker may be worth a little evidence in either view, so that,
    as far as they decide, a difference counts only by more than that for all workers together.
    """
    little = max(1.0, ABOUT * workers * max(each.trust for each in seen))
    logs = np.array([each.evidence / little + each.likelier for each in seen])
    return normalised_exp(logs)[0]


def _trust(gain: float) -> float:
    """The weight of a finer model in the average with a coarser; `gain` is in nats per worker.

    Its evidence is a lower bound and its posteriors are narrower than they should be, so that a
    small gain decides little: half a nat per worker, and it has half of the weight.
    """
    return max(0.0, gain) / (max(0.0, gain) + _HALF_TRUST)

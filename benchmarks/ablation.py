"""Which components of the model earn their place? Each is switched off in turn.

    python -m benchmarks.ablation [--crowds 12] [--first 2000] [--processes 2] [--league DIR]

On simulated crowds (`crowds.py`), the paper's crowd and, with --league, the league's smaller sets,
plain and with `rr` and `grr` at several ε. Printed per component and group: how much larger the
error is without it, in per cent of the range, with the standard error over crowds, and the change
of the intervals'
coverage. A component whose gain is not beyond two standard errors anywhere is a candidate for
removal.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks import league
from benchmarks.crowds import simulate
from benchmarks.measuring import each
from forsooth import Answers, Reports, mechanisms
from forsooth.estimand import Estimand
from forsooth.inference.checkpoint import Checkpoint
from forsooth.inference.posterior import integrate, kinds, latent, model
from forsooth.inference.posterior.evidence import campaign_of
from forsooth.inference.posterior.kinds import Kind
from forsooth.inference.posterior.options import Model, Options
from forsooth.inference.posterior.priors import PRIORS, Priors
from forsooth.study.synthetic import SyntheticCrowd
from forsooth.truths import Truths

NEVER, ALWAYS = 1e-9, 1e9  # weights that switch a component off
CHANNELS = (("plain", 0.0), ("rr", 1.0), ("rr", 2.0), ("rr", 5.0), ("grr", 1.0), ("grr", 2.0))
MOST_CELLS = 200_000  # larger crowds take long and say the same
MOST_ANSWERS = 12_000  # of a set of the league


@dataclass(frozen=True)
class Variant:
    """The model with something switched off."""

    priors: Priors = PRIORS
    model: Model = "auto"
    level: tuple[Kind, ...] = kinds.LEVEL
    label: tuple[Kind, ...] = kinds.LABEL
    points: Callable[..., NDArray[np.float64]] = integrate.global_points

    def infer(self, data: Answers | Reports, estimand: Estimand) -> Truths:
        """What this variant infers."""
        campaign = campaign_of([data])
        options = Options(estimand, model=self.model).resolved(campaign.scale)
        unknown = np.full(len(campaign.tasks), np.nan)
        with (
            patch.object(kinds, "LEVEL", self.level),
            patch.object(kinds, "LABEL", self.label),
            patch.object(latent, "global_points", self.points),
            threadpool_limits(1),
        ):
            return latent.infer_latent(campaign, unknown, options, Checkpoint(), self.priors)


def _typical(crowd: model.Crowd, *_: object) -> NDArray[np.float64]:
    return np.zeros((1, crowd.dimensions))


def _without(registry: tuple[Kind, ...], name: str) -> tuple[Kind, ...]:
    return tuple(kind for kind in registry if kind.name != name)


WITHOUT: dict[str, Variant] = {
    "nothing": Variant(),
    "messages between workers and tasks": Variant(model="pooled"),
    "global numbers of this campaign (typical ones)": Variant(points=_typical),
    "learned shares of kinds": Variant(replace(PRIORS, kinds_weight=ALWAYS)),
    "learned confusions (labels)": Variant(replace(PRIORS, row_weight=ALWAYS)),
    "learned shares of labels": Variant(replace(PRIORS, truth_weight=ALWAYS)),
    "near labels": Variant(replace(PRIORS, neighbours=0.0)),
    "unequal participation": Variant(replace(PRIORS, rate_step=NEVER)),
    "the uniform part of the prior": Variant(replace(PRIORS, uniform_weight=NEVER)),
    "places off the scale": Variant(replace(PRIORS, place_reach=0.5)),
    "kinds beside the ladder": Variant(replace(PRIORS, other_kinds=NEVER)),
    **{
        f"the kind: {kind.name}": Variant(
            level=_without(kinds.LEVEL, kind.name), label=_without(kinds.LABEL, kind.name)
        )
        for kind in {each.name: each for each in (*kinds.LEVEL, *kinds.LABEL)}.values()
    },
}
Run = tuple[str, str, str, float, float]  # component, group, crowd, error in ranges, coverage
Known = tuple[str, str, Answers, NDArray[np.float64], Estimand]  # group, crowd, answers, truths


def simulated(seed: int) -> list[Known]:
    """One simulated crowd and one of the paper's."""
    crowd, paper = simulate(seed), SyntheticCrowd(workers=600, tasks=100, truth_mean=4 * (seed % 2))
    drawn = paper.draw(seed=seed)
    return [
        (crowd.estimand, str(seed), crowd.answers, crowd.truth, crowd.estimand),
        ("the paper's crowd", str(seed), drawn.answers, drawn.truth, "level"),
    ]


def runs(known: Known) -> list[Run]:
    """One crowd through every channel, by every variant."""
    group, crowd, answers, truth, estimand = known
    found: list[Run] = []
    for name, epsilon in CHANNELS:
        if name == "rr" and len(answers.workers) * len(answers.tasks) > MOST_CELLS:
            continue
        data: Answers | Reports = answers
        if name != "plain":
            protects = "answers" if name == "grr" else "answers+participation"
            mechanism = getattr(mechanisms, name)(answers.scale, epsilon, protects=protects)
            data = mechanism.perturb(answers, simulation_seed=zlib.crc32(crowd.encode()))
        for component, variant in WITHOUT.items():
            truths = variant.infer(data, estimand)
            error = truths.error(truth) / answers.scale.range
            found.append((component, f"{group}, {name}", crowd, error, truths.coverage(truth)))
    return found


def league_sets(folder: Path) -> list[Known]:
    """The smaller sets; every one is a crowd."""
    found: list[Known] = []
    for source in league.known(folder, MOST_ANSWERS):
        dataset, estimand = league.dataset_of(source), source.estimand
        found.append((f"league, {estimand}", source.name, dataset.answers, dataset.truth, estimand))
    return found


def table(found: Iterable[Run]) -> str:
    """Means over the crowds of what a component gains."""
    rows: dict[tuple[str, str], dict[str, list[tuple[float, float]]]] = {}
    for component, group, crowd, error, coverage in found:
        of_crowd = rows.setdefault((component, group), {}).setdefault(crowd, [])
        of_crowd.append((error, coverage))
    lines = ["| without | crowds | error + | ± | coverage + |", "|---|---|---|---|---|"]
    for (component, group), crowds in rows.items():
        if component == "nothing":
            continue
        base = rows["nothing", group]
        change = np.array([np.mean(crowds[c], 0) - np.mean(base[c], 0) for c in crowds])
        more, covered = 100 * change[:, 0], change[:, 1]
        doubt = more.std(ddof=1) / np.sqrt(len(more))
        cells = f"{more.mean():+.2f} % | {doubt:.2f} | {covered.mean():+.3f}"
        lines.append(f"| {component} | {group} | {cells} |")
    return "\n".join(lines)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="what every component of the model gains")
    parser.add_argument("--crowds", type=int, default=12)
    parser.add_argument("--first", type=int, default=2000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--league", type=Path, help="the folder with the league's index.json")
    chosen = parser.parse_args()
    seeds = range(chosen.first, chosen.first + chosen.crowds)
    crowds = [known for seed in seeds for known in simulated(seed)]
    crowds += league_sets(chosen.league) if chosen.league else []
    found = each(runs, crowds, chosen.processes)
    print(table(run for some in found for run in some))


if __name__ == "__main__":
    main()

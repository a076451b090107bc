"""Which components of the model earn their place? Each is switched off in turn.

    python benchmarks/ablation.py [--crowds 12] [--first 2000] [--processes 2]

On simulated crowds (`crowds.py`) and the paper's crowd, with `rr` and `grr` at several ε. Printed
per component: how much larger the error is without it, in per cent of the range, with the standard
error over crowds, and the change of the intervals' coverage. A component whose gain is not beyond
two standard errors anywhere is a candidate for removal.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import numpy as np
from crowds import simulate
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from forsooth import Answers, Reports, mechanisms
from forsooth.estimand import Estimand
from forsooth.inference.checkpoint import Checkpoint
from forsooth.inference.posterior.evidence import campaign_of
from forsooth.inference.posterior.latent import infer_latent
from forsooth.inference.posterior.options import Model, Options
from forsooth.inference.posterior.priors import PRIORS, Priors
from forsooth.study.synthetic import Crowd
from forsooth.truths import Truths

NEVER, ALWAYS = 1e-9, 1e9  # weights that switch a component off
CHANNELS = (("plain", 0.0), ("rr", 1.0), ("rr", 2.0), ("rr", 5.0), ("grr", 1.0), ("grr", 2.0))
WITHOUT: dict[str, tuple[Priors, Model]] = {
    "nothing": (PRIORS, "auto"),
    "messages between workers and tasks": (PRIORS, "pooled"),
    "learned shares of kinds": (replace(PRIORS, kinds_weight=ALWAYS), "auto"),
    "learned confusions (labels)": (replace(PRIORS, row_weight=ALWAYS), "auto"),
    "unequal participation": (replace(PRIORS, same_rate=1 - NEVER, rates_weight=ALWAYS), "auto"),
    "the uniform part of the prior": (replace(PRIORS, uniform_weight=NEVER), "auto"),
    "places off the scale": (replace(PRIORS, place_reach=0.5), "auto"),
    "workers beside the ladder of errors": (replace(PRIORS, guess=NEVER), "auto"),
}
Run = tuple[str, str, int, float, float]  # component, group, seed, error in ranges, coverage


def inferred(data: Answers | Reports, estimand: Estimand, priors: Priors, model: Model) -> Truths:
    campaign = campaign_of([data])
    options = Options(estimand, model=model).resolved(campaign.scale)
    unknown = np.full(len(campaign.tasks), np.nan)
    with threadpool_limits(1):
        return infer_latent(campaign, unknown, options, Checkpoint(), priors)


def runs(seed: int) -> list[Run]:
    """One simulated crowd and one of the paper's, through every channel, by every variant."""
    simulated, paper = simulate(seed), Crowd(workers=600, tasks=100, truth_mean=4 * (seed % 2))
    drawn = paper.draw(seed=seed)
    found = []
    crowds: tuple[tuple[str, Answers, NDArray[np.float64], Estimand], ...] = (
        (simulated.estimand, simulated.answers, simulated.truth, simulated.estimand),
        ("the paper's crowd", drawn.answers, drawn.truth, "level"),
    )
    for group, answers, truth, estimand in crowds:
        if len(answers.workers) * len(answers.tasks) > 200_000:
            continue  # the large crowds take long and say the same
        for name, epsilon in CHANNELS:
            data: Answers | Reports = answers
            if name != "plain":
                protects = "answers" if name == "grr" else "answers+participation"
                mechanism = getattr(mechanisms, name)(answers.scale, epsilon, protects=protects)
                data = mechanism.perturb(answers, simulation_seed=seed)
            for component, (priors, model) in WITHOUT.items():
                truths = inferred(data, estimand, priors, model)
                error = truths.error(truth) / answers.scale.range
                found.append((component, group, seed, error, truths.coverage(truth)))
    return found


def table(found: Iterable[Run]) -> str:
    """Means over the crowds of what a component gains."""
    rows: dict[tuple[str, str], dict[int, list[tuple[float, float]]]] = {}
    for component, group, seed, error, coverage in found:
        of_seed = rows.setdefault((component, group), {}).setdefault(seed, [])
        of_seed.append((error, coverage))
    lines = ["| without | crowds | error + | ± | coverage + |", "|---|---|---|---|---|"]
    for (component, group), seeds in rows.items():
        if component == "nothing":
            continue
        base = rows["nothing", group]
        change = np.array([np.mean(seeds[s], 0) - np.mean(base[s], 0) for s in seeds])
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
    chosen = parser.parse_args()
    seeds = range(chosen.first, chosen.first + chosen.crowds)
    with ProcessPoolExecutor(chosen.processes) as pool:
        print(table(run for each in pool.map(runs, seeds) for run in each))


if __name__ == "__main__":
    main()

"""The judging table of the default inference, one command per row, version 0.1.0 beside it.

    python -m benchmarks.judging ROW [--seeds 1000-1009] [--skip old] [--json FILE]

| row | what |
|---|---|
| demo | the demo's survey, built in and drawn anew: rr and plain answers |
| paper | the paper's synthetic crowds and their mirror images: rr and adaptive |
| crowds | simulated crowds of many shapes (`benchmarks/crowds.py`) |
| real | wsd and adult: rr and adaptive |
| league | the sets of `forsooth league` beside version 0.1.0 and the classic methods |
| camps | opinions: two camps, and populations of other shapes |
| speed | seconds of single inferences; with --large also 10⁹ cells and Dask |
| calibration | campaigns from the model's own prior |
| enough | of simulated campaigns that are called enough, those beaten by a constant |

`real` and `league` need the data: --data-dir DIR or FORSOOTH_DATA=DIR. Results of version 0.1.0 are
cached, so a second run measures the code under test only. `--skip new` fills the cache.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks import calibration, crowds, league, opinions
from benchmarks.measuring import (
    ADAPTIVE,
    BOTH,
    OWN_ENVIRONMENT,
    PLAIN,
    VERSUS,
    Array,
    Campaign,
    Estimand,
    Options,
    Run,
    Version,
    common_options,
    noise_seed,
    perturbed,
    print_table,
    timed,
    versus,
    with_error,
    write_json,
)
from benchmarks.version_0_1_0 import Data, Old, ready
from forsooth import Answers, Scale
from forsooth.answers import code_dtype
from forsooth.bench.crowds import spaced
from forsooth.dataset import Dataset
from forsooth.errors import ForsoothError
from forsooth.study import datasets, demo
from forsooth.study.synthetic import PAPER_SCALE, SyntheticCrowd

Indices = NDArray[np.int64]

FIRST = 1000  # seed: those below were used in development
SURVEY_SEED = 2018  # with the seed of a run: other people than those of the built-in survey
ANSWERED = 0.6  # share of the survey's cells, as in the built-in survey; so are the next two
CAREFUL = 0.7  # share of careful people
CAREFUL_SD, CARELESS_SD = 0.7, 2.5  # steps, of the errors of careful and careless people
EPSILONS = (0.5, 1.0, 2.0, 3.0, 5.0)
REAL_EPSILONS = (1.0, 2.0, 3.0, 5.0)
ADULT_SEEDS = 3  # it has nine million cells
ROUNDS = 3  # of a timed inference, of which the quickest counts


@dataclass(frozen=True)
class Setting:
    """One campaign by name, so that it is made in the process that needs it."""

    data: str
    mechanism: str
    epsilon: float
    seed: int
    data_dir: Path | None = None

    @property
    def name(self) -> str:
        """A line of the table."""
        channel = "" if self.mechanism == PLAIN else f" ε = {self.epsilon:g}"
        return f"{self.data}, {self.mechanism}{channel}"

    def campaign(self) -> Campaign:
        """The data set with its noise."""
        dataset, estimand = dataset_of(self.data, self.seed, self.data_dir)
        noise = noise_seed(self.seed, self.data, self.mechanism, self.epsilon)
        return Campaign(dataset, estimand, self.mechanism, self.epsilon, noise)


BUILT_IN, DRAWN = "built-in survey", "survey drawn anew"
PAPER = {"N(0,1)": (0.0, False), "N(4,1)": (4.0, False)}  # mean of the truths, mirrored
PAPER |= {f"{name} mirrored": (middle, True) for name, (middle, _) in PAPER.items()}


@lru_cache(maxsize=2)
def dataset_of(name: str, seed: int, data_dir: Path | None) -> tuple[Dataset, Estimand]:
    """A data set by its name in the tables, and the estimand that its requester says."""
    if name == BUILT_IN:
        return demo.survey(), "level"
    if name == DRAWN:
        return survey(seed), "level"
    if name in PAPER:
        middle, mirrored = PAPER[name]
        drawn = SyntheticCrowd(truth_mean=middle).draw(seed, name)
        return drawn.mirrored() if mirrored else drawn, "level"
    return datasets.load(name, data_dir), "label"


def survey(seed: int) -> Dataset:
    """Other people than those of `demo.survey`, with the same truths, errors and participation."""
    random = np.random.default_rng([SURVEY_SEED, seed])
    truth = np.array(list(demo.QUESTIONS.values()))
    worker, task = np.nonzero(random.random((demo.WORKERS, len(truth))) < ANSWERED)
    sigma = np.where(random.random(demo.WORKERS) < CAREFUL, CAREFUL_SD, CARELESS_SD)
    heard = truth[task] + random.normal(size=len(task)) * sigma[worker]
    answers = _answers(demo.WORKERS, tuple(demo.QUESTIONS), worker, task, heard, demo.SCALE)
    return Dataset(DRAWN, answers, truth)


def large() -> Dataset:
    """A million plain answers of 5,000 workers to 20,000 tasks."""
    random, workers, tasks = np.random.default_rng(FIRST), 5_000, 20_000
    truth = np.clip(random.normal(4, 2, tasks), PAPER_SCALE.low, PAPER_SCALE.high)
    cell = spaced(random, workers * tasks, 10**6)
    worker, task = cell // tasks, cell % tasks
    sigma = np.where(random.random(workers) < 0.5, 1.0, 5.0)
    heard = truth[task] + random.normal(size=len(cell)) * sigma[worker]
    names = tuple(f"t{number:05}" for number in range(tasks))
    return Dataset("large", _answers(workers, names, worker, task, heard, PAPER_SCALE), truth)


def _answers(
    workers: int, tasks: tuple[str, ...], worker: Indices, task: Indices, heard: Array, scale: Scale
) -> Answers:
    """What is heard, rounded to the nearest answer of a scale of whole steps from 0."""
    return Answers(
        scale,
        tuple(f"w{number:05}" for number in range(workers)),
        tasks,
        worker.astype(np.int32),
        task.astype(np.int32),
        np.clip(np.rint(heard), scale.low, scale.high).astype(code_dtype(scale)),
    )


# The rows


def measured(setting: Setting, versions: Sequence[Version] = BOTH) -> Run:
    """Every version that is asked for."""
    return setting.campaign().run(setting.name, setting.seed, versions)


def compare(options: Options, settings: Sequence[Setting]) -> list[Run]:
    """Both versions in all settings, as a table."""
    runs = []
    for run in options.each(partial(measured, versions=options.versions), settings):
        runs.append(run)
        write_json(options.json, runs)
    print_table(VERSUS, versus(runs))
    return runs


def row_demo(options: Options) -> None:
    """The survey with other people for every seed, then the built-in people."""
    private = list(product(options.seeds, ["rr"], EPSILONS))
    plain = [(seed, PLAIN, 0.0) for seed in options.seeds]
    drawn = [Setting(DRAWN, name, epsilon, seed) for seed, name, epsilon in [*private, *plain]]
    fixed = [Setting(BUILT_IN, name, epsilon, seed) for seed, name, epsilon in [*private, plain[0]]]
    compare(options, [*drawn, *fixed])


def row_paper(options: Options) -> None:
    """Truths at an end and in the middle of the scale, and mirrored."""
    every = product(("rr", ADAPTIVE), options.seeds, PAPER, EPSILONS)
    compare(options, [Setting(data, name, epsilon, seed) for name, seed, data, epsilon in every])


def row_real(options: Options) -> None:
    """The data sets of the paper, then adaptive against rr."""
    settings = [
        Setting(data, name, epsilon, seed, options.data_dir)
        for data, seeds in (("wsd", options.seeds), ("adult", options.seeds[:ADULT_SEEDS]))
        for name, epsilon, seed in product(("rr", ADAPTIVE), REAL_EPSILONS, seeds)
    ]
    runs = dict(zip(settings, compare(options, settings)))
    print("\nError of adaptive − error of rr:\n")
    rows = []
    for data, epsilon in product(("wsd", "adult"), REAL_EPSILONS):
        differences = [_differences(runs, data, epsilon, version) for version in BOTH]
        constant = dataset_of(data, 0, options.data_dir)[0].constant_error()
        rows.append([data, f"{epsilon:g}", *map(with_error, differences), f"{constant:.3f}"])
    print_table(("data", "ε", "difference ± se", "0.1.0", "best constant"), rows)


def _differences(
    runs: dict[Setting, Run], data: str, epsilon: float, version: Version
) -> list[float]:
    """Adaptive − rr, for every seed; the noise of both is independent."""
    errors: dict[str, list[float]] = {"rr": [], ADAPTIVE: []}
    for setting, run in runs.items():
        score = getattr(run, version)
        if score and (setting.data, setting.epsilon) == (data, epsilon):
            errors[setting.mechanism].append(score.mae)
    return [adaptive - rr for adaptive, rr in zip(errors[ADAPTIVE], errors["rr"])]


def row_crowds(options: Options) -> None:
    """As `benchmarks/crowds.py --against-0.1.0`."""
    runs = crowds.measure(options.seeds, options.versions, options.processes, options.json)
    crowds.report(runs, options.versions)


def row_league(options: Options) -> None:
    """All sets of the folder `league` in the data directory."""
    root = options.data_dir or os.environ.get("FORSOOTH_DATA")
    if not root or not (Path(root) / "league" / "index.json").is_file():
        raise ForsoothError("the league's data are not here: --data-dir DIR or FORSOOTH_DATA=DIR")
    league.report(options, Path(root) / "league")


def row_speed(options: Options) -> None:
    """Seconds of the quickest of some rounds; the first may compile something."""
    rows = []
    with threadpool_limits(1), Old(OWN_ENVIRONMENT in os.environ, cached=False) as old:
        for name, target, estimand, make in TIMED:
            print(name, file=sys.stderr)
            data = make()
            works: dict[Version, Callable[[], object]] = {
                "new": partial(timed, data, estimand),
                "old": partial(old.infer, data),
            }
            seconds = [
                min(_elapsed(works[version]) for _ in range(ROUNDS))
                for version in BOTH
                if version in options.versions
            ]
            rows.append([name, *(f"{each:.2f}" for each in seconds), f"< {target}"])
    measured = [f"seconds, {version}" for version in BOTH if version in options.versions]
    print_table(("inference", *measured, "to reach"), rows)


def _elapsed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _rr(workers: int, tasks: int, epsilon: float) -> Data:
    dataset = SyntheticCrowd(workers=workers, tasks=tasks, truth_mean=4.0).draw(FIRST)
    return perturbed(dataset.answers, "rr", epsilon, FIRST)


def _opinions() -> Data:
    """50 questions, 1,000 people, five answers."""
    random = np.random.default_rng(FIRST)
    shares = random.dirichlet(np.full(5, 2.0), 50)
    return perturbed(opinions.drawn(random, shares, 1_000), "rr", 2.0, FIRST)


TIMED: tuple[tuple[str, float, Estimand, Callable[[], Data]], ...] = (
    ("2,000 × 200, rr ε = 2", 1, "level", partial(_rr, 2_000, 200, 2.0)),
    ("10,000 × 1,000, rr ε = 1", 5, "level", partial(_rr, 10_000, 1_000, 1.0)),
    ("10,000 × 1,000, rr ε = 3", 5, "level", partial(_rr, 10_000, 1_000, 3.0)),
    ("10⁶ plain answers, 5,000 × 20,000", 5, "level", lambda: large().answers),
    ("50 opinion questions, 1,000 people, rr ε = 2", 1, "opinion", _opinions),
)


def row_large(options: Options) -> None:
    """`forsooth bench scale cluster` of both versions: 10⁹ cells pooled, and Dask processes."""
    rows: dict[str, dict[Version, str]] = {}
    for version in options.versions:
        for what, figure in _benchmarked(version).items():
            rows.setdefault(what, {})[version] = figure
    print_table(
        ("benchmark", "this code", "0.1.0"),
        ([what, *(found.get(version, "–") for version in BOTH)] for what, found in rows.items()),
    )


def _benchmarked(version: Version) -> dict[str, str]:
    """The rows of one version's own benchmarks, with their ratios."""
    environment = dict(os.environ)
    if version == "old":
        environment["PYTHONPATH"] = str(ready()[0])
    command = [sys.executable, "-m", "forsooth", "bench", "scale", "cluster", "--json"]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    found = {}
    for benchmark in json.loads(done.stdout)["benchmarks"]:
        for row in benchmark["rows"]:
            ratio = f", {row['ratio']:.2f} × {row['instead']}" if row["ratio"] else ""
            found[row["what"]] = f"{row['ours']['value']:.3g} {row['ours']['unit']}{ratio}"
    return found


@dataclass(frozen=True)
class Row:
    """What to run, on how many seeds unless others are named, and what is to be reached."""

    work: Callable[[Options], None]
    seeds: int
    target: str


ROWS = {
    "demo": Row(
        row_demo, 30, "coverage 0.87–0.96; MAE at ε 1 / 2 / 3 at most 0.11 / 0.055 / 0.035"
    ),
    "paper": Row(row_paper, 10, "MAE at most one standard error above 0.1.0; coverage 0.87–0.97"),
    "crowds": Row(
        row_crowds,
        60,
        "MAE/range at most that of 0.1.0 plus one standard error; at most 5 % of "
        "runs more than 0.02 above Algorithm 1; coverage at least 0.88",
    ),
    "real": Row(
        row_real,
        10,
        "MAE within 0.03 of 0.1.0; adaptive never more than one standard error worse than rr",
    ),
    "league": Row(
        row_league,
        3,
        "levels: regret to the best rival at most half of that of 0.1.0; labels: "
        "on plain answers at most 0.01 worse than majority vote, mean error at most Dawid–Skene's",
    ),
    "camps": Row(opinions.report, 1, "coverage of shares and means 0.87–0.95"),
    "speed": Row(
        row_speed,
        1,
        "seconds as given; with --large: 10⁹ cells as before, two Dask "
        "processes at least 1.7 × one",
    ),
    "calibration": Row(
        calibration.calibration,
        200,
        "coverage 0.87–0.94, fewer than 1 % of campaigns below 0.75, "
        "p of uniform ranks at least 1e-4",
    ),
    "enough": Row(
        calibration.was_it_enough,
        60,
        "of those that say yes at most 5 % beaten by a constant; "
        "expected error within 20 % of the real one",
    ),
}


def parsed(text: str) -> list[int]:
    """``1000-1009`` or ``3,5,8``."""
    seeds: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        seeds += range(int(first), int(last or first) + 1)
    return seeds


def main() -> int:
    """Run one row and print its table."""
    parser = argparse.ArgumentParser(description="the judging table of the default inference")
    parser.add_argument("row", choices=ROWS)
    parser.add_argument("--seeds", type=parsed, help="1000-1009 or 3,5,8")
    parser.add_argument("--skip", choices=BOTH, help="measure one version only")
    parser.add_argument("--data-dir", type=Path, help="by default FORSOOTH_DATA")
    common_options(parser)
    parser.add_argument("--large", action="store_true", help="speed: 10⁹ cells and Dask, too")
    chosen = parser.parse_args()
    row = ROWS[chosen.row]
    seeds = chosen.seeds or range(FIRST, FIRST + row.seeds)
    versions = [version for version in BOTH if version != chosen.skip]
    options = Options(seeds, versions, chosen.processes, chosen.data_dir, chosen.json)
    print(f"## {chosen.row}\n\nTo reach: {row.target}.\n")
    try:
        row.work(options)
        if chosen.row == "speed" and chosen.large:
            print()
            row_large(options)
    except ForsoothError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())

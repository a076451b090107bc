"""The benchmarks by name, and how they are run: one that fails is a line of the report."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from threadpoolctl import threadpool_limits

from forsooth.bench import clustered, files, methods, sampling, scale
from forsooth.bench.setting import BenchSetting
from forsooth.errors import ForsoothError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from forsooth.bench.peers import Peers
    from forsooth.bench.rows import Row


@dataclass(frozen=True)
class Benchmark:
    """A name to ask for it by, what it measures, and the work."""

    name: str
    title: str
    work: Callable[[BenchSetting], Iterable[Row]]


@dataclass(frozen=True)
class BenchOutcome:
    """A benchmark's rows; and the `problem` that kept it from having more."""

    benchmark: Benchmark
    rows: tuple[Row, ...]
    problem: str = ""

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "name": self.benchmark.name,
            "title": self.benchmark.title,
            "problem": self.problem or None,
            "rows": [row.to_dict() for row in self.rows],
        }


BENCHMARKS = (
    Benchmark("rr", "Symbols of randomized response", sampling.randomized_response),
    Benchmark("perturb", "A table of answers, perturbed", sampling.perturbed_table),
    Benchmark("lp", "Laplace noise", sampling.laplace),
    Benchmark("mf", "Matrix factorization", sampling.factorization),
    Benchmark("packing", "Reports without wasted bits", files.packed),
    Benchmark("loading", "Answers from CSV", files.loading),
    Benchmark("passes", "A pass over answers in memory", methods.passes),
    Benchmark("iterations", "The classics, iteration by iteration", methods.iterations),
    Benchmark("dawid-skene", "Dawid–Skene", methods.dawid_skene_beside_crowd_kit),
    Benchmark("scale", "The pooled posterior of ever larger campaigns", scale.pooled),
    Benchmark("classes", "The posterior", scale.classes),
    Benchmark("cluster", "A cluster of processes", clustered.cluster),
)


def find(names: Iterable[str]) -> tuple[Benchmark, ...]:
    """Those asked for, in the order of the list; all, if none is."""
    wanted, by_name = set(names), {each.name: each for each in BENCHMARKS}
    if unknown := sorted(wanted - set(by_name)):
        raise ForsoothError(f"unknown benchmark {unknown[0]!r}; known: {', '.join(by_name)}")
    return tuple(each for each in BENCHMARKS if not wanted or each.name in wanted)


def run(benchmark: Benchmark, *, quick: bool, peers: Peers) -> BenchOutcome:
    """With a folder that is removed afterwards; numpy keeps to one core."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="forsooth-bench-") as folder, threadpool_limits(1):
        try:
            rows.extend(benchmark.work(BenchSetting(quick, peers, Path(folder))))
        except Exception as error:  # whatever it is, it is not to cost the other benchmarks
            reason = (str(error).replace(folder, "").splitlines() or [""])[0]
            return BenchOutcome(benchmark, tuple(rows), f"failed: {type(error).__name__}: {reason}")
    return BenchOutcome(benchmark, tuple(rows))

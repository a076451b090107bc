"""Speed of the hot paths, as ratios within one run: python benchmarks/speed.py [--json].

Absolute times are this machine's and noisy; the ratios are what to compare. Every figure is the
best of several rounds on one core.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR
from threadpoolctl import threadpool_limits

from forsooth import Answers, Scale, infer, mechanisms, packing
from forsooth.answers import code_dtype
from forsooth.mechanisms.channel import draw
from forsooth.randomness import SecureRandomness
from forsooth.study.synthetic import Crowd

ROUNDS = 3


def best(work: Callable[[], Any], rounds: int = ROUNDS) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def table(workers: int, tasks: int, answers: int) -> Answers:
    """`answers` distinct cells of a table, filled at random."""
    random, scale = np.random.default_rng(0), Scale.parse("0..9")
    cell = np.sort(random.choice(workers * tasks, answers, replace=False))
    return Answers(
        scale,
        tuple(map(str, range(workers))),
        tuple(map(str, range(tasks))),
        (cell // tasks).astype(np.int32),
        (cell % tasks).astype(np.int32),
        random.integers(0, scale.size, answers).astype(code_dtype(scale)),
    )


def randomized_response() -> dict[str, Any]:
    """10,000 × 1,000 cells, secure randomness, against numpy's draw of as many 32-bit words."""
    answers, cells = table(10_000, 1_000, 1_000_000), 10_000_000
    mechanism = mechanisms.rr(answers.scale, 1.0)
    ours = best(lambda: mechanism.perturb(answers), rounds=20)
    generator = np.random.default_rng(0)
    numpy = best(lambda: generator.integers(0, 2**32, cells, np.uint32))
    return {
        "what": "rr, 10,000 × 1,000 cells, secure",
        "rate": f"{cells / ours / 1e6:.0f}M cells/s",
        "peer": f"PCG64 words {cells / numpy / 1e6:.0f}M/s",
        "ratio": numpy / ours,
        "target": ">= 100M cells/s",
        "met": cells / ours >= 100e6,
    }


def symbols() -> dict[str, Any]:
    """Codes to symbols of rr over six, block by block, against the bare AES stream they need."""
    cells = 2**17
    mechanism, random = mechanisms.rr(Scale.parse("0..4"), 1.0), SecureRandomness()
    codes = np.random.default_rng(0).integers(0, 6, 2 * cells, np.uint8)
    ours = best(lambda: draw(mechanism.channel.thresholds, codes, random), rounds=200)
    zeros, stream = bytes(4 * cells), np.empty(4 * cells + 15, np.uint8)
    cipher = Cipher(AES(bytes(32)), CTR(bytes(16))).encryptor()
    bare = 2 * best(lambda: cipher.update_into(zeros, stream.data), rounds=200)
    return {
        "what": "rr's symbols of six, secure",
        "rate": f"{2 * cells / ours / 1e6:.0f}M cells/s",
        "peer": f"bare AES-256-CTR words {2 * cells / bare / 1e6:.0f}M/s",
        "ratio": bare / ours,
        "target": ">= 100M cells/s",
        "met": 2 * cells / ours >= 100e6,
    }


def packed_reports() -> dict[str, Any]:
    """1,000 × 1,000 symbols of two bits, packed and unpacked, against copying a byte each."""
    values = np.random.default_rng(0).integers(0, 4, (1_000, 1_000), np.uint8)
    packed = packing.pack(values, 2)
    there = best(lambda: packing.pack(values, 2), rounds=200)
    back = best(lambda: packing.unpack(packed, 1_000, 2, values.dtype), rounds=200)
    copied = best(values.copy, rounds=200)
    return {
        "what": "symbols of two bits, packed and unpacked",
        "rate": f"{values.size / there / 1e6:.0f}M and {values.size / back / 1e6:.0f}M/s",
        "peer": f"copied {values.size / copied / 1e6:.0f}M/s",
        "ratio": copied / max(there, back),
        "target": ">= 500M/s",
        "met": values.size / max(there, back) >= 500e6,
    }


def laplace() -> dict[str, Any]:
    """2,000 × 200 cells of exact discrete Laplace noise, against numpy's floating-point one."""
    answers, cells = table(2_000, 200, 40_000), 400_000
    mechanism = mechanisms.lp(answers.scale, 1.0)
    ours = best(lambda: mechanism.perturb(answers))
    generator = np.random.default_rng(0)
    numpy = best(lambda: generator.laplace(size=cells))
    return {
        "what": "lp, 2,000 × 200 cells, secure, exact",
        "rate": f"{cells / ours / 1e6:.1f}M cells/s",
        "peer": f"numpy laplace {cells / numpy / 1e6:.0f}M/s",
        "ratio": numpy / ours,
        "target": "",
        "met": True,
    }


def algorithm1() -> dict[str, Any]:
    """Algorithm 1 to convergence on a million answers, against reading them once with numpy."""
    crowd = Crowd(workers=2_000, tasks=50_000, sparsity=0.99).draw(0)
    answers, iterations = crowd.answers, infer(crowd.answers, "algorithm1").iterations
    ours = best(lambda: infer(answers, "algorithm1"))
    cells = answers.cells()
    numpy = best(lambda: np.bincount(cells.task, cells.value, minlength=cells.tasks))
    return {
        "what": f"Algorithm 1, {answers.size:,} answers, {iterations} iterations to convergence",
        "rate": f"{iterations / ours:.0f} iterations/s",
        "peer": f"one bincount {1 / numpy:.0f}/s",
        "ratio": iterations / ours * numpy,
        "target": ">= 10 iterations/s",
        "met": iterations / ours >= 10,
    }


def matrix_factorization() -> dict[str, Any]:
    """Matrix factorization with d = 20 for all workers, against one numpy solve per worker."""
    crowd = Crowd(workers=2_000, tasks=200, sparsity=0.9).draw(0)
    mechanism = mechanisms.mf(crowd.answers.scale, 1.0, tasks=200, d=20)
    ours = best(lambda: mechanism.perturb(crowd.answers))
    matrix, vector = np.eye(20) + 1, np.ones(20)
    numpy = best(lambda: [np.linalg.solve(matrix, vector) for _ in range(2_000)])
    return {
        "what": "mf, 2,000 × 200, d = 20",
        "rate": f"{ours:.3f} s",
        "peer": f"2,000 bare numpy solves {numpy:.3f} s",
        "ratio": numpy / ours,
        "target": "< 1 s",
        "met": ours < 1,
    }


def loading() -> dict[str, Any]:
    """10 million answers from CSV, against pyarrow's bare reading of the file."""
    import pyarrow.csv

    answers = table(50_000, 1_000, 10_000_000)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.csv"
        answers.write(path)
        ours = best(lambda: Answers.read(path, "0..9"))
        arrow = best(lambda: pyarrow.csv.read_csv(path))
    return {
        "what": "Answers.read, 10M rows of CSV",
        "rate": f"{ours:.1f} s",
        "peer": f"pyarrow read_csv {arrow:.1f} s",
        "ratio": arrow / ours,
        "target": "seconds",
        "met": ours < 20,
    }


BENCHMARKS = (
    randomized_response,
    symbols,
    packed_reports,
    laplace,
    algorithm1,
    matrix_factorization,
    loading,
)


def main() -> int:
    rows = []
    with threadpool_limits(1):
        for work in BENCHMARKS:
            rows.append(work())
            if "--json" not in sys.argv:
                row = rows[-1]
                print(
                    f"{row['what']}: {row['rate']} ({row['peer']}, ratio {row['ratio']:.2f})"
                    + (
                        f"; target {row['target']}: {'met' if row['met'] else 'MISSED'}"
                        * bool(row["target"])
                    )
                )
    if "--json" in sys.argv:
        print(json.dumps({"benchmarks": rows}, indent=2))
    return 0 if all(row["met"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())

"""What perturbing costs: symbols of randomized response, whole tables, Laplace noise, mf."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR

from forsooth import Scale, mechanisms
from forsooth.bench.crowds import table
from forsooth.bench.measure import race
from forsooth.bench.rows import Quantity, Row, Target
from forsooth.mechanisms.channel import draw
from forsooth.mechanisms.randomness import SecureRandomness
from forsooth.study.synthetic import SyntheticCrowd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from forsooth.bench.setting import BenchSetting

SCALE, EPSILON = Scale.parse("0..4"), 1.0
SYMBOLS = SCALE.size + 1  # NULL is one of them
_BLOCK = 2**17  # bytes enciphered at once: what is fastest here


def randomized_response(setting: BenchSetting) -> Iterator[Row]:
    """Codes to symbols on one core, against the bare coins and five other ways to draw them."""
    cells = setting.size(2**20, 2**18)
    mechanism, random = mechanisms.rr(SCALE, EPSILON), SecureRandomness()
    codes = np.random.default_rng(0).integers(0, SYMBOLS, cells, np.uint8)
    thresholds = mechanism.channel.thresholds
    ours, stream, numpy = (
        Quantity(cells / seconds, "cells/s")
        for seconds in race(
            lambda: draw(thresholds, codes, random),
            _bare_stream(4 * cells),
            lambda: _in_numpy(codes, np.random.default_rng(0)),
            rounds=setting.rounds,
        )
    )
    what = f"rr over {SYMBOLS} symbols, secure"
    yield Row(what, ours, "numpy, not secure", numpy, target=Target("ours", 100e6))
    yield Row(what, ours, "bare AES-256-CTR, 32 bits each", stream, target=Target("ratio", 0.5))
    others = {
        "pure-ldp": (2**16, Target("ratio", 40)),
        "multi-freq-ldpy": (2**16, Target("ratio", 40)),
        "diffprivlib, ExponentialCategorical": (2**13, None),
        "OpenDP": (2**11, None),
    }
    for name, (count, target) in others.items():
        values = codes[: setting.size(count, count // 16)].tolist()
        found = setting.peers.measure(name, values=values, symbols=SYMBOLS, epsilon=EPSILON)
        yield found.row(what, ours, "seconds", target, of=len(values))


def _bare_stream(size: int) -> Callable[[], None]:
    cipher = Cipher(AES(bytes(32)), CTR(bytes(16))).encryptor()
    zeros, stream = bytes(_BLOCK), np.empty(_BLOCK + 15, np.uint8)

    def work() -> None:
        for _ in range(size // _BLOCK):
            cipher.update_into(zeros, stream.data)

    return work


def _in_numpy(codes: NDArray[np.uint8], random: np.random.Generator) -> NDArray[np.uint8]:
    """Generalised randomized response as one would write it."""
    keep = np.exp(EPSILON) / (np.exp(EPSILON) + SYMBOLS - 1)
    others = (codes + random.integers(1, SYMBOLS, len(codes), np.uint8)) % SYMBOLS
    return np.where(random.random(len(codes)) < keep, codes, others)


def perturbed_table(setting: BenchSetting) -> Iterator[Row]:
    """From a table of answers to reports, NULLs and all."""
    answers = table(setting.size(10_000, 1_000), 1_000, SCALE)
    cells = len(answers.workers) * len(answers.tasks)
    mechanism = mechanisms.rr(SCALE, EPSILON)
    codes = answers.rows(0, len(answers.workers)).reshape(-1)
    ours, numpy = race(
        lambda: mechanism.perturb(answers),
        lambda: _in_numpy(codes, np.random.default_rng(0)),
        rounds=setting.size(10, 3),
    )
    yield Row(
        f"rr, {len(answers.workers):,} × {len(answers.tasks):,} cells from a table to reports",
        Quantity(cells / ours, "cells/s"),
        "numpy, not secure",
        Quantity(cells / numpy, "cells/s"),
        target=Target("ours", 100e6),
    )


def laplace(setting: BenchSetting) -> Iterator[Row]:
    """Exact discrete Laplace noise, against floating-point noise."""
    answers = table(setting.size(2_000, 200), 200, SCALE)
    cells = len(answers.workers) * len(answers.tasks)
    mechanism, generator = mechanisms.lp(SCALE, EPSILON), np.random.default_rng(0)
    ours, numpy = (
        Quantity(cells / seconds, "cells/s")
        for seconds in race(
            lambda: mechanism.perturb(answers),
            lambda: generator.laplace(size=cells),
            rounds=setting.size(10, 3),
        )
    )
    what = "lp, secure and exact"
    yield Row(what, ours, "numpy, neither", numpy)
    values = answers.code[: setting.size(2**13, 2**9)].tolist()
    found = setting.peers.measure(
        "diffprivlib, Laplace", values=values, symbols=SCALE.size, epsilon=EPSILON
    )
    yield found.row(what, ours, "seconds", of=len(values))


def factorization(setting: BenchSetting) -> Iterator[Row]:
    """Matrix factorization for all workers, against one bare solve for each."""
    crowd = SyntheticCrowd(workers=setting.size(2_000, 200), tasks=200, sparsity=0.9).draw(0)
    workers = len(crowd.answers.workers)
    mechanism = mechanisms.mf(crowd.answers.scale, EPSILON, tasks=200, d=20)
    matrix, vector = np.eye(20) + 1, np.ones(20)
    ours, numpy = race(
        lambda: mechanism.perturb(crowd.answers),
        lambda: [np.linalg.solve(matrix, vector) for _ in range(workers)],
        rounds=3,
    )
    yield Row(
        f"mf, {workers:,} × 200, d = 20",
        Quantity(ours, "s"),
        f"numpy, {workers:,} bare solves",
        Quantity(numpy, "s"),
        target=Target("ours", 1),
    )

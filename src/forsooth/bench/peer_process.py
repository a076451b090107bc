"""Measures one other library: a program for the Python in which that library is installed.

It stands alone, without forsooth: JSON with what to do comes in on standard input, JSON with the
seconds goes out. Libraries that take one value at a time are called once for each.
"""

from __future__ import annotations

import json
import math
import sys
import time
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 5


def pure_ldp(given: dict[str, Any]) -> dict[str, float]:
    """Direct encoding, one value after the other."""
    from pure_ldp.frequency_oracles.direct_encoding import DEClient

    client = DEClient(given["epsilon"], given["symbols"], index_mapper=lambda value: value)
    return _best(lambda: [client.privatise(value) for value in given["values"]])


def multi_freq_ldpy(given: dict[str, Any]) -> dict[str, float]:
    """Its compiled client of generalised randomized response, one value after the other."""
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

    symbols, epsilon = given["symbols"], given["epsilon"]
    return _best(lambda: [GRR_Client(value, symbols, epsilon) for value in given["values"]])


def diffprivlib_categorical(given: dict[str, Any]) -> dict[str, float]:
    """The exponential mechanism with the same utility for every wrong answer."""
    from diffprivlib.mechanisms import ExponentialCategorical

    names = [chr(ord("a") + symbol) for symbol in range(given["symbols"])]
    utility = [(one, other, 1.0) for one in names for other in names if one < other]
    mechanism = ExponentialCategorical(epsilon=given["epsilon"], utility_list=utility)
    values = [names[value] for value in given["values"]]
    return _best(lambda: [mechanism.randomise(value) for value in values])


def diffprivlib_laplace(given: dict[str, Any]) -> dict[str, float]:
    """Laplace noise on one value after the other."""
    from diffprivlib.mechanisms import Laplace

    mechanism = Laplace(epsilon=given["epsilon"], sensitivity=float(given["symbols"] - 1))
    return _best(lambda: [mechanism.randomise(value) for value in given["values"]])


def opendp(given: dict[str, Any]) -> dict[str, float]:
    """Randomized response on a scalar, one value after the other."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    symbols, weight = given["symbols"], math.exp(given["epsilon"])
    respond = dp.m.make_randomized_response(list(range(symbols)), weight / (weight + symbols - 1))
    return _best(lambda: [respond(value) for value in given["values"]])


def crowd_kit(given: dict[str, Any]) -> dict[str, float]:
    """Dawid–Skene on a table from a file; the negative tolerance keeps it from stopping early."""
    import numpy as np
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    with np.load(given["table"]) as held:
        table = pd.DataFrame({name: held[name] for name in ("task", "worker", "label")})
        truth = held["truth"]
    start = time.process_time()
    labels = DawidSkene(n_iter=given["iterations"], tol=-math.inf).fit_predict(table)
    seconds = time.process_time() - start
    right = labels.to_numpy() == truth[labels.index.to_numpy()]
    return {"seconds": seconds, "accuracy": float(right.mean())}


PEERS: dict[str, tuple[str, Callable[[dict[str, Any]], dict[str, float]]]] = {
    "pure-ldp": ("pure-ldp", pure_ldp),
    "multi-freq-ldpy": ("multi-freq-ldpy", multi_freq_ldpy),
    "diffprivlib, ExponentialCategorical": ("diffprivlib", diffprivlib_categorical),
    "diffprivlib, Laplace": ("diffprivlib", diffprivlib_laplace),
    "OpenDP": ("opendp", opendp),
    "crowd-kit": ("crowd-kit", crowd_kit),
}


def _best(work: Callable[[], Any]) -> dict[str, float]:
    """The least processor time; a first round, which may compile something, does not count."""
    work()
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return {"seconds": min(times)}


def main() -> None:
    """One peer: its version and what was found, or that it is not installed."""
    package, work = PEERS[sys.argv[1]]
    try:
        found: dict[str, Any] = {"version": version(package)}
    except ImportError:
        print(json.dumps({"problem": "not installed"}))
        return
    given = json.load(sys.stdin)
    print(json.dumps(found | work(given)))


if __name__ == "__main__":
    main()

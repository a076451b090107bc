"""An inference from simulated reports says that they protect nobody.

A requester hands on reports whose noise came from a simulation seed, which anybody can subtract,
and shows an inference from them as if the workers had been protected. The recipient infers with the
library and with the command, from a file, and from a state that has counted the file. Nothing is
random.
"""

from __future__ import annotations

import io
import json
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from benchmarks.attacks import Outcome
from forsooth import Reports, infer, mechanisms
from forsooth.cli import app
from forsooth.study.synthetic import SyntheticCrowd

SEED = 21


def attack() -> Outcome:
    """In which of four results the seed is mentioned."""
    answers = SyntheticCrowd(workers=30, tasks=5, sparsity=0.2).draw(1).answers
    with tempfile.TemporaryDirectory() as name:
        path, state = Path(name, "reports.parquet"), Path(name, "state.parquet")
        mechanisms.rr(answers.scale, 2.0).perturb(answers, simulation_seed=SEED).write(path)
        said = {
            "the library": repr(infer(Reports.read(path))),
            "infer FILE": printed("infer", str(path), "--json"),
            "infer --method mean": printed("infer", str(path), "--method", "mean", "--json"),
            "infer --state": printed("infer", str(path), "--state", str(state), "--json"),
        }
    silent = [name for name, text in said.items() if f"simulation seed {SEED}" not in text]
    return Outcome(not silent, f"the seed is missing in {len(silent)} of {len(said)} results")


def printed(*arguments: str) -> str:
    """What a command prints on standard output, which must be JSON."""
    with redirect_stdout(io.StringIO()) as caught, redirect_stderr(io.StringIO()):
        app(list(arguments), standalone_mode=False)
    return json.dumps(json.loads(caught.getvalue()))

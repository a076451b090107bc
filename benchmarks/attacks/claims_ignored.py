"""`forsooth audit` audits what is claimed with its flags, not what the suspect says of itself.

A requester claims ε = 1 for answers and participation, and hands out a mechanism that says ε = 5
of itself and protects the answers only. Somebody checks the claim on the mechanism's file and on
reports that were made with it. Nothing is random but the draws of the audit, which can only add to
the accusations: there is no false alarm, since the exact ε alone contradicts the claim.
"""

from __future__ import annotations

import io
import os
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

from benchmarks.attacks import Outcome
from forsooth import Scale, mechanisms
from forsooth.cli import app
from forsooth.study.synthetic import SyntheticCrowd

SCALE = Scale.parse("0..2")
CLAIMS = (
    ("--epsilon", "1"),
    ("--protects", "answers+participation"),
    ("--unit", "worker", "--epsilon", "5"),
)


def attack() -> Outcome:
    """How many false claims are found, of those that flags can make."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        crowd = SyntheticCrowd(workers=200, tasks=6, sparsity=0.5, truth_mean=1, scale=SCALE)
        answers = crowd.draw(1).answers
        mechanism = mechanisms.grr(SCALE, 5.0, protects="answers")
        (folder / "mechanism.json").write_text(mechanism.to_json())
        answers.write(folder / "answers.csv")
        mechanism.perturb(answers, simulation_seed=2).write(folder / "reports.parquet")
        files = (
            ("--mechanism-file", folder / "mechanism.json", "--draws", "1000"),
            ("--reports", folder / "reports.parquet", "--answers", folder / "answers.csv"),
        )
        codes = [run(*map(os.fspath, [*file, *claim])) for file in files for claim in CLAIMS]
    return Outcome(
        codes == [1] * len(codes),
        f"{codes.count(1)} of {len(codes)} false claims are called false",
    )


def run(*arguments: str) -> int:
    """The exit code of `forsooth audit`."""
    with redirect_stdout(io.StringIO()):
        return app(["audit", *arguments], standalone_mode=False) or 0

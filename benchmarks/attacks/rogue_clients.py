"""A client that hides an answer in its reports does not pass the audit of its reports.

Both clients send values whose distribution, each by itself, is right. One perturbs again and again
until the parity of all its symbols is that of its first answer; the other writes every answer into
the two lowest bits of its Laplace noise. A requester reads the answers back without an error. The
audit gets known answers and the reports. An honest client must pass, or the audit is no use; it is
accused with a probability of at most 10⁻⁶.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.attacks import Outcome
from forsooth import Answers, Reports, Scale, mechanisms
from forsooth.auditing import audit_reports
from forsooth.study.synthetic import SyntheticCrowd

SCALE = Scale.parse("0..2")
WORKERS, TASKS, SEED = 1000, 12, 21


def attack() -> Outcome:
    """Are both clients convicted, and honest ones not?"""
    crowd = SyntheticCrowd(WORKERS, TASKS, sparsity=0.3, truth_mean=1, scale=SCALE)
    answers = crowd.draw(SEED).answers
    codes = answers.rows(0, WORKERS).astype(np.int64)
    symbols = mechanisms.rr(SCALE, 1.0).perturb(answers, simulation_seed=SEED)
    noisy = mechanisms.lp(SCALE, 1.0).perturb(answers, simulation_seed=SEED)
    parity = replace(symbols, values=parities(symbols, answers, codes[:, 0] % 2))
    bits = replace(noisy, values=(noisy.values & ~3) | codes)
    assert (parity.values.sum(axis=1) % 2 == codes[:, 0] % 2).all()
    assert ((bits.values & 3) == codes).all()
    honest = [passes(each, answers) for each in (symbols, noisy)]
    rogue = {name: passes(each, answers) for name, each in (("parity", parity), ("bits", bits))}
    passed = [name for name, passed in rogue.items() if passed]
    return Outcome(
        all(honest) and not passed,
        f"of two clients that show answers for certain, {len(passed)} pass"
        + ("" if all(honest) else ", and an honest one is accused"),
    )


def passes(reports: Reports, answers: Answers) -> bool:
    """What the audit says of reports whose answers are known."""
    return audit_reports(reports, answers).holds


def parities(reports: Reports, answers: Answers, wanted: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Honest symbols, drawn again by every worker until their parity is the wanted one."""
    values: NDArray[np.uint8] = reports.values.copy()
    seed = SEED
    while (wrong := values.sum(axis=1) % 2 != wanted).any():
        seed += 1
        again = reports.mechanism.perturb(answers, simulation_seed=seed)
        values[wrong] = again.values[wrong]
    return values

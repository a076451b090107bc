"""A worker's total ε is never stated below the exact sum.

The total of many cells is a product of floats, which rounds either way; and it is shown with six
digits. A promise that is rounded down is a false one, however little it is. The exact sum is
computed in rational numbers, for many ε and numbers of tasks. Nothing is random.
"""

from __future__ import annotations

import re
from fractions import Fraction

from benchmarks.attacks import Outcome
from forsooth import Privacy
from forsooth.promise import promise

EPSILONS = (0.05, 0.1, 0.3, 1 / 3, 2 / 3, 1.2345641)
TASKS = (2, 3, 10, 60)
FLOAT = Fraction(10**12 - 1, 10**12)  # 0.1 is shown as 0.1, though the float is a little above


def attack() -> Outcome:
    """How many totals are below the exact sum, as floats and as they are printed."""
    below = printed = 0
    for epsilon in EPSILONS:
        for tasks in TASKS:
            guarantee, exact = Privacy(epsilon), Fraction(epsilon) * tasks
            below += Fraction(guarantee.worker_total(tasks)) < exact
            for text in (guarantee.describe(tasks), promise(guarantee, tasks).sentences[0]):
                (shown,) = re.findall(r"together: ε = ([\d.]*\d)", text)
                printed += Fraction(shown) < exact * FLOAT
    tried = len(EPSILONS) * len(TASKS)
    return Outcome(
        below == printed == 0,
        f"of {tried} totals {below} are too low, and {printed} of {2 * tried} as printed",
    )

"""A list of tasks or workers that was taken from the answers is not published without a warning.

Reports protect participation, but the file lists tasks and workers. If these lists are taken from
the answers, a reader sees that somebody answered a sensitive question, and who answered anything
at all. The attacker reads both from a file of reports. With the campaign's public lists there must
be nothing to see and no warning. Nothing depends on chance.
"""

from __future__ import annotations

import warnings

from benchmarks.attacks import Outcome
from forsooth import Answers, mechanisms

TASKS, WORKERS = ["the weather", "an illness"], ["ann", "bob"]
SILENT = [{"worker": "ann", "task": "the weather", "label": 1}]
OPEN = [*SILENT, {"worker": "bob", "task": "an illness", "label": 1}]


def attack() -> Outcome:
    """Can the lists be told apart, and does the library say so?"""
    taken = [published(rows) for rows in (SILENT, OPEN)]
    public = [published(rows, tasks=TASKS, workers=WORKERS) for rows in (SILENT, OPEN)]
    if taken[0][0] == taken[1][0]:
        return Outcome(False, "the lists show nothing: this attack is broken")
    warned = all("tasks" in said and "workers" in said for _, said in taken)
    quiet = public[0][0] == public[1][0] and not any(said for _, said in public)
    return Outcome(
        warned and quiet,
        f"a reader sees who answered what ({len(taken[0][0])} and {len(taken[1][0])} names), "
        + ("with a warning" if warned else "and nobody is warned"),
    )


def published(
    rows: list[dict[str, object]],
    tasks: list[str] | None = None,
    workers: list[str] | None = None,
) -> tuple[set[str], str]:
    """The names that a file of reports lists, and the warnings of the one who makes it."""
    answers = Answers.of(rows, "0..2", tasks=tasks, workers=workers)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        reports = mechanisms.rr("0..2", 1.0).perturb(answers)
    return {*reports.tasks, *reports.workers}, " ".join(str(each.message) for each in said)

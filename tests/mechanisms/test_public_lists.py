"""Lists of tasks and workers are public: taking them from the answers is warned of, once."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import pandas as pd
import pytest

from forsooth import Answers, mechanisms
from forsooth.errors import AssumptionWarning

ROWS = [{"worker": "ann", "task": "q1", "label": 3}, {"worker": "bob", "task": "q2", "label": 0}]
NESTED = {"ann": {"q1": 3}, "bob": {"q2": 0}}
WIDE = pd.DataFrame({"worker": ["ann", "bob"], "q1": [3, None], "q2": [None, 0]})
RR, PUBLIC = mechanisms.rr("0..4", 1.0), mechanisms.grr("0..4", 1.0, protects="answers")


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        (ROWS, ("tasks and workers were taken", "Answers.of(…, tasks=[…], workers=[…])")),
        (NESTED, ("campaign's tasks were taken", "Answers.of(…, tasks=[…])")),
        (
            Answers.of(ROWS, "0..4", tasks=["q1", "q2", "q3"]),
            ("campaign's workers were taken", "Answers.of(…, workers=[…])"),
        ),
    ],
    ids=["table", "mapping", "tasks given"],
)
def test_what_was_taken_is_named(answers: object, said: tuple[str, str]) -> None:
    with pytest.warns(AssumptionWarning) as caught:
        RR.perturb(answers)
    assert all(text in str(caught[0].message) for text in said)
    assert [each.filename for each in caught] == [__file__]
    with pytest.warns(AssumptionWarning):
        list(RR.perturb_in_pieces(answers))


@pytest.mark.parametrize(
    "answers",
    [
        Answers.of(ROWS, "0..4", tasks=["q1", "q2"], workers=["ann", "bob"]),
        Answers.of(NESTED, "0..4", tasks=["q1", "q2"]),
        WIDE,
    ],
    ids=["table", "mapping", "wide table"],
)
def test_public_lists_are_not_warned_of(answers: object) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RR.perturb(answers)


def test_no_warning_where_there_is_nothing_to_show() -> None:
    """Participation is public, or nobody is protected."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PUBLIC.perturb(ROWS)
        RR.perturb(ROWS, simulation_seed=1)


def test_a_program_is_warned_once(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "from forsooth import mechanisms\n"
        "for _ in range(3):\n"
        f"    mechanisms.rr('0..4', 1.0).perturb({ROWS!r})\n"
    )
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)
    assert done.stderr.count("AssumptionWarning") == 1
    assert f"{program}:3: AssumptionWarning" in done.stderr

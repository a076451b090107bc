from __future__ import annotations

import numpy as np
import pytest

from forsooth import Answers, ForsoothError, Mechanism, Scale
from forsooth.client.ledger import Ledger
from forsooth.client.permanent import permanent_report, places_of
from forsooth.client.question import AskedQuestion, cells
from forsooth.mechanisms import build, per_worker, rr
from forsooth.privacy import Protects
from forsooth.reports import Reports

SCALE = Scale.parse("0..4")
TASKS = [f"t{j:02}" for j in range(40)]
QUESTIONS = [AskedQuestion(f"Question {j}?") for j in range(40)]


def worker(answer: int = 3, name: str = "ann", tasks: list[str] = TASKS) -> Answers:
    return Answers.of({name: dict.fromkeys(tasks, answer)}, SCALE, tasks=TASKS)


def reported(
    mechanism: Mechanism, answers: Answers, ledger: Ledger, draw: str = "rule"
) -> tuple[Reports, Ledger]:
    """A report, and the ledger after it."""
    eligible = mechanism.eligible(answers)
    named = cells(QUESTIONS, places_of(mechanism, eligible), draw, mechanism.guarantee.epsilon)
    report, values = permanent_report(mechanism, eligible, named, ledger)
    return report, ledger.spend(values, cap=1e6, question_cap=1e6)


@pytest.mark.parametrize("name", ["rr", "grr", "lp", "rr-lp"])
def test_asked_again_the_same_values_whatever_the_answers_are(name: str) -> None:
    protects: Protects = "answers" if name == "grr" else "answers+participation"
    mechanism = build(name, SCALE, 1.0, tasks=40, protects=protects)
    first, ledger = reported(mechanism, worker(), Ledger())
    again, after = reported(mechanism, worker(0), ledger)
    assert np.array_equal(first.values, again.values)
    assert again.mechanism == mechanism
    assert after == ledger
    other, _ = reported(mechanism, worker(), ledger, draw="another rule")
    assert not np.array_equal(first.values, other.values)


def test_sampled_tasks_remember_each_question() -> None:
    """Two invitations, two samples: a question in both has one value."""
    mechanism = per_worker(lambda share: rr(SCALE, share), 2.0, count=30)
    one, ledger = reported(mechanism, worker(name="one"), Ledger())
    two, _ = reported(mechanism, worker(0, name="two"), ledger)
    sampled = mechanism.sampled(["one", "two"], 40)
    both, first, second = np.intersect1d(*sampled, return_indices=True)
    assert 20 <= len(both) < 30
    assert np.array_equal(one.values[0, first], two.values[0, second])


def test_public_participation_remembers_what_was_answered() -> None:
    mechanism = build("rr", SCALE, 1.0, tasks=40, protects="answers")
    first, ledger = reported(mechanism, worker(tasks=TASKS[:30]), Ledger())
    again, _ = reported(mechanism, worker(0, tasks=TASKS[10:]), ledger)
    assert np.array_equal(first.values[10:], again.values[:20])
    assert len(ledger.drawn) == 30


@pytest.mark.parametrize("name", ["mf-safe", "two-layer"])
def test_what_is_drawn_for_all_tasks_together_is_not_carried_over(name: str) -> None:
    mechanism = build(name, SCALE, 1.0, tasks=40)
    first, ledger = reported(mechanism, worker(), Ledger(), draw="in one campaign")
    other, after = reported(mechanism, worker(), ledger, draw="in another")
    assert not np.array_equal(first.values, other.values)
    assert after.total == 2 * ledger.total == 80 * mechanism.guarantee.epsilon


def test_one_worker_at_a_time() -> None:
    with pytest.raises(ForsoothError, match="one worker at a time"):
        two = Answers.of({"a": {}, "b": {}}, SCALE, tasks=TASKS)
        permanent_report(rr(SCALE, 1.0), two, [], Ledger())

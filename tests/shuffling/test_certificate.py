from __future__ import annotations

import math

import numpy as np
import pytest

from forsooth import Answers, ForsoothError, mechanisms
from forsooth.mechanisms import Channel, ChannelMechanism
from forsooth.mechanisms.channel import TOTAL
from forsooth.shuffling import (
    Accountant,
    Certificate,
    Senders,
    certify,
    fewest_reports,
    reports_per_task,
)
from forsooth.shuffling.accountant import LEAST_DELTA, MOST_CELLS
from forsooth.shuffling.certificate import rounded_up
from tests.shuffling.test_sums import binary_delta

MOST_PUBLISHED = 0.173  # ε₀ = 4, n = 10⁵, δ = 10⁻⁶: Feldman, McMillan and Talwar 2021, numerically


def of_all(name: str, scale: str, epsilon: float, people: int, tasks: int = 1) -> Certificate:
    """Everybody is honest."""
    mechanism = mechanisms.build(name, scale, epsilon, tasks=tasks)
    return certify(mechanism, tasks=tasks, reports=people, honest_share=1.0)


def of_one_task(name: str, scale: str, epsilon: float, people: int) -> float:
    """The central ε for the counts of one task."""
    mechanism = mechanisms.build(name, scale, epsilon, tasks=1)
    return Accountant.of(mechanism, 1, people).central("counts", "cell")


def clones_delta(local: float, people: int, epsilon: float, share: float) -> float:
    """δ of Feldman, McMillan and Talwar's pair: C ~ Bin(n − 1, share), A ~ Bin(C, ½) + Bern.

    `share` is e^−ε₀ for the clones of 2021 and 2/(e^ε₀ + 1) for the stronger ones of 2023.
    """
    from scipy.stats import binom

    keep, factor = 1 / (1 + math.exp(-local)), math.exp(epsilon)
    spread = 9 * math.sqrt(people * share) + 40
    low, high = (int(people * share + sign * spread) for sign in (-1, 1))
    clones = np.arange(max(0, low), min(people - 1, high) + 1)
    # likelihood ratio at a: (keep·a + (1−keep)(C+1−a)) / ((1−keep)·a + keep·(C+1−a)) > e^ε
    top, bottom = keep * factor - (1 - keep), (1 + factor) * (2 * keep - 1)
    least = np.floor((clones + 1) * top / bottom) + 1
    one, other = binom.sf(least - 2, clones, 0.5), binom.sf(least - 1, clones, 0.5)
    worth = keep * one + (1 - keep) * other - factor * ((1 - keep) * one + keep * other)
    return float((binom.pmf(clones, people - 1, share) * worth).sum())


@pytest.mark.parametrize("local", [1.0, 4.0])
@pytest.mark.parametrize("people", [10**3, 10**4, 10**5, 10**6])
def test_it_is_at_or_below_the_generic_bounds(local: float, people: int) -> None:
    """The bound for all mechanisms with this ε, also in its stronger form, which binary randomized
    response meets; the search for ε stops within 0.1 %."""
    stronger = 2 / (math.exp(local) + 1)
    for name in ("grr", "rr", "two-step", "staircase"):
        found = of_one_task(name, "0..1", local, people)
        assert found < local
        assert clones_delta(local, people, found, math.exp(-local)) > 1e-6
        assert clones_delta(local, people, 0.997 * found, stronger) > 1e-6


def test_the_published_example() -> None:
    found = of_one_task("grr", "0..1", 4.0, 10**5)
    assert found < MOST_PUBLISHED
    assert clones_delta(4.0, 10**5, MOST_PUBLISHED, math.exp(-4)) < 1e-6
    assert binary_delta(4.0, 10**5, found) <= 1e-6 < binary_delta(4.0, 10**5, 0.995 * found)


def test_with_three_symbols_no_accountant_can_go_below() -> None:
    """A lower bound: all others skip, and only the counts of two answers are looked at."""
    from scipy.stats import binom

    people = 2000
    found = of_one_task("rr", "0..1", 2.0, people)
    low = 1 / (math.exp(2.0) + 2)
    first, second = np.ogrid[-1:330, -1:330]

    def others(i: object, j: object) -> np.ndarray:
        return binom.pmf(i + j, people - 1, 2 * low) * binom.pmf(i, i + j, 0.5)  # type: ignore

    both = others(first, second) * low
    one, other = others(first - 1, second), others(first, second - 1)
    keep = 1 - 2 * low
    victims = keep * one + low * other + both, low * one + keep * other + both
    truth = np.maximum(victims[0] - math.exp(0.99 * found) * victims[1], 0)
    assert np.nansum(truth) > 1e-6


def test_with_two_symbols_the_truth_may_be_lower() -> None:
    """What docs/shuffling.md says: by a factor of 1 to √2. All others answer alike."""
    from scipy.stats import binom

    found = of_one_task("grr", "0..1", 4.0, 10**5)
    keep, others = 1 / (1 + math.exp(-4)), 10**5 - 1
    ones = np.arange(others + 2)
    rest, more = binom.pmf(ones, others, 1 - keep), binom.pmf(ones - 1, others, 1 - keep)
    one, other = keep * more + (1 - keep) * rest, (1 - keep) * more + keep * rest

    def lower(epsilon: float) -> float:
        return max(
            float(np.maximum(a - math.exp(epsilon) * b, 0).sum())
            for a, b in ((one, other), (other, one))
        )

    assert lower(found / math.sqrt(2)) > 1e-6 > lower(found)


@pytest.mark.parametrize("tasks", [1, 3, 10])
def test_the_bounds_are_in_order(tasks: int) -> None:
    found = of_all("rr", "0..4", 0.5, 5000, tasks)
    cell, worker = found.bound("counts", "cell"), found.bound("counts", "worker")
    whole_cell, whole = found.bound("reports", "cell"), found.bound("reports", "worker")
    assert cell.epsilon <= worker.epsilon <= tasks * cell.epsilon * 1.01
    assert cell.epsilon <= whole_cell.epsilon * 1.001
    assert worker.epsilon <= whole.epsilon < whole.local == tasks * whole_cell.local
    if tasks == 1:
        assert len({each.epsilon for each in found.bounds}) == 1


def test_long_reports_do_not_hide_one_another() -> None:
    """Nobody can mimic 40 answers at ε = 2 by chance; their counts hide the person all the same."""
    found = of_all("rr", "0..4", 2.0, 10**5, 40)
    for unit in ("cell", "worker"):
        assert not found.bound("reports", unit).amplified
        assert found.bound("counts", unit).amplified
    longest = of_all("rr", "0..4", 0.01, 10**6, MOST_CELLS + 1)
    assert not longest.bound("reports", "worker").amplified
    assert longest.bound("counts", "worker").epsilon < 0.1 * longest.bound("counts", "worker").local


def test_one_honest_report_has_the_local_guarantee_only() -> None:
    found = certify(mechanisms.rr("0..4", 1.0), tasks=4, reports=2)
    assert found.senders.honest == 1
    for each in found.bounds:
        assert 0.99 * each.local < each.epsilon <= each.local


def test_public_participation_tells_whole_reports_apart() -> None:
    found = of_all("grr", "0..4", 0.5, 5000, 4)
    assert not found.bound("reports", "worker").amplified
    assert found.bound("counts", "worker").amplified


def test_only_drawn_tasks_count() -> None:
    mechanism = mechanisms.build("rr", "0..4", 1.0, tasks=20, unit="worker", sampled=2)
    found = certify(mechanism, tasks=20, reports=1000)
    assert found.cells == 2
    assert found.bound("counts", "worker").local == pytest.approx(1.0)
    assert found.bound("counts", "worker").epsilon < 2 * found.bound("counts", "cell").epsilon
    assert not found.bound("reports", "worker").amplified


def test_a_table_that_tells_nothing() -> None:
    channel = Channel(((TOTAL // 2, TOTAL // 2),) * 2)
    mechanism = ChannelMechanism(
        "coin", mechanisms.grr("0..1", 1.0).scale, 1.0, "answers", channel, (0, 1)
    )
    assert {each.epsilon for each in certify(mechanism, tasks=3, reports=9).bounds} == {0.0}


def test_reports_are_counted_per_task() -> None:
    rows = {"ann": {"q1": 0, "q2": 4}, "bob": {"q1": 1}, "cyd": {"q1": 0, "q3": 3}}
    answers = Answers.of(rows, "0..4")
    hidden = mechanisms.rr("0..4", 1.0).perturb(answers, simulation_seed=1)
    public = mechanisms.grr("0..4", 1.0).perturb(answers, simulation_seed=1)
    drawn = mechanisms.build("rr", "0..4", 1.0, tasks=3, unit="worker", sampled=2)
    sampled = drawn.perturb(answers, simulation_seed=1)
    assert reports_per_task(hidden).tolist() == [3, 3, 3]
    assert reports_per_task(public).tolist() == [3, 1, 1]
    assert reports_per_task(sampled).sum() == 6
    assert fewest_reports([public, public]) == 2
    with pytest.raises(ForsoothError, match="no reports"):
        fewest_reports([])


def test_numbers_are_rounded_up() -> None:
    assert [rounded_up(x) for x in (0.0, 0.12301, 2.0, 14.5, 0.00012341, 20.0)] == [
        "0",
        "0.124",
        "2",
        "14.5",
        "0.000124",
        "20",
    ]


def test_words_say_what_is_assumed() -> None:
    found = certify(mechanisms.rr("0..4", 2.0), tasks=10, reports=3000)
    local, counts, whole, single, assumed = found.sentences()
    assert local.startswith("Local: ε = 20 for everything")
    assert f"central ε = {rounded_up(found.bound('counts', 'worker').epsilon)}" in counts
    assert "no better than local" in whole
    assert "other answers tell nothing" in single
    assert "at least 1,500 of 3,000 reports" in assumed
    assert repr(found).splitlines()[0] == "Certificate of rr, 10 tasks"
    assert found._repr_html_().count("<tr>") == 5
    document = found.to_dict()
    assert [each["delta"] for each in document["bounds"]] == [1e-6, 1e-6, 0.0, 0.0]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"mechanism": mechanisms.lp("0..4", 1.0)}, "not for lp"),
        ({"mechanism": mechanisms.two_layer("0..4", 1.0)}, "not for two-layer"),
        ({"tasks": 0}, "tasks must be"),
        ({"reports": 0}, "number of reports must be"),
        ({"delta": 0.0}, "δ must lie"),
        ({"delta": 1.0}, "δ must lie"),
        ({"delta": LEAST_DELTA / 2}, "δ must lie"),
        ({"honest_share": 0.0}, "honest share"),
        ({"honest_share": 1.5}, "honest share"),
    ],
)
def test_bad_questions(changes: dict[str, object], complaint: str) -> None:
    asked: dict[str, object] = {"mechanism": mechanisms.rr("0..4", 1.0), "tasks": 2, "reports": 9}
    asked |= changes
    with pytest.raises(ForsoothError, match=complaint):
        certify(asked.pop("mechanism"), **asked)  # type: ignore[arg-type]


def test_the_honest_are_rounded_down() -> None:
    assert Senders(7, 0.5).honest == 3
    assert Senders(1, 0.5).honest == 1
    assert Accountant.of(mechanisms.rr("0..4", 1.0), 2, 3).honest == 3

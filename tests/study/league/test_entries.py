from __future__ import annotations

from dataclasses import replace

import pytest

from forsooth import ForsoothError, Scale
from forsooth.planning.adaptive import ADAPTIVE
from forsooth.privacy import Protects
from forsooth.study.league import entries, plan, sets
from forsooth.study.league.entries import Entry
from forsooth.study.rivals import INFERENCE, PRIVATE

SCALE = Scale.parse("0..4")
BUILT = [name for name in entries.MECHANISMS if name not in (entries.PLAIN, ADAPTIVE, *PRIVATE)]


@pytest.mark.parametrize("name", BUILT)
def test_epsilon_is_the_true_guarantee(name: str) -> None:
    """Also of two-layer, whose guarantee is twice the ε that it is asked for."""
    guarantee = entries.build(name, SCALE, 2.0, 20).guarantee
    wanted: dict[str, Protects] = {"values": "answers", "cell": "answers+participation"}
    assert guarantee.epsilon == pytest.approx(2.0)
    assert guarantee.protects == wanted.get(entries.promise(name), "answers+participation")
    whole = guarantee.worker_total(20)
    assert whole == pytest.approx(2.0 if entries.promise(name) == "person" else 40.0)


def test_promises() -> None:
    found = {name: entries.promise(name) for name in entries.MECHANISMS}
    assert {name for name, promise in found.items() if promise == "values"} == {
        "grr",
        "mf",
        "square-wave",
        "pm",
        "hm",
    }
    assert {name for name, promise in found.items() if promise == "person"} == {
        "rr-person",
        "pckv-grr-person",
        "pckv-ue-person",
    }
    assert found["plain"] == "none"
    assert found["adaptive"] == found["oue"] == "cell"


def test_every_promise_has_a_default_of_ours() -> None:
    for promise, mechanism in entries.DEFAULTS.items():
        entry = Entry(mechanism, "posterior")
        assert (entry.promise, entry.is_default) == (promise, True)
    assert not Entry("adaptive", "posterior").is_default
    assert not Entry("rr", "algorithm1").is_ours


def test_who_runs_where() -> None:
    """Means of labels only if there are two; Algorithm 1 on labels as in the paper."""
    level, three = sets.find(["synthetic-low", "synthetic-middle"], None, 0)
    three = replace(three, estimand="label", scale=Scale.parse("0..2"))
    two = replace(three, scale=Scale.parse("0..1"))
    pm, ebcc, majority = Entry("pm", "its own"), Entry("grr", "ebcc"), Entry("grr", "majority")
    assert [pm.suits(each) for each in (level, three, two)] == [True, False, True]
    assert [ebcc.suits(each) for each in (level, three)] == [False, True]
    assert [majority.suits(each) for each in (level, three)] == [False, True]
    assert Entry("lp", "algorithm1").suits(three)
    assert not Entry("grr", "catd").suits(three)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ForsoothError, match="unknown mechanism 'magic'; known: plain, rr"):
        entries.check_mechanism("magic")
    with pytest.raises(ForsoothError, match="unknown option"):
        entries.check_mechanism("mf:e=3")
    with pytest.raises(ForsoothError, match="unknown method 'magic'; known: posterior"):
        entries.check_method("magic")


def test_the_plan_has_every_rival_and_repeats_what_has_noise() -> None:
    """Also drawn crowds; real answers without noise are always the same."""
    (source,) = sets.find(["synthetic-low"], None, 0)
    real = replace(source, name="real", origin="league/index.json")
    cells = plan.cells(plan.Choice(repeats=2), plan.QUICK, [real, source])
    for each in (source, real):
        mine = [cell for cell in cells if cell.source == each]
        assert set(PRIVATE) <= {cell.entry.mechanism for cell in mine}
        rivals = {name for name, rival in INFERENCE.items() if "level" in rival.estimands}
        plain = [cell for cell in mine if cell.entry.mechanism == "plain"]
        assert rivals < {cell.entry.method for cell in plain}
        assert {cell.repeat for cell in plain} == ({0, 1} if each.drawn else {0})
        assert {cell.repeat for cell in mine if cell.epsilon} == {0, 1}
    assert len({cell.key for cell in cells}) == len(cells)


def test_a_choice_narrows_the_plan() -> None:
    (source,) = sets.find(["synthetic-low"], None, 0)
    choice = plan.Choice(epsilons=(3.0,), mechanisms=("plain", "lp", "oue"), methods=("mean",))
    cells = plan.cells(choice, plan.QUICK, [source])
    found = {(c.entry.mechanism, c.entry.method, c.epsilon) for c in cells}
    assert found == {
        ("guess", "best-constant", 0.0),
        ("guess", "blind", 0.0),
        ("plain", "mean", 0.0),
        ("lp", "mean", 3.0),
        ("oue", "its own", 3.0),
    }

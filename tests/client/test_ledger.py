from __future__ import annotations

import math

import pytest

from forsooth import ForsoothError
from forsooth.client.ledger import QUESTION_CAP, TOTAL_CAP, Drawn, Ledger
from forsooth.client.question import AskedCell, AskedQuestion, cells, draw_name
from forsooth.odds import LIMITS


def cell(question: str = "q", draw: str = "d", epsilon: float = 1.0) -> AskedCell:
    return AskedCell(f"{question}?", question, draw, epsilon)


def spent(*some: AskedCell, **caps: float) -> Ledger:
    """One spend after the other."""
    ledger = Ledger()
    for each in some:
        ledger = ledger.spend({each: "0"}, **caps)
    return ledger


def test_the_default_caps_are_classes_of_a_promise() -> None:
    odds = dict(LIMITS)
    for cap, limit in ((QUESTION_CAP, odds["strong"]), (TOTAL_CAP, odds["weak"])):
        assert cap == math.floor(100 * math.log(limit)) / 100


def test_campaigns_add_up_to_the_cap() -> None:
    ledger = spent(*(cell(f"q{j}", epsilon=0.0999) for j in range(10)), cap=1.0)
    assert ledger.total == pytest.approx(0.999)
    with pytest.raises(ForsoothError, match=r"ε = 0\.999 in all\. .* would be 1, .* limit is 1:"):
        ledger.spend({cell("one more", epsilon=0.002): "0"}, cap=1.0)
    assert ledger.spend({cell("a last one", epsilon=0.0005): "0"}, cap=1.0).total > ledger.total


def test_no_rounding_hides_a_spend() -> None:
    """0.1 is a little more than a tenth: ten of them exceed 1, though floats add up to less."""
    tenths = [cell(str(j), epsilon=0.1) for j in range(10)]
    assert sum(tenth.epsilon for tenth in tenths) < 1
    with pytest.raises(ForsoothError, match="your limit is 1:"):
        spent(*tenths, cap=1.0)
    nine = spent(*tenths[:9], cap=1.0)
    assert nine.total > math.fsum([0.1] * 9) - 1e-15


def test_the_same_draw_costs_once() -> None:
    once = spent(cell())
    assert once.value(cell()) == "0"
    assert once.spend({cell(): "0"}, cap=1.0, question_cap=1.0).total == 1.0
    assert once.value(cell(draw="another")) is None


def test_repeats_of_a_question_end_at_the_cap() -> None:
    small = [cell(draw=f"rule {number}", epsilon=0.3) for number in range(4)]
    assert spent(*small[:3]).total == pytest.approx(0.9)
    with pytest.raises(ForsoothError, match=r"“q\?” was answered before.*0\.9.*1\.2.*is 1\.09"):
        spent(*small)
    assert spent(*small, question_cap=1.3).total == pytest.approx(1.2)


def test_the_first_of_each_may_exceed_the_default_caps_only() -> None:
    large = spent(cell(epsilon=20.0))
    assert large.total == 20.0
    with pytest.raises(ForsoothError, match="in all"):
        large.spend({cell("other", epsilon=0.1): "0"})
    for caps in ({"cap": 19.0}, {"question_cap": 19.0}):
        with pytest.raises(ForsoothError):
            spent(cell(epsilon=20.0), **caps)


def test_a_refused_spend_changes_nothing() -> None:
    ledger = Ledger({"q": {"d": Drawn(1.0, "3")}})
    with pytest.raises(ForsoothError):
        ledger.spend({cell("new"): "0", cell(draw="another"): "0"})
    assert ledger == Ledger({"q": {"d": Drawn(1.0, "3")}})
    assert ledger.total == 1.0


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf")])
def test_bad_draws(epsilon: float) -> None:
    with pytest.raises(ForsoothError, match="ε must be"):
        Drawn(epsilon, "0")


def test_a_question_is_its_words_and_its_picture() -> None:
    same = [AskedQuestion(text).name for text in ("Do you smoke?", " do  you\n SMOKE? ")]
    assert len(set(same)) == 1
    other = [
        AskedQuestion("Do you drink?"),
        AskedQuestion("Do you smoke?", "https://x/1.png"),
        AskedQuestion(""),
    ]
    assert len({*same, *(question.name for question in other)}) == 4
    assert draw_name("rule", ["no", "yes"]) != draw_name("rule", ["yes", "no"])


def test_equal_questions_of_a_campaign_are_drawn_apart() -> None:
    asked = [AskedQuestion(text) for text in ("a", "b", "A", "a")]
    named = cells(asked, [0, 2, 3], "rule", 1.0)
    assert [each.draw for each in named] == ["rule/0", "rule/1", "rule/2"]
    assert len({each.question for each in named}) == 1
    assert cells(asked, [3], "rule", 1.0) == named[2:]  # whichever tasks were sampled

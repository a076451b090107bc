from __future__ import annotations

import json
from pathlib import Path

import pytest

from forsooth import ForsoothError
from forsooth.study.league import sets

ANSWERS = "task,worker,label\nq1,ann,1\nq1,bob,1\nq2,ann,0\nq2,bob,2\n"


def own(folder: Path, text: str = '{\n "mine": {"scale": "0..2", "estimand": "label"}\n}\n') -> str:
    """A data set of one's own: two tables and three lines of JSON."""
    (folder / "mine.answers.csv").write_text(ANSWERS)
    (folder / "mine.truth.csv").write_text("task,truth\nq1,1\nq2,0\n")
    (folder / "mine.json").write_text(text)
    return str(folder / "mine.json")


def test_three_lines_describe_a_set(tmp_path: Path) -> None:
    (found,) = sets.find([own(tmp_path)], None, 0)
    assert (found.name, found.estimand, str(found.scale)) == ("mine", "label", "0..2")
    assert (found.workers, found.tasks, found.answers, found.drawn) == (2, 2, 4, False)
    dataset = found.load(None, 0, 3)
    assert dataset.truth.tolist() == [1.0, 0.0]
    (tmp_path / "mine.truth.csv").write_text("task,truth\nq1,2\n")
    (changed,) = sets.find([own(tmp_path)], None, 0)
    assert changed.digest == found.digest
    (tmp_path / "mine.truth.csv").write_text("task,truth\nq1,2\n")
    (changed,) = sets.find([str(tmp_path / "mine.json")], None, 0)
    assert changed.identity != found.identity, "a changed file is other data"
    text = '{"mine": {"scale": "0..2", "estimand": "level"}}'
    (stated,) = sets.find([own(tmp_path, text)], None, 0)
    assert stated.identity != found.identity, "another estimand gives other results"


def test_the_identity_does_not_name_the_folder(tmp_path: Path) -> None:
    (found,) = sets.find([own(tmp_path)], None, 0)
    assert str(tmp_path) not in json.dumps(found.identity)


def test_the_folder_of_data_is_read_by_name(tmp_path: Path) -> None:
    (tmp_path / "league").mkdir()
    Path(own(tmp_path / "league")).rename(tmp_path / "league" / "index.json")
    assert sets.known(str(tmp_path)) == ["mine", *sets.SYNTHETIC]
    (found,) = sets.find(["mine"], str(tmp_path), 0)
    assert found.answers == 4


def test_drawn_crowds_are_drawn_again_for_every_repeat() -> None:
    text = "synthetic:workers=9,tasks=4,sparsity=0.2"
    (found,) = sets.find([text], None, 5)
    assert (found.name, found.estimand, found.drawn) == (text, "level", True)
    one, again, other = (found.load(None, 5, repeat).answers for repeat in (0, 0, 1))
    assert one == again
    assert one != other


def test_the_data_of_this_machine(data_dir: Path) -> None:
    """Sizes as the index says."""
    index = json.loads((data_dir / sets.INDEX).read_text())
    for found in sets.find(["covid1", "face"], str(data_dir), 0):
        described = index[found.name]
        assert (found.workers, found.tasks) == (described["workers"], described["tasks"])
        assert (found.answers, found.estimand) == (described["answers"], described["estimand"])
    assert {"wsd", "adult", "relevance"} <= set(sets.known(str(data_dir)))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"mine": {"scale": "0..2"}}', "'mine' needs estimand, as in"),
        ('{"mine": "0..2"}', "'mine' needs estimand and scale"),
        ('["mine"]', "described by name"),
        ('{"mine": {"scale": "0..2", "estimand": "opinion"}}', "compares level and label"),
        ('{"mine": {"scale": "0..2", "estimand": "guess"}}', "unknown estimand 'guess'"),
        ('{"mine": {"scale": "2..0", "estimand": "label"}}', "is empty"),
        ('{"mine": {"scale": "0..1", "estimand": "label"}}', "'2' is not on the scale 0..1"),
        ('{"other": {"scale": "0..2", "estimand": "label"}}', "needs the file other.answers.csv"),
        ("{", "JSON"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(ForsoothError, match=complaint):
        sets.find([own(tmp_path, text)], None, 0)


def test_unknown_names_and_repeated_ones(tmp_path: Path) -> None:
    with pytest.raises(ForsoothError, match="unknown data set 'magic'; known: synthetic-low, "):
        sets.find(["magic"], str(tmp_path), 0)
    with pytest.raises(ForsoothError, match="the set 'mine' twice"):
        sets.find([own(tmp_path), own(tmp_path)], None, 0)
    with pytest.raises(ForsoothError, match="none.json cannot be read"):
        sets.find(["none.json"], None, 0)

"""Exports of Label Studio: as the program writes them, and as they should not be."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from forsooth import Answers, ForsoothError
from forsooth.io import tables
from tests.conftest import Command

EXPORT = Path(__file__).parent / "label-studio.json"
SCALE = "Negative,Neutral,Positive"


def annotation(kind: str, value: object, **more: object) -> dict[str, Any]:
    result = {"from_name": "q", "to_name": "text", "type": kind, "value": {kind: value}}
    return {"completed_by": 1, "result": [result]} | more


def written(path: Path, *annotations: dict[str, Any]) -> Path:
    path.write_text(json.dumps([{"id": 1, "annotations": list(annotations)}]))
    return path


def test_choices() -> None:
    answers = Answers.read(EXPORT, SCALE)
    assert answers.tasks == ("41", "42", "43", "44")
    assert answers.workers == ("3", "5", "8")
    assert answers.size == 11  # one of twelve annotations was cancelled
    table = {(row["task"], row["worker"]): row["label"] for row in answers.to_arrow().to_pylist()}
    assert table["43", "3"] == "Neutral"
    assert table["43", "8"] == "Positive"
    assert ("44", "5") not in table


def test_ratings_and_gzip(tmp_path: Path) -> None:
    plain = written(tmp_path / "a.json", annotation("rating", 4), annotation("rating", 4))
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(plain.read_bytes()))
    answers = Answers.read(path, "1..5")
    assert [answers.scale.labels[code] for code in answers.code] == ["4"]
    assert answers.notices


def test_the_command_takes_it(forsooth: Command) -> None:
    done = forsooth("infer", EXPORT, "--scale", SCALE, "--method", "majority", "--json")
    assert done.returncode == 0, done.stderr
    labels = [row["label"] for row in json.loads(done.stdout)["truths"]]
    assert labels == ["Positive", "Negative", "Neutral", "Negative"]


def test_crowd_kit_s_frames() -> None:
    frame = pd.DataFrame({"task": ["t1", "t1"], "worker": ["w1", "w2"], "label": ["a", "b"]})
    assert Answers.read(frame, "a,b").size == 2


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{}", "list of tasks"),
        ("[1]", "list of tasks"),
        ("[", "not valid JSON"),
        ('[{"id": 1, "annotator": 3, "sentiment": "Neutral"}]', "JSON-MIN"),
        ('[{"id": 1, "annotations": [7]}]', "as Label Studio writes it"),
        ('[{"id": 1, "annotations": []}]', "no answers"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "export.json"
    path.write_text(text)
    with pytest.raises(ForsoothError, match=complaint) as caught:
        Answers.read(path, SCALE)
    assert "export.json" in str(caught.value)


def test_bad_annotations(tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    other = annotation("rating", 3)
    other["result"][0]["from_name"] = "other"
    for complaint, given in (
        ("2 choices at once", [annotation("choices", ["a", "b"])]),
        ("who completed it", [annotation("rating", 1, completed_by=None)]),
        ("has no value", [annotation("rating", None)]),
        (r"several questions \(other, q\)", [annotation("rating", 1), other]),
    ):
        with pytest.raises(ForsoothError, match=complaint):
            tables.read(written(path, *given))
    written(path, annotation("choices", ["Maybe"]))
    with pytest.raises(ForsoothError, match="row 1: the answer 'Maybe' is not on the scale"):
        Answers.read(path, SCALE)

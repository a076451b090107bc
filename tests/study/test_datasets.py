from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from forsooth import Answers, ForsoothError, infer
from forsooth.dataset import read_groups, read_truth
from forsooth.study import datasets


def test_wsd_is_the_paper_s_web(data_dir: Path) -> None:
    about = datasets.load("wsd", data_dir).describe()
    assert (about["workers"], about["tasks"], about["answers"]) == (34, 177, 1770)
    sparsity = {key: round(value, 6) for key, value in about["sparsity"].items()}
    assert sparsity == {"max": 0.903955, "min": 0, "average": 0.705882}
    assert about["truth_distribution"]["0"] > 0.72
    assert about["tasks_with_truth"] == 177
    assert about["estimand"] == "label"
    assert list(about["answer_distribution"]) == ["0", "1", "2", "3", "4"]


def test_adult(data_dir: Path) -> None:
    dataset = datasets.load("adult", data_dir)
    about = dataset.describe()
    assert (about["workers"], about["tasks"], about["answers"]) == (825, 11040, 89799)
    sparsity = {key: round(value, 6) for key, value in about["sparsity"].items()}
    assert sparsity == {"max": 0.999909, "min": 0.316033, "average": 0.990141}
    assert about["tasks_with_truth"] == 333
    assert about["estimand"] == "label"
    assert about["truth_distribution"]["G"] == pytest.approx(0.56, abs=0.01)
    assert "149 cells contradict themselves: kept the last" in dataset.answers.notices


def test_algorithm1_without_privacy_is_where_it_was_measured(data_dir: Path) -> None:
    for name, mae, constant in (("wsd", 0.006, 0.531), ("adult", 0.323, 0.841)):
        dataset = datasets.load(name, data_dir)
        assert infer(dataset.answers, "algorithm1").error(dataset.truth) == pytest.approx(
            mae, abs=0.001
        )
        assert dataset.constant_error() == pytest.approx(constant, abs=0.001)


def test_absent_data_says_where_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORSOOTH_DATA", raising=False)
    with pytest.raises(ForsoothError, match="Get it from.*wsd/wsd.standardized.tsv.*--data-dir"):
        datasets.load("wsd")
    with pytest.raises(ForsoothError, match="labels.txt, gold.txt missing"):
        datasets.load("adult", tmp_path)
    with pytest.raises(ForsoothError, match="unknown data set 'web'; known: wsd, adult"):
        datasets.load("web")


HEADER = "!amt_annotation_ids\t!amt_worker_ids\torig_id\tresponse\tgold\n"


@pytest.mark.parametrize(
    ("files", "complaint"),
    [
        ({"wsd/wsd.standardized.tsv": "a\tb\n1\n"}, "wsd.standardized.tsv"),
        ({"wsd/wsd.standardized.tsv": "a\tb\n1\t2\n"}, "no column '!amt_worker_ids'"),
        ({"wsd/wsd.standardized.tsv": HEADER + "x\tw\tt\tmany\t1\n"}, "line 2: the answer 'many'"),
        ({"wsd/wsd.standardized.tsv": HEADER + "x\tw\tt\t1\t\n"}, "gold label '' of 't'"),
        ({"adult/labels.txt": "w\tu\tG\n", "adult/gold.txt": "u\tQ\n"}, "gold label 'Q' of 'u'"),
        ({"adult/labels.txt": "w\tu\tQ\n", "adult/gold.txt": "u\tG\n"}, "labels.txt.*answer 'Q'"),
    ],
)
def test_broken_files_are_named(tmp_path: Path, files: dict[str, str], complaint: str) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    with pytest.raises(ForsoothError, match=complaint):
        datasets.load(next(iter(files)).partition("/")[0], tmp_path)


def test_numeric_identifiers_match(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    tasks = pa.array([1.0, 2.0])
    pq.write_table(
        pa.table({"task": tasks, "worker": [7, 7], "label": [0, 4]}), tmp_path / "a.parquet"
    )
    pq.write_table(pa.table({"task": tasks, "truth": [0, 4]}), tmp_path / "t.parquet")
    dataset = datasets.read(str(tmp_path / "a.parquet"), truth=tmp_path / "t.parquet", scale="0..4")
    assert dataset.truth.tolist() == [0, 4]


def test_a_table_of_one_s_own(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("task,worker,label\nq1,a,1\nq2,a,2\nq2,b,4\n")
    (tmp_path / "t.csv").write_text("task,truth\nq2,2.5\nq9,1\n")
    dataset = datasets.read(str(tmp_path / "a.csv"), truth=tmp_path / "t.csv", scale="0..4")
    np.testing.assert_array_equal(dataset.truth, [np.nan, 2.5])
    assert dataset.describe()["tasks_with_truth"] == 1
    assert dataset.describe()["estimand"] is None
    assert dataset.mirrored().truth[1] == 1.5
    with pytest.raises(ForsoothError, match="--truth-file FILE and --scale"):
        datasets.read(str(tmp_path / "a.csv"))
    with pytest.raises(ForsoothError, match="neither a file nor a data set"):
        datasets.read("nothing")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("task,truth\nq1,9\n", "line 2: the truth '9' is not on the scale"),
        ("task,truth\nq1,nan\n", "line 2: the truth 'nan'"),
        ("task,truth\nq1,1\nq1,2\n", "line 3: task 'q1' has a second truth"),
        ("task,truth\nq9,1\n", "none of its tasks"),
        ("task,answer\nq1,1\n", "no column 'truth' or 'gold'"),
    ],
)
def test_bad_truths(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    answers = Answers.of({"a": {"q1": 1}}, "0..4")
    with pytest.raises(ForsoothError, match=complaint):
        read_truth(path, answers)


def test_groups_of_workers(tmp_path: Path) -> None:
    path = tmp_path / "g.csv"
    path.write_text("worker,group\nann,1\nbob,2\nann,1\n")
    assert read_groups(path) == {"ann": "1", "bob": "2"}
    path.write_text("worker,group\nann,1\nbob,\n")
    with pytest.raises(ForsoothError, match="line 3: the group is missing"):
        read_groups(path)

"""The adapters for pipelines made for scikit-learn and crowd-kit.

Where those libraries are not installed beside forsooth, `make bench` has crowd-kit in an
environment of its own, and what it gives is compared through a pipe.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from forsooth import Answers, ForsoothError, infer, mechanisms
from forsooth.adapters import TruthAggregator, TruthEstimator

BENCH = Path(__file__).parent.parent / ".venv-bench" / "bin" / "python"
ANIMALS = ("ant", "bee", "cat")


def crowd(labels: tuple[Any, ...] = ANIMALS, tasks: int = 30, workers: int = 12) -> pd.DataFrame:
    """Workers who are right with 85 %; tasks and workers are numbers, as in crowd-kit's data."""
    random = np.random.default_rng(5)
    rows = [
        (task, worker, labels[task % len(labels)])
        if random.random() < 0.85
        else (task, worker, labels[random.integers(len(labels))])
        for task in range(tasks)
        for worker in range(100, 100 + workers)
        if random.random() < 0.9
    ]
    return pd.DataFrame(rows, columns=["task", "worker", "label"])


TRUTH = [ANIMALS[task % 3] for task in range(30)]
LEVELS = crowd((0, 2, 4))


def test_estimator_is_infer() -> None:
    estimator = TruthEstimator(scale="0..4").fit(LEVELS)
    expected = infer(LEVELS, scale="0..4")
    assert estimator.estimate_.tolist() == expected.estimate.tolist()
    assert estimator.tasks_.tolist() == list(expected.tasks)
    assert estimator.quality_.sum() == pytest.approx(1)
    assert estimator.n_iter_ == expected.iterations
    assert estimator.predict().tolist() == expected.estimate.tolist()
    assert (estimator.low_ <= estimator.high_).all()


def test_predictions_are_by_row() -> None:
    estimator = TruthEstimator(scale="0..4", method="median").fit(LEVELS)
    by_row = estimator.predict(LEVELS)
    assert by_row.tolist() == [estimator.truths_[str(task)].truth for task in LEVELS["task"]]
    assert TruthEstimator(scale="0..4", method="median").fit_predict(LEVELS).tolist() == (
        by_row.tolist()
    )
    for rows in (
        ["3", "1"],
        np.array(["3", "1"]),
        np.array([3, 1]),
        pl.DataFrame({"task": [3, 1]}),
    ):
        assert estimator.predict(rows).tolist() == [estimator.truths_[t].truth for t in ("3", "1")]
    with pytest.raises(ForsoothError, match="there is no task '77'"):
        estimator.predict(["77"])
    with pytest.raises(ForsoothError, match="no column 'task'"):
        estimator.predict(pd.DataFrame({"x": [1]}))


def test_estimator_of_words_and_gold() -> None:
    words = TruthEstimator(scale=ANIMALS, unordered=True).fit(crowd())
    assert words.predict(["0", "1"]).tolist() == ["ant", "bee"]
    pinned = TruthEstimator(scale="0..4").fit(LEVELS, {"0": 3.0})
    assert pinned.predict(["0"]).tolist() == [3.0]


def test_estimator_perturbs_with_epsilon() -> None:
    estimator = TruthEstimator(scale="0..4", epsilon=4.0, simulation_seed=1).fit(LEVELS)
    answers = Answers.of(LEVELS, "0..4")
    reports = mechanisms.rr("0..4", epsilon=4.0).perturb(answers, simulation_seed=1)
    assert estimator.estimate_.tolist() == infer(reports).estimate.tolist()
    assert TruthEstimator().fit(reports).predict().tolist() == estimator.estimate_.tolist()


def test_parameters() -> None:
    estimator = TruthEstimator(scale="0..4", method="mean")
    assert estimator.get_params()["method"] == "mean"
    assert repr(estimator) == "TruthEstimator(scale='0..4', method='mean')"
    assert estimator.set_params(method="median") is estimator
    assert type(estimator)(**estimator.get_params()).get_params() == estimator.get_params()
    with pytest.raises(ForsoothError, match="unknown parameter 'metod'; known: scale, method"):
        estimator.set_params(metod="mean")


@pytest.mark.parametrize("kind", [TruthEstimator, TruthAggregator])
@pytest.mark.parametrize(
    ("params", "complaint"),
    [
        ({"epsilon": 1.0}, "the scale is missing"),
        ({"scale": "0..4", "epsilon": -1}, "ε must be"),
        ({"scale": "0..4", "epsilon": 1.0, "mechanism": "nope"}, "unknown mechanism"),
        ({"scale": "0..4", "method": "nope"}, "unknown method"),
        ({"scale": "0..3"}, "not on the scale"),
        ({"scale": 7}, "cannot read the scale"),
    ],
)
def test_bad_parameters_are_refused_by_fit(kind: Any, params: Any, complaint: str) -> None:
    with pytest.raises(ForsoothError, match=complaint):
        kind(**params).fit(LEVELS)


@pytest.mark.parametrize("kind", [TruthEstimator, TruthAggregator])
@pytest.mark.parametrize("label", [None, float("nan"), 9])
def test_bad_answers_are_refused_before_anything_is_released(kind: Any, label: Any) -> None:
    frame = LEVELS.assign(label=[label, *LEVELS["label"].tolist()[1:]])
    with pytest.raises(ForsoothError, match="row 1: the answer"):
        kind(scale="0..4", epsilon=1.0).fit(frame)
    twice = pd.concat([LEVELS, LEVELS.head(1).assign(label=1)])
    with pytest.raises(ForsoothError, match="two different answers"):
        kind(scale="0..4", epsilon=1.0).fit(twice)


def test_not_fitted_and_already_perturbed() -> None:
    with pytest.raises(ForsoothError, match="not fitted yet"):
        TruthEstimator().predict(["1"])
    reports = mechanisms.rr("0..4", epsilon=4.0).perturb(LEVELS, simulation_seed=1)
    with pytest.raises(ForsoothError, match="perturbed already"):
        TruthEstimator(epsilon=1.0).fit(reports)


@pytest.mark.parametrize("method", ["posterior", "majority", "dawid-skene"])
def test_aggregator_has_the_form_of_crowd_kit(method: str) -> None:
    aggregator = TruthAggregator(method=method)
    labels = aggregator.fit_predict(crowd())
    assert isinstance(labels, pd.Series)
    assert (labels.name, labels.index.name) == ("agg_label", "task")
    assert labels.index.tolist() == list(range(30)), "numbers stay numbers"
    assert labels.tolist() == TRUTH
    assert aggregator.skills_.index.tolist() == list(range(100, 112))
    rows = crowd()
    right = (rows["label"] == rows["task"].map(labels)).groupby(rows["worker"]).mean()
    assert aggregator.skills_.tolist() == pytest.approx(right.tolist())
    private = TruthAggregator(scale=ANIMALS, epsilon=3.0).fit(rows)
    assert private.skills_ is None, "the collector does not know the answers"


def test_probabilities() -> None:
    probas = TruthAggregator().fit_predict_proba(crowd())
    assert probas.columns.tolist() == list(ANIMALS)
    assert probas.columns.name == "label"
    assert np.allclose(probas.sum(axis=1), 1)
    assert probas.idxmax(axis=1).tolist() == TRUTH
    with pytest.raises(ForsoothError, match="majority gives no probabilities"):
        TruthAggregator(method="majority").fit_predict_proba(crowd())


@pytest.mark.parametrize("labels", [(0, 2, 4), (0.5, 1.5, 2.5), (True, False)])
def test_labels_keep_their_type(labels: tuple[Any, ...]) -> None:
    found = TruthAggregator().fit_predict(crowd(labels))
    assert found.tolist() == [labels[task % len(labels)] for task in range(30)]
    assert type(found.tolist()[0]) is type(labels[0])


def test_the_scale_may_have_labels_that_do_not_occur() -> None:
    probas = TruthAggregator(scale="0..4", epsilon=5.0).fit_predict_proba(crowd((0, 2, 4)))
    assert probas.columns.tolist() == [0, 1, 2, 3, 4]


def test_aggregator_takes_any_table() -> None:
    frame = crowd().astype(str)
    expected = TruthAggregator().fit_predict(frame)
    wide = frame.pivot(index="worker", columns="task", values="label")
    for data in (pl.from_pandas(frame), frame.to_dict("records"), wide):
        assert TruthAggregator().fit_predict(data).tolist() == expected.tolist()
    assert TruthAggregator().fit_predict(Answers.of(frame, ANIMALS)).tolist() == expected.tolist()
    with pytest.raises(ForsoothError, match="columns task, worker and label"):
        TruthAggregator().fit({"ann": {"q": 1}})


def test_without_pandas_the_aggregator_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['pandas'] = None\n"
        "from forsooth.adapters import TruthAggregator, TruthEstimator\n"
        "try: TruthAggregator().fit([])\n"
        "except ValueError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "pip install pandas" in done.stdout


@pytest.mark.filterwarnings("ignore")
def test_scikit_learn() -> None:
    pytest.importorskip("sklearn")
    from sklearn.base import clone
    from sklearn.pipeline import make_pipeline
    from sklearn.utils.validation import check_is_fitted

    estimator = TruthEstimator(scale="0..4", method="median")
    copy = clone(estimator)
    assert copy is not estimator
    assert copy.get_params() == estimator.get_params()
    pipeline = make_pipeline("passthrough", copy).fit(LEVELS)
    assert pipeline.predict(LEVELS).tolist() == estimator.fit_predict(LEVELS).tolist()
    check_is_fitted(estimator)
    pipeline.set_params(truthestimator__method="mean")
    assert copy.method == "mean"
    assert clone(TruthAggregator(ordered=True)).ordered


@pytest.mark.filterwarnings("ignore")
def test_crowd_kit_in_this_environment() -> None:
    """crowd-kit's own functions take the aggregator in place of theirs."""
    pytest.importorskip("crowdkit")
    from crowdkit.aggregation import DawidSkene, MajorityVote
    from crowdkit.metrics.data import consistency

    frame = crowd()
    ours = TruthAggregator().fit_predict(frame)
    for theirs in (MajorityVote().fit_predict(frame), DawidSkene(n_iter=20).fit_predict(frame)):
        assert (theirs.name, theirs.index.name) == (ours.name, ours.index.name)
        assert theirs.index.dtype == ours.index.dtype
        assert (theirs.sort_index() == ours).mean() >= 0.9
    theirs = DawidSkene(n_iter=20).fit_predict_proba(frame)
    probas = TruthAggregator().fit_predict_proba(frame)
    assert theirs.columns.sort_values().tolist() == probas.columns.tolist()
    assert np.abs(theirs.sort_index()[probas.columns] - probas).to_numpy().mean() < 0.1
    assert consistency(frame, aggregator=TruthAggregator()) > 0.5


THEIRS = """
import io, json, sys
import pandas as pd
from crowdkit.aggregation import DawidSkene
frame = pd.read_json(io.StringIO(sys.stdin.read()))
labels = DawidSkene(n_iter=20).fit_predict(frame).sort_index()
print(json.dumps([labels.name, labels.index.name, labels.index.tolist(), labels.tolist()]))
"""


@pytest.mark.skipif(not BENCH.exists(), reason="make bench has not made its environment")
def test_crowd_kit_in_the_bench_environment() -> None:
    if find_spec("crowdkit"):
        pytest.skip("crowd-kit is in this environment")
    frame = crowd()
    done = subprocess.run(
        [BENCH, "-c", THEIRS], input=frame.to_json(), capture_output=True, text=True, check=False
    )
    if "No module named 'crowdkit'" in done.stderr:
        pytest.skip("crowd-kit could not be installed for make bench")
    name, index, tasks, labels = json.loads(done.stdout.splitlines()[-1])
    ours = TruthAggregator().fit_predict(frame)
    assert [name, index, tasks] == [ours.name, ours.index.name, ours.index.tolist()]
    assert np.mean(np.array(labels) == ours.to_numpy()) >= 0.9

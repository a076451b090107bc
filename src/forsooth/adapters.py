"""Adapters for pipelines that are made for scikit-learn or for crowd-kit.

    TruthEstimator    get_params, set_params, fit, predict; attributes that end in an underscore
    TruthAggregator   fit_predict(df) with the columns task, worker, label; fit_predict_proba

Both call `infer` and add nothing to it. Neither library is needed: scikit-learn asks for methods,
not for a base class. With `epsilon` the plain answers are perturbed first, as their workers would
have done it; that shows what a private campaign would have learned.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from forsooth import mechanisms
from forsooth.answers import Answers
from forsooth.errors import ForsoothError
from forsooth.inference import infer
from forsooth.inference.data import found_labels
from forsooth.io import tables, wide
from forsooth.io.frames import library_of
from forsooth.reports import Reports

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from forsooth.io.tables import Source
    from forsooth.scale import Scale, ScaleLike
    from forsooth.truths import Truths

_TABLES = (Answers, Reports)


class _Adapter:
    """Parameters as scikit-learn wants them, and the way from data to truths."""

    scale: ScaleLike | None
    epsilon: float | None
    mechanism: str
    protects: Any
    simulation_seed: int | None
    truths_: Truths

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Every parameter of the constructor; `deep` makes no difference."""
        del deep
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> Self:
        """Change parameters; an unknown one is refused."""
        for name, value in params.items():
            if name not in self._names():
                known = ", ".join(self._names())
                raise ForsoothError(f"unknown parameter {name!r}; known: {known}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        changed = (
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if value is not defaults[name].default
        )
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "truths_")

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks of an estimator without its base class."""
        from sklearn.utils import Tags, TargetTags  # only scikit-learn calls this

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))

    def _data(self, data: object) -> object:
        """The data themselves, or with `epsilon` their reports."""
        if self.epsilon is None:
            return data
        if isinstance(data, Reports):
            raise ForsoothError("epsilon is for plain answers; these reports are perturbed already")
        answers = data if isinstance(data, Answers) else Answers.of(data, self.scale)
        mechanism = mechanisms.build(
            self.mechanism,
            answers.scale,
            self.epsilon,
            tasks=len(answers.tasks),
            protects=self.protects,
        )
        kept = replace(answers, assumed=())  # its reports stay here: nobody sees what they list
        return mechanism.perturb(kept, simulation_seed=self.simulation_seed)

    def _fitted(self) -> Truths:
        if not hasattr(self, "truths_"):
            raise ForsoothError(f"this {type(self).__name__} is not fitted yet: call fit(data)")
        return self.truths_


class TruthEstimator(_Adapter):
    """Truth inference as a scikit-learn estimator.

    `fit(X, y)`: X are reports or answers, as for `infer`; y are known truths (gold), or None.
    Afterwards `truths_` is the result, `tasks_`, `estimate_`, `low_` and `high_` are per task,
    `workers_` and `quality_` per worker. `predict(X)` gives the estimate of every row's task.

    >>> rows = [{"task": "t", "worker": w, "label": 3} for w in "abc"]
    >>> TruthEstimator(scale="0..4", method="median").fit(rows).predict(["t"]).tolist()
    [3.0]
    """

    def __init__(
        self,
        *,
        scale: ScaleLike | None = None,
        method: str = "posterior",
        estimand: Any = None,
        estimate: Any = None,
        unordered: bool = False,
        epsilon: float | None = None,
        mechanism: str = "rr",
        protects: Any = None,
        simulation_seed: int | None = None,
    ) -> None:
        self.scale = scale
        self.method = method
        self.estimand = estimand
        self.estimate = estimate
        self.unordered = unordered
        self.epsilon = epsilon
        self.mechanism = mechanism
        self.protects = protects
        self.simulation_seed = simulation_seed

    def fit(self, X: object, y: object = None) -> Self:  # noqa: N803 - scikit-learn's name
        """Infer the truths; `y` are the known truths of some tasks, in any form `gold` takes."""
        data = self._data(X)
        truths = infer(
            data,
            self.method,
            scale=None if isinstance(data, Reports) else self.scale,
            gold=y,
            estimand=self.estimand,
            estimate=self.estimate,
            unordered=self.unordered,
        )
        self.truths_, self.scale_ = truths, truths.scale
        self.tasks_, self.workers_ = np.array(truths.tasks), np.array(truths.workers)
        self.estimate_, self.low_, self.high_ = truths.estimate, truths.low, truths.high
        self.quality_, self.n_iter_ = truths.quality, truths.iterations
        return self

    def predict(self, X: object = None) -> NDArray[Any]:  # noqa: N803
        """The estimate for every row of a table with a task column, or every name of a list.

        Without X, for every task. Labels that are words are given as labels, except for `opinion`.
        """
        truths = self._fitted()
        columns = truths.columns()
        values = np.asarray(columns.get("label", columns["truth"]))
        names = truths.tasks if X is None or isinstance(X, _TABLES) else _task_names(X)
        place: NDArray[np.intp] = np.array([truths.place(name) for name in names], np.intp)
        return values[place]

    def fit_predict(self, X: object, y: object = None) -> NDArray[Any]:  # noqa: N803
        """`fit(X, y).predict(X)`."""
        return self.fit(X, y).predict(X)


class TruthAggregator(_Adapter):
    """Truth inference as an aggregator of categorical labels, with crowd-kit's interface.

    Results are pandas objects as crowd-kit's are: `labels_` and `probas_` are indexed by task,
    `skills_` (the share of a worker's answers that are the inferred labels) by worker. There are
    no skills with `epsilon`: nobody would know the answers. Labels have no order unless `ordered`;
    without `scale` they are the labels that occur.

    >>> rows = [{"task": "t", "worker": w, "label": "cat"} for w in "abc"]
    >>> rows.append({"task": "u", "worker": "a", "label": "dog"})
    >>> TruthAggregator().fit_predict(rows).tolist()
    ['cat', 'dog']
    """

    def __init__(
        self,
        *,
        scale: ScaleLike | None = None,
        method: str = "posterior",
        ordered: bool = False,
        epsilon: float | None = None,
        mechanism: str = "rr",
        protects: Any = None,
        simulation_seed: int | None = None,
    ) -> None:
        self.scale = scale
        self.method = method
        self.ordered = ordered
        self.epsilon = epsilon
        self.mechanism = mechanism
        self.protects = protects
        self.simulation_seed = simulation_seed

    def fit(self, data: object) -> Self:
        """Infer the label of every task from `task, worker, label` (or from Answers, Reports)."""
        pandas = _pandas()
        source = None if isinstance(data, _TABLES) else _long(data)
        read = data if source is None else self._answers(source)
        given = self._data(read)
        posterior = self.method == "posterior"
        truths = infer(
            given,
            self.method,
            estimand="label" if posterior else None,
            unordered=posterior and not self.ordered,
        )
        tasks = _index(pandas, source, "task", truths.tasks)
        labels = _labels(source, truths.scale)
        chosen = [truths.scale.nearest_label(value) for value in truths.estimate]
        self.truths_ = truths
        self.labels_ = pandas.Series([labels[one] for one in chosen], tasks, name="agg_label")
        self.probas_: Any = None
        self.skills_: Any = None
        if truths.posterior is not None:
            columns = pandas.Index(list(labels.values()), name="label")
            self.probas_ = pandas.DataFrame(truths.posterior.mass, index=tasks, columns=columns)
        if isinstance(given, Answers):
            workers = _index(pandas, source, "worker", given.workers)
            self.skills_ = pandas.Series(_agreement(given, chosen), workers, name="skill")
        return self

    def _answers(self, source: Source) -> Answers:
        """The answers; without a scale and without privacy on the labels that occur."""
        if self.scale is None and self.epsilon is None:
            return Answers.of(source, found_labels(source))
        return Answers.of(source, self.scale)

    def fit_predict(self, data: object) -> Any:
        """The likeliest label of every task, as a pandas Series indexed by task."""
        return self.fit(data).labels_

    def fit_predict_proba(self, data: object) -> Any:
        """The probability of every label, as a pandas DataFrame: tasks × labels."""
        probas = self.fit(data).probas_
        if probas is None:
            raise ForsoothError(
                f"the method {self.method} gives no probabilities: use the method posterior"
            )
        return probas


def _task_names(X: object) -> list[str]:  # noqa: N803
    """The task of every row; a list may name the tasks themselves."""
    if isinstance(X, list | tuple | np.ndarray) and all(isinstance(each, str) for each in X):
        return [str(each) for each in X]
    if not isinstance(X, list | tuple | dict) and library_of(X) is None and hasattr(X, "tolist"):
        return [str(each) for each in X.tolist()]
    names: list[str] = _long(X, tasks_only=True).identifiers("task").to_pylist()
    return names


def _long(data: object, *, tasks_only: bool = False) -> Source:
    """A table as rows of one answer each."""
    nested = isinstance(data, dict) and data and all(isinstance(r, dict) for r in data.values())
    if nested:
        raise ForsoothError("pass a table with the columns task, worker and label")
    source = tables.read(data)
    if not tasks_only and wide.is_wide(source, {}):
        return wide.unfolded(source, {})
    return source


def _agreement(answers: Answers, chosen: list[str]) -> NDArray[np.float64]:
    """The share of each worker's answers that are the chosen labels; NaN without answers."""
    code = np.array([answers.scale.code(label) for label in chosen])
    agreed = (answers.code == code[answers.task]).astype(float)
    size = len(answers.workers)
    total = np.bincount(answers.worker, minlength=size).astype(float)
    total[total == 0] = np.nan
    share: NDArray[np.float64] = np.bincount(answers.worker, agreed, minlength=size) / total
    return share


def _index(pandas: Any, source: Source | None, role: str, names: tuple[str, ...]) -> Any:
    """Names as they were in the data: crowd-kit's numbers stay numbers."""
    values: Mapping[str, Any] = {}
    if source is not None:
        values = {str(value): value for value in source.column(role).unique().to_pylist()}
    return pandas.Index([values.get(name, name) for name in names], name=role)


def _labels(source: Source | None, scale: Scale) -> dict[str, Any]:
    """Every label of the scale as it was in the data; numbers that did not occur as numbers."""
    found = [] if source is None else source.column("label").unique().to_pylist()
    labels: dict[str, Any] = dict(zip(scale.labels, scale.labels))
    if found and all(isinstance(value, int | float) for value in found) and scale.is_numeric:
        whole = all(float(value).is_integer() for value in found)
        numbers = (int(value) if whole else value for value in scale.values)
        labels = dict(zip(scale.labels, numbers))
    for value in found:
        if (code := scale.code(value)) is not None:
            labels[scale.labels[code]] = value
    return labels


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ForsoothError("TruthAggregator gives pandas objects: pip install pandas") from error
    return pandas

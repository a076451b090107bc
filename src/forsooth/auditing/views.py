"""What is looked at in the reports of a black box: finite symbols with known probabilities.

Real-valued noise is looked at twice: in which sixteenth of its distribution a value lies, and in
its bits, four at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from forsooth.auditing.discrete_laplace import WINDOW, DiscreteLaplace
from forsooth.errors import ForsoothError
from forsooth.mechanisms import (
    CellwiseMechanism,
    ChannelMechanism,
    Laplace,
    MatrixFactorization,
    Mechanism,
    PresenceLaplace,
    SafeFactorization,
    SampledTasks,
    TwoLayer,
)
from forsooth.mechanisms.channel import TOTAL
from forsooth.mechanisms.matrix_factorization import UNIT
from forsooth.mechanisms.presence_laplace import NOT_ANSWERED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from forsooth.answers import Answers
    from forsooth.reports import Reports

ABSENT = -1  # the input and the symbol of a cell that is not in a report
_PARTS = 16  # of the distribution of noise
_EXACT = 2.0**-48  # of the numbers in mf's equations: an upper bound of what rounding changes


@dataclass(frozen=True, eq=False)
class View:
    """Symbols of an honest client's reports and their probabilities.

    `inputs` and `symbols` are workers × values of a report. `tables` are secrets × inputs ×
    symbols: what a worker draws once for all values, each outcome with the same probability.
    Given that, all values are independent. Sums are taken modulo 2 and `modulus`.
    """

    name: str
    inputs: NDArray[np.intp]
    symbols: NDArray[np.intp]
    tables: NDArray[np.float64]
    modulus: int

    @property
    def mean_table(self) -> NDArray[np.float64]:
        """P(symbol | input) of a value by itself."""
        table: NDArray[np.float64] = self.tables.mean(axis=0)
        return table


@singledispatch
def views_of(mechanism: Mechanism, reports: Reports, answers: Answers) -> list[View]:
    """All views of reports that `mechanism` is claimed to have made from `answers`."""
    raise ForsoothError(f"reports of {mechanism.name} cannot be audited")


@views_of.register(CellwiseMechanism)
def _(mechanism: CellwiseMechanism, reports: Reports, answers: Answers) -> list[View]:
    if reports.answered is None:
        codes = answers.rows(0, len(answers.workers)).astype(np.intp)
        return list(_looks(mechanism, codes, reports.values))
    return list(_looks(mechanism, *_spread(reports, answers)))


@views_of.register(SampledTasks)
def _(mechanism: SampledTasks, reports: Reports, answers: Answers) -> list[View]:
    eligible = mechanism.eligible(answers)
    if reports.answered is None:
        codes = mechanism.codes(eligible).astype(np.intp)
        return list(_looks(mechanism.inner, codes, reports.values))
    return list(_looks(mechanism.inner, *_spread(reports, eligible)))


@views_of.register(SafeFactorization)
def _(mechanism: SafeFactorization, reports: Reports, answers: Answers) -> list[View]:
    """The noise, which is what is left of the report without the sketches."""
    codes = answers.rows(0, len(answers.workers))
    return _of_noise(mechanism.rate, reports.values - mechanism.sketch(codes, answers.workers))


@views_of.register(MatrixFactorization)
def _(mechanism: MatrixFactorization, reports: Reports, answers: Answers) -> list[View]:
    """The noise b − Au in whole steps; bits that floating-point numbers blur are left out."""
    if mechanism.solver != "closed-form":
        raise ForsoothError(
            "reports of mf by gradient descent have no known distribution to be audited against"
        )
    codes = answers.rows(0, len(answers.workers))
    profiles = mechanism.matrix.T
    sketch = np.append(mechanism.positions, 0.0)[codes] @ profiles * 2.0**mechanism.grid
    gram = np.einsum(
        "wt,td,te->wde", (codes != mechanism.scale.null).astype(float), profiles, profiles
    )
    gram += mechanism.ridge * np.eye(mechanism.d)
    product = np.einsum("wde,we->wd", gram, reports.values)
    step = 2.0**mechanism.grid / UNIT
    blurred = _EXACT * max(np.abs(sketch).max(), np.abs(gram).max() * np.abs(reports.values).max())
    noise = np.rint((sketch - product) / step).astype(np.int64)
    return _of_noise(mechanism.rate, noise, np.log2(max(1.0, blurred / step)))


def _spread(reports: Reports, answers: Answers) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Reports on answered cells as workers × tasks."""
    shape = (len(answers.workers), len(answers.tasks))
    codes, values = np.full(shape, ABSENT), np.zeros(shape, reports.values.dtype)
    codes[answers.worker, answers.task] = answers.code
    values[answers.worker, answers.task] = reports.values
    return codes, values


@singledispatch
def _looks(
    mechanism: CellwiseMechanism, codes: NDArray[np.intp], values: NDArray[Any]
) -> Iterator[View]:
    """All views of values that a cellwise mechanism has made from codes."""
    raise ForsoothError(f"reports of {mechanism.name} cannot be audited")


@_looks.register(ChannelMechanism)
def _(mechanism: ChannelMechanism, codes: NDArray[np.intp], values: NDArray[Any]) -> Iterator[View]:
    tables = np.array([mechanism.channel.weights], float) / TOTAL
    yield View("symbols", codes, _present(codes, values), tables, tables.shape[2])


@_looks.register(TwoLayer)
def _(mechanism: TwoLayer, codes: NDArray[np.intp], values: NDArray[Any]) -> Iterator[View]:
    tables = np.array([channel.weights for channel in mechanism.channels], float) / TOTAL
    yield View("symbols", codes, _present(codes, values), tables, tables.shape[2])


@_looks.register(Laplace)
def _(mechanism: Laplace, codes: NDArray[np.intp], values: NDArray[Any]) -> Iterator[View]:
    """An answer is its position; NULL is one of all positions or a constant."""
    positions = np.array(mechanism.positions, np.int64)
    centres = [positions[code : code + 1] for code in range(len(positions))]
    centres.append(positions if mechanism.null is None else centres[mechanism.null])
    law = DiscreteLaplace(float(mechanism.rate))
    edges, parts = _edges(law, centres)
    symbols = np.empty(values.shape, np.intp)
    for code, each in enumerate(edges):
        symbols[codes == code] = np.searchsorted(each, values[codes == code])
    yield View("sixteenths of the noise", codes, _present(codes, symbols), parts[None], _PARTS)
    for first in law.first_bits():
        table = np.array([law.bits(first, each).mean(axis=0) for each in centres])
        name = f"bits {first} to {first + WINDOW - 1}"
        yield View(name, codes, _present(codes, _bits(values, first)), table[None], 1 << WINDOW)


@_looks.register(PresenceLaplace)
def _(mechanism: PresenceLaplace, codes: NDArray[np.intp], values: NDArray[Any]) -> Iterator[View]:
    """The views of `lp` with one more symbol, which is NULL."""
    keep = mechanism.keep / TOTAL
    answered = np.where(np.arange(mechanism.scale.size + 1) < mechanism.scale.size, keep, 1 - keep)
    missing = values == NOT_ANSWERED
    for view in _looks(mechanism.inner, codes, values):
        size = view.tables.shape[2]
        table = np.column_stack([answered[:, None] * view.tables[0], 1 - answered])
        symbols = np.where(missing, size, view.symbols)
        yield replace(view, symbols=symbols, tables=table[None])


def _edges(
    law: DiscreteLaplace, centres: list[NDArray[np.int64]]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The edges of equal parts for every input, and the parts' probabilities."""
    one, parts = law.quantiles(np.zeros(1, np.int64), _PARTS)
    null, null_parts = law.quantiles(centres[-1], _PARTS)
    edges = [*(centre + one for centre in centres[:-1]), null]
    return np.array(edges), np.array([*[parts] * (len(centres) - 1), null_parts])


def _of_noise(rate: Any, noise: NDArray[np.int64], blurred: float = 0.0) -> list[View]:
    """Views of the noise itself: all values have the same distribution."""
    law, same = DiscreteLaplace(float(rate)), np.zeros(noise.shape, np.intp)
    edges, parts = law.quantiles(np.zeros(1, np.int64), _PARTS)
    views = [
        View(
            "sixteenths of the noise",
            same,
            np.searchsorted(edges, noise),
            parts[None, None],
            _PARTS,
        )
    ]
    for first in law.first_bits():
        if first >= blurred:
            table = law.bits(first, np.zeros(1, np.int64))
            name = f"bits {first} to {first + WINDOW - 1} of the noise"
            views.append(View(name, same, _bits(noise, first), table[None], 1 << WINDOW))
    return views


def _bits(values: NDArray[np.int64], first: int) -> NDArray[np.intp]:
    """Four bits of whole numbers in two's complement."""
    window: NDArray[np.intp] = ((values >> first) & ((1 << WINDOW) - 1)).astype(np.intp)
    return window


def _present(codes: NDArray[np.intp], symbols: NDArray[Any]) -> NDArray[np.intp]:
    return np.where(codes == ABSENT, ABSENT, symbols.astype(np.intp))

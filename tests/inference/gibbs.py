"""The readable, slow twin of `propagate`: Gibbs sampling of the truths and the workers in turn.

Everything else is given: the prior π of the truths, and `Parameters` with the kinds' responses, the
shares of kinds and the rates. With p_s(y | θ) for a worker in state s = (rate, kind, secret),

    P(s_i = s | θ) ∝ P(s)·∏_j p_s(y_ij | θ_j)          worker by worker
    P(θ_j = θ | s) ∝ π(θ)·∏_i p_{s_i}(y_ij | θ)        task by task

and the mean of the second over the sweeps is P(θ_j | all reports).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from forsooth.inference.posterior.evidence import Evidence
from forsooth.inference.posterior.messages import Parameters

Array = NDArray[np.float64]


def symbol_tables(part: Evidence, now: Parameters) -> tuple[Array, Array]:
    """P(s), and p_s(y | θ): states × symbols × nodes."""
    chances, tables = [], []
    rates = zip(now.rates, now.rate_shares) if part.hidden else [(1.0, 1.0)]
    for rate, rate_share in rates:
        for share, response in zip(now.shares, now.responses):
            for answers, null in zip(part.answer_tables, part.null_rows):
                answered = (response @ answers).T  # symbols × nodes
                tables.append((1 - rate) * null[:, None] + rate * answered)
                chances.append(rate_share * share / len(part.tables))
    return np.array(chances), np.array(tables)


def gibbs(
    part: Evidence, now: Parameters, prior: Array, *, sweeps: int = 1500, chains: int = 4
) -> tuple[Array, Array]:
    """P(θ_j | reports), tasks × nodes; and P(kind of worker i | reports), workers × kinds."""
    worker, task, symbol = _cells(part)
    chances, tables = symbol_tables(part, now)
    logs = np.log(tables)
    # Sums over the cells of a task, and of a worker.
    by_task = (task == np.arange(part.tasks)[:, None]).astype(float)
    by_worker = (worker == np.arange(part.workers)[:, None]).astype(float)
    beliefs, kept = np.zeros((part.tasks, len(prior))), 0
    states = np.zeros((part.workers, len(chances)))
    for chain in range(chains):
        random = np.random.default_rng(chain)
        truth = random.choice(len(prior), part.tasks, p=prior / prior.sum())
        for sweep in range(sweeps // chains):
            of_worker = _softmax(np.log(chances) + by_worker @ logs[:, symbol, truth[task]].T)
            state = _drawn(of_worker, random)
            of_task = _softmax(np.log(prior) + by_task @ logs[state[worker], symbol])
            truth = _drawn(of_task, random)
            if sweep >= sweeps // chains // 5:  # the first fifth depends on the start
                beliefs, states, kept = beliefs + of_task, states + of_worker, kept + 1
    per_kind = (states / kept).reshape(part.workers, -1, len(now.shares), len(part.tables))
    return beliefs / kept, per_kind.sum(axis=(1, 3))


def _cells(part: Evidence) -> tuple[NDArray[np.intp], ...]:
    """Worker, task and symbol of every cell; the evidence is one block in memory."""
    (block,) = part.blocks.each(lambda each: each)
    return *block.coordinates(), block.symbol.astype(np.intp)


def _softmax(logs: Array) -> Array:
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    rows: Array = weights / weights.sum(axis=1, keepdims=True)
    return rows


def _drawn(rows: Array, random: np.random.Generator) -> NDArray[np.intp]:
    """One index per row, with the row's probabilities."""
    below = rows.cumsum(axis=1)
    drawn: NDArray[np.intp] = (below < random.random((len(rows), 1)) * below[:, -1:]).sum(axis=1)
    return drawn

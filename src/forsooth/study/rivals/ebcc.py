"""EBCC: classes have subtypes, workers a confusion matrix per subtype; by variational Bayes.

    z_j ~ τ,  τ ~ Dirichlet(ν₀),  ν₀[k] = Σ_j (share of votes for k)
    g_j | z_j = k ~ π_k,  π_k ~ Dirichlet(a/M, …, a/M)          one of M subtypes of class k
    a_ij | z_j = k, g_j = m ~ v_ikm,  v_ikm ~ Dirichlet(β_k)     β_k: 4 for answer k, 1 for others

The subtype is shared by all workers, so that their answers are correlated given the class. With
q(z, g, τ, π, v) = q(z, g) q(τ) q(π) q(v) and ρ_jkm = q(z_j = k, g_j = m), one round is

    η_km = a/M + Σ_j ρ_jkm    ν_k = ν₀[k] + Σ_jm ρ_jkm    μ_ikml = β_kl + Σ_{j: a_ij = l} ρ_jkm
    ln ρ_jkm = E ln τ_k + E ln π_km + Σ_i E ln v_ikm[a_ij] + constant,   Σ_km ρ_jkm = 1

with E ln of a Dirichlet's share = ψ(its parameter) − ψ(their sum). Starts are random splits of the
vote shares over the subtypes; of several starts that with the highest evidence lower bound counts.

Y. Li, B. Rubinstein, T. Cohn: Exploiting Worker Correlation for Label Aggregation in Crowdsourcing.
ICML 2019. http://proceedings.mlr.press/v97/li19i.html
The numbers are those of the authors' experiments (a = 0.1, M = 10), but for the starts: 40 there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array
from scipy.special import digamma, entr, gammaln

from forsooth.inference.posterior.kernels import softmax
from forsooth.study.rivals.base import Aggregated, Rival

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.study.rivals.base import Annotations

    Array = NDArray[np.float64]

SUBTYPES, SUBTYPE_WEIGHT = 10, 0.1  # M and a
RIGHT, WRONG = 4.0, 1.0  # β_k: answers that every confusion matrix is worth from the start
STARTS = 10
_ROUNDS, _STILL = 500, 1e-3  # at most; no probability moves by more


@dataclass(frozen=True, eq=False)
class Variational:
    """Where one start arrived: P(class) of every task; the evidence lower bound + a constant."""

    probability: Array
    bound: float


def ebcc(
    data: Annotations, subtypes: int = SUBTYPES, starts: int = STARTS, seed: int = 0
) -> Aggregated:
    """The best of several random starts."""
    shares, random = data.vote_shares, np.random.default_rng(seed)
    runs = []
    for _ in range(starts):
        split = random.dirichlet(np.ones(subtypes), shares.shape)
        runs.append(variational(data, shares[:, :, None] * split, shares.sum(axis=0)))
    best = max(runs, key=lambda run: run.bound)
    return Aggregated.from_probability(best.probability, data)


def variational(data: Annotations, start: Array, prior: Array) -> Variational:
    """Rounds from a start ρ (tasks × classes × subtypes) with the prior ν₀, until nothing moves."""
    votes, (tasks, classes, subtypes) = _one_hot(data), start.shape
    of_class = np.repeat(np.eye(classes), subtypes, axis=0)  # sums over subtypes are products
    joint, probability = start.reshape(tasks, -1), start.sum(axis=2)
    for _ in range(_ROUNDS):
        before = probability
        matrices, shares, weights = _parameters(votes @ joint, joint.sum(axis=0), prior)
        logs = votes.T @ _expected_log(matrices, 1).reshape(-1, classes * subtypes)
        logs += (_expected_log(shares, 1) + _expected_log(weights, 0)[:, None]).ravel()
        joint = softmax(logs)
        probability = joint @ of_class
        if np.abs(probability - before).max() <= _STILL:
            break
    found = _parameters(votes @ joint, joint.sum(axis=0), prior)
    bound = sum(_log_beta(each, axis) for each, axis in zip(found, (1, 1, 0)))
    return Variational(probability, bound + float(entr(joint).sum()))


def _one_hot(data: Annotations) -> csr_array:
    """(worker, answer) × tasks: how often the worker gave the answer to the task."""
    row = data.worker * data.scale.size + data.code
    shape = (data.workers * data.scale.size, data.tasks)
    return csr_array((np.ones(row.size), (row, data.task)), shape=shape)


def _parameters(counts: Array, totals: Array, prior: Array) -> tuple[Array, Array, Array]:
    """μ (worker × answer × class × subtype), η and ν."""
    classes, subtypes = len(prior), len(totals) // len(prior)
    totals = totals.reshape(classes, subtypes)
    matrix_prior = WRONG + (RIGHT - WRONG) * np.eye(classes)[:, :, None]
    matrices = matrix_prior + counts.reshape(-1, classes, classes, subtypes)
    return matrices, SUBTYPE_WEIGHT / subtypes + totals, prior + totals.sum(axis=1)


def _expected_log(parameters: Array, axis: int) -> Array:
    """E ln of the shares of a Dirichlet."""
    logs: Array = digamma(parameters) - digamma(parameters.sum(axis=axis, keepdims=True))
    return logs


def _log_beta(parameters: Array, axis: int) -> float:
    """The sum of the logarithms of the Dirichlets' normalising constants."""
    return float(gammaln(parameters).sum() - gammaln(parameters.sum(axis=axis)).sum())


EBCC = Rival(
    "ebcc",
    ("label",),
    ebcc,
    "Li, Rubinstein and Cohn, ICML 2019, http://proceedings.mlr.press/v97/li19i.html",
)

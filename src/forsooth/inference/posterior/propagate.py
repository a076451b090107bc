"""Belief propagation between workers and tasks (Liu, Peng, Ihler 2012), from one point.

Given a point z of the global numbers, messages go between tasks and workers until no belief moves;
with every round the shares of kinds and rates, the weights of the truths' prior and, for labels,
the kinds' responses become the means of their Dirichlet posteriors given the expected counts.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from forsooth.inference.checkpoint import Checkpoint
from forsooth.inference.posterior.messages import Learned, Messages, Parameters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from forsooth.inference.posterior.model import Crowd, TruthPrior

    Array = NDArray[np.float64]

_STILL = 0.01  # total variation by which the tasks' beliefs may still move, root mean square
_DAMPING = 0.3  # share of the last round's likelihood that is kept: messages must not swing
_STEPS = 10  # of expectation maximisation for the shares of kinds and rates, per round
_IMPOSSIBLE = -1e3  # ln likelihood of every truth but the known one
_ROUND = "round"  # the checkpoint's stage
ROUNDS = 30  # at most


@dataclass(frozen=True, eq=False)
class Propagated:
    """Where the messages of one point have arrived."""

    likelihood: Array  # ln, tasks × nodes
    beliefs: Array
    prior: Array  # the learned weights of the truths' prior
    now: Parameters
    rounds: int
    moved: float  # by how much beliefs moved in the last round

    @property
    def converged(self) -> bool:
        """Have the beliefs come to rest?"""
        return self.moved < _STILL

    def arrays(self) -> dict[str, NDArray[Any]]:
        """For a checkpoint."""
        own = {name: np.asarray(value) for name, value in vars(self).items() if name != "now"}
        return own | {f"now.{name}": value for name, value in vars(self.now).items()}

    @classmethod
    def of(cls, arrays: dict[str, NDArray[Any]]) -> Propagated:
        """From a checkpoint."""
        now = Parameters(**{f.name: arrays[f"now.{f.name}"] for f in fields(Parameters)})
        likelihood, beliefs, prior = (arrays[x] for x in ("likelihood", "beliefs", "prior"))
        rounds, moved = int(arrays["rounds"]), float(arrays["moved"])
        return cls(likelihood, beliefs, prior, now, rounds, moved)


def propagate(
    crowd: Crowd,
    parts: Sequence[Messages],
    point: Array,
    known: NDArray[np.intp],
    *,
    rounds: int = ROUNDS,
    checkpoint: Checkpoint | None = None,
) -> Propagated:
    """`known` holds the node of every task's truth, or −1; no rounds: the pooled model."""
    z, checkpoint = point[None], checkpoint or Checkpoint()
    truths, mean = crowd.truths(point), float(crowd.participation(z)[0])
    shares = crowd.rate_shares
    first = Parameters(crowd.base, crowd.shares(z)[0], crowd.rates(mean, shares), shares)
    state = _restored(parts, checkpoint)
    if state is None:
        for part in parts:
            part.start(first)
        state = _believed(truths, parts, known, first, None)
    while not state.converged and state.rounds < rounds:
        learned = [part.update(state.beliefs, state.now) for part in parts]
        now = _reestimated(crowd, first, state.now, learned, mean)
        truths.weights = state.prior
        state = _believed(truths, parts, known, now, state)
        _keep(parts, checkpoint, state)
    return state


def _believed(
    truths: TruthPrior,
    parts: Sequence[Messages],
    known: NDArray[np.intp],
    now: Parameters,
    last: Propagated | None,
) -> Propagated:
    """New beliefs from the messages."""
    total = np.sum([part.log_likelihood(now) for part in parts], axis=0)
    rows = np.flatnonzero(known >= 0)
    total[rows] = _IMPOSSIBLE
    total[rows, known[rows]] = 0
    if last is not None and last.rounds > 0:
        total = _DAMPING * last.likelihood + (1 - _DAMPING) * total
    beliefs = truths.beliefs(total)
    if last is None:
        return Propagated(total, beliefs, truths.weights, now, 0, 1.0)
    moved = float(np.sqrt((np.abs(beliefs - last.beliefs).sum(axis=1) ** 2).mean()) / 2)
    return Propagated(total, beliefs, truths.weights, now, last.rounds + 1, moved)


def _keep(parts: Sequence[Messages], checkpoint: Checkpoint, state: Propagated) -> None:
    """After every pass; where one is cheap, nothing."""
    kept = [part.kept() for part in parts]
    if all(kept):
        named = {f"{at}.{name}": a for at, each in enumerate(kept) for name, a in each.items()}
        checkpoint.save(_ROUND, state.arrays() | named)


def _restored(parts: Sequence[Messages], checkpoint: Checkpoint) -> Propagated | None:
    arrays = checkpoint.load(_ROUND)
    if not arrays:
        return None
    for at, part in enumerate(parts):
        for name, array in arrays.items():
            if name.startswith(f"{at}."):
                setattr(part, name.removeprefix(f"{at}."), array)
    return Propagated.of(arrays)


def _reestimated(
    crowd: Crowd, first: Parameters, now: Parameters, learned: Sequence[Learned], mean: float
) -> Parameters:
    """Means of the Dirichlet posteriors, after a few steps of expectation maximisation."""
    p, shares, rate_shares = crowd.priors, now.shares, now.rate_shares
    for _ in range(_STEPS):
        kinds, rates = p.kinds_weight * first.shares, p.rates_weight * first.rate_shares
        for each in learned:
            hidden = each.explained.shape[1] > 1
            prior = np.outer(rate_shares, shares) if hidden else shares[None]
            chance = each.explained * prior
            chance *= (each.size / chance.sum(axis=(1, 2)))[:, None, None]
            members = chance.sum(axis=0)
            kinds = kinds + members.sum(axis=0)
            rates = rates + members.sum(axis=1) * hidden
        shares, rate_shares = _normal(kinds), _normal(rates)
    responses = now.responses
    if crowd.learns:
        rows = p.row_weight * crowd.base + sum(each.given for each in learned)
        responses = rows / rows.sum(axis=2, keepdims=True)
    return Parameters(responses, shares, crowd.rates(mean, rate_shares), rate_shares)


def _normal(weights: Array) -> Array:
    shares: Array = weights / weights.sum()
    return shares

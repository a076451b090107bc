"""The posterior for the estimand `opinion`: the distribution of the population's answers.

Only the number of reports of every symbol matters, per row: a question, or a question asked of one
group of workers. The model, for row j and answers 1…K:

    counts         n_jW ~ Multinomial(Σ n_jW, ρ_j p_j W[answers] + (1 − ρ_j) W[NULL]),
                   of every mechanism W; ρ_j = 1 where participation is public
    shares         p_j = softmax(Φᵀ x_j),  Φ_ka = log₂(K)/√2 · cos(π k (a − ½)/K),  a = 1…K
                   x_jk ~ N(m_k, s_k²),  k = 1…K−1
    participation  logit ρ_j ~ N(m_ρ, s_ρ²)
    over rows      m_k ~ N(0, t_k²),  t_k = share_scale·k^(−share_decay)
                   m_ρ ~ N(0, unknown_sd²)
                   ln s_k = ln t_k + share_log_sd·e₁ − share_decay_sd·e₂·ln k
                   ln s_ρ = ln rate_spread + share_log_sd·e₃,  e₁, e₂, e₃ ~ N(0, 1)

The named numbers are in `priors`. Labels without an order: k = 1 in powers and logarithms, so that
all labels are alike a priori.
Workers have no quality: if a share g of them guesses, (1 − g) p + g / K is a valid population too,
and counts cannot tell which it is. The result describes answers as given.

Sampled by Hamiltonian Monte Carlo (Neal 2011, arXiv:1206.1901), all rows and chains at once, with
x = m + s z and u = (m, e): z given u, u given z, u given x. The last two make each other fast
(Yu and Meng 2011, doi:10.1198/jcgs.2011.203main). Arrays are coordinates × chains × rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from forsooth.errors import ForsoothError
from forsooth.inference.posterior.priors import PRIORS, Priors

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Target = Callable[[Floats], tuple[Floats, ...]]  # log density and its gradient

# Sampler. Enough for uniform ranks in simulation-based calibration.
ROWS, CHAINS = 128, (2, 16)  # chains × rows that take little longer than one; limits of chains
WARM, WINDOW, KEEP = 200, 50, 250  # iterations: to adapt, between two masses, to keep
LEAPS, TURN, ACCEPT = 5, 3.0, 0.8  # steps; longest way in radians (2π is back); acceptance rate
TINY = 1e-300  # smallest probability, so that its logarithm is finite


@dataclass(frozen=True, eq=False)
class Counts:
    """The reports of one mechanism; if participation is hidden, everyone reports on every task."""

    number: Floats  # tasks × symbols
    table: Floats  # secrets × symbols, rows sum to 1; where hidden the last secret is NULL
    hidden: bool


@dataclass(frozen=True, eq=False)
class Opinions:
    """Draws from the posterior; no participation where it is public."""

    shares: Floats  # draws × tasks × answers
    participation: Floats | None  # draws × tasks


@dataclass(frozen=True, eq=False)
class Interval:
    """Posterior means and 90 % intervals that contain them."""

    estimate: Floats
    low: Floats
    high: Floats


def _dot(matrix: Floats, x: Floats) -> Floats:
    return np.asarray(matrix @ x.reshape(len(x), -1)).reshape(-1, *x.shape[1:])


class SharesPrior:
    """The prior of shares and participation; u are its parameters, x the rows' coordinates."""

    def __init__(self, answers: int, hidden: bool, ordered: bool, p: Priors = PRIORS) -> None:
        k, size = np.arange(1, answers), answers - 1 + hidden
        log_k = np.log(k) * ordered
        scale = p.share_scale * np.exp(-p.share_decay * log_k)
        angles = np.pi * k[:, None] * (np.arange(answers) + 0.5) / answers
        self.basis = np.log2(answers) / np.sqrt(2) * np.cos(angles)
        self.log_spread = np.log(np.append(scale, p.rate_spread))[:size, None]
        loadings = np.zeros((answers, 3))
        loadings[:-1, 0], loadings[:-1, 1], loadings[-1, 2] = (
            p.share_log_sd,
            -p.share_decay_sd * log_k,
            p.share_log_sd,
        )
        self.loadings = loadings[:size]
        self.precision = np.append(np.append(scale, p.unknown_sd)[:size], np.ones(3))[:, None] ** -2

    def place(self, u: Floats) -> tuple[Floats, Floats]:
        """Mean m and standard deviation s of the rows: coordinates × chains × 1."""
        return u[:-3, :, None], np.exp(self.log_spread + self.loadings @ u[-3:])[..., None]

    def states(self, x: Floats) -> tuple[Floats, Floats]:
        """Shares, and participation (1 where it is public)."""
        eta = _dot(self.basis.T, x[: len(self.basis)])
        p = np.exp(eta - eta.max(0))
        return p / p.sum(0), expit(x[-1]) if len(x) > len(self.basis) else np.ones(x.shape[1:])


class _Likelihood:
    def __init__(self, parts: Sequence[Counts], prior: SharesPrior) -> None:
        """Stack the symbols of all parts in one axis; counts may differ between chains."""
        self.states, self.basis, answers = prior.states, prior.basis, prior.basis.shape[1]
        numbers = [p.number.reshape(-1, *p.number.shape[-2:]).transpose(2, 0, 1) for p in parts]
        self.number = np.concatenate(numbers)
        self.total = np.concatenate([np.broadcast_to(n.sum(0), n.shape) for n in numbers])
        self.table = np.concatenate([part.table[:answers].T for part in parts])
        self.null = np.concatenate([part.table[-1] for part in parts])[:, None, None]
        self.hidden = np.concatenate([0 * n[:, :1, :1] + p.hidden for n, p in zip(numbers, parts)])

    def _symbols(self, x: Floats) -> tuple[Floats, ...]:
        """p, ρ; for every symbol its probability, and that one's derivatives by p and −ρ."""
        p, rho = self.states(x)
        clear = _dot(self.table, p)
        gap = self.hidden * (self.null - clear)
        return p, rho, np.maximum(clear + (1 - rho) * gap, TINY), 1 - self.hidden * (1 - rho), gap

    def __call__(self, x: Floats) -> tuple[Floats, Floats]:
        """Log likelihood of every row, and its gradient."""
        p, rho, seen, kept, gap = self._symbols(x)
        ratio = self.number / seen
        by_p = _dot(self.table.T, ratio * kept)
        by_x = _dot(self.basis, p * (by_p - (p * by_p).sum(0)))
        by_rate = -rho * (1 - rho) * (ratio * gap).sum(0)
        return (self.number * np.log(seen)).sum(0), np.concatenate([by_x, by_rate[None]])[: len(x)]

    def information(self, x: Floats) -> Floats:
        """Expected information: chains × rows × coordinates × coordinates."""
        p, rho, seen, kept, gap = self._symbols(x)
        by_x = p * (self.basis[:, :, None, None] - _dot(self.basis, p)[:, None])
        change = np.tensordot(self.table, by_x, (1, 1)) * kept[:, None]
        change = np.concatenate([change, (-rho * (1 - rho) * gap)[:, None]], 1)[:, : len(x)]
        scores = np.moveaxis(change * np.sqrt(self.total / seen)[:, None], (0, 1), (-1, -2))
        return np.asarray(scores @ np.swapaxes(scores, -1, -2))


class _Walk:
    """Hamiltonian moves of a batch of states; each learns its step length."""

    def __init__(self, random: Generator, *batch: int) -> None:
        self.random, self.step = random, np.full(batch, 0.5)

    def set_mass(self, mass: Floats) -> None:
        self.root = np.moveaxis(np.linalg.inv(np.linalg.cholesky(mass)), (-1, -2), (0, 1)).copy()

    def __call__(self, x: Floats, target: Target, gain: float) -> Floats:
        """The states (coordinates × batch) after one move."""
        step = self.step * self.random.uniform(0.7, 1.3, self.step.shape)
        speed = self.random.standard_normal(x.shape)
        (value, slope), new = target(x), x
        before = value - 0.5 * (speed**2).sum(0)
        push = step * np.einsum("ab...,a...->b...", self.root, slope)
        speed = speed - 0.5 * push
        for _ in range(LEAPS):
            speed = speed + push
            new = new + step * np.einsum("ab...,b...->a...", self.root, speed)
            value, slope = target(new)
            push = step * np.einsum("ab...,a...->b...", self.root, slope)
        after = value - 0.5 * ((speed + 0.5 * push) ** 2).sum(0)
        accept = np.exp(np.minimum(0, np.nan_to_num(after - before, nan=-np.inf)))
        self.step = np.clip(self.step * np.exp(gain * (accept - ACCEPT)), 0.02, TURN / LEAPS)
        return np.where(self.random.random(accept.shape) < accept, new, x)


class _Chains:
    def __init__(self, likelihood: _Likelihood, prior: SharesPrior, chains: int, seed: int) -> None:
        self.likelihood, self.prior, self.random = likelihood, prior, np.random.default_rng(seed)
        (size, few), rows = prior.loadings.shape, likelihood.number.shape[-1]
        self.z, self.u = np.zeros((size, chains, rows)), np.zeros((size + few, chains))
        self.walk_z = _Walk(self.random, chains, rows)
        self.walk_u, self.walk_e = (_Walk(self.random, chains) for _ in range(2))
        self.walk_e.set_mass(2 * rows * prior.loadings.T @ prior.loadings + np.eye(few))

    def adapt(self, z: Floats, u: Floats) -> None:
        """Set the masses to the curvature of the log density at this state."""
        (m, s), one = self.prior.place(u), np.eye(len(z))
        information = self.likelihood.information(m + s * z)
        scale = np.moveaxis(s, 0, -1)[..., None] * one
        self.walk_z.set_mass(scale @ information @ scale + one)
        by_e = np.moveaxis(s * z, 0, -1)[..., None] * self.prior.loadings
        by_u = np.concatenate([np.broadcast_to(one, information.shape), by_e], -1)
        mass = (np.swapaxes(by_u, -1, -2) @ information @ by_u).sum(1)
        self.walk_u.set_mass(mass + np.diag(self.prior.precision[:, 0]))

    def density(self, z: Floats, u: Floats) -> tuple[Floats, ...]:
        """Log densities and gradients: of z given u per row, and of u given z."""
        m, s = self.prior.place(u)
        value, by_x = self.likelihood(m + s * z)
        pull = self.prior.precision * u
        by_u = np.append(by_x.sum(-1), self.prior.loadings.T @ (by_x * s * z).sum(-1), 0) - pull
        of_u = value.sum(-1) - 0.5 * (pull * u).sum(0)
        return value - 0.5 * (z**2).sum(0), s * by_x - z, of_u, by_u

    def move_u_given_x(self, gain: float) -> None:
        """Draw m given (x, e), then move e given (x, m)."""
        (size, _, rows), (m, s) = self.z.shape, self.prior.place(self.u)
        x, precision = m + s * self.z, s[..., 0] ** -2
        total = rows * precision + self.prior.precision[:size]
        new = precision * x.sum(-1) / total + self.random.normal(0, total**-0.5)
        squares = ((x - new[..., None]) ** 2).sum(-1)

        def target(e: Floats) -> tuple[Floats, Floats]:
            log_spread = self.prior.log_spread + self.prior.loadings @ e
            ratio = squares * np.exp(-2 * log_spread)
            value = -(0.5 * ratio + rows * log_spread).sum(0) - 0.5 * (e**2).sum(0)
            return value, self.prior.loadings.T @ (ratio - rows) - e

        self.u = np.concatenate([new, self.walk_e(self.u[size:], target, gain)])
        m, s = self.prior.place(self.u)
        self.z = (x - m) / s

    def run(self) -> Floats:
        """Kept iterations × coordinates × chains × rows of x."""
        past = [(self.z, self.u)]
        for t in range(WARM + KEEP):
            if t < WARM and t % WINDOW == 0:
                self.adapt(*(np.mean(a, axis=0) for a in zip(*past)))
                past = []
            gain = 2 / np.sqrt(10 + t % WINDOW + t / 5) if t < WARM else 0.0
            with np.errstate(all="ignore"):  # a trajectory that diverges is rejected
                self.z = self.walk_z(self.z, lambda z: self.density(z, self.u)[:2], gain)
                self.u = self.walk_u(self.u, lambda u: self.density(self.z, u)[2:], gain)
                self.move_u_given_x(gain)
            past.append((self.z, self.u))
        return np.stack([m + s * z for z, u in past[-KEEP:] for m, s in [self.prior.place(u)]])


def opinions(parts: Sequence[Counts], *, answers: int, ordered: bool, seed: int) -> Opinions:
    """Draws of every task's shares and participation given the counts of all mechanisms."""
    if answers < 2 or any(len(part.table) != answers + part.hidden for part in parts):
        raise ForsoothError(f"a table needs {answers} rows, and one for NULL if it hides absence")
    hidden, rows = any(part.hidden for part in parts), len(parts[0].number)
    prior = SharesPrior(answers, hidden, ordered)
    chains = int(np.clip(ROWS // rows, *CHAINS))
    x = np.moveaxis(_Chains(_Likelihood(parts, prior), prior, chains, seed).run(), 1, 0)
    shares, rate = prior.states(x.reshape(len(x), -1, rows))
    return Opinions(np.moveaxis(shares, 0, -1).copy(), rate if hidden else None)


def interval(draws: Floats, low: float, high: float) -> Interval:
    """Means over the draws (axis 0), and the shortest of three 90 % intervals inside low…high.

    They are 5–95 %, low–90 % and 10 %–high; the last two are shorter where draws pile up at a
    bound. An interval without the mean is widened.
    """
    estimate, (q05, q10, q90, q95) = draws.mean(0), np.quantile(draws, [0.05, 0.1, 0.9, 0.95], 0)
    ends = np.stack([[q05, q95], [np.full_like(q05, low), q90], [q10, np.full_like(q05, high)]])
    shortest = (ends[:, 1] - ends[:, 0]).argmin(0)[None, None]
    start, end = np.take_along_axis(ends, shortest, 0)[0]
    return Interval(estimate, np.minimum(start, estimate), np.maximum(end, estimate))


def summary(shares: Floats, values: Floats) -> tuple[Interval, Interval]:
    """The shares (tasks × answers) and the mean of the answers' values (tasks)."""
    return interval(shares, 0, 1), interval(shares @ values, values.min(), values.max())


def differences(
    first: Floats, second: Floats, values: Floats, people: float | None = None
) -> tuple[Interval, Interval]:
    """The first population's shares and mean minus the second's, from draws × answers of each.

    Different people have independent sampling errors: rows are subtracted draw by draw. If the same
    `people` answered two questions, the noise of their reports is independent, but their sampling
    errors have a covariance c that counts do not tell; |c| ≤ √(v₁ v₂), v: variance of an answer /
    people. Independent draws are conservative if c > 0, the usual case, and too narrow by up to √2
    if c < 0. With `people` (their number) the interval holds for every c: it is wider by
    √(1 + 2 √(v₁ v₂) / (V₁ + V₂)), V: posterior variance; by little where noise dominates.
    """
    columns = np.column_stack([np.eye(len(values)), values])
    draws, p = np.stack([first, second]) @ columns, np.stack([first.mean(0), second.mean(0)])
    sampling = (p @ columns**2 - (p @ columns) ** 2) / (people or np.inf)
    total, minus = draws.var(1), interval(draws[0] - draws[1], -np.inf, np.inf)
    worst = 2 * np.sqrt(np.clip(sampling, 0, total).prod(0)) / np.maximum(total.sum(0), TINY)
    mid, wider = minus.estimate, np.sqrt(1 + worst)
    both = np.stack([mid, mid + wider * (minus.low - mid), mid + wider * (minus.high - mid)])
    return Interval(*both[:, :-1]), Interval(*both[:, -1])

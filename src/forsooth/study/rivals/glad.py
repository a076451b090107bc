"""GLAD: an ability per worker and an easiness per task, at their likeliest values.

    z_j is one of K classes, all equally likely
    P(a_ij = z_j) = s_ij = 1 / (1 + exp(−α_i·e^{b_j})),   every other answer (1 − s_ij)/(K − 1)
    α_i ~ N(1, 1),   b_j ~ N(1, 1)

The authors climb to a mode of P(α, b | answers) by expectation maximisation:

    E   T_j[k] ∝ Π_i P(a_ij | z_j = k)
    M   α, b maximise Σ_ij [t_ij ln s_ij + (1 − t_ij) ln((1 − s_ij)/(K − 1))]
                      − ½ Σ_i (α_i − 1)² − ½ Σ_j (b_j − 1)²,      t_ij = T_j[a_ij]

The gradient of M's objective, with T of the same α and b, is that of ln P(α, b | answers). So a
quasi-Newton method climbs it directly here, from the same start α = b = 1, in fewer passes.

J. Whitehill, P. Ruvolo, T. Wu, J. Bergsma, J. Movellan: Whose Vote Should Count More: Optimal
Integration of Labels from Labelers of Unknown Expertise. NIPS 2009.
https://proceedings.neurips.cc/paper/2009/hash/f899139df5e1059396431415e770c6dd-Abstract.html
The form for K classes is that of crowd-kit, https://doi.org/10.21105/joss.06227
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from forsooth.inference.posterior.kernels import softmax
from forsooth.study.rivals.base import Aggregated, Rival

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from forsooth.study.rivals.base import Annotations

    Array = NDArray[np.float64]

CENTRE = 1.0  # prior mean of α and b, whose variance is 1
_STEPS = 500  # at most


def glad(data: Annotations) -> Aggregated:
    """P(class) of every task at the mode."""
    start = np.full(data.workers + data.tasks, CENTRE)
    options = {"maxiter": _STEPS, "maxfun": 2 * _STEPS}
    found = minimize(lambda x: loss(data, x), start, jac=True, method="L-BFGS-B", options=options)
    return Aggregated.from_probability(softmax(log_joint(data, found.x)), data)


def log_joint(data: Annotations, point: Array) -> Array:
    """P(answers of task j, z_j = k) as a logarithm, up to a constant; the point is α, then b."""
    _, _, strength = _parts(data, point)
    right, wrong = log_expit(strength), log_expit(-strength) - np.log(data.scale.size - 1)
    if_all_wrong = data.cells.per_task(wrong)
    return data.per_answer(right - wrong) + if_all_wrong[:, None]


def loss(data: Annotations, point: Array) -> tuple[float, Array]:
    """−ln P(α, b | answers) up to a constant, and its gradient."""
    ability, ease, strength = _parts(data, point)
    joint, off = log_joint(data, point), point - CENTRE
    highest = joint.max(axis=1)
    weights = np.exp(joint - highest[:, None])
    total = weights.sum(axis=1)
    right = weights[data.task, data.code] / total[data.task]  # t
    slope = (right - expit(strength)) * ease[data.task]
    by_ability = data.cells.per_worker(slope)
    by_ease = data.cells.per_task(slope * ability[data.worker])
    value = 0.5 * off @ off - (highest + np.log(total)).sum()
    return float(value), off - np.concatenate([by_ability, by_ease])


def _parts(data: Annotations, point: Array) -> tuple[Array, Array, Array]:
    """α, e^b, and α_i·e^{b_j} of every cell."""
    ability, ease = point[: data.workers], np.exp(point[data.workers :])
    return ability, ease, ability[data.worker] * ease[data.task]


GLAD = Rival(
    "glad",
    ("label",),
    glad,
    "Whitehill et al., NIPS 2009, https://proceedings.neurips.cc/paper/2009/hash/"
    "f899139df5e1059396431415e770c6dd-Abstract.html",
)

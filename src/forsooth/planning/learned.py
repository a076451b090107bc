"""The crowd that an inference has found, in the words of the fast estimate.

The estimate needs the density of the answers, a distribution of truths and the workers' noise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forsooth.planning.estimate import Expected

if TYPE_CHECKING:
    from forsooth.truths import Posterior, Truths

_NOISE_LEVELS = (0.125, 0.375, 0.625, 0.875)  # quantiles of the workers' deviations
_NARROWEST = 1e-3  # the least spread of truths or noise, in ranges of the scale


def learned(truths: Truths, density: float) -> Expected | None:
    """None for labels, which have no place on the scale, and where nothing is known of workers."""
    posterior = truths.posterior
    if posterior is None or posterior.estimand == "label":
        return None
    noise = _noise(truths, posterior)
    if noise is None or not density > 0:
        return None
    least = _NARROWEST * truths.scale.range
    spread = posterior.mass.mean(axis=0)
    mean = float(spread @ posterior.grid)
    deviation = float(np.sqrt(spread @ (posterior.grid - mean) ** 2))
    return Expected(
        truths.scale,
        min(density, 1.0),
        truth=f"normal:{mean:.6g},{max(deviation, least):.6g}",
        noise=",".join(f"{max(level, least):.6g}" for level in noise),
        estimand="opinion" if posterior.estimand == "opinion" else None,
    )


def _noise(truths: Truths, posterior: Posterior) -> list[float] | None:
    """How far answers are from the truth of their task; for opinions, from its mean answer."""
    if posterior.shares is not None:
        values, shares = np.array(truths.scale.values), posterior.shares.estimate
        variance = shares @ values**2 - (shares @ values) ** 2
        return [float(np.sqrt(max(0.0, variance.mean())))]
    if np.isnan(truths.deviation).all():
        return None
    return [float(level) for level in np.nanquantile(truths.deviation, _NOISE_LEVELS)]

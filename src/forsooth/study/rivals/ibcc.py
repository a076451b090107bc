"""iBCC: every worker has a confusion matrix with a Dirichlet prior; by variational Bayes.

    z_j ~ τ,  τ ~ Dirichlet(1, …, 1)
    a_ij | z_j = k ~ v_ik,  v_ik ~ Dirichlet(β_k)     β_k: 4 for answer k, 1 for the others

This is EBCC with one subtype and a flat prior of the classes. The start is the shares of votes.

H.-C. Kim, Z. Ghahramani: Bayesian Classifier Combination. AISTATS 2012.
http://proceedings.mlr.press/v22/kim12.html
Kim and Ghahramani sample; the variational form is that of E. Simpson, S. Roberts, I. Psorakis,
A. Smith: Dynamic Bayesian Combination of Multiple Imperfect Classifiers. Decision Making and
Imperfection, 2013. https://doi.org/10.1007/978-3-642-36406-8_1
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forsooth.study.rivals.base import Aggregated, Rival
from forsooth.study.rivals.ebcc import variational

if TYPE_CHECKING:
    from forsooth.study.rivals.base import Annotations


def ibcc(data: Annotations) -> Aggregated:
    """Rounds from the shares of votes."""
    found = variational(data, data.vote_shares[:, :, None], np.ones(data.scale.size))
    return Aggregated.from_probability(found.probability, data)


IBCC = Rival(
    "ibcc",
    ("label",),
    ibcc,
    "Kim and Ghahramani, AISTATS 2012, http://proceedings.mlr.press/v22/kim12.html",
)

"""How much is measured, and on which crowds: a quick look, or the full study."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from forsooth.study.paper.cells import DataSource, synthetic
from forsooth.study.paper.readings import MF, MF_20

if TYPE_CHECKING:
    from collections.abc import Mapping

SPARSE, HALF, DENSE = 0.9, 0.5, 0.1  # the sparsities of the figures against ε
BUDGETS = (0.1, 1.0)  # the ε of the printed figures against sparsity,
CENTRE_BUDGETS = (0.1, 1.0, 5.0)  # and of those in the comments
CENTRE, TOP = 4.0, 9.0  # where the truths lie in the commented text
QUALITY_EPSILON = 1.0  # the text about worker quality refers to the figure at this ε
EXAMPLE = DataSource("synthetic:workers=2000,tasks=1000,sparsity=0.9,truth-sd=0,good=1", 2000, 1000)
EXAMPLE_EPSILON = 1.0
EXAMPLE_MF = "mf:d=100"


@dataclass(frozen=True)
class Scope:
    """How much is measured. Posterior inference, which is slower, is repeated less often."""

    name: str
    epsilons: tuple[float, ...]
    sparsities: tuple[float, ...]
    large_sparsities: tuple[float, ...]
    large_epsilons: tuple[float, ...]
    large_mf: tuple[str, ...]  # the readings of MF on the larger crowd
    repeats: Mapping[str, int]  # per kind of data
    posterior_repeats: Mapping[str, int]
    adult_epsilons: tuple[float, ...]
    quality_epsilons: tuple[float, ...]
    draws: int

    def epsilons_of(self, name: str) -> tuple[float, ...]:
        """The ε that are measured on a real data set."""
        return self.adult_epsilons if name == "adult" else self.epsilons


QUICK = Scope(
    name="quick",
    epsilons=(0.1, 0.5, 1.0, 2.0, 3.0, 5.0),
    sparsities=(0.1, 0.5, 0.9),
    large_sparsities=(0.1, 0.5, 0.9),
    large_epsilons=(0.1, 1.0, 2.0, 5.0),
    large_mf=(MF_20,),  # Algorithm 1 takes very long on what d = 5 predicts
    repeats={"small": 2, "large": 1, "wsd": 5, "adult": 1, "own": 3, "tiny": 10},
    posterior_repeats={"small": 2, "large": 1, "wsd": 3, "adult": 1, "own": 1},
    adult_epsilons=(0.1, 1.0, 3.0, 5.0),
    quality_epsilons=(1.0, 5.0),
    draws=100_000,
)
FULL = Scope(
    name="full",
    epsilons=(0.1, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0),
    sparsities=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    large_sparsities=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    large_epsilons=(0.1, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0),
    large_mf=(MF, MF_20),
    repeats={"small": 5, "large": 2, "wsd": 20, "adult": 3, "own": 10, "tiny": 20},
    posterior_repeats={"small": 3, "large": 1, "wsd": 10, "adult": 1, "own": 3},
    adult_epsilons=(0.1, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0),
    quality_epsilons=(0.1, 1.0, 5.0),
    draws=300_000,
)


@dataclass(frozen=True)
class Setup:
    """A scope, and the data that is here."""

    scope: Scope
    real: Mapping[str, DataSource] = field(default_factory=dict)
    own: DataSource | None = None


def small(sparsity: float, mean: float = 0) -> DataSource:
    """The paper's smaller crowd."""
    return synthetic(2000, 200, sparsity, mean)


def large(sparsity: float, mean: float = 0) -> DataSource:
    """The paper's larger crowd."""
    return synthetic(10_000, 1000, sparsity, mean)


def tiny(sparsity: float) -> DataSource:
    """The crowd on which the commented text compares the splits of RR+LP's budget."""
    return synthetic(200, 20, sparsity)


QUALITY_CROWD = small(0.2)


def large_panels(scope: Scope) -> tuple[float, ...]:
    """The sparsities of the larger crowd's panels against ε."""
    return tuple(each for each in (SPARSE, HALF, DENSE) if each in scope.large_sparsities)


def quality_sources(setup: Setup) -> dict[str, DataSource]:
    """The data whose distribution of worker quality is shown, by the kind of its repeats."""
    return {"small": QUALITY_CROWD, **setup.real}

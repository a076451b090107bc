"""The fourteen claims of the paper's text as data: what it says, how that is tested, and how near
is near enough. `judging` and `facts` hold one rule per claim; `tolerance` is the rule's only number
that is ours. The rest is printed in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forsooth.errors import ForsoothError

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Claim:
    """One claim. `sweeps` and `figures` name what must be computed; `data` the files it needs."""

    number: int
    slug: str
    title: str
    statement: str
    rule: str
    tolerance: float
    sweeps: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    data: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The number and the slug: ``3-mf-smallest``."""
        return f"{self.number}-{self.slug}"

    @property
    def test(self) -> str:
        """The rule with its tolerance."""
        return self.rule.format(tolerance=self.tolerance)


_REAL = ("wsd", "adult")

CLAIMS = (
    Claim(
        1,
        "datasets",
        "The table of data sets",
        "Web has 34 workers, 177 tasks, 770 answers and a sparsity per worker of 0.903955 at most, "
        "0 at least, 0.705882 on average; AdultContent 825, 11,040, 89,796; 0.999909, 0.316033, "
        "0.993666.",
        "Each of the twelve numbers is recomputed from the authors' files (Web being the word "
        "senses of Snow et al.); it agrees if it differs by at most {tolerance:g}.",
        5e-7,
        sweeps=("descriptions",),
        data=_REAL,
    ),
    Claim(
        2,
        "distributions",
        "Skewed answers",
        "In both real data sets the answers are skewed, most of them are right, and the truth is 0 "
        "for more than 72 % of the tasks.",
        "Skewed: one answer has at least {tolerance:g} times the share it would have if all were "
        "alike. Right: more than half of the answers to tasks with a known truth say it. Truth: "
        "more than 72 % of the known truths are the scale's first value. Each for each data set.",
        2.0,
        sweeps=("descriptions",),
        figures=("answers",),
        data=_REAL,
    ),
    Claim(
        3,
        "mf-smallest",
        "MF is best throughout",
        "With 2,000 workers and 200 tasks, at sparsity 0.9 and 0.5, MF has the smallest MAE change "
        "of all for every ε from 0.1 to 5.",
        "At every measured point MF is at most {tolerance:g} above the better of LP and RR; for "
        "each reading of MF, and with NULL → 0 in LP for the best of them.",
        0.02,
        sweeps=("epsilon", "epsilon-readings", "mirrored"),
        figures=("epsilon", "mirrored"),
    ),
    Claim(
        4,
        "lp-drop",
        "LP drops, then stays",
        "LP's MAE change drops suddenly from ε = 0.1 to ε = 1 and stays as it is from there on.",
        "It falls by at least {tolerance:g} from ε = 0.1 to 1, and stays within {tolerance:g} of "
        "that at every larger ε; for both sparsities and each reading of LP.",
        0.1,
        sweeps=("epsilon-readings",),
        figures=("epsilon",),
    ),
    Claim(
        5,
        "rr-falls",
        "RR keeps falling",
        "RR's MAE change keeps falling sharply as ε grows.",
        "From ε = 0.1 to 1, from 1 to 3 and from 3 to 5 it falls by at least {tolerance:.0%} each "
        "time; for both sparsities.",
        0.1,
        sweeps=("epsilon",),
        figures=("epsilon",),
    ),
    Claim(
        6,
        "lp-sparsity",
        "LP likes dense answers",
        "LP's MAE change goes down when sparsity goes down.",
        "At every ε it is at least {tolerance:g} smaller at sparsity 0.5 than at 0.9; for each "
        "reading of LP.",
        0.1,
        sweeps=("epsilon-readings",),
        figures=("epsilon",),
    ),
    Claim(
        7,
        "mf-sparsity",
        "MF does not mind sparsity",
        "MF's MAE change does not depend on sparsity and never exceeds 0.5 (ε = 0.1 and 1, "
        "sparsity 0.1 to 0.9).",
        "Two tests for each reading of MF: all points are at most 0.5; and for either ε the "
        "largest and the smallest are at most {tolerance:g} apart.",
        0.25,
        sweeps=("sparsity",),
        figures=("sparsity",),
    ),
    Claim(
        8,
        "growth",
        "LP and RR mind sparsity",
        "The MAE change of LP and of RR grows with sparsity (ε = 0.1 and 1).",
        "It is at least {tolerance:g} larger at sparsity 0.9 than at 0.1, and falls nowhere by "
        "more than {tolerance:g} in between; for LP and RR and either ε.",
        0.1,
        sweeps=("sparsity",),
        figures=("sparsity",),
    ),
    Claim(
        9,
        "size",
        "The larger crowd looks alike",
        "With 10,000 workers and 1,000 tasks everything looks as with 2,000 and 200; LP at ε = 0.1 "
        "is better on the larger data.",
        "At every sparsity and either ε a mechanism's MAE change differs by at most {tolerance:g} "
        "between the sizes, LP at ε = 0.1 apart; and that one is smaller on the larger data at "
        "every sparsity.",
        0.5,
        sweeps=("sparsity", "large"),
        figures=("sparsity", "large"),
    ),
    Claim(
        10,
        "real-mf",
        "MF is best on real data",
        "On the real data sets MF has the lowest MAE change in most cases.",
        "For more than half of the measured ε MF is at most {tolerance:g} above the best of LP, RR "
        "and 2-Layer; for each data set and each reading of MF.",
        0.02,
        sweeps=("real",),
        figures=("real",),
        data=_REAL,
    ),
    Claim(
        11,
        "two-layer",
        "2-Layer is like RR",
        "2-Layer's MAE change is comparable to RR's.",
        "They differ by at most {tolerance:g} at every measured ε; ε up to 2 and above apart, for "
        "each data set.",
        0.25,
        sweeps=("real",),
        figures=("real",),
        data=_REAL,
    ),
    Claim(
        12,
        "adult-drop",
        "RR drops past ε = 3",
        "On AdultContent RR's MAE change drops sharply when ε gets larger than 3.",
        "It falls by at least {tolerance:.0%} from ε = 3 to 5, and by more than from ε = 0.1 to 3.",
        0.1,
        sweeps=("real",),
        figures=("real",),
        data=("adult",),
    ),
    Claim(
        13,
        "bounds",
        "The three worked bounds",
        "In the text's examples the expected error is at most 14.13 for LP, 3.551 for RR and 1.8 "
        "for MF.",
        "The formula gives the printed number to within {tolerance:.1%}, for RR with its normal "
        "weights normalised over Γ and as printed; and the error measured in the example's "
        "setting (σ = 1, all truths 0, sparsity 0.9, 2,000 workers, 1,000 tasks) is below it.",
        0.002,
        sweeps=("example",),
    ),
    Claim(
        14,
        "privacy",
        "LP, RR and MF are ε-cell LDP",
        "Whatever one cell holds, an answer or NULL, LP, RR and MF change no report's probability "
        "by a factor of more than e^ε.",
        "The exact ε at ε = 1 on the scale 0..9, for neighbours in value and neighbours in "
        "participation, exceeds 1 by at most {tolerance:g}, and no sampled lower bound contradicts "
        "it.",
        0.0,
        sweeps=("audits",),
    ),
)


def find(names: Iterable[str]) -> tuple[Claim, ...]:
    """Claims by number, slug or both, in the paper's order; all of them if none is named."""
    known = {name: claim for claim in CLAIMS for name in (str(claim.number), claim.slug, claim.id)}
    chosen = set()
    for name in names:
        if name not in known:
            listed = ", ".join(f"{claim.number} {claim.slug}" for claim in CLAIMS)
            raise ForsoothError(f"unknown claim {name!r}; the claims are: {listed}")
        chosen.add(known[name])
    return tuple(claim for claim in CLAIMS if claim in chosen or not chosen)

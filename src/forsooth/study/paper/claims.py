"""The claims of the paper's text as data: what it says, how that is tested, and how near is near
enough. `judging`, `commented` and `facts` hold one rule per claim; `tolerance` is the rule's only
number that is ours. The rest is in the paper: in its print, or in text that is commented out of its
source.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from forsooth.errors import ForsoothError

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Claim:
    """One claim. `sweeps` and `figures` name what must be computed; `data` the files it needs.

    `text` says where it stands: in the print, or in a comment of the source.
    """

    number: int
    slug: str
    title: str
    statement: str
    rule: str
    tolerance: float
    sweeps: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    text: Literal["printed", "commented"] = "printed"

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
        "each reading of MF. Beside it: the best of them against LP with NULL → 0.",
        0.02,
        sweeps=("epsilon", "epsilon-readings", "top"),
        figures=("epsilon",),
    ),
    Claim(
        4,
        "lp-drop",
        "LP drops, then stays",
        "LP's MAE change drops suddenly from ε = 0.1 to ε = 1 and stays as it is from there on.",
        "It falls by at least {tolerance:g} from ε = 0.1 to 1, and stays within {tolerance:g} of "
        "that at every larger ε; for both sparsities, with NULL replaced uniformly as in the "
        "paper's experiment. Beside it: the other readings of LP.",
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
        "At every ε it is at least {tolerance:g} smaller at sparsity 0.5 than at 0.9, with NULL "
        "replaced uniformly as in the paper's experiment. Beside it: the other readings of LP.",
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
        "setting (σ = 1, all truths 0, sparsity 0.9, 2,000 workers, 1,000 tasks) is below it: a "
        "bound that is exceeded is no theorem.",
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
        "it. A guarantee that one report contradicts is none.",
        0.0,
        sweeps=("audits",),
    ),
    Claim(
        15,
        "split",
        "RR+LP is best with a tenth for presence",
        "RR+LP has the smallest MAE change with ε₁ = 0.1ε for presence and ε₂ = 0.9ε for values, "
        "whatever the sparsity and ε.",
        "With 200 workers and 20 tasks, at every measured ε and at sparsity 0.1, 0.5 and 0.9, "
        "ε₁ = 0.1ε is at most {tolerance:g} above the best of the measured splits; ε up to 1 and "
        "above apart, for each sparsity.",
        0.1,
        sweeps=("splits",),
        figures=("splits",),
        text="commented",
    ),
    Claim(
        16,
        "centre-advantage",
        "MF gains less where truths are central",
        "With truths from N(4, 1) MF's benefit over the other approaches is not as significant as "
        "with N(0, 1), at sparsity 0.9.",
        "MF's benefit is the best MAE change of LP, RR and RR+LP minus that of MF. At every ε that "
        "was measured with both truths it is smaller by at least {tolerance:g}; for each reading "
        "of MF and both sizes.",
        0.1,
        sweeps=("epsilon", "large", "centre", "large-centre"),
        figures=("centre", "large-centre"),
        text="commented",
    ),
    Claim(
        17,
        "centre-rr",
        "RR passes MF above ε = 4",
        "With truths from N(4, 1) RR can win against MF where ε is higher than 4.",
        "At every measured ε above 4 RR's MAE change is at most {tolerance:g} above MF's; for each "
        "reading of MF, both sizes and every sparsity of the figure.",
        0.0,
        sweeps=("centre", "large-centre"),
        figures=("centre", "large-centre"),
        text="commented",
    ),
    Claim(
        18,
        "centre-sparsity",
        "Central truths make sparsity harmless",
        "With truths from N(4, 1) the MAE change of LP, RR and RR+LP is not heavily impacted by "
        "sparsity.",
        "At ε = 0.1, 1 and 5 the largest and the smallest over all sparsities are at most "
        "{tolerance:g} apart; for each mechanism and both sizes.",
        0.25,
        sweeps=("sparsity", "centre-sparsity", "large-centre-sparsity"),
        figures=("centre-sparsity", "large-centre-sparsity"),
        text="commented",
    ),
    Claim(
        19,
        "centre-dense",
        "MF loses where data are dense",
        "With truths from N(4, 1) and sparsity 0.1 MF's MAE change is worse than that of LP, RR "
        "and RR+LP when ε is 2 and higher.",
        "At every measured ε from 2 on MF is more than {tolerance:g} above each of LP, RR and "
        "RR+LP; for each reading of MF and both sizes.",
        0.0,
        sweeps=("centre", "large-centre"),
        figures=("centre", "large-centre"),
        text="commented",
    ),
    Claim(
        20,
        "top",
        "Truths around 9 look like truths around 0",
        "With truths centred at 9 the observations are similar to those with truths centred at 0.",
        "With truths from N(9, 1): at every ε and both sparsities MF is at most {tolerance:g} "
        "above the better of LP and RR, for each reading of MF; and LP (from ε = 1 on) and RR are "
        "within {tolerance:g} of their MAE change with truths from N(0, 1).",
        0.1,
        sweeps=("epsilon", "top"),
        figures=("top",),
        text="commented",
    ),
    Claim(
        21,
        "quality",
        "Algorithm 1 finds the good workers",
        "On dense synthetic data (2,000 × 200, sparsity 0.2, half of the workers good) Algorithm 1 "
        "infers the distribution of worker quality accurately: one half is above average, the "
        "other half below.",
        "The share of workers whose quality is at least average differs from one half by at most "
        "{tolerance:g}; and for all but {tolerance:.0%} of the workers quality is at least average "
        "exactly if they are among the half that is nearer to the true truths.",
        0.02,
        sweeps=("quality",),
        figures=("quality",),
        text="commented",
    ),
    Claim(
        22,
        "quality-after",
        "LP destroys worker quality, RR and MF keep some",
        "LP destroys the original distribution of worker quality; RR and MF preserve it to some "
        "extent (same crowd).",
        "Kept to some extent: the rank correlation of worker quality before and after is at least "
        "{tolerance:g} at ε = 1, to which the text refers; destroyed: it is below. Beside it: the "
        "other measured ε.",
        0.1,
        sweeps=("quality",),
        figures=("quality",),
        text="commented",
    ),
    Claim(
        23,
        "quality-real",
        "Only MF keeps worker quality on real data",
        "On the real data sets MF preserves the distribution of worker quality somehow, while the "
        "other approaches destroy it (an author's note).",
        "The rank correlation of worker quality before and after is at least {tolerance:g} for MF "
        "and below for LP and RR, at every measured ε; for each data set and each reading of MF.",
        0.1,
        sweeps=("quality",),
        figures=("quality",),
        data=_REAL,
        text="commented",
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

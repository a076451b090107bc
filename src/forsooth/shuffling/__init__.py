"""Anonymous reports: what is learned of one person if nobody knows whose report is whose.

    blanket      what a table's rows have in common, and the law that bounds all pairs of inputs
    sums         a certified upper bound on E[(L₁ + … + Lₙ)₊] / n, which is δ
    composition  several tasks of one person, each shuffled by itself
    accountant   the central ε at δ, for each release and for both kinds of neighbours
    certificate  all of it for a campaign, and under which assumption it holds
    received     how many reports there are on each task

docs/shuffling.md has the theorems and their proofs; the letters are the same there.
"""

from forsooth.shuffling.accountant import DELTA, HONEST_SHARE, Accountant, Release, Senders
from forsooth.shuffling.certificate import CentralBound, Certificate, certify
from forsooth.shuffling.received import fewest_reports, reports_per_task

__all__ = [
    "DELTA",
    "HONEST_SHARE",
    "Accountant",
    "CentralBound",
    "Certificate",
    "Release",
    "Senders",
    "certify",
    "fewest_reports",
    "reports_per_task",
]

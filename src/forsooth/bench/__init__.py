"""What forsooth costs, as ratios in one run against what somebody would pick instead.

Times are a machine's own and it is never quite idle: ratios within one run are what to compare.
"""

NAMES = (
    "rr",
    "perturb",
    "lp",
    "mf",
    "packing",
    "loading",
    "passes",
    "iterations",
    "dawid-skene",
    "scale",
    "classes",
    "cluster",
)

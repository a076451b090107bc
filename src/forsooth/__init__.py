"""forsooth: ask a crowd sensitive questions, learn the truth, never learn anybody's answers."""

from forsooth import mechanisms
from forsooth.answers import Answers
from forsooth.errors import ForsoothError
from forsooth.inference import infer
from forsooth.mechanisms.base import Mechanism
from forsooth.planning.plans import plan
from forsooth.privacy import Privacy
from forsooth.reports import Reports
from forsooth.scale import Scale
from forsooth.truths import Truths
from forsooth.version import __version__

__all__ = [
    "Answers",
    "ForsoothError",
    "Mechanism",
    "Privacy",
    "Reports",
    "Scale",
    "Truths",
    "__version__",
    "infer",
    "mechanisms",
    "plan",
]

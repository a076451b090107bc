"""forsooth: ask a crowd sensitive questions, learn the truth, never learn anybody's answers."""

from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from forsooth.auditing import audit

__all__ = [
    "Answers",
    "ForsoothError",
    "Mechanism",
    "Privacy",
    "Reports",
    "Scale",
    "Truths",
    "__version__",
    "audit",
    "infer",
    "mechanisms",
    "plan",
]


def __getattr__(name: str) -> Any:
    """The audit is imported when it is used: the others need none of it."""
    if name == "audit":
        from forsooth.auditing import audit

        return audit
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

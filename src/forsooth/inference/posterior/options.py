"""What the requester asks of the posterior: the estimand, and how the result is read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

from forsooth.errors import ForsoothError
from forsooth.estimand import ESTIMANDS, Estimand, default_estimand

if TYPE_CHECKING:
    from forsooth.scale import Scale

Estimate = Literal["median", "mean", "mode"]
ESTIMATES: tuple[str, ...] = get_args(Estimate)
Model = Literal["auto", "pooled"]
MODELS: tuple[str, ...] = get_args(Model)

SEED = 0  # of the integration points; the same reports give the same result


@dataclass(frozen=True)
class Options:
    """How the posterior is computed and read. None stands for the default.

    estimand: what the truth of a task is (see `forsooth.estimand`). estimate: which point of the
    posterior is reported; by default the median, which minimises the mean absolute error, the
    mean of opinions, and the mode of `unordered` labels. model: `pooled` needs one pass over the
    reports and knows nothing of single workers. seed: of the integration points.
    """

    estimand: Estimand | None = None
    estimate: Estimate | None = None
    unordered: bool = False
    model: Model = "auto"
    seed: int = SEED

    def __post_init__(self) -> None:
        for name, value, known in (
            ("estimand", self.estimand, ESTIMANDS),
            ("estimate", self.estimate, ESTIMATES),
            ("model", self.model, MODELS),
        ):
            if value is not None and value not in known:
                raise ForsoothError(f"unknown {name} {value!r}; known: {', '.join(known)}")
        if self.unordered and self.estimand == "level":
            raise ForsoothError(
                "labels without an order have no level: leave out unordered, or ask for the "
                "estimand label or opinion"
            )

    def resolved(self, scale: Scale) -> Options:
        """The same with every default filled in for this scale."""
        estimand = self.estimand or ("label" if self.unordered else default_estimand(scale))
        usual: Estimate = "median" if estimand != "opinion" else "mean"
        if self.unordered:
            usual = "mode"
        return replace(self, estimand=estimand, estimate=self.estimate or usual)


__all__ = ["ESTIMATES", "MODELS", "SEED", "Estimate", "Model", "Options"]

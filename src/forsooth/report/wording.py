"""What a reader sees for tasks and answers: question texts and labels, where there are any."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from forsooth.scale import Scale


class TaskName(NamedTuple):
    """A task's question, and its id unless the id is all there is."""

    id: str
    text: str


@dataclass(frozen=True)
class Wording:
    """The scale in words, and the questions by task."""

    scale: Scale
    labels: tuple[str, ...]
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_numeric(self) -> bool:
        """Are the labels the numbers themselves?"""
        return self.scale.is_numeric and self.labels == self.scale.labels

    def task(self, task: str) -> TaskName:
        """The name of a task for readers."""
        text = self.texts.get(task)
        return TaskName("", task) if text is None else TaskName(task, text)

    def nearest(self, value: float) -> str:
        """The label of the answer that is nearest to a value."""
        return self.labels[int(np.abs(np.array(self.scale.values) - value).argmin())]

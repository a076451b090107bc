"""What every mechanism is: public data that says how a worker turns answers into a report."""

from __future__ import annotations

import json
import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from forsooth.display import as_html, as_text, short
from forsooth.errors import AssumptionWarning, ForsoothError
from forsooth.io import strict
from forsooth.io.packing import packed_size
from forsooth.mechanisms.randomness import randomness
from forsooth.odds import amount
from forsooth.privacy import Privacy, Protects, Unit, check_epsilon, check_protects
from forsooth.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from forsooth.answers import Answers
    from forsooth.mechanisms.randomness import Randomness
    from forsooth.reports import Reports

VERSION = 1
BLOCK_CELLS = 2**20  # cells that are handled at once, so that memory stays small
PIECE_CELLS = 2**23  # cells of a report file that are in memory at once
Layout = Literal["rows", "cells"]


@dataclass(frozen=True, repr=False)
class Mechanism(ABC):
    """A frozen, public recipe; equal if equal; the same JSON drives every client and the audit.

    A report is laid out in ``rows`` (every worker sends the same number of values, whatever was
    answered) or, where participation is public, in ``cells`` (one value per answered cell).
    """

    kind: ClassVar[str]
    kinds: ClassVar[dict[str, type[Mechanism]]] = {}

    name: str
    scale: Scale
    epsilon: float
    protects: Protects

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)
        check_protects(self.protects)
        check_epsilon(self.guarantee.epsilon)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "kind" in cls.__dict__:
            Mechanism.kinds[cls.kind] = cls

    def __repr__(self) -> str:
        return as_text(*self._described())

    def _repr_html_(self) -> str:
        return as_html(*self._described())

    def _described(self) -> tuple[str, list[str]]:
        said = self.guarantee
        cells = f", over {said.cells} sampled tasks" if said.cells is not None else ""
        facts = [f"ε = {amount(said.epsilon)} per cell{cells}; protects {said.protects}"]
        if said.epsilon > self.epsilon:
            facts.append(f"more than the ε = {self.epsilon:g} that was asked for")
        return f"Mechanism {self.name} on the scale {short(str(self.scale))}", facts

    # What it promises and what it sends

    @property
    def guarantee(self) -> Privacy:
        """The guarantee that is true, which is not always the one that was asked for."""
        return Privacy(self.epsilon, self.protects)

    @property
    def unit(self) -> Unit:
        """What `epsilon` covers: each cell, or everything that one worker says."""
        return "cell" if self.guarantee.cells is None else "worker"

    @property
    def layout(self) -> Layout:
        """How a report is laid out."""
        return "rows" if self.protects == "answers+participation" else "cells"

    @property
    def independent(self) -> bool:
        """Does every cell have a value of its own, drawn apart from all others?"""
        return False

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """The type of one reported value in memory."""

    @property
    def bits(self) -> int:
        """How many bits one reported value takes in files and on the wire; see `packing`."""
        return 8 * self.dtype.itemsize

    def width(self, tasks: int) -> int:
        """How many values one worker sends in a campaign of `tasks` tasks (layout ``rows``)."""
        return tasks

    def report_bytes(self, count: int) -> int:
        """How many bytes a report of `count` values takes, whatever they are."""
        return packed_size(count, self.bits)

    # What the worker runs

    def perturb(self, answers: object, *, simulation_seed: int | None = None) -> Reports:
        """Every worker's report. Randomness is the operating system's unless a seed is named.

        `answers` are Answers, or any table that `Answers.of` reads, on the mechanism's scale. An
        AssumptionWarning says that the list of tasks or workers was taken from the answers.
        """
        answers = self._read(answers, simulation_seed)
        return self._reports(answers, randomness(simulation_seed), simulation_seed)

    def perturb_in_pieces(
        self, answers: object, *, simulation_seed: int | None = None, cells: int = PIECE_CELLS
    ) -> Iterator[Reports]:
        """The same, a few workers at a time: pieces of about `cells` cells each."""
        answers = self._read(answers, simulation_seed)
        random, some = randomness(simulation_seed), max(1, cells // len(answers.tasks))
        for start in range(0, len(answers.workers), some):
            piece = answers.span(start, min(start + some, len(answers.workers)))
            yield self._reports(piece, random, simulation_seed)

    def _read(self, answers: object, simulation_seed: int | None) -> Answers:
        from forsooth.answers import Answers

        if not isinstance(answers, Answers):
            answers = Answers.of(answers, self.scale)
        elif answers.scale != self.scale:
            raise ForsoothError(
                f"the answers are on the scale {answers.scale}, "
                f"the mechanism was made for {self.scale}"
            )
        if self.protects == "answers+participation" and simulation_seed is None and answers.assumed:
            warnings.warn(_taken_from(answers.assumed), AssumptionWarning, stacklevel=3)
        return answers

    def _reports(self, answers: Answers, random: Randomness, seed: int | None) -> Reports:
        from forsooth.reports import Reports  # a report carries its mechanism: the circle closes

        answers = self.eligible(answers)
        values = self.randomise(answers, random)
        cells = (answers.worker, answers.task) if self.layout == "cells" else None
        return Reports(
            self, answers.tasks, answers.workers, values, cells, seed, backend=answers.backend
        )

    def eligible(self, answers: Answers) -> Answers:
        """The answers that may influence a report: all, unless a public rule leaves some out."""
        return answers

    @abstractmethod
    def randomise(self, answers: Answers, random: Randomness) -> NDArray[Any]:
        """The values that leave the workers: (workers, width), or one per answered cell."""

    # What the collector may do with it

    @abstractmethod
    def readings(self, reports: Reports) -> NDArray[np.float64]:
        """Reports read as answers, as the paper does it; NaN where a cell reads as NULL.

        (workers, tasks) in layout ``rows``, whatever the width of a report; else one per cell.
        """

    def check(self, values: NDArray[Any], tasks: int) -> NDArray[np.bool_]:
        """Which reported values this mechanism can never send."""
        del tasks
        return np.zeros(values.shape, bool)

    # As JSON

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """What the family needs beyond name, scale, ε and what is protected."""

    @classmethod
    @abstractmethod
    def from_parameters(cls, common: Mapping[str, Any], parameters: Mapping[str, Any]) -> Mechanism:
        """The inverse of `parameters`; refuses what does not keep its promise."""

    def to_json(self) -> str:
        """The whole mechanism as one line of JSON."""
        return json.dumps(
            {
                "forsooth": VERSION,
                "kind": self.kind,
                "name": self.name,
                "scale": list(self.scale.labels),
                "epsilon": self.epsilon,
                "protects": self.protects,
                "parameters": self.parameters(),
            }
        )

    @staticmethod
    def from_json(text: str | bytes) -> Mechanism:
        """Read and verify a mechanism; one that breaks its own promise is refused."""
        if not isinstance(text, str | bytes):
            raise ForsoothError(f"a mechanism is read from its JSON text, got {text!r}")
        data = strict.loads(text)
        try:
            version = strict.integer(data["forsooth"], "the format's version")
            if version != VERSION:
                raise ForsoothError(
                    f"this mechanism is of version {version}; this forsooth reads {VERSION}"
                )
            kind = strict.string(data["kind"], "kind")
            if kind not in Mechanism.kinds:
                known = ", ".join(sorted(Mechanism.kinds))
                raise ForsoothError(f"unknown kind of mechanism {kind!r}; known: {known}")
            common = {
                "name": strict.string(data["name"], "name"),
                "scale": Scale(strict.strings(data["scale"], "scale")),
                "epsilon": check_epsilon(strict.number(data["epsilon"], "ε")),
                "protects": check_protects(strict.string(data["protects"], "protects")),
            }
            return Mechanism.kinds[kind].from_parameters(common, data["parameters"])
        except (KeyError, TypeError) as error:
            raise ForsoothError(f"this is not a mechanism of forsooth ({error!r})") from error


def _taken_from(lists: Sequence[str]) -> str:
    """What lists that were taken from the answers show, and what to pass instead."""
    return (
        f"the campaign's {' and '.join(lists)} were taken from the answers, so the reports show "
        "which of them occur there. Pass the public lists: "
        f"Answers.of(…, {', '.join(f'{name}=[…]' for name in lists)})"
    )


class CellwiseMechanism(Mechanism):
    """A mechanism that sends one value per cell and takes the same steps for every cell."""

    @property
    def independent(self) -> bool:
        """It does, unless a worker draws something for all of their cells."""
        return True

    def randomise(self, answers: Answers, random: Randomness) -> NDArray[Any]:
        """All cells, block by block, so that memory stays small."""
        workers, tasks = len(answers.workers), len(answers.tasks)
        secrets = self.secrets(workers, random)
        if self.layout == "cells":
            return self.randomise_codes(answers.code, secrets[answers.worker], random)
        values = np.empty((workers, tasks), self.dtype)
        block = max(1, BLOCK_CELLS // max(1, tasks))
        for start in range(0, workers, block):
            stop = min(start + block, workers)
            codes, secret = answers.rows(start, stop), secrets[start:stop, None]
            values[start:stop] = self.randomise_codes(codes, secret, random)
        return values

    def secrets(self, workers: int, random: Randomness) -> NDArray[np.uint8]:
        """What each worker draws once for all of their cells; by default nothing."""
        del random
        return np.zeros(workers, np.uint8)

    @abstractmethod
    def randomise_codes(
        self, codes: NDArray[Any], secret: NDArray[np.uint8], random: Randomness
    ) -> NDArray[Any]:
        """One reported value per code, in their shape; `secret` is what each's worker has drawn.

        Cells stand side by side, or one row per worker; then `secret` is a column.
        """

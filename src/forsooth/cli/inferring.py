"""Where `forsooth infer` gets its reports from, and which engine it runs."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from forsooth import inference
from forsooth.answers import Answers, OnConflict
from forsooth.cli.console import aside, notice
from forsooth.errors import ForsoothError
from forsooth.inference.engine import Engine, Here
from forsooth.inference.estimates import Rules
from forsooth.inference.from_files import infer_files
from forsooth.inference.posterior import Options
from forsooth.inference.state import PooledState
from forsooth.report_files import ReportFiles
from forsooth.reports import Reports
from forsooth.study.dataset import read_truths
from forsooth.truths import Truths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from forsooth.scale import Scale


@dataclass(frozen=True)
class Request:
    """What is asked for, wherever the reports come from; `workers` if their quality is."""

    method: str
    options: Options
    rules: Rules
    gold: Path | None
    workers: bool

    def known(self, scale: Scale) -> dict[str, float]:
        """The known truths."""
        return read_truths(self.gold, scale) if self.gold else {}


@dataclass(frozen=True)
class Inferred:
    """Truths, from so many workers' reports; and `data`, if they are in memory anyway."""

    truths: Truths
    workers: int
    data: list[Reports] | Answers | None = None


def from_memory(data: list[Reports] | Answers, request: Request) -> Inferred:
    """By any method."""
    parts = [data] if isinstance(data, Answers) else data
    if not parts:
        raise ForsoothError("there are no reports to infer from")
    with aside.status(f"inferring by {request.method}"):
        truths = inference.infer(
            data,
            request.method,
            tolerance=request.rules.tolerance,
            max_iterations=request.rules.max_iterations,
            ties=request.rules.ties,
            gold=request.known(parts[0].scale),
            estimate=request.options.estimate,
            unordered=request.options.unordered,
            model=request.options.model,
        )
    return Inferred(truths, sum(len(part.workers) for part in parts), data)


def from_answers(sources: list[str], scale: str, on_conflict: OnConflict) -> Answers:
    """A single table of plain answers."""
    if len(sources) != 1:
        raise ForsoothError("with --scale, infer takes one table of plain answers")
    notice("these are plain answers: nothing is private")
    answers = Answers.read(Path(sources[0]), scale, on_conflict=on_conflict)
    for message in answers.notices:
        notice(message)
    return answers


def from_service(campaign: str, key: str | None, sources: list[str]) -> list[Reports]:
    """The reports of a campaign from the service that collects them."""
    from forsooth.client import download_reports

    if sources:
        raise ForsoothError("give files of reports or --campaign, not both")
    if not key:
        raise ForsoothError("--campaign needs the requester's --key (or FORSOOTH_KEY)")
    with aside.status("fetching the reports"):
        return download_reports(campaign, key)


def open_files(sources: list[str], cluster: str | None) -> ReportFiles:
    """Files and folders; a cluster's workers find them by their whole paths."""
    if not sources:
        raise ForsoothError("infer needs files of reports, or a --campaign and its --key")
    if cluster:
        sources = [each if "://" in each else str(Path(each).absolute()) for each in sources]
    try:
        return ReportFiles.open(sources)
    except ForsoothError as error:
        if "reports file" not in (what := str(error).rstrip(".")):
            raise
        raise ForsoothError(f"{what}. To infer from plain answers, give their --scale.") from error


def from_files(
    files: ReportFiles, request: Request, cluster: str | None, checkpoint: Path | None
) -> Inferred:
    """By the posterior, in passes over the files."""
    with _engine(cluster) as engine:
        truths = infer_files(
            files,
            options=request.options,
            rules=request.rules,
            gold=request.known(files.scale),
            engine=engine,
            workers=request.workers,
            checkpoint=checkpoint,
        )
    return Inferred(truths, files.workers)


def from_state(path: Path, sources: list[str], request: Request, cluster: str | None) -> Inferred:
    """By the pooled model, from what was counted before and what is new."""
    state = PooledState.read(path)
    files = state.new(open_files(sources, cluster)) if sources else None
    if files is None:
        notice(f"{path}: no new reports")
    else:
        with _engine(cluster) as engine:
            state = state.with_reports(files, engine)
        state.write(path)
    if not state.parts:
        raise ForsoothError(f"{path} has counted no reports yet: give some")
    with aside.status("inferring by the pooled model"):
        known = request.known(state.parts[0].mechanism.scale)
        truths = state.infer(request.options, request.rules, known)
    return Inferred(truths, sum(part.workers for part in state.parts))


@contextmanager
def _engine(cluster: str | None) -> Iterator[Engine]:
    """A cluster, or else this process; and a line that says how far it is."""
    with aside.status("reading the reports") as status:
        progress = _passes(status.update)
        if cluster is None:
            yield Here(progress)
            return
        from forsooth.cluster import connect

        with connect(cluster, progress) as engine:
            yield engine


def _passes(tell: Callable[[str], None]) -> Callable[[float], None]:
    """Counts the passes over the reports."""
    number = 1

    def progress(share: float) -> None:
        nonlocal number
        tell(f"pass {number} over the reports: {share:.0%}")
        number += share == 1

    return progress

"""Where `forsooth infer` gets its reports from, and which engine it runs."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from forsooth import inference
from forsooth.answers import Answers, OnConflict
from forsooth.cli.console import aside, notice
from forsooth.dataset import read_groups, read_truths
from forsooth.errors import ForsoothError
from forsooth.estimand import Estimand, GoldUse, agreed
from forsooth.inference.engines.base import Engine, Here
from forsooth.inference.engines.files import infer_files
from forsooth.inference.engines.state import PooledState
from forsooth.inference.estimates import Rules
from forsooth.inference.posterior.options import Options
from forsooth.io.report_files import ReportFiles
from forsooth.reports import Reports
from forsooth.truths import NO_WORKER_QUALITY, Truths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from forsooth.scale import Scale


@dataclass(frozen=True)
class Request:
    """What is asked for, from any source of reports; `workers`: their quality too."""

    method: str
    options: Options
    rules: Rules
    gold: Path | None
    gold_use: GoldUse
    groups: Path | None
    workers: bool

    def known(self, scale: Scale) -> dict[str, float]:
        """The known truths."""
        return read_truths(self.gold, scale) if self.gold else {}

    def members(self) -> dict[str, str] | None:
        """The group of every worker, if groups are to be compared."""
        return read_groups(self.groups) if self.groups else None

    def of_reports(self, stated: Iterable[Estimand | None]) -> Request:
        """The same with the estimand that the reports state, if none was asked for."""
        if self.method != "posterior":
            return self
        estimand = self.options.estimand or agreed(stated)
        if self.workers and estimand == "opinion":
            raise ForsoothError(NO_WORKER_QUALITY)
        if self.groups and estimand != "opinion":
            raise ForsoothError(
                "--groups compares the mean answers of groups, which needs --estimand opinion"
            )
        return replace(self, options=replace(self.options, estimand=estimand))


@dataclass(frozen=True)
class Inferred:
    """Truths, the number of workers whose reports they are from, and `data` if it is in memory."""

    truths: Truths
    workers: int
    data: list[Reports] | Answers | None = None


def from_memory(data: list[Reports] | Answers, request: Request) -> Inferred:
    """By any method."""
    parts = [data] if isinstance(data, Answers) else data
    if not parts:
        raise ForsoothError("there are no reports to infer from")
    request = request.of_reports(part.estimand for part in parts if isinstance(part, Reports))
    with aside.status(f"inferring by {request.method}"):
        truths = inference.infer(
            data,
            request.method,
            tolerance=request.rules.tolerance,
            max_iterations=request.rules.max_iterations,
            ties=request.rules.ties,
            gold=request.known(parts[0].scale),
            gold_use=request.gold_use,
            groups=request.members(),
            estimand=request.options.estimand,
            estimate=request.options.estimate,
            unordered=request.options.unordered,
            model=request.options.model,
        )
    return Inferred(truths, sum(len(part.workers) for part in parts), data)


def from_answers(sources: list[str], scale: str, on_conflict: OnConflict) -> Answers:
    """A single table of plain answers."""
    if len(sources) != 1:
        raise ForsoothError("with --scale, infer takes one table of plain answers")
    with aside.status("reading the answers"):
        return Answers.read(Path(sources[0]), scale, on_conflict=on_conflict)


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
    """Files and folders; a cluster's workers need absolute paths."""
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
    request = request.of_reports(files.estimands)
    with _engine(cluster) as engine:
        truths = infer_files(
            files,
            options=request.options,
            gold=request.known(files.scale),
            gold_use=request.gold_use,
            engine=engine,
            workers=request.workers,
            checkpoint=checkpoint,
        )
    return Inferred(truths, files.workers)


def from_state(path: Path, sources: list[str], request: Request, cluster: str | None) -> Inferred:
    """By the pooled model, from what was counted before and what is new.

    The state is written after the inference, so that a request that fails changes nothing.
    """
    state = PooledState.read(path)
    given = open_files(sources, cluster) if sources else None
    request = request.of_reports(given.estimands if given else ())
    files = state.new(given) if given else None
    if files is None:
        notice(f"{path}: no new reports")
    else:
        with _engine(cluster) as engine:
            state = state.with_reports(files, engine)
    if not state.parts:
        raise ForsoothError(f"{path} has counted no reports yet: give some")
    with aside.status("inferring by the pooled model"):
        known = request.known(state.parts[0].mechanism.scale)
        truths = state.infer(request.options, known, gold_use=request.gold_use)
    if files is not None:
        state.write(path)
    return Inferred(truths, sum(part.workers for part in state.parts))


@contextmanager
def _engine(cluster: str | None) -> Iterator[Engine]:
    """A cluster, or else this process; and a line that shows the progress."""
    with aside.status("reading the reports") as status:
        progress = _passes(status.update)
        if cluster is None:
            yield Here(progress)
            return
        from forsooth.inference.engines.dask import connect

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

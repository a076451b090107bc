"""forsooth audit: is the claim true?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from forsooth import mechanisms
from forsooth.answers import Answers
from forsooth.cli import options
from forsooth.cli.console import print_json, print_table, say, working
from forsooth.errors import ForsoothError
from forsooth.io.files import read_text
from forsooth.mechanisms.base import Mechanism
from forsooth.odds import amount
from forsooth.privacy import PROTECTS, Privacy, check_epsilon, check_protects, check_unit
from forsooth.reports import Reports
from forsooth.scale import Scale

_SCALE = "0..4"
_COLUMNS = ("mechanism", "claimed for", "neighbours", "claimed", "exact", "sampled ≥", "holds")


def audit(
    mechanism: Annotated[
        str | None, typer.Option(metavar="MECHANISM", help=options.MECHANISMS)
    ] = None,
    epsilon: options.EpsilonOrNone = None,
    scale: options.ScaleTextOrNone = None,
    protects: options.Protection = None,
    unit: options.UnitNameOrNone = None,
    sampled_tasks: options.SampledTasks = 1,
    tasks: options.Tasks = 20,
    mechanism_file: options.MechanismFile = None,
    reports: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Reports that a client made from known --answers."),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The answers from which that client made --reports."),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Every mechanism, for every claim, as a table.")
    ] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="With --all: as Markdown.")] = False,
    draws: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="How often the sampled audit runs the mechanism on each input.",
            min=1000,
        ),
    ] = None,
    alpha: Annotated[
        float,
        typer.Option(metavar="RATE", help="The false-alarm rate of the sampled audit."),
    ] = 1e-6,
    simulation_seed: options.SimulationSeed = None,
    json: options.Json = False,
) -> None:
    """Compare a claimed ε with the exact one, and with what samples show.

    The claim is --epsilon, --protects and --unit. What is left out is taken from the file that is
    audited; of --mechanism and --all ε = 1 is claimed, on the scale 0..4.
    The exit code is 1 if the claim is false.
    Value neighbours differ in one answer, participation neighbours in whether it was given.

    Example: `forsooth audit --mechanism rr --epsilon 1 --scale 0..4`
    """
    from forsooth.auditing import Audit, audit_reports
    from forsooth.auditing import audit as run

    said = _Claim(epsilon, protects, unit)
    settings: dict[str, Any] = {"draws": draws, "alpha": alpha, "simulation_seed": simulation_seed}
    found: list[Audit] = []
    if reports or answers or mechanism_file:
        _refuse_description(mechanism, scale)
    if reports or answers:
        made, inputs = _reports_and_inputs(reports, answers)
        with working("auditing the reports"):
            claim = said.of_file(made.mechanism, len(made.tasks))
            found = [audit_reports(made, inputs, claim=claim, alpha=alpha)]
    elif mechanism_file:
        given = Mechanism.from_json(read_text(mechanism_file))
        with working(f"auditing {given.name}"):
            found = [run(given, claim=said.of_file(given, tasks), tasks=tasks, **settings)]
    elif every:
        for name in mechanisms.BUILDERS:
            for protection in PROTECTS:
                claim = Privacy(said.number, check_protects(protection))
                built = _build(name, scale, claim, tasks)
                with working(f"auditing {name}"):
                    found.append(run(built, claim=claim, tasks=tasks, **settings))
    elif mechanism:
        claim = Privacy(said.number, _protection(mechanism, protects))
        built = _build(mechanism, scale, claim, tasks, unit or "cell", sampled_tasks)
        claim = Privacy(claim.epsilon, claim.protects, built.guarantee.cells)
        with working(f"auditing {mechanism}"):
            found = [run(built, claim=claim, tasks=tasks, **settings)]
    else:
        raise ForsoothError("audit needs --mechanism, --mechanism-file, --reports or --all")

    if json:
        documents = [each.to_dict() for each in found]
        print_json({"audits": documents} if every else documents[0])
    elif markdown:
        _print_markdown(found)
    else:
        _show(found)
    if not every and not found[0].holds:
        raise typer.Exit(1)


@dataclass(frozen=True)
class _Claim:
    """What the flags claim."""

    epsilon: float | None
    protects: str | None
    unit: str | None

    @property
    def number(self) -> float:
        """ε, by default 1."""
        return check_epsilon(1.0 if self.epsilon is None else self.epsilon)

    def of_file(self, given: Mechanism, tasks: int) -> Privacy:
        """The claim about a mechanism that states one itself, for what the flags leave out."""
        unit = given.unit if self.unit is None else check_unit(self.unit)
        return Privacy(
            given.epsilon if self.epsilon is None else check_epsilon(self.epsilon),
            given.protects if self.protects is None else check_protects(self.protects),
            None if unit == "cell" else given.guarantee.cells or tasks,
        )


def _refuse_description(mechanism: str | None, scale: str | None) -> None:
    """A file says itself which mechanism it is, and on which scale."""
    for option, value in (("--mechanism", mechanism), ("--scale", scale)):
        if value is not None:
            raise ForsoothError(
                f"the audited file has its own mechanism and scale: leave out {option}. "
                "--epsilon, --protects and --unit are what you claim of it"
            )


def _build(
    name: str, scale: str | None, claim: Privacy, tasks: int, unit: str = "cell", sampled: int = 1
) -> Mechanism:
    """The mechanism whose claim is audited; `mf` can be claimed to protect what it does not."""
    answers_only = name.partition(":")[0] == "mf"
    return mechanisms.build(
        name,
        Scale.parse(scale or _SCALE),
        claim.epsilon,
        tasks=tasks,
        protects=None if answers_only else claim.protects,
        unit=check_unit(unit),
        sampled=sampled,
    )


def _protection(mechanism: str, protects: str | None) -> Any:
    """What is claimed: as said, or the mechanism's own default."""
    if protects is not None:
        return check_protects(protects)
    return "answers" if mechanism.partition(":")[0] in ("mf", "grr") else "answers+participation"


def _reports_and_inputs(reports: Path | None, inputs: Path | None) -> tuple[Reports, Answers]:
    if reports is None or inputs is None:
        raise ForsoothError("--reports and --answers go together: give both files")
    made = Reports.read(reports)
    return made, Answers.read(inputs, made.scale, tasks=made.tasks, workers=made.workers)


def _rows(found: list[Any]) -> list[tuple[str, ...]]:
    """Two rows per audit: value and participation neighbours."""
    rows: list[tuple[str, ...]] = []
    for each in found:
        hidden = each.claim.protects == "answers+participation"
        kinds = (
            ("value", each.exact.value, each.value, True),
            ("participation", each.exact.participation, each.participation, hidden),
        )
        for kind, exact, sampled, claimed in kinds:
            said = f"{each.claim.epsilon:g}" if claimed else "—"
            bound = f"{sampled.epsilon:.3f}" if sampled else "—"
            true = exact <= each.claim.epsilon and not (
                sampled and sampled.epsilon > each.claim.epsilon
            )
            held = "not refuted" if each.black_box else "yes"
            verdict = (held if true else "NO") if claimed else "not claimed"
            shown = "∞" if exact == float("inf") else f"{exact:.6g}"
            words = options.protection_words(each.claim.protects)
            rows.append((each.mechanism, words, kind, said, shown, bound, verdict))
    return rows


def _print_markdown(found: list[Any]) -> None:
    print(f"| {' | '.join(_COLUMNS)} |")
    print("|" + "---|" * len(_COLUMNS))
    for row in _rows(found):
        print(f"| {' | '.join(row)} |")


def _show(found: list[Any]) -> None:
    print_table(_COLUMNS, _rows(found))
    if len(found) > 1:
        return
    (each,) = found
    for test in each.tested():
        say(f"tested: {test}")
    say(f"one worker's total: at most {amount(each.worker_total)}")
    for violation in each.violations:
        say(f"violated: {violation}")
    if each.witness:
        say(f"witness: {each.witness}")
    say(each.verdict)
    if each.black_box and each.holds:
        say(
            f"An honest client is accused with a probability of at most {each.alpha:g}. What is "
            "not tested is not seen: a client can hide an answer elsewhere in its reports."
        )

"""forsooth audit: is the claim true?"""

from __future__ import annotations

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
from forsooth.privacy import PROTECTS, Privacy, check_epsilon, check_protects, check_unit
from forsooth.reports import Reports
from forsooth.scale import Scale

_COLUMNS = ("mechanism", "claimed for", "neighbours", "claimed", "exact", "sampled ≥", "holds")


def audit(
    mechanism: Annotated[
        str | None, typer.Option(metavar="MECHANISM", help=options.MECHANISMS)
    ] = None,
    epsilon: options.Epsilon = 1.0,
    scale: options.ScaleText = "0..4",
    protects: options.Protection = None,
    unit: options.UnitName = "cell",
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
    """Compare a claimed ε with the exact one, and with a lower bound from samples.

    The exit code is 1 if the claim is false.
    Value neighbours differ in one answer, participation neighbours in whether it was given.

    Example: `forsooth audit --mechanism rr --epsilon 1 --scale 0..4`
    """
    from forsooth.auditing import Audit, audit_reports
    from forsooth.auditing import audit as run

    if not 0 < alpha < 1:
        raise ForsoothError(f"α must lie between 0 and 1, got {alpha}")
    settings: dict[str, Any] = {"draws": draws, "alpha": alpha, "simulation_seed": simulation_seed}
    found: list[Audit] = []
    if reports or answers:
        with working("auditing the reports"):
            found = [audit_reports(*_reports_and_inputs(reports, answers), alpha=alpha)]
    elif mechanism_file:
        given = Mechanism.from_json(read_text(mechanism_file))
        with working(f"auditing {given.name}"):
            found = [run(given, tasks=tasks, **settings)]
    elif every:
        for name in mechanisms.BUILDERS:
            for protection in PROTECTS:
                claim = Privacy(epsilon, check_protects(protection))
                built = _build(name, scale, claim, tasks)
                with working(f"auditing {name}"):
                    found.append(run(built, claim=claim, tasks=tasks, **settings))
    elif mechanism:
        claim = Privacy(check_epsilon(epsilon), _protection(mechanism, protects))
        built = _build(mechanism, scale, claim, tasks, unit, sampled_tasks)
        claim = Privacy(epsilon, claim.protects, built.guarantee.cells)
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


def _build(
    name: str, scale: str, claim: Privacy, tasks: int, unit: str = "cell", sampled: int = 1
) -> Mechanism:
    """The mechanism whose claim is audited; `mf` can be claimed to protect what it does not."""
    answers_only = name.partition(":")[0] == "mf"
    return mechanisms.build(
        name,
        Scale.parse(scale),
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
            verdict = ("yes" if true else "NO") if claimed else "not claimed"
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
    if each.fit is not None:
        say(f"draws against the table: chi-square p = {each.fit:.3g}")
    say(f"one worker's total: at most {each.worker_total:g}")
    for violation in each.violations:
        say(f"violated: {violation}")
    if each.witness:
        say(f"witness: {each.witness}")
    say("the claim holds" if each.holds else "the claim is FALSE")

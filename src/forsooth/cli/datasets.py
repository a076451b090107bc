"""forsooth datasets: the data sets that forsooth can read."""

from __future__ import annotations

from typing import Annotated

import typer

from forsooth.cli import options
from forsooth.cli.console import print_json, print_table, say
from forsooth.errors import ForsoothError
from forsooth.study import datasets
from forsooth.study.synthetic import PREFIX

app = typer.Typer(help="The data sets that forsooth can read.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="wsd, adult, or synthetic:workers=…")]


@app.command("list")
def list_them(data_dir: options.DataDir = None, json: options.Json = False) -> None:
    """List the data sets, and whether their files are here.

    Example: `forsooth datasets list --data-dir ~/data`
    """
    found = {name: _is_here(name, data_dir) for name in datasets.KNOWN}
    if json:
        print_json(
            {
                "datasets": [
                    {"name": name, "summary": known.summary, "found": found[name]}
                    for name, known in datasets.KNOWN.items()
                ]
            }
        )
        return
    rows = [
        (name, "yes" if found[name] else "no", known.summary)
        for name, known in datasets.KNOWN.items()
    ]
    synthetic = ("synthetic:…", "yes", "crowds as in the paper, drawn from a seed")
    print_table(("name", "here", "what"), [*rows, synthetic])


@app.command()
def describe(
    name: Name,
    data_dir: options.DataDir = None,
    scale: options.ScaleTextOrNone = None,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Print workers, tasks, answers, sparsity, and how answers and truths are distributed.

    --seed is for synthetic crowds.

    Example: `forsooth datasets describe wsd --data-dir ~/data`
    """
    if name not in datasets.KNOWN and not name.startswith(PREFIX):
        known = ", ".join((*datasets.KNOWN, f"{PREFIX}:…"))
        raise ForsoothError(f"unknown data set {name!r}; known: {known}")
    dataset = datasets.read(name, data_dir=data_dir, scale=scale, seed=seed)
    about = dataset.describe()
    if json:
        print_json(about)
        return
    say(
        f"{about['name']}: {about['workers']:,} workers, {about['tasks']:,} tasks, "
        f"{about['answers']:,} answers; truth known for {about['tasks_with_truth']:,} tasks"
    )
    sparsity = about["sparsity"]
    say(
        f"sparsity per worker: max {sparsity['max']:.6f}, min {sparsity['min']:.6f}, "
        f"average {sparsity['average']:.6f}"
    )
    shares = about["answer_distribution"], about["truth_distribution"]
    print_table(
        ("answer", "share of answers", "share of truths"),
        ((label, shares[0][label], shares[1][label]) for label in shares[0]),
    )
    for message in dataset.answers.notices:
        say(message)


@app.command()
def path(name: Name, data_dir: options.DataDir = None, json: options.Json = False) -> None:
    """Print the folder that holds a data set's files.

    Example: `forsooth datasets path wsd --data-dir ~/data`
    """
    folder = datasets.path(name, data_dir)
    if json:
        print_json({"name": name, "path": str(folder)})
    else:
        say(str(folder))


def _is_here(name: str, data_dir: options.DataDir) -> bool:
    try:
        datasets.path(name, data_dir)
    except ForsoothError:
        return False
    return True

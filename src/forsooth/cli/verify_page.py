"""forsooth verify-page: does a service serve the published worker's page?"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from forsooth.cli import options
from forsooth.cli.console import print_json, say, working
from forsooth.errors import ForsoothError
from forsooth.service.manifest import installed

if TYPE_CHECKING:
    from forsooth.service.page_check import PageCheck


def verify_page(
    url: Annotated[
        str | None,
        typer.Argument(
            metavar="URL",
            help="The link of a campaign, or a service's address.",
            show_default=False,
        ),
    ] = None,
    digest: Annotated[
        str | None,
        typer.Option(
            metavar="DIGEST",
            help="The published digest to expect. Default: that of this installation.",
            show_default=False,
        ),
    ] = None,
    show: Annotated[
        bool, typer.Option("--show", help="Print the digest and the manifest of this installation.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Compare every byte of the worker's page that a service serves with the published page.

    The exit code is 1 if anything differs. A server can serve other people another page: this shows
    what it serves to you.

    Example: `forsooth verify-page https://survey.example.org/c/ID`
    """
    if show == (url is not None):
        raise ForsoothError("give the address of a service or of a campaign, or --show")
    if url is None:
        _show(json)
        return
    from forsooth.service.page_check import check_page

    with working("comparing every byte"):
        found = check_page(url, digest)
    if json:
        files = [asdict(each) for each in found.files]
        print_json({"url": url, "digest": found.digest, "holds": found.holds, "files": files})
    else:
        _say(found, url, digest)
    if not found.holds:
        raise typer.Exit(1)


def _show(json: bool) -> None:
    manifest = installed()
    if json:
        print_json({"digest": manifest.digest, "files": manifest.files})
        return
    say(f"digest {manifest.digest}\n")
    say(manifest.content.decode().rstrip())


def _say(found: PageCheck, url: str, digest: str | None) -> None:
    for each in found.problems:
        say(f"{each.name} {each.problem} ({each.address})")
    if found.holds:
        say(f"every byte of {len(found.files)} files is the published one: digest {found.digest}")
    else:
        say(f"{url} does NOT serve the published page with the digest {found.digest}")
        if digest is None:
            say("(Another release has another digest: give the one it published with --digest.)")

"""``forsooth``, also as ``python -m forsooth``."""

from __future__ import annotations

import os
import shutil
import sys

_NARROW = 60  # columns below which typer's frames leave no room for the names of options


def main() -> None:
    """Load the command line, which takes a moment, and run it; ctrl-C is quiet from here on."""
    if shutil.get_terminal_size().columns < _NARROW:
        os.environ.setdefault("TYPER_USE_RICH", "0")  # plain help, which needs less room
    try:
        from forsooth.cli import main as run
    except KeyboardInterrupt:
        sys.stderr.write("error: stopped\n")
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()

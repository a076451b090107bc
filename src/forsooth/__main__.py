"""``forsooth``, also as ``python -m forsooth``."""

from __future__ import annotations

import sys


def main() -> None:
    """Load the command line, which takes a moment, and run it; ctrl-C is quiet from here on."""
    try:
        from forsooth.cli import main as run
    except KeyboardInterrupt:
        sys.stderr.write("error: stopped\n")
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()

"""The version of forsooth, of its source, and the extras that are installed.

This file is the only place where the version is written: the package's metadata are read from it.
"""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path

__version__ = "0.2.0.dev0"

# What has to be importable for an extra of pyproject.toml to work.
EXTRAS = {
    "fast": ("numba",),
    "plots": ("matplotlib",),
    "service": ("alembic", "fastapi", "prometheus_client", "segno", "sqlalchemy", "uvicorn"),
    "cluster": ("distributed", "fsspec"),
    "excel": ("python_calamine",),
}


def source_digest(package: Path = Path(__file__).parent) -> str:
    """64 bits of BLAKE2b of all Python files of the package, as hexadecimal digits."""
    digest = blake2b(digest_size=8)
    files = {path.relative_to(package).as_posix(): path for path in package.rglob("*.py")}
    for name in sorted(files):
        content = files[name].read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


@cache
def exact_version() -> str:
    """The version with the digest of the source, as in ``0.2.0+4f1c2a9be07d5e63``.

    Results that are kept for later carry it, so that numbers of different code never mix.
    """
    return f"{__version__}+{source_digest()}"


def made_by_other(found: object) -> str:
    """For messages: what wrote a file that this source cannot continue, and what this is."""
    who = f"forsooth {found}" if isinstance(found, str) else "an earlier version of forsooth"
    return f"was written by {who}; this is forsooth {exact_version()}"


def extras() -> dict[str, bool]:
    """Every extra, and whether its packages are installed; nothing is imported."""
    return {
        extra: all(find_spec(module) is not None for module in modules)
        for extra, modules in EXTRAS.items()
    }

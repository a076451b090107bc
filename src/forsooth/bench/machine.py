"""What the figures were measured on: the processor, memory and versions, never a name or a path."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("forsooth", "numpy", "numba", "scipy", "pyarrow", "cryptography", "distributed")


def describe() -> dict[str, str]:
    """By what it is, and how busy it was with other things."""
    installed = ((name, _version(name)) for name in PACKAGES)
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "memory": _memory(),
        "system": f"{platform.system()} {platform.machine()}",
        "busy before": f"{os.getloadavg()[0]:.1f} processes on average, for a minute",
        "Python": platform.python_version(),
        **{name: found for name, found in installed if found},
    }


def _processor() -> str:
    """As the system names it."""
    listed = Path("/proc/cpuinfo")
    lines = listed.read_text(encoding="utf-8").splitlines() if listed.exists() else []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def _memory() -> str:
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None

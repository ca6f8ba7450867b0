"""Machine, versions and date of a measurement."""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PACKAGES = ("kfuse", "numpy", "scipy", "scikit-learn", "numba", "fast_hdbscan", "genieclust", "hdbscan")
ROOT = Path(__file__).parent.parent
SOURCE = "src/kfuse"


def describe() -> dict[str, Any]:
    """Return processor, cores, memory and versions."""
    import psutil  # noqa: PLC0415

    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in PACKAGES},
        "source": _state_of_source(),
    }


def need(*modules: str) -> None:
    """Exit with a clear message if a required module is not installed."""
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        sys.exit(f"The benchmarks need {', '.join(missing)}: run pip install '.[bench]' first.")


def today() -> str:
    """Return today's date in UTC."""
    return datetime.datetime.now(datetime.timezone.utc).date().isoformat()


def in_words(machine: dict[str, Any], date: str, load: float | None = None) -> list[str]:
    """Describe a machine in Markdown."""
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    busy = "" if load is None else f" Load average at the start: {load:.1f}."
    return [
        f"{date}: {machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB of memory, "
        f"{machine['system']}, Python {machine['python']}.{busy}",
        "",
        f"Versions: {versions}. Last change to `{SOURCE}`: {machine['source']}.",
    ]


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown processor"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def _state_of_source() -> str:
    """Return the last commit that changed the package, and whether there are uncommitted changes."""
    try:
        commit = _git("log", "-1", "--format=%h", "--", SOURCE)
        changed = _git("status", "--porcelain", "--", SOURCE)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{commit} with changes" if changed else commit


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()

"""Density-based agglomerative clustering without parameters to tune."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kfuse.description import describe
    from kfuse.estimator import KFuse
    from kfuse.scoring import validity

__all__ = ["KFuse", "__version__", "describe", "validity"]
__version__ = "0.1.0"

_HOMES = {"KFuse": "estimator", "describe": "description", "validity": "scoring"}
_ROOMS = {
    "baselines",
    "datasets",
    "description",
    "plots",
    "report",
    "tables",
}  # modules that need no import of their own


def __getattr__(name: str) -> Any:
    """Import a name when it is first asked for: scikit-learn takes a second, and ``kfuse --help`` needs none of it."""
    from importlib import import_module  # noqa: PLC0415 - only needed here

    if name in _ROOMS:
        return import_module(f"{__name__}.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

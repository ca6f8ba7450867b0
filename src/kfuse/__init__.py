"""Density-based agglomerative clustering without parameters to tune."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kfuse.estimator import KFuse

__all__ = ["KFuse", "__version__"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Import `KFuse` when it is first asked for: scikit-learn takes a second, and ``kfuse --help`` needs none of it."""
    if name == "KFuse":
        from kfuse.estimator import KFuse  # noqa: PLC0415 - that is the point

        globals()["KFuse"] = KFuse
        return KFuse
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

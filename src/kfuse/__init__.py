"""Density-based agglomerative clustering without parameters to tune."""

from importlib.metadata import version

from kfuse.estimator import KFuse

__all__ = ["KFuse", "__version__"]
__version__ = version("kfuse")

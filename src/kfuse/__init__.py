"""Density-based agglomerative clustering without parameters to tune."""

from kfuse.estimator import KFuse

__all__ = ["KFuse", "__version__"]
__version__ = "0.1.0"

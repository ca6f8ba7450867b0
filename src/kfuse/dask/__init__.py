"""KFuse beyond one machine, on Dask: ``from kfuse.dask import KFuse``.

It takes Dask arrays and data frames, and gives the same labels, tree and number of clusters as :class:`kfuse.KFuse`.
"""

try:
    from kfuse.dask.estimator import KFuse
except ImportError as error:
    if error.name is None or not error.name.startswith(("dask", "distributed")):
        raise
    raise ImportError("kfuse.dask needs Dask: pip install 'kfuse[dask]'") from error

__all__ = ["KFuse"]

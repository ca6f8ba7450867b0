"""KFuse in the style of scanpy's tools: labels of cells, written into an AnnData object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from anndata import AnnData

__all__ = ["kfuse"]


def kfuse(
    adata: AnnData,
    n_clusters: int | str | tuple[int, int] = "auto",
    *,
    use_rep: str | None = None,
    neighbors_key: str = "neighbors",
    key_added: str = "kfuse",
    copy: bool = False,
    **parameters: Any,
) -> AnnData | None:
    """Cluster cells, as ``scanpy.tl.leiden`` does, but without a resolution to choose.

    Parameters
    ----------
    adata : AnnData
        The cells.
    n_clusters : "auto", int or (int, int), default="auto"
        The number of clusters, as in :class:`~kfuse.KFuse`.
    use_rep : str or None, default=None
        What to cluster: the name of an entry of ``obsm``, or "X". By default, the distances that
        ``scanpy.pp.neighbors`` wrote, if there are any; otherwise ``obsm["X_pca"]``, and without that ``X``.
    neighbors_key : str, default="neighbors"
        The entry of ``uns`` that says where the distances are.
    key_added : str, default="kfuse"
        The name of the results.
    copy : bool, default=False
        Whether to leave `adata` as it is, and return a copy with the results.
    **parameters : dict
        Other parameters of :class:`~kfuse.KFuse`.

    Returns
    -------
    AnnData or None
        The copy, if asked for. It has ``obs[key_added]``, the cluster of each cell as a category ("-1" is noise),
        ``obs[key_added + "_probability"]``, ``obs[key_added + "_outlier_score"]``, and ``uns[key_added]`` with the
        parameters and the best numbers of clusters.

    Examples
    --------
    >>> import scanpy as sc  # doctest: +SKIP
    >>> from kfuse.scanpy import kfuse
    >>> cells = sc.datasets.pbmc68k_reduced()  # doctest: +SKIP
    >>> kfuse(cells, use_rep="X_pca")  # doctest: +SKIP
    >>> sc.pl.umap(cells, color="kfuse")  # doctest: +SKIP
    """
    import pandas as pd  # noqa: PLC0415 - an optional dependency, which AnnData has

    from kfuse.estimator import KFuse  # noqa: PLC0415 - scikit-learn is slow to import

    adata = adata.copy() if copy else adata
    data, metric, source = _samples(adata, use_rep, neighbors_key)
    model = KFuse(n_clusters, **{"metric": metric, **parameters}).fit(data)
    names = [str(label) for label in np.unique(model.labels_)]
    adata.obs[key_added] = pd.Categorical(model.labels_.astype(str), categories=names)
    adata.obs[f"{key_added}_probability"] = model.probabilities_
    adata.obs[f"{key_added}_outlier_score"] = model.outlier_scores_
    adata.uns[key_added] = {
        "params": {"n_clusters": str(n_clusters), "source": source, **{k: str(v) for k, v in parameters.items()}},
        "n_clusters": model.n_clusters_,
        "suggested": [] if model.tree_.borders is None else [one.n_clusters for one in model.tree_.suggest()],
    }
    return adata if copy else None


def _samples(adata: AnnData, use_rep: str | None, neighbors_key: str) -> tuple[Any, str, str]:
    """Return what to cluster, the metric that it needs, and its name."""
    if use_rep == "X":
        return adata.X, "euclidean", "X"
    if use_rep is not None:
        if use_rep not in adata.obsm:
            known = ", ".join(map(repr, [*adata.obsm, "X"]))
            raise ValueError(f"use_rep={use_rep!r} is not in adata.obsm: choose one of {known}.")
        return np.asarray(adata.obsm[use_rep]), "euclidean", f"obsm[{use_rep!r}]"
    if neighbors_key in adata.uns:
        key = adata.uns[neighbors_key].get("distances_key", "distances")
        if key in adata.obsp:
            return adata.obsp[key], "precomputed", f"obsp[{key!r}]"
    if "X_pca" in adata.obsm:
        return np.asarray(adata.obsm["X_pca"]), "euclidean", "obsm['X_pca']"
    return adata.X, "euclidean", "X"

"""Malformed and extreme input, and valid input of every kind: each case is determined by a seed and its number."""

from __future__ import annotations

import datetime
import decimal
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse
from sklearn.neighbors import VALID_METRICS, kneighbors_graph

from tests.hostile import hostile_files

Rng = np.random.Generator

METRICS = sorted({*VALID_METRICS["brute"]} - {"nan_euclidean"})
POISON = (np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 1e-310, 1e160, -0.0, 1e-160, 3e38, 2.0**60)
NUMERIC = ("f8", "f4", "f2", "g", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?", ">f8", ">i4")
ODD_TYPES = ("c16", "U4", "S3", "M8[D]", "m8[s]", "O")
NOT_TABLES = (None, "text", b"bytes", 3, 2.5, {}, {"a": [1, 2]}, set(), [], [[]], [[], []], [[1, 2], [3]], range(5))
WRONG = (
    None,
    "",
    "x",
    "AUTO",
    0,
    -1,
    -(2**70),
    2**70,
    1.5,
    np.nan,
    np.inf,
    True,
    [],
    [3],
    {},
    object(),
    b"auto",
    3 + 0j,
)


class Case(NamedTuple):
    """Input of one fit, and new samples to predict."""

    kind: str
    parameters: dict[str, Any]
    X: Any
    new: Any = None


def make(seed: int, number: int) -> Case:
    """Build the case with this number."""
    kind = kind_of(number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # building malformed input warns by itself
        return Case(kind, *KINDS[kind](np.random.default_rng([seed, number])))


def kind_of(number: int) -> str:
    """Return the kind of a case; the kinds take turns."""
    return list(KINDS)[number % len(KINDS)]


def parameters(rng: Rng) -> dict[str, Any]:
    """Draw valid parameters."""
    fusion = str(rng.choice(["adaptive", "adaptive", "paper"]))
    numbers = [1, 2, 3, 7, np.int32(2)] + ["auto"] * 3 * (fusion == "adaptive")
    chosen: dict[str, Any] = {"fusion": fusion, "n_clusters": pick(rng, numbers)}
    chosen["outliers"] = str(rng.choice(["assign", "label"]))
    chosen["neighbors"] = str(rng.choice(["auto", "kd_tree", "brute"]))
    chosen["n_jobs"] = pick(rng, [None, 1, 2, -1])
    return chosen


def pick(rng: Rng, choices: Any) -> Any:
    """Choose one element, without converting it to a numpy type."""
    return choices[int(rng.integers(len(choices)))]


def values(rng: Rng, n_samples: int, n_features: int) -> Any:
    """Draw numbers with ties, duplicates, constant columns and any magnitude."""
    shape = (n_samples, n_features)
    kind = rng.integers(6)
    if kind == 0:
        X = rng.integers(-3, 4, shape).astype(float)
    elif kind == 1:
        X = rng.standard_normal(shape) * 10.0 ** rng.integers(-200, 200)
    elif kind == 2:
        X = rng.standard_normal(shape) * 10.0 ** rng.integers(-30, 30, shape)
    elif kind == 3:
        X = np.repeat(rng.random((1, n_features)), n_samples, axis=0)
    elif kind == 4:
        X = rng.random(shape).round(1) + rng.integers(0, 3, (n_samples, 1)) * 9
    else:
        X = rng.random(shape)
    if n_features > 1 and rng.random() < 0.1:
        X[:, rng.integers(n_features)] = 1.0
    return X


def poisoned(rng: Rng, X: Any) -> Any:
    """Replace a few values with NaN, infinities and extreme numbers."""
    X = X.copy()
    for _ in range(rng.integers(1, 4) if X.size else 0):
        X.flat[rng.integers(X.size)] = pick(rng, POISON)
    return X


def features(rng: Rng) -> tuple[dict[str, Any], Any, Any]:
    """Draw finite features of any dtype and magnitude, with any metric."""
    n_samples, n_features = int(rng.integers(1, 60)), int(rng.integers(1, 6))
    X = values(rng, n_samples, n_features)
    chosen = parameters(rng)
    if rng.random() < 0.5:
        chosen["neighbors"], chosen["metric"] = "auto", pick(rng, [*METRICS, odd_metric])
    if rng.random() < 0.5:
        with np.errstate(all="ignore"):
            X = np.nan_to_num(X).astype(pick(rng, NUMERIC))
    new = X[rng.integers(0, n_samples, 3)] if rng.random() < 0.5 else values(rng, 3, n_features)
    return chosen, X, new


def odd_metric(a: Any, b: Any) -> float:
    """Return a distance that is only valid for small numbers."""
    return float(np.abs(np.float64(a[0]) - np.float64(b[0])))


def arrays(rng: Rng) -> tuple[dict[str, Any], Any, Any]:
    """Draw arrays of any shape, dtype and layout, many of them poisoned."""
    shape = [int(rng.integers(0, 40)), int(rng.integers(0, 5))]
    if rng.random() < 0.15:
        shape = [int(n) for n in rng.integers(0, 5, rng.integers(0, 5))]
    X = values(rng, shape[0], shape[1]) if len(shape) == 2 else np.asarray(rng.random(shape))
    if rng.random() < 0.6:
        X = poisoned(rng, X)
    if rng.random() < 0.4:
        with np.errstate(all="ignore"):
            X = np.asarray(np.nan_to_num(X).clip(-1e15, 1e15)).astype(pick(rng, [*NUMERIC, *ODD_TYPES]))
    new = poisoned(rng, values(rng, 3, int(rng.integers(0, 5))))
    return parameters(rng), container(rng, X), new


def container(rng: Rng, X: Any) -> Any:
    """Convert the array to another container half of the time."""
    is_table = X.ndim == 2
    to_sparse = is_table and X.dtype.kind in "fiub" and X.dtype.itemsize > 2 and X.dtype.isnative
    kinds: list[Callable[[], Any]] = [
        X.tolist,
        lambda: np.ma.masked_array(X, mask=rng.random(X.shape) < 0.1),
        lambda: np.asmatrix(X) if is_table else X,
        lambda: pick(rng, [sparse.csr_array, sparse.csc_matrix, sparse.lil_matrix])(X) if to_sparse else X,
        lambda: pick(rng, NOT_TABLES),
        lambda: np.asfortranarray(X),
        lambda: X[::-2, ::-1] if is_table else X,
        lambda: X.astype(object),
    ]
    return pick(rng, kinds)() if rng.random() < 0.5 else X


def odd_column(rng: Rng, n: int) -> Any:
    """Draw a pandas column, rarely of plain numbers."""
    columns: list[Callable[[], Any]] = [
        lambda: rng.random(n),
        lambda: pd.array(rng.integers(0, 9, n), dtype="Int64"),
        lambda: pd.array([None if i == 0 else i for i in range(n)], dtype="Int64"),
        lambda: pd.Categorical(rng.choice(["a", "b"], n)),
        lambda: pd.Categorical(rng.integers(0, 3, n)),
        lambda: pd.date_range("2020", periods=n),
        lambda: pd.to_timedelta(np.arange(n), unit="s"),
        lambda: rng.choice(["x", "1", ""], n),
        lambda: [{"a": 1}] * n,
        lambda: [decimal.Decimal("1.5")] * n,
        lambda: rng.random(n) < 0.5,
        lambda: pd.array(rng.random(n) < 0.5, dtype="boolean"),
        lambda: pd.arrays.SparseArray(rng.integers(0, 2, n).astype(float)),
        lambda: [None] * n,
        lambda: [1.0, "2"] * (n // 2) + [3.0] * (n % 2),
        lambda: rng.random(n).astype("f4"),
        lambda: rng.random(n) + 1j,
        lambda: pd.period_range("2020", periods=n, freq="D"),
    ]
    return pick(rng, columns)()


def odd_series(rng: Rng, n: int) -> Any:
    """Draw a polars column, rarely of plain numbers."""
    columns: list[Callable[[], Any]] = [
        lambda: pl.Series(rng.random(n)),
        lambda: pl.Series(rng.random(n).astype("f4")),
        lambda: pl.Series(rng.integers(0, 9, n)),
        lambda: pl.Series([None, *range(n - 1)] if n else [], dtype=pl.Int64),
        lambda: pl.Series(["a"] * n, dtype=pl.Categorical),
        lambda: pl.Series(["1"] * n),
        lambda: pl.Series([[1, 2]] * n),
        lambda: pl.Series([{"a": 1}] * n),
        lambda: pl.Series([datetime.date(2020, 1, 1)] * n),
        lambda: pl.Series([decimal.Decimal("1.5")] * n),
        lambda: pl.Series([True] * n),
        lambda: pl.Series([None] * n),
        lambda: pl.Series([b"x"] * n),
        lambda: pl.Series([np.nan] * n),
    ]
    return pick(rng, columns)()


def frames(rng: Rng) -> tuple[dict[str, Any], Any, Any]:
    """Draw pandas and polars frames with unusual columns and names."""
    n = int(rng.integers(0, 30))
    n_columns = int(rng.integers(0, 5))
    chosen = parameters(rng)
    if rng.random() < 0.4:
        columns = {f"c{i}": odd_series(rng, n) if rng.random() < 0.3 else rng.random(n) for i in range(n_columns)}
        frame = pl.DataFrame(columns)
        new = frame.head(3) if rng.random() < 0.5 else frame.rename({"c0": "other"} if n_columns else {})
        return chosen, frame, new
    frame = pd.DataFrame({i: odd_column(rng, n) if rng.random() < 0.3 else rng.random(n) for i in range(n_columns)})
    frame.columns = pick(
        rng,
        [
            [f"c{i}" for i in range(n_columns)],
            list(range(n_columns)),
            ["same"] * n_columns,
            ["a", 1, None, ("t",), 2.5][:n_columns],
            pd.MultiIndex.from_tuples([("a", i) for i in range(n_columns)]) if n_columns else [],
        ],
    )
    if rng.random() < 0.1 and n_columns:
        return chosen, frame.iloc[:, 0], None
    return chosen, frame, frame.iloc[:3, ::-1] if rng.random() < 0.5 else frame.head(3)


def matrices(rng: Rng) -> tuple[dict[str, Any], Any, Any]:
    """Draw distance matrices: asymmetric, not square, with a non-zero diagonal, poisoned."""
    n = int(rng.integers(0, 40))
    points = values(rng, n, 2).clip(-1e100, 1e100)
    with np.errstate(all="ignore"):
        D = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=-1)) * 10.0 ** rng.integers(-10, 10)
    if rng.random() < 0.2:
        D = (np.median(D) < D if n else D).astype(pick(rng, NUMERIC))
    twist = rng.integers(8)
    if twist == 0 and n > 1:
        D[0, n - 1] = D[0, n - 1] + 1
    elif twist == 1:
        D = poisoned(rng, D.astype(float))
    elif twist == 2 and n:
        D = D[:, : rng.integers(n)]
    elif twist == 3:
        D = D + np.eye(n) * rng.random()
    elif twist == 4:
        D = -D.astype(float)
    elif twist == 5 and n > 1:
        D = D.astype(float)
        D[0, 1] = D[1, 0] = pick(rng, POISON)
    chosen = {**parameters(rng), "metric": "precomputed", "neighbors": pick(rng, ["auto", "brute"])}
    return chosen, container(rng, D) if rng.random() < 0.3 else D, D[:3]


def graphs(rng: Rng) -> tuple[dict[str, Any], Any, Any]:
    """Draw sparse distance graphs: one-sided, disconnected, with zeros, holes, duplicates and poison."""
    n = int(rng.integers(1, 60))
    points = values(rng, n, 2).clip(-1e100, 1e100)
    k = int(rng.integers(0, n))
    graph = kneighbors_graph(points, k, mode="distance") if k else sparse.csr_array((n, n))
    graph = sparse.csr_array(graph)
    for _ in range(rng.integers(0, 3)):
        graph = pick(rng, TWISTS)(rng, sparse.csr_array(graph).copy())
    if rng.random() < 0.1:
        graph = out_of_range(rng, graph)
    elif rng.random() < 0.05:
        graph = graph.tocsr()[:, : rng.integers(n + 1)]
    chosen = {**parameters(rng), "metric": "precomputed", "neighbors": pick(rng, ["auto", "brute"])}
    return chosen, graph, sparse.csr_array(points[:3] @ points.T if rng.random() < 0.5 else np.eye(3, n))


def without_some(rng: Rng, graph: Any) -> Any:
    """Drop a few or most of the entries."""
    graph = graph.tocoo()
    kept = rng.random(graph.nnz) < rng.choice([0.1, 0.5, 0.95])
    return sparse.coo_array((graph.data[kept], (graph.row[kept], graph.col[kept])), shape=graph.shape)


def with_zeros(rng: Rng, graph: Any) -> Any:
    """Set some entries to an explicit zero."""
    graph.data[rng.random(graph.nnz) < rng.choice([0.05, 0.5])] = 0
    return graph


def with_poison(rng: Rng, graph: Any) -> Any:
    """Poison the stored distances."""
    graph = graph.astype(float)
    return sparse.csr_array((poisoned(rng, graph.data), graph.indices, graph.indptr), shape=graph.shape)


def twice(rng: Rng, graph: Any) -> Any:
    """Store every pair twice; duplicates are summed."""
    graph = graph.tocoo()
    pairs = np.tile(graph.row, 2), np.tile(graph.col, 2)
    return sparse.coo_array((np.tile(graph.data, 2), pairs), shape=graph.shape)


def in_wide_indices(rng: Rng, graph: Any) -> Any:
    """Use 64-bit indices, and reverse the order of the distances."""
    graph.indices, graph.indptr = graph.indices.astype(np.int64), graph.indptr.astype(np.int64)
    graph.data = graph.data[::-1].copy()
    return graph


TWISTS: list[Callable[[Rng, Any], Any]] = [
    without_some,
    with_zeros,
    with_poison,
    twice,
    in_wide_indices,
    lambda rng, graph: graph.maximum(graph.T),
    lambda rng, graph: sparse.block_diag([graph, graph], format=pick(rng, ["csr", "csc", "coo"])),
    lambda rng, graph: graph.astype(pick(rng, ["f4", "i4", "i8", "?", "u1"])),
    lambda rng, graph: graph.asformat(pick(rng, ["csc", "coo", "lil", "dok", "bsr", "dia"])),
    lambda rng, graph: sparse.csr_matrix(graph + sparse.eye(graph.shape[0]) * rng.random()),
]


def out_of_range(rng: Rng, graph: Any) -> Any:
    """Point an index or a row start outside of the graph."""
    graph = graph.tocsr().copy()
    n = graph.shape[0]
    if graph.nnz and rng.random() < 0.7:
        graph.indices[rng.integers(graph.nnz)] = pick(rng, [graph.shape[1], -1, 2**31 - 1, 10 * n])
    else:
        graph.indptr[rng.integers(n + 1)] = pick(rng, [-1, graph.nnz + 1, 2**31 - 1])
    return graph


def wrong_parameters(rng: Rng) -> tuple[dict[str, Any], Any, Any]:
    """Set one or two parameters to a wrong type or value."""
    chosen = parameters(rng)
    names = ("n_clusters", "fusion", "metric", "neighbors", "outliers", "n_jobs", "random_state", "verbose")
    for name in rng.choice(names, rng.integers(1, 3), replace=False):
        chosen[str(name)] = pick(rng, WRONG)
    return chosen, rng.random((20, 2)), None


KINDS: dict[str, Callable[[Rng], tuple[dict[str, Any], Any, Any]]] = {
    "features": features,
    "arrays": arrays,
    "frames": frames,
    "matrices": matrices,
    "graphs": graphs,
    "parameters": wrong_parameters,
    "files": hostile_files.make,
}

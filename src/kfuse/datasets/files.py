"""Read the public files of the data sets, and verify the arrays with a checksum."""

from __future__ import annotations

import csv
import gzip
import hashlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Arrays = tuple[NDArray[np.float64], NDArray[np.intp]]

DECIMALS = 10  # that count in a fingerprint, because sources have the same numbers with 8 to 17 digits
FACE_LEVELS = 242  # the largest grey level, by which scikit-learn divides the faces
FACE_SIDE = 64


def fingerprint(X: NDArray[np.float64], y: NDArray[np.intp]) -> str:
    """Return the SHA-256 of the samples as a set of clusters.

    It does not depend on the order of the rows or the names of the clusters, because public copies of the same data
    differ in both.
    """
    rounded = np.ascontiguousarray(np.round(np.asarray(X, dtype="<f8"), DECIMALS) + 0.0)  # + 0.0 turns -0.0 into 0.0
    clusters = []
    for label in np.unique(y):
        members = rounded[y == label]
        in_order = members[np.lexsort(members.T[::-1])]
        clusters.append(hashlib.sha256(np.ascontiguousarray(in_order).tobytes()).digest())
    return hashlib.sha256(f"{rounded.shape}".encode() + b"".join(sorted(clusters))).hexdigest()


def read_data_and_labels(paths: list[Path]) -> Arrays:
    """Read a file of numbers and a file of labels, both gzipped text."""
    data, labels = paths
    return np.loadtxt(data, ndmin=2), _numbered(np.loadtxt(labels).tolist())


def read_arff(paths: list[Path]) -> Arrays:
    """Read an ARFF file with the label in the last column."""
    lines = paths[0].read_text(encoding="utf-8").splitlines()
    rows = [line.split(",") for line in lines if line.strip() and not line.lstrip().startswith(("%", "@"))]
    return _split(rows, label=-1)


def read_label_last(paths: list[Path]) -> Arrays:
    """Read comma-separated rows without a header, with the label in the last column."""
    return _split(_rows(paths[0]), label=-1)


def read_label_first(paths: list[Path]) -> Arrays:
    """Read comma-separated rows below a header of a few lines, with the label first, from one or more files."""
    rows = [row for path in paths for row in _rows(path) if len(row) > 1]
    width = max(len(row) for row in rows)
    return _split([row for row in rows if len(row) == width and _is_number(row[-1])], label=0)


def read_named_rows(paths: list[Path]) -> Arrays:
    """Read columns separated by spaces: the name of the sample, its features, its label."""
    rows = [line.split()[1:] for line in paths[0].read_text(encoding="utf-8").splitlines() if line.strip()]
    return _split(rows, label=-1)


def read_parkinsons(paths: list[Path]) -> Arrays:
    """Read a table with a header and the label in the column "status"."""
    header, *rows = _rows(paths[0])
    status = header.index("status") - 1
    return _split([row[1:] for row in rows], label=status)


def read_headed_table(paths: list[Path]) -> Arrays:
    """Read a UCI table with a header, some text columns, numeric columns, and the label in the column "class"."""
    header, *rows = _rows(paths[0])
    label = [name.lower() for name in header].index("class")
    numeric = [i for i in range(len(header)) if i != label and _is_number(rows[0][i])]
    return _split([[row[i] for i in (*numeric, label)] for row in rows], label=-1)


def read_idx(paths: list[Path]) -> Arrays:
    """Read MNIST's IDX format: gzipped bytes after a header with the size of each dimension."""
    images, labels = (gzip.decompress(path.read_bytes()) for path in paths)
    y = np.frombuffer(labels, np.uint8, offset=8).astype(np.intp)
    return np.frombuffer(images, np.uint8, offset=16).reshape(len(y), -1).astype(float), y


def bundled_breast_cancer() -> Arrays:
    """Load the copy that is bundled with scikit-learn."""
    from sklearn.datasets import load_breast_cancer  # noqa: PLC0415 - slow to import

    bundle = load_breast_cancer()
    return bundle.data, bundle.target.astype(np.intp)


def fetched_faces(_: list[Path]) -> Arrays:
    """Fetch the faces with scikit-learn, as integer grey levels in column-major order of each image."""
    from sklearn.datasets import fetch_olivetti_faces  # noqa: PLC0415 - slow to import

    bundle = fetch_olivetti_faces()
    columns = bundle.images.transpose(0, 2, 1).reshape(-1, FACE_SIDE**2)
    return np.round(columns.astype(float) * FACE_LEVELS), bundle.target.astype(np.intp)


def _rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return [row for row in csv.reader(stream) if row]


def _split(rows: list[list[str]], label: int) -> Arrays:
    """Parse a table of text: one column is the label, the others are numbers."""
    texts = [row[label].strip() for row in rows]
    names = [float(text) for text in texts] if all(map(_is_number, texts)) else texts
    keep = [i for i in range(len(rows[0])) if i != label % len(rows[0])]
    return np.array([[float(row[i]) for i in keep] for row in rows]), _numbered(names)


def _numbered(names: list[str] | list[float]) -> NDArray[np.intp]:
    """Return the number of each sample's cluster, counted from 0 in the order of their names."""
    return np.unique(np.asarray(names), return_inverse=True)[1].astype(np.intp)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

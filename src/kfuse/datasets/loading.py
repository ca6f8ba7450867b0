"""Load a data set of the paper by name, from a local folder, a generator, the cache or its public source."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.datasets import files
from kfuse.datasets.download import DownloadError, fetch
from kfuse.datasets.registry import ENTRIES, Entry, RemoteFile, find


class Dataset(NamedTuple):
    """A labelled data set, as returned by `load`.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        The samples.
    y : ndarray of shape (n_samples,)
        The cluster of each sample.
    name : str
        The name in the study.
    origin : str
        Where it came from.
    """

    X: NDArray[np.float64]
    y: NDArray[np.intp]
    name: str
    origin: str

    @property
    def n_clusters(self) -> int:
        """The number of clusters in `y`."""
        return len(np.unique(self.y))


def names() -> list[str]:
    """Return the names of the paper's data sets, in the paper's order.

    Returns
    -------
    list of str
        The names that `load` accepts.

    Examples
    --------
    >>> from kfuse.datasets import names
    >>> len(names()), names()[:3]
    (22, ['Pole', 'Away', 'Flame'])
    """
    return [entry.name for entry in ENTRIES]


def describe(name: str) -> dict[str, object]:
    """Describe a data set without loading it.

    Parameters
    ----------
    name : str
        The name of the data set, in any common spelling.

    Returns
    -------
    dict
        ``name``, ``group`` ("synthetic" or "real"), ``n_samples``, ``n_features``, ``n_clusters``, ``origin`` (a short
        description), and ``urls``, from which it is downloaded.

    Examples
    --------
    >>> from kfuse.datasets import describe
    >>> describe("path based")["n_samples"]
    300
    """
    entry = find(name)
    shown = ("name", "group", "n_samples", "n_features", "n_clusters", "origin")
    urls = [file.url for file in entry.source.files] if entry.source else []
    return {field: getattr(entry, field) for field in shown} | {"urls": urls}


def load(
    name: str,
    *,
    folder: str | os.PathLike[str] | None = None,
    scaled: bool = False,
    download: bool = True,
    progress: bool = True,
) -> Dataset:
    """Load a data set of the paper.

    It is taken from the first source that has it: a local folder with ``NAME.npz`` (arrays ``X`` and ``y``);
    scikit-learn or a generator, if it needs no download; the cache; the public source, whose data is then cached.
    Pole and Away are not public: unless the folder has them, look-alikes are generated.

    Parameters
    ----------
    name : str
        The name in any common spelling, for example "Path-based" or "pathbased"; `names` lists them.
    folder : path or None, default=None
        The local folder; None uses that of the environment variable KFUSE_DATA, if set.
    scaled : bool, default=False
        Whether to scale each feature to [0, 1], as the paper does for all data sets.
    download : bool, default=True
        Whether to download data that is not available locally.
    progress : bool, default=True
        Whether to show the progress of a download.

    Returns
    -------
    Dataset
        A named tuple: ``X``, ``y`` (clusters from 0), ``name`` as in the paper, and ``origin``, where it came from.

    Raises
    ------
    ValueError
        If there is no data set of that name, or a local file does not contain it.
    DownloadError
        If it is not available locally, and the source cannot be reached or has different data.

    Notes
    -----
    Downloads are verified: the file by its SHA-256 where that is known, and always the arrays by a SHA-256 that does
    not depend on the order of rows or the names of clusters. The cache is the folder in the environment variable
    KFUSE_CACHE, or else in the default cache folder of the system.

    Examples
    --------
    >>> from kfuse.datasets import load
    >>> data = load("BreastCancer", scaled=True)
    >>> data.X.shape, data.n_clusters, float(data.X.max())
    ((569, 30), 2, 1.0)
    """
    entry = find(name)
    X, y, origin = _arrays(entry, _local_folder(folder), download, progress)
    if scaled:
        from sklearn.preprocessing import minmax_scale  # noqa: PLC0415 - slow to import

        X = np.clip(minmax_scale(X), 0, 1)  # rounding may exceed 1 in the last digit
    return Dataset(X, y, entry.name, origin)


def cache_folder() -> Path:
    """Return the folder in which downloads are cached.

    Returns
    -------
    Path
        The folder in the environment variable KFUSE_CACHE, or ``kfuse`` in the default cache folder of the system.
    """
    if named := os.environ.get("KFUSE_CACHE"):
        return Path(named).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "kfuse" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "kfuse"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kfuse"


def _local_folder(folder: str | os.PathLike[str] | None) -> Path | None:
    named = folder if folder is not None else os.environ.get("KFUSE_DATA")
    if not named:
        return None
    path = Path(named).expanduser()
    if not path.is_dir():
        setting = "folder" if folder is not None else "KFUSE_DATA"
        raise ValueError(f"{setting} is set to {path}, which is not a folder.")
    return path


def _arrays(
    entry: Entry, folder: Path | None, download: bool, progress: bool
) -> tuple[NDArray[np.float64], NDArray[np.intp], str]:
    """Return the arrays from the first source that has them, and a description of that source."""
    if folder is not None and (path := folder / f"{entry.stem}.npz").is_file():
        return *_read(path, entry), "local folder"
    if entry.make is not None:
        return *entry.make(), entry.origin
    cached = cache_folder() / f"{entry.stem}.npz"
    if not cached.is_file():
        if not download:
            raise DownloadError(f"{entry.name} is neither in a local folder nor in the cache. {_by_hand(entry)}")
        _download(entry, cached, progress)
    return *_read(cached, entry), entry.origin


def _read(path: Path, entry: Entry) -> files.Arrays:
    try:
        with np.load(path) as stored:
            X, y = stored["X"].astype(float), stored["y"].astype(np.intp)
    except Exception as error:
        raise ValueError(f"{path} is not an npz file with arrays X and y: {error}. Replace or remove it.") from error
    found, wanted = (len(X), len(np.unique(y))), (entry.n_samples, entry.n_clusters)
    if found != wanted or len(y) != len(X):
        raise ValueError(
            f"{path} has {found[0]} samples and {found[1]} clusters, but {entry.name} has {wanted[0]} and {wanted[1]}."
        )
    return X, y


def _download(entry: Entry, cached: Path, progress: bool) -> None:
    """Download the data, verify it, and store it in the cache."""
    cached.parent.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(dir=cached.parent, prefix=f"{entry.stem}-") as scratch:
            X, y = _from_source(entry, Path(scratch), progress)
            _check_arrays(entry, X, y)
            whole = Path(scratch) / cached.name
            np.savez_compressed(whole, X=X, y=y)
            whole.replace(cached)  # atomic, so that other processes never see an incomplete file
    except DownloadError as error:
        raise DownloadError(f"{error} {_by_hand(entry)}") from error


def _from_source(entry: Entry, scratch: Path, progress: bool) -> files.Arrays:
    assert entry.source is not None, "data sets that are not generated have a source"
    paths = [scratch / f"{i}-{_file_name(file)}" for i, file in enumerate(entry.source.files)]
    for file, path in zip(entry.source.files, paths, strict=True):
        fetch(file.url, path, sha256=file.sha256, progress=progress)
    try:
        return entry.source.read(paths)
    except OSError as error:
        raise DownloadError(f"Could not read {_where(entry)}: {error}.") from error
    except (ValueError, IndexError) as error:
        raise DownloadError(f"{_where(entry)} is not in the expected format: {error}.") from error


def _check_arrays(entry: Entry, X: NDArray[np.float64], y: NDArray[np.intp]) -> None:
    """Raise DownloadError unless the arrays are those of the study."""
    found, wanted = (*X.shape, len(np.unique(y))), (entry.n_samples, entry.n_features, entry.n_clusters)
    if found != wanted:
        raise DownloadError(f"{_where(entry)} has {found} samples, features and clusters, expected {wanted}.")
    digest = files.fingerprint(X, y)
    if entry.fingerprint is not None and digest != entry.fingerprint:
        raise DownloadError(
            f"The arrays from {_where(entry)} have the SHA-256 {digest}, expected {entry.fingerprint}: this is not "
            "the data of the study. They were not kept."
        )


def _where(entry: Entry) -> str:
    return entry.source.files[0].url if entry.source and entry.source.files else f"{entry.name}, {entry.origin},"


def _file_name(file: RemoteFile) -> str:
    return file.url.rsplit("/", 1)[-1]


def _by_hand(entry: Entry) -> str:
    return (
        f"Save {entry.name} as {entry.stem}.npz (arrays X and y) in a folder and set KFUSE_DATA to it or pass it as "
        "folder=..., or try again online."
    )

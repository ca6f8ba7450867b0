"""Stability: how much a clustering changes if the data changes a little, beside other methods.

    python -m study.stability                                # one seed, about two minutes
    python -m study.stability --seeds 10 --kept trials.csv   # the table of docs/reliability.md
    python -m study.stability --methods 'kFuse (auto)' --sets moons iris

Each of 28 data sets is clustered as it is and after a change; the adjusted Rand index (ARI) of the two labellings, over
the rows that both have, is 1 if they agree. Noise counts as one more cluster. ``pip install -e '.[peers]'`` adds PLSCAN
and Genie, which are left out otherwise. All methods are run with their default parameters; those that need the number
of clusters get the true one. The data sets are generated, or part of scikit-learn, so that anyone has them.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets as bundled
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import minmax_scale

from kfuse import datasets
from kfuse.baselines.methods import METHODS, Method

Data = NDArray[np.float64]
Labelled = tuple[Data, NDArray[Any]]
FIND_THE_NUMBER = ("kFuse (auto)", "HDBSCAN", "PLSCAN")
GIVEN_THE_NUMBER = ("kFuse", "Genie")
MUCH = 0.9  # an ARI below that is another clustering
FAR = 10.0  # times the width of the data
ALL = "all of them"
SEED = 10  # of the first dozen, the one whose closest centres are farthest apart, with 5 groups and with 31


# The data sets


def blobs(n_samples: int | list[int], n_features: int, n_groups: int, spread: float | list[float]) -> Labelled:
    """Draw Gaussian groups whose centres are uniform in a cube with a side of 20."""
    centers = None if isinstance(n_samples, list) else n_groups
    return bundled.make_blobs(n_samples, n_features, centers=centers, cluster_std=spread, random_state=SEED)


def stretched() -> Labelled:
    """Draw three groups that are longer than wide and slant."""
    X, y = blobs(600, 2, 3, 1.0)
    return X @ np.array([[0.6, -0.6], [-0.4, 0.8]]), y


def with_noise() -> Labelled:
    """Draw five groups, and 5 % uniform noise as a class of its own."""
    X, y = blobs(760, 2, 5, 0.7)
    noise = np.random.default_rng(0).uniform(X.min(axis=0), X.max(axis=0), (40, 2))
    return np.vstack([X, noise]), np.append(y, np.full(40, 5))


def rounded() -> Labelled:
    """Draw groups whose values have one decimal: many ties and duplicates."""
    X, y = blobs(800, 2, 4, 0.8)
    return X.round(1), y


def heavy_tailed() -> Labelled:
    """Draw three groups from a t distribution with three degrees of freedom."""
    rng = np.random.default_rng(0)
    y = np.arange(600) % 3
    return rng.standard_t(3, (600, 2)) + 12 * np.column_stack([y == 1, y == 2]), y


def one_gaussian() -> Labelled:
    """Draw data without clusters."""
    return np.random.default_rng(0).standard_normal((600, 2)), np.zeros(600, dtype=int)


def real(load: Callable[..., Labelled]) -> Labelled:
    """Load a data set of scikit-learn, with features scaled to [0, 1]."""
    X, y = load(return_X_y=True)
    return minmax_scale(X), y


SETS: dict[str, Callable[[], Labelled]] = {
    "moons": lambda: bundled.make_moons(600, noise=0.05, random_state=0),
    "noisy moons": lambda: bundled.make_moons(600, noise=0.1, random_state=0),
    "circles": lambda: bundled.make_circles(600, noise=0.05, factor=0.5, random_state=0),
    "rings": datasets.make_rings,
    "spirals": datasets.make_spirals,
    "shapes": datasets.make_shapes,
    "pathbased": datasets.make_pathbased,
    "pole": datasets.make_pole,
    "away": datasets.make_away,
    "waveform": lambda: datasets.make_waveform(1000),
    "3 groups": lambda: blobs(600, 2, 3, 1.2),
    "overlapping groups": lambda: blobs(600, 2, 4, 1.8),
    "uneven sizes": lambda: blobs([700, 150, 50, 20], 2, 4, 0.7),
    "uneven densities": lambda: blobs([300, 300, 300], 2, 3, [0.3, 1.0, 2.0]),
    "12 groups": lambda: blobs(1200, 2, 12, 0.5),
    "31 groups": lambda: blobs(3100, 2, 31, 0.4),
    "3 features": lambda: blobs(600, 3, 5, 1.5),
    "5 features": lambda: blobs(600, 5, 4, 2.0),
    "10 features": lambda: blobs(600, 10, 6, 3.0),
    "20 features": lambda: blobs(600, 20, 6, 4.0),
    "stretched groups": stretched,
    "groups in noise": with_noise,
    "rounded groups": rounded,
    "heavy tails": heavy_tailed,
    "no groups": one_gaussian,
    "iris": lambda: real(bundled.load_iris),
    "wine": lambda: real(bundled.load_wine),
    "breast cancer": lambda: real(bundled.load_breast_cancer),
}


# The changes


class Changed(NamedTuple):
    """Changed data, and the row of the original that each of its rows is, -1 for a new one."""

    X: Data
    rows: NDArray[np.intp]


def shuffled(rng: np.random.Generator, X: Data) -> Changed:
    """Shuffle the rows."""
    order = rng.permutation(len(X))
    return Changed(X[order], order)


def jittered(size: float) -> Callable[[np.random.Generator, Data], Changed]:
    """Return a function that adds Gaussian noise, in units of the widest feature's range."""

    def change(rng: np.random.Generator, X: Data) -> Changed:
        return Changed(X + rng.normal(scale=size * np.ptp(X, axis=0).max(), size=X.shape), np.arange(len(X)))

    return change


def dropped(rng: np.random.Generator, X: Data) -> Changed:
    """Drop 1 % of the rows."""
    kept = np.sort(rng.permutation(len(X))[_hundredth(X) :])
    return Changed(X[kept], kept)


def duplicated(rng: np.random.Generator, X: Data) -> Changed:
    """Repeat 1 % of the rows."""
    return _appended(X, X[rng.permutation(len(X))[: _hundredth(X)]])


def noisy(rng: np.random.Generator, X: Data) -> Changed:
    """Add 1 % of rows that are uniform in the box of the data."""
    return _appended(X, rng.uniform(X.min(axis=0), X.max(axis=0), (_hundredth(X), X.shape[1])))


def one_far(rng: np.random.Generator, X: Data) -> Changed:
    """Add one row in a random direction, ten times as far from the centre as the data is wide."""
    direction = rng.standard_normal(X.shape[1])
    width = np.linalg.norm(np.ptp(X, axis=0))
    return _appended(X, (X.mean(axis=0) + FAR * width * direction / np.linalg.norm(direction))[None])


def constant_column(rng: np.random.Generator, X: Data) -> Changed:
    """Add a column with one value."""
    return Changed(np.column_stack([X, np.full(len(X), rng.normal())]), np.arange(len(X)))


def _hundredth(X: Data) -> int:
    return max(1, round(len(X) / 100))


def _appended(X: Data, new: Data) -> Changed:
    return Changed(np.vstack([X, new]), np.append(np.arange(len(X)), np.full(len(new), -1)))


CHANGES: dict[str, Callable[[np.random.Generator, Data], Changed]] = {
    "rows shuffled": shuffled,
    **{f"jitter of 1e-{digits} of the range": jittered(10.0**-digits) for digits in (12, 9, 6, 3)},
    "1 % of the rows dropped": dropped,
    "1 % of the rows duplicated": duplicated,
    "1 % uniform noise": noisy,
    "one far row": one_far,
    "a constant column": constant_column,
}


# The comparison


class Trial(NamedTuple):
    """What one change of one data set did to one method."""

    method: str
    change: str
    dataset: str
    seed: int
    ari: float
    n_before: int
    n_after: int


def trials(methods: Sequence[Method], sets: Iterable[str], seeds: Iterable[int]) -> Iterator[Trial]:
    """Yield the effect of every change on every method and data set."""
    seeds = list(seeds)
    for dataset in sets:
        X, y = SETS[dataset]()
        before = {method.name: labels_of(method, X, y) for method in methods}
        for (name, change), seed in product(CHANGES.items(), seeds):
            changed = change(np.random.default_rng([seed, len(X)]), X)
            old = changed.rows >= 0
            for method in methods:
                was, after = before[method.name], labels_of(method, changed.X, y)
                ari = adjusted_rand_score(was[changed.rows[old]], after[old])
                yield Trial(method.name, name, dataset, seed, float(ari), n_clusters(was), n_clusters(after))


def labels_of(method: Method, X: Data, y: NDArray[Any]) -> NDArray[np.intp]:
    """Cluster X by a method with its defaults, and the number of clusters of y if it needs one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other libraries, about their own defaults
        return np.asarray(method.make(len(np.unique(y)), 0).fit_predict(X), dtype=np.intp)


def n_clusters(labels: NDArray[np.intp]) -> int:
    """Count the clusters without noise."""
    return len(np.unique(labels[labels >= 0]))


# The tables


def table(found: Sequence[Trial], names: Sequence[str], title: str, cell: Callable[[list[Trial]], str]) -> str:
    """Return a table in Markdown with a row for each change, and one for all, and a column for each method."""
    names = [name for name in names if any(trial.method == name for trial in found)]
    lines = ["| " + " | ".join([title, *names]) + " |", "|---" * (len(names) + 1) + "|"]
    for change in [*CHANGES, ALL]:
        chosen = [trial for trial in found if change in {trial.change, ALL}]
        cells = [cell([trial for trial in chosen if trial.method == name]) for name in names]
        lines.append("| " + " | ".join([change, *cells]) + " |")
    return "\n".join(lines)


def agreement(some: list[Trial]) -> str:
    """Return the mean ARI, and the share of clusterings that are another one."""
    scores = np.array([one.ari for one in some])
    return f"{scores.mean():.3f}, {np.mean(scores < MUCH):.1%}"


def changed_numbers(some: list[Trial]) -> str:
    """Return how often the number of clusters is another one."""
    return f"{np.mean([one.n_before != one.n_after for one in some]):.1%}"


def page(found: Sequence[Trial]) -> str:
    """Return the tables of the documentation."""
    both = "mean ARI with the clusters before, share below 0.9"
    return "\n\n".join(
        [
            table(found, FIND_THE_NUMBER, f"number found: {both}", agreement),
            table(found, FIND_THE_NUMBER, "share with another number of clusters", changed_numbers),
            table(found, GIVEN_THE_NUMBER, f"number given: {both}", agreement),
        ]
    )


def main(arguments: list[str] | None = None) -> None:
    """Run the comparison and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS), metavar="SET")
    parser.add_argument("--methods", nargs="+", default=[*FIND_THE_NUMBER, *GIVEN_THE_NUMBER], metavar="METHOD")
    parser.add_argument("--kept", type=Path, metavar="FILE", help="write every trial to a CSV file")
    options = parser.parse_args(arguments)
    methods = [METHODS[name] for name in options.methods if METHODS[name].is_available()]
    found = list(trials(methods, options.sets, range(options.seeds)))
    if options.kept:
        with options.kept.open("w", newline="") as file:
            csv.writer(file).writerows([Trial._fields, *found])
    print(page(found))


if __name__ == "__main__":
    main()

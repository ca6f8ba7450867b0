"""`kfuse datasets`: list labelled data sets, describe one, or write it to a file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kfuse import datasets
from kfuse.cli import console, output
from kfuse.cli.errors import CommandError, say
from kfuse.datasets.registry import find
from kfuse.tables.formats import Writable
from kfuse.wording import counted

CLASS = "class"  # the column of the true clusters


class Generator(NamedTuple):
    """A synthetic data set, generated on request."""

    make: Callable[[], tuple[NDArray[np.float64], NDArray[np.intp]]]
    origin: str


def _moons() -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    from sklearn.datasets import make_moons  # noqa: PLC0415 - slow to import

    X, y = make_moons(500, noise=0.05, random_state=0)
    return X, y.astype(np.intp)


GENERATORS = {
    "make_shapes": Generator(datasets.make_shapes, "a ring, moons and blobs, the data of kfuse demo"),
    "make_rings": Generator(datasets.make_rings, "three rings around one centre"),
    "make_spirals": Generator(datasets.make_spirals, "three spiral arms"),
    "make_moons": Generator(_moons, "two half circles"),
}


def run(name: str | None, out: Path | None, to: Writable | None, *, as_json: bool, quiet: bool) -> None:
    """List the data sets, or describe or write one.

    Parameters
    ----------
    name : str or None
        The data set; None lists all.
    out : Path or None
        The file to write it to; None describes it.
    to : str or None
        The format; None decides by the extension of the file.
    as_json, quiet : bool
        Whether to print JSON; whether to print nothing to standard error.
    """
    if name is None:
        if out is not None or to is not None:
            raise CommandError("there is no data set to write: name one, as in kfuse datasets Flame -o flame.csv")
        listed = [_description(one) for one in [*datasets.names(), *GENERATORS]]
        show = output.print_json if as_json else _list
        show({"datasets": listed})
        return
    described = _description(_full_name(name))
    if out is not None or to is not None:
        target = output.target_of(out, to, None)
        table = _table(described["name"])
        output.write(table, target)
        if target.path is not None and not quiet:
            say(f"{described['name']}: {counted(table.height, 'row')}, true clusters in column {CLASS!r} -> {out}")
    if as_json:
        output.print_json(described)
    elif out is None and to is None:
        _describe(described)


def _full_name(name: str) -> str:
    """Return the name of a data set, which may be given in any common spelling."""
    if name in GENERATORS:
        return name
    try:
        return find(name).name
    except ValueError as error:
        raise CommandError(f"{str(error).rstrip('.')}, {', '.join(GENERATORS)}: kfuse datasets lists them") from None


def _description(name: str) -> dict[str, Any]:
    """Describe a data set: its size, its origin, and where it would be loaded from."""
    if name in GENERATORS:
        X, y = GENERATORS[name].make()
        sizes = {"n_samples": X.shape[0], "n_features": X.shape[1], "n_clusters": int(y.max()) + 1}
        return {"name": name, "group": "generated", **sizes, "origin": GENERATORS[name].origin, "place": "built in"}
    return {**datasets.describe(name), "place": _location(name)}


def _location(name: str) -> str:
    """Return where a data set would be loaded from now."""
    entry = find(name)
    folder = os.environ.get("KFUSE_DATA")
    if folder and (Path(folder) / f"{entry.stem}.npz").is_file():
        return "KFUSE_DATA"
    if entry.make is not None:
        return "built in"
    return "cache" if (datasets.cache_folder() / f"{entry.stem}.npz").is_file() else "download"


def _table(name: str) -> pl.DataFrame:
    try:
        X, y = GENERATORS[name].make() if name in GENERATORS else datasets.load(name)[:2]
    except (datasets.DownloadError, ValueError) as error:
        raise CommandError(str(error)) from None
    return pl.DataFrame({**{f"x{i}": column for i, column in enumerate(X.T, start=1)}, CLASS: y})


def _list(found: dict[str, list[dict[str, Any]]]) -> None:
    out = console.console()
    fields = ("name", "group", "n_samples", "n_features", "n_clusters", "place")
    table = console.table(["name", "group", "rows", "columns", "clusters", "from"], left=["name", "group", "from"])
    for one in found["datasets"]:
        table.add_row(*(f"{one[field]:,}" if field.startswith("n_") else str(one[field]) for field in fields))
    out.print()
    out.print(table)
    out.print()
    console.remark(out, "Write one with kfuse datasets NAME -o data.csv; 'download' fetches its public source.")
    out.print()


def _describe(one: dict[str, Any]) -> None:
    out = console.console()
    sizes = [counted(one[f"n_{what}s"], noun) for what, noun in _COUNTS.items()]
    out.print(console.heading(f"{one['name']}: {', '.join(sizes)}"))
    out.print(f" {one['origin']}", markup=False)
    out.print(f" loaded from: {one['place']}", markup=False)
    for url in one.get("urls", []):
        out.print(f" {url}", markup=False, soft_wrap=True)
    out.print(f"\n Next  kfuse datasets {one['name']} -o data.csv", markup=False)
    out.print(f"       kfuse compare data.csv --truth {CLASS}\n", markup=False)


_COUNTS = {"sample": "row", "feature": "column", "cluster": "cluster"}

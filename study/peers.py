"""Other methods on the labelled data sets: the tables of accuracy in the README and in docs/evidence.md.

    python -m study.peers                                    # all methods that are installed
    python -m study.peers --methods kFuse Ward --limit 10    # scores of single data sets appear as they are known

The data folder holds the labelled sets as `study.labelled` reads them, scaled to [0, 1], and ``real/NAME.npz`` (``X``
and ``y``), which are not scaled. Methods that need the number of clusters get the true one, and random methods the seed
0; otherwise, parameters are the defaults unless stated in `PEERS`. Noise that a method finds counts as one cluster in
the adjusted Rand index (ARI), and as none in the number of clusters. ``pip install -e '.[peers]'`` installs the methods
that are not part of scikit-learn.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import minmax_scale

from kfuse.baselines.methods import METHODS, SEED, Method, make_estimator
from study.cells import OUT_OF_TIME, Watch
from study.labelled import PAPER_15, best, read
from study.processes import quick_start
from study.stability import n_clusters

Data = NDArray[np.float64]
Labels = NDArray[np.intp]
FOR_EMBEDDINGS = ("EVoC",)  # run on the real sets alone: needs four features or more
LIMIT = 60.0  # seconds of processor time for a fit


class Leiden:
    """Modularity by the Leiden algorithm, as scanpy clusters cells, but with edges of equal weight."""

    def __init__(self, *, n_neighbors: int = 15, random_state: int | None = None):
        self.n_neighbors, self.random_state = n_neighbors, random_state

    def fit_predict(self, X: Data) -> Labels:
        """Cluster X."""
        import igraph  # noqa: PLC0415 - optional
        import leidenalg  # noqa: PLC0415 - optional
        from sklearn.neighbors import kneighbors_graph  # noqa: PLC0415 - slow to import

        edges = kneighbors_graph(X, min(self.n_neighbors, len(X) - 1)).nonzero()
        graph = igraph.Graph(n=len(X), edges=np.column_stack(edges)).simplify()
        kind = leidenalg.ModularityVertexPartition
        found = leidenalg.find_partition(graph, kind, n_iterations=-1, seed=self.random_state)
        return np.asarray(found.membership, dtype=np.intp)


def _with(name: str, **parameters: Any) -> Method:
    """Return a method of the study with other parameters."""
    return METHODS[name]._replace(make=partial(METHODS[name].make, **parameters))


_PEERS = (
    METHODS["kFuse"],
    METHODS["Lumbermark"],
    METHODS["Genie"],
    METHODS["Spectral"],  # on the graph of 10 neighbours, the default of scikit-learn
    _with("K-means", n_init=10),
    METHODS["Ward"],
    METHODS["kFuse (auto)"],
    METHODS["PLSCAN"],
    _with("HDBSCAN", min_cluster_size=15),
    Method("Leiden", partial(make_estimator, "study.peers.Leiden", (SEED,)), requires="leidenalg", needs_number=False),
    Method("EVoC", partial(make_estimator, "evoc.EVoC", (SEED,)), requires="evoc", needs_number=False),
)
PEERS: dict[str, Method] = {method.name: method for method in _PEERS}


class Labelled(NamedTuple):
    """A data set as it is clustered, with its reference labellings, 0 for noise."""

    name: str
    group: str  # "paper", "further" or "real"
    X: Data
    labellings: list[NDArray[np.int64]]


class Trial(NamedTuple):
    """One method on one data set."""

    method: str
    dataset: str
    group: str
    ari: float  # 0 if the fit failed
    right: bool  # whether the number of clusters is the true one
    found: int
    failure: str = ""


class FitError(Exception):
    """A fit that failed or reached the time limit."""


def load(folder: Path) -> list[Labelled]:
    """Read all data sets; the real ones are not scaled."""
    sets = []
    for name, X, labellings in read(folder):
        group = "paper" if name in PAPER_15 else "further"
        sets.append(Labelled(name, group, minmax_scale(X.astype(float)), labellings))
    for path in sorted((folder / "real").glob("*.npz")):
        with np.load(path) as file:
            y = np.unique(file["y"], return_inverse=True)[1] + 1  # no label is noise here
            sets.append(Labelled(path.stem, "real", file["X"].astype(float), [y]))
    return sets


class Worker:
    """A process that clusters by one method; it ends at the time limit of a fit, and the next fit starts another."""

    def __init__(self, method: str, limit: float):
        self.method, self.limit = method, limit
        self.process: Any = None

    def labels(self, X: Data, number: int) -> Labels:
        """Cluster X, or raise FitError."""
        if self.process is None:
            context = quick_start()
            self.pipe, theirs = context.Pipe()
            self.process = context.Process(target=serve, args=(self.method, theirs, self.limit), daemon=True)
            self.process.start()
            theirs.close()
        try:
            self.pipe.send((X, number))
            answer = self.pipe.recv()
        except (EOFError, OSError):
            raise FitError(self._end()) from None
        if isinstance(answer, str):
            raise FitError(answer)
        return answer

    def close(self) -> None:
        """End the process, if there is one."""
        if self.process is not None:
            self._end()

    def _end(self) -> str:
        self.pipe.close()
        self.process.join()
        code, self.process = self.process.exitcode, None
        return f"not done in {self.limit:g} s" if code == OUT_OF_TIME else f"the process ended with code {code}"


def serve(name: str, pipe: Any, limit: float) -> None:
    """Cluster what comes through the pipe until it is closed; send the labels, or the error as text."""
    watch = Watch(limit)
    for n_features in (2, 30):  # compiles, which is not timed
        with suppress(Exception):
            cluster(PEERS[name], np.random.default_rng(0).random((200, n_features)), 2)
    with suppress(EOFError):
        while True:
            X, number = pipe.recv()
            watch.time_runs()
            try:
                answer: Labels | str = cluster(PEERS[name], X, number)
            except Exception as error:  # of any library; the table names it
                answer = f"{type(error).__name__}: {error}"
            watch.end = math.inf
            pipe.send(answer)


def cluster(method: Method, X: Data, number: int) -> Labels:
    """Cluster X by a method, which gets the number of clusters if it needs one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other libraries, about their own defaults
        return np.asarray(method.make(number, 0).fit_predict(X), dtype=np.intp)


# The comparison

GROUPS = {"paper": ("paper",), "all": ("paper", "further"), "real": ("real",)}


def trials(method: Method, sets: Iterable[Labelled], limit: float = LIMIT) -> Iterator[Trial]:
    """Yield the score of a method on every data set: the best over the reference labellings."""
    worker = Worker(method.name, limit)
    try:
        for one in sets:
            fit = cache(partial(worker.labels, one.X))
            try:
                ari, true = best(one.labellings, fit if method.needs_number else lambda _, fit=fit: fit(0))
            except FitError as failure:
                yield Trial(method.name, one.name, one.group, 0.0, False, 0, str(failure))
                continue
            found = n_clusters(fit(true if method.needs_number else 0))
            yield Trial(method.name, one.name, one.group, float(ari), found == true, found)
    finally:
        worker.close()


def table(found: Sequence[Trial]) -> str:
    """Return a table in Markdown with a row for each method, and below it a line for each failure."""
    titles = [f"{group} {len({t.dataset for t in found if t.group in parts})}" for group, parts in GROUPS.items()]
    lines = [
        "| method | number | " + " | ".join(titles) + f" | right number, {titles[1]} | right number, {titles[2]} |",
        "|---" * 7 + "|",
    ]
    for name in dict.fromkeys(trial.method for trial in found):
        own = [trial for trial in found if trial.method == name]
        given = PEERS[name].needs_number
        shares = ["", ""] if given else [_mean(own, group, "right", ".2f") for group in list(GROUPS)[1:]]
        cells = [name, "given" if given else "found", *(_mean(own, group, "ari", ".3f") for group in GROUPS), *shares]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines + [f"\n{t.method} on {t.dataset} counts 0: {t.failure}." for t in found if t.failure])


def _mean(own: list[Trial], group: str, field: str, form: str) -> str:
    values = [getattr(trial, field) for trial in own if trial.group in GROUPS[group]]
    return format(np.mean(values), form) if values else ""


def main(arguments: list[str] | None = None) -> None:
    """Run the comparison and print its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("KFUSE_DATA"), help="default: KFUSE_DATA")
    parser.add_argument("--methods", nargs="+", choices=list(PEERS), default=list(PEERS), metavar="METHOD")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds of processor time for a fit, default 60")
    options = parser.parse_args(arguments)
    if options.data is None:
        parser.error("no data: pass --data or set KFUSE_DATA")
    methods = [PEERS[name] for name in options.methods]
    sets = load(Path(options.data))
    found = []
    for method in filter(Method.is_available, methods):
        suited = [one for one in sets if one.group == "real" or method.name not in FOR_EMBEDDINGS]
        for trial in trials(method, suited, options.limit):
            found.append(trial)
            print(*trial, sep=",", file=sys.stderr, flush=True)
    print(table(found))
    for method in methods:
        if not method.is_available():
            print(f"\n{method.name} is left out: {method.requires} is not installed.")


if __name__ == "__main__":
    main()

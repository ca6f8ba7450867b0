"""`python -m benchmarks.held_on_dask`: how much one task of kfuse.dask holds, its input and its result, by size.

Boxes and chunks have a fixed number of rows. If a worker needs room for a box, its halo and a constant only, then the
largest task stays as large while the number of samples grows. Needs the extra dask.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.callbacks import Callback
from numpy.typing import NDArray

from benchmarks.data import gaussians
from kfuse.dask import KFuse

GATHERS = {"finalize"}  # Dask's own task that puts an array together for whoever asked for it


class Held(Callback):  # type: ignore[misc]
    """The most bytes that a task of each name holds; for Dask's schedulers of one process."""

    def __init__(self) -> None:
        super().__init__()
        self.most: Counter[str] = Counter()
        self._sizes: dict[Any, int] = {}

    def _posttask(self, key: Any, result: Any, graph: Any, state: Mapping[str, Any], worker: Any) -> None:
        self._sizes[key] = n_bytes(result)
        total = self._sizes[key] + sum(self._size_of(one, state) for one in state["dependencies"][key])
        name = str(key[0] if isinstance(key, tuple) else key).split("-")[0]
        self.most[name] = max(self.most[name], total)

    def _size_of(self, key: Any, state: Mapping[str, Any]) -> int:
        if key not in self._sizes:
            self._sizes[key] = n_bytes(state["cache"].get(key))
        return self._sizes[key]


def n_bytes(value: Any) -> int:
    """Return the bytes of the arrays in a value."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    return sum(map(n_bytes, value)) if isinstance(value, (list, tuple)) else 0


def held_by_tasks(X: NDArray[np.float64], rows_per_box: int, rows_per_chunk: int) -> Counter[str]:
    """Fit X, compute labels and memberships, and return the most bytes that a task of each name held."""
    with dask.config.set(scheduler="synchronous"), Held() as held:
        model = KFuse(rows_per_box=rows_per_box).fit(da.from_array(X, chunks=(rows_per_chunk, -1)))
        model.labels_.compute()
        model.probabilities_.compute()
    return Counter({name: most for name, most in held.most.items() if name not in GATHERS})


def main() -> None:
    """Print a table of the largest tasks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=float, nargs="+", default=[2e4, 8e4, 3.2e5])
    parser.add_argument("--features", type=int, default=2)
    parser.add_argument("--box", type=int, default=2**12, help="rows per box")
    parser.add_argument("--chunk", type=int, default=2**13, help="rows per chunk")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes]
    found = [held_by_tasks(gaussians(n, options.features)[0], options.box, options.chunk) for n in sizes]
    print("| task | " + " | ".join(f"{n:,}" for n in sizes) + " |")
    print("|---|" + "---:|" * len(sizes))
    for name, _ in found[-1].most_common(8):
        print(f"| `{name}` | " + " | ".join(f"{one[name] / options.box:,.0f}" for one in found) + " |")


if __name__ == "__main__":
    main()

"""Approximate neighbours with pynndescent: most of the nearest, in time that hardly grows faster than the data.

Its lists of candidates are measured and sorted as everywhere, by (distance, index), so that what is approximate is only
which samples are listed.
"""

from __future__ import annotations

import warnings
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from kfuse.core.distances import EuclideanDistances, MetricDistances
from kfuse.core.kernels import kernel
from kfuse.core.search.base import Bridges, NeighborBlock
from kfuse.core.search.brute_force import BruteForceSearch, compete, sort_rows
from kfuse.core.search.duplicates import first_at_distance_zero, first_of_equal_rows, merge_vanishing
from kfuse.core.search.rows import RowSearch

SHORTEST_LIST = 80  # of candidates: what most data needs before the number of links is known
CANDIDATES_JOINED = 20  # of each list in a round: more take twice the time to find one neighbour in a thousand more
SHARE_SEARCHED = 0.1  # of all samples; where lists would be longer, looking at all is faster
NAMES = {"cityblock": "manhattan"}  # where pynndescent has another than scikit-learn
NEED_PARAMETERS = {"mahalanobis", "seuclidean"}
ONE_AT_A_TIME = Lock()  # numba's threads may not start from two threads at once


class ApproximateSearch(RowSearch):
    """Look at likely neighbours only; for features, and metrics that pynndescent knows."""

    distances: EuclideanDistances | MetricDistances
    is_cheap_to_repeat = True  # it keeps lists, too

    def __init__(self, distances: EuclideanDistances | MetricDistances, seed: int):
        super().__init__(distances)
        self.seed = seed
        self.candidates = Candidates(distances, seed)
        self.exact = BruteForceSearch(distances) if isinstance(distances, EuclideanDistances) else RowSearch(distances)

    def query(self, rows: NDArray[np.intp], k: int) -> NeighborBlock:
        if k == 0 or max(k, SHORTEST_LIST) > SHARE_SEARCHED * self.distances.n_samples:
            return self.exact.query(rows, k)
        indices, found = self.candidates.query(rows, k)
        too_few = np.isinf(found).any(axis=1)
        if too_few.any():
            _, indices[too_few], found[too_few] = self.exact.query(rows[too_few], k)
        return NeighborBlock(rows, indices, found)

    def rows_per_block(self, k: int) -> int:
        return self.exact.rows_per_block(k)

    def subset(self, kept: NDArray[np.intp]) -> ApproximateSearch:
        return ApproximateSearch(self.distances.subset(kept), self.seed)

    def duplicates(self) -> NDArray[np.intp]:
        points = self.distances.points  # the search itself may miss a duplicate
        first = first_of_equal_rows(points)
        if not self.distances.is_zero_if_identical:
            return first
        return merge_vanishing(points, first, lambda some: first_at_distance_zero(self.exact.subset(some)))

    def bridges(self, component: NDArray[np.int32]) -> Bridges:
        return self.exact.bridges(component)


class Candidates:
    """For every sample, a list of others that are likely to be its nearest; longer ones are made when asked for."""

    def __init__(self, distances: EuclideanDistances | MetricDistances, seed: int):
        self._distances, self._seed = distances, seed
        self._metric = _name_of(distances)
        self._lists: NDArray[np.int32] | None = None

    def query(self, rows: NDArray[np.intp], k: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Find the k nearest candidates of the samples `rows`, and their distances, nearest first.

        Where a list is too short, the last distances are infinite.
        """
        lists = self._lists_for(k)[rows]
        indices = np.full((rows.size, k), len(self._distances.points), dtype=np.int32)
        distances = np.full((rows.size, k), np.inf)
        if isinstance(self._distances, EuclideanDistances):
            select_candidates(self._distances.points, rows, lists, np.empty_like(lists[0]), indices, distances)
            return indices, self._distances.finish(distances)
        for row, sample in enumerate(rows):
            others = np.sort(lists[row][(lists[row] >= 0) & (lists[row] != sample)])
            found = self._distances.measure(self._distances.points[[sample]], self._distances.points[others])[0]
            nearest = np.argsort(found, kind="stable")[:k]
            indices[row, : nearest.size], distances[row, : nearest.size] = others[nearest], found[nearest]
        return indices, distances

    def _lists_for(self, k: int) -> NDArray[np.int32]:
        with ONE_AT_A_TIME:
            if self._lists is None or self._lists.shape[1] <= k:
                known = 0 if self._lists is None else self._lists.shape[1]
                self._lists = self._make_lists(max(SHORTEST_LIST, 2 * known, k + 1))
            return self._lists

    def _make_lists(self, length: int) -> NDArray[np.int32]:
        """Search in one thread, as what pynndescent finds depends on their number."""
        from pynndescent import NNDescent  # noqa: PLC0415

        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Failed to correctly find")
            index = NNDescent(
                _in_float32(self._distances),
                self._metric,
                n_neighbors=length,
                max_candidates=CANDIDATES_JOINED,
                random_state=self._seed,
                n_jobs=1,
            )
        return index.neighbor_graph[0]


def _name_of(distances: EuclideanDistances | MetricDistances) -> str:
    """Return the name that pynndescent has for a metric."""
    try:
        from pynndescent.distances import named_distances  # noqa: PLC0415
    except ImportError:
        raise ImportError(
            "neighbors='approximate' needs pynndescent: install it with pip install 'kfuse[approx]'."
        ) from None
    if isinstance(distances, EuclideanDistances):
        return "euclidean"
    metric = distances.metric
    name = NAMES.get(metric, metric) if isinstance(metric, str) else None
    if name not in named_distances or name in NEED_PARAMETERS:
        raise ValueError(
            f"neighbors='approximate' cannot search by metric={metric!r}: use neighbors='auto', or a metric such as "
            "'euclidean', 'cosine', 'manhattan' or 'correlation'."
        )
    return str(name)


def _in_float32(distances: EuclideanDistances | MetricDistances) -> NDArray[np.float32]:
    """Return the points as pynndescent stores them; Euclidean ones are centred, to lose little precision."""
    points = distances.points
    if isinstance(distances, EuclideanDistances):
        centre = points.mean(axis=0, dtype=np.float64)
        widest = max(np.abs(points.max(axis=0) - centre).max(), np.abs(points.min(axis=0) - centre).max())
        points = np.ldexp(points - centre, -int(np.frexp(widest)[1]))
    return points.astype(np.float32)


@kernel
def select_candidates(points, rows, lists, listed, indices, distances):
    """Find the nearest on each list; `listed` is a buffer for one."""
    for row in range(rows.size):
        count = 0
        for sample in lists[row]:
            listed[count] = sample
            count += sample >= 0  # there are negative ones where a list is too short
        compete(points, rows[row], listed[:count], indices[row], distances[row])
    sort_rows(indices, distances)

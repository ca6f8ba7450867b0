"""Least distances between sub-clusters, without visiting all pairs of samples."""

import numpy as np

from kfuse.core.distances import EuclideanDistances
from kfuse.core.execution import SERIAL
from kfuse.core.paper import least_distances
from kfuse.core.paper.least_distances import LeastDistances
from kfuse.core.search.kd_tree import KDTreeSearch


def test_runs_are_short_and_hold_every_point():
    sizes = np.array([1, 16, 17, 40, 3])
    points = np.random.default_rng(2).random((sizes.sum(), 2))
    runs = least_distances._cut_into_runs(points, sizes)
    np.testing.assert_array_equal(np.diff(runs.firsts), [1, 1, 2, 3, 1])
    np.testing.assert_array_equal(np.diff(runs.starts), [1, 16, 16, 1, 16, 16, 8, 3])
    for run, (start, stop) in enumerate(zip(runs.starts, runs.starts[1:], strict=False)):
        inside = points[start:stop]
        np.testing.assert_array_equal(runs.boxes[run], [inside.min(axis=0), inside.max(axis=0)])


def test_work_is_shared_out_evenly(monkeypatch):
    """Parts of at most WORK_PER_PART pairs of samples, but for single pairs of sub-clusters that are larger."""
    labels = np.repeat(np.arange(6), [3, 10, 2, 40, 5, 5])
    search = KDTreeSearch(EuclideanDistances(np.random.default_rng(8).random((65, 2))))
    found = LeastDistances(search, labels, SERIAL)
    i, j = np.triu_indices(6, 1)
    expected, least, parts = found.between(i, j), least_distances.write_least_distances, []
    monkeypatch.setattr(least_distances, "WORK_PER_PART", 100)
    monkeypatch.setattr(
        least_distances, "write_least_distances", lambda i, j, *runs: parts.append((i, j)) or least(i, j, *runs)
    )
    np.testing.assert_array_equal(found.between(i, j), expected)
    work = [int((found.sizes[a] * found.sizes[b]).sum()) for a, b in parts]
    assert sum(work) == int((found.sizes[i] * found.sizes[j]).sum())
    assert all(
        amount <= 200 or a.size == 1 or (found.sizes[a] * found.sizes[b]).max() > 100
        for amount, (a, b) in zip(work, parts, strict=True)
    )
    assert len(work) >= 5


def test_least_distances_of_boxes_bound_those_of_samples():
    rng = np.random.default_rng(3)
    X, labels = rng.random((200, 2)), np.sort(rng.integers(0, 12, 200))
    found = LeastDistances(KDTreeSearch(EuclideanDistances(X)), labels, SERIAL)
    i, j = np.triu_indices(12, 1)
    least = [np.linalg.norm(X[labels == a][:, None] - X[labels == b], axis=2).min() for a, b in zip(i, j, strict=True)]
    boxes = [(X[labels == a].min(axis=0), X[labels == a].max(axis=0)) for a in range(12)]
    apart = [
        np.linalg.norm(np.maximum(0, np.maximum(boxes[a][0] - boxes[b][1], boxes[b][0] - boxes[a][1])))
        for a, b in zip(i, j, strict=True)
    ]
    np.testing.assert_allclose(found.between(i, j), least)
    np.testing.assert_allclose(found.at_least(i, j), apart)

"""Telling: a list gains exactly those who have found its sample and are nearer than what it has."""

import numpy as np
import pytest

from kfuse.core.execution import Execution
from kfuse.core.search import telling
from kfuse.core.search.telling import tell_each_other


def told_one_by_one(indices, distances):
    """The same on plain lists."""
    k, lists = indices.shape[1], [dict(zip(i, d, strict=True)) for i, d in zip(indices, distances, strict=True)]
    for sample, row in enumerate(zip(indices, distances, strict=True)):
        for other, length in zip(*row, strict=True):
            lists[other][sample] = length
    best = [sorted((length, other) for other, length in found.items())[:k] for found in lists]
    return np.array([[other for _, other in row] for row in best]), np.array([[d for d, _ in row] for row in best])


def incomplete(X, k, seed):
    """The k nearest of a random half of the others, for each sample."""
    lengths = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    lengths[np.random.default_rng(seed).random(lengths.shape) < 0.5] = np.inf
    np.fill_diagonal(lengths, np.inf)
    indices = np.lexsort((np.broadcast_to(np.arange(len(X)), lengths.shape), lengths), axis=1)[:, :k]
    return indices.astype(np.int32), np.take_along_axis(lengths, indices, axis=1)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("k", [1, 2, 7])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_equals_telling_one_by_one(ties, k, n_threads, monkeypatch):
    monkeypatch.setattr(telling, "ROWS_AT_A_TIME", 16)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 4, (90, 3)).astype(float) if ties else rng.random((90, 3))
        indices, distances = incomplete(X, k, seed)
        expected = told_one_by_one(indices, distances)
        tell_each_other(indices, distances, Execution(n_threads))
        np.testing.assert_array_equal(indices, expected[0])
        np.testing.assert_array_equal(distances, expected[1])


def test_complete_lists_stay_and_empty_ones_are_no_error():
    X = np.random.default_rng(0).random((40, 2))
    lengths = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    np.fill_diagonal(lengths, np.inf)
    indices = np.argsort(lengths, axis=1)[:, :6].astype(np.int32)
    distances = np.take_along_axis(lengths, indices, axis=1)
    before = indices.copy(), distances.copy()
    tell_each_other(indices, distances, Execution(1))
    np.testing.assert_array_equal(indices, before[0])
    np.testing.assert_array_equal(distances, before[1])
    tell_each_other(indices[:, :0], distances[:, :0], Execution(1))

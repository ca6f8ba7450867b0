"""Algorithm 1 equals going round by round, however many neighbours are asked for at first."""

import numpy as np
import pytest
from sklearn.neighbors import kneighbors_graph

from kfuse.core import natural
from kfuse.core.search import NeighborTable, choose_search


def round_by_round(X, is_last, most_rounds):
    lengths = np.linalg.norm(X[:, None] - X, axis=2)
    np.fill_diagonal(lengths, -1.0)
    order = np.argsort(lengths, axis=1, kind="stable")[:, 1:]
    last, named = int(min(len(X) - 1, most_rounds)), set()
    for rounds in range(1, last + 1):
        new = set(order[:, rounds - 1].tolist()) - named
        if not new:
            break
        named |= new
    else:
        rounds = last + 1
    found = min(max(1, rounds - is_last), last)
    return found, np.bincount(order[:, :found].ravel(), minlength=len(X))


def table_of(X, initial_count, metric="euclidean"):
    table = NeighborTable(choose_search(X, metric, "auto"))
    table.initial_count = min(initial_count, table.search.most_neighbors)
    return table


@pytest.mark.parametrize("initial_count", [1, 2, 5, 24])
@pytest.mark.parametrize("is_last", [False, True])
def test_the_first_round_that_finds_nobody_is_found(is_last, initial_count):
    for seed in range(3):
        X = np.random.default_rng(seed).normal(size=(25, 2)) ** 3
        found = natural.find_natural_neighbors(table_of(X, initial_count), is_last=is_last)
        expected, counts = round_by_round(X, is_last, np.inf)
        assert found.natural_value == expected
        np.testing.assert_array_equal(found.reverse_counts, counts)
        assert (found.n_neighbors, found.n_wanted) == (counts.max(), 0)


@pytest.mark.parametrize("most_rounds", [1, 3, 9])
@pytest.mark.parametrize("initial_count", [1, 20])
def test_the_search_ends_after_the_most_rounds(most_rounds, initial_count):
    X = np.diag(np.linspace(1, 2, 21))  # each round finds one more
    for is_last in (False, True):
        found = natural.find_natural_neighbors(table_of(X, initial_count), is_last=is_last, most_rounds=most_rounds)
        assert found.natural_value == round_by_round(X, is_last, most_rounds)[0] == most_rounds


def test_rounds_that_find_somebody():
    assert natural.stopping_round(np.array([3, 0, 2, 0])) == 2
    assert natural.stopping_round(np.array([3, 1])) == 3
    assert natural.stopping_round(np.empty(0, dtype=int)) == 1


def test_a_graph_ends_the_search_if_it_holds_enough():
    X = np.diag(np.linspace(1, 2, 30))
    for n_neighbors in (8, 12):
        graph = kneighbors_graph(X, n_neighbors, mode="distance")
        found = natural.find_natural_neighbors(table_of(graph, 4, "precomputed"), 2.0, is_last=True)
        assert found.natural_value == n_neighbors
        assert n_neighbors < found.n_wanted <= 29
    graph = kneighbors_graph(X, 7, mode="distance")
    with pytest.raises(ValueError, match="needs about 29"):
        natural.find_natural_neighbors(table_of(graph, 4, "precomputed"), 2.0, is_last=True)
    with pytest.raises(ValueError, match="needs about"):
        natural.find_natural_neighbors(table_of(kneighbors_graph(X, 9, mode="distance"), 4, "precomputed"), 2.0)


def test_one_sample_has_no_neighbours():
    found = natural.find_natural_neighbors(NeighborTable(choose_search(np.zeros((1, 2)), "euclidean", "auto")))
    assert (found.natural_value, found.n_neighbors) == (0, 0)

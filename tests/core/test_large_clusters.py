"""Cuts into clusters of a least size equal undoing merges one by one, and measuring what is left."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from kfuse.core.dendrogram import nodes_of_merges, sizes_of_nodes
from kfuse.core.large_clusters import add, added, cut_large, number_leaves
from tests.checks import assert_same_clusters
from tests.strategies import SEEDS


def random_tree(seed, n_leaves):
    """A random spanning tree of leaves, merged in random order."""
    rng = np.random.default_rng(seed)
    edges = np.array([[rng.integers(0, leaf), leaf] for leaf in range(1, n_leaves)], dtype=np.intp).reshape(-1, 2)
    edges = edges[rng.permutation(n_leaves - 1)]
    children = nodes_of_merges(*edges.T)
    return children, edges, sizes_of_nodes(children, rng.integers(1, 6, n_leaves))


def parts_without(edges, n_leaves, removed):
    kept = np.delete(edges, sorted(removed), axis=0)
    links = coo_array((np.ones(len(kept)), tuple(kept.T)), (n_leaves, n_leaves))
    return connected_components(links, directed=False)[1]


def cut_one_by_one(edges, leaf_sizes, least_size, most_clusters, lowest, drops):
    n_leaves, undone, dropped = leaf_sizes.size, [], {}
    for merge in range(n_leaves - 2, lowest - 1, -1):
        if len(undone) + 1 == most_clusters:
            break
        part = parts_without(edges, n_leaves, {*undone, *dropped, merge})
        size, other_size = (leaf_sizes[part == part[end]].sum() for end in edges[merge])
        if min(size, other_size) >= least_size:
            undone.append(merge)
        elif max(size, other_size) >= least_size and drops:
            dropped[merge] = edges[merge][0] if size < other_size else edges[merge][1]
    if lowest == 0:  # nothing is dropped below the last one
        dropped = {merge: leaf for merge, leaf in dropped.items() if undone and merge > min(undone)}
    part = parts_without(edges, n_leaves, {*undone, *dropped})
    return np.where(np.isin(part, part[list(dropped.values())] if dropped else []), -1, part)


@given(
    SEEDS,
    st.integers(1, 40),
    st.integers(1, 20),
    st.integers(1, 8),
    st.integers(0, 40),
    st.booleans(),
)
def test_cuts_equal_undoing_one_by_one(seed, n_leaves, least_size, most_clusters, lowest, drops):
    children, edges, sizes = random_tree(seed, n_leaves)
    lowest = min(lowest, n_leaves - 1)
    found = cut_large(children, edges, sizes, least_size, most_clusters, lowest=lowest, drops=drops)
    expected = cut_one_by_one(edges, sizes[:n_leaves], least_size, most_clusters, lowest, drops)
    np.testing.assert_array_equal(found == -1, expected == -1)
    assert_same_clusters(found, expected)
    labels, of = np.unique(found, return_inverse=True)
    members = np.bincount(of, weights=sizes[:n_leaves])[labels >= 0]
    assert members.size == 1 or members.min() >= least_size
    assert members.size <= most_clusters


@pytest.mark.parametrize("drops", [False, True])
def test_a_chain_of_single_samples_is_cut_in_time(drops):
    n_leaves = 20_000
    edges = np.column_stack([np.arange(n_leaves - 1), np.arange(1, n_leaves)])
    children = nodes_of_merges(*edges.T)
    sizes = sizes_of_nodes(children, np.ones(n_leaves, dtype=np.intp))
    labels = cut_large(children, edges, sizes, 2, n_leaves, drops=drops)
    assert len(np.unique(labels)) == (1 if drops else n_leaves // 2)


@pytest.mark.parametrize("n_leaves", range(1, 10))
def test_what_is_left_at_leaves_adds_up_over_any_range(n_leaves):
    room, plain = np.zeros(n_leaves + 1, dtype=np.intp), [0] * n_leaves
    for leaf in [*range(n_leaves), 0, n_leaves - 1]:
        add(room, leaf, 3 * leaf + 1)
        plain[leaf] += 3 * leaf + 1
    for start in range(n_leaves + 1):
        for stop in range(start, n_leaves + 1):
            assert added(room, start, stop) == sum(plain[start:stop])


def test_the_leaves_of_a_node_follow_each_other():
    start, stop = np.zeros((2, 9), dtype=np.intp)
    number_leaves(np.array([[1, 3], [0, 4], [2, 5], [6, 7]]), 9, start, stop)
    assert start.tolist() == [0, 3, 2, 4, 1, 3, 0, 2, 0]
    assert stop.tolist() == [1, 4, 3, 5, 2, 5, 2, 5, 5]


CHAIN = np.array([[0, 1], [1, 2], [2, 3], [3, 4]])  # merged in this order


@pytest.mark.parametrize(
    ("sizes", "least", "most", "options", "expected"),
    [
        ([5, 5, 5, 5, 5], 5, 3, {}, [0, 0, 0, 1, 2]),
        ([5, 5, 5, 5, 5], 6, 5, {}, [0, 0, 0, 1, 1]),  # the last stays with the fourth, the third with the second
        ([5, 5, 5, 5, 1], 5, 5, {}, [0, 1, 2, 3, 3]),
        ([5, 5, 5, 5, 1], 5, 5, {"drops": True}, [0, 1, 2, 3, -1]),
        ([5, 5, 5, 5, 1], 5, 1, {"drops": True}, [0, 0, 0, 0, 0]),
        ([5, 5, 5, 5, 5], 1, 5, {"lowest": 2}, [0, 0, 0, 1, 2]),
        ([1, 1, 1, 1, 9], 2, 5, {"drops": True}, [0, 0, 0, 0, 1]),
        ([1, 2, 2, 2, 9], 2, 5, {"lowest": 0}, [0, 0, 1, 2, 3]),
    ],
)
def test_cuts_of_a_chain(sizes, least, most, options, expected):
    children = nodes_of_merges(*CHAIN.T)
    found = cut_large(children, CHAIN, sizes_of_nodes(children, np.array(sizes)), least, most, **options)
    np.testing.assert_array_equal(found == -1, np.array(expected) == -1)
    assert_same_clusters(found, expected)

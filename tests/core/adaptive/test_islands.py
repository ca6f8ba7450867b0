"""Parts that few neighbours leave or enter: the counting, the dimension of a part, and what is found."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import kneighbors_graph

from kfuse import KFuse
from kfuse.core.adaptive import islands
from kfuse.core.distances import distances_for
from kfuse.core.execution import Execution
from tests.strategies import SEEDS


def random_parts(rng, n_samples, n_leaves):
    """A random tree over the leaves of some samples."""
    nodes, children = list(range(n_leaves)), []
    while len(nodes) > 1:
        a, b = (nodes.pop(rng.integers(len(nodes))) for _ in range(2))
        children.append(sorted([a, b]))
        nodes.append(n_leaves + len(children) - 1)
    labels = np.append(np.arange(n_leaves), rng.integers(0, n_leaves, n_samples - n_leaves))
    children = np.array(children, dtype=np.intp).reshape(-1, 2)
    return islands.Parts(children, labels, np.arange(n_leaves), rng.random(n_samples))


def members_of(parts):
    n_leaves = len(parts.children) + 1
    members = [set(np.flatnonzero(parts.labels == leaf)) for leaf in range(n_leaves)]
    for a, b in parts.children:
        members.append(members[a] | members[b])
    return members


@settings(max_examples=50, deadline=None)
@given(SEEDS, st.integers(2, 40), st.sampled_from([1, 3]))
def test_shares_count_the_links_that_leave_and_enter(seed, n_leaves, n_threads):
    rng = np.random.default_rng(seed)
    n = 60
    parts = random_parts(rng, n, n_leaves)
    indices = np.array([rng.permutation(np.delete(np.arange(n), i))[:4] for i in range(n)], dtype=np.int32)
    members = members_of(parts)
    sizes = np.array([len(one) for one in members], dtype=float)
    found = islands.leaving_shares(indices, parts, sizes, Execution(n_threads))
    for node, inside in enumerate(members):
        out = sum(q not in inside for p in inside for q in indices[p])
        come = sum(q in inside for p in range(n) if p not in inside for q in indices[p])
        expected = max((out + 0.5) / (4 * len(inside)), (come + 0.5) / (4 * max(n - len(inside), 1)))
        assert found[node] == pytest.approx(expected)


def test_threads_change_nothing(monkeypatch):
    monkeypatch.setattr(islands, "SAMPLES_PER_PART", 16)
    rng = np.random.default_rng(0)
    parts = random_parts(rng, 200, 30)
    indices = rng.integers(0, 200, (200, 8)).astype(np.int32)
    sizes = parts.sums(np.ones(200))
    alone = islands.leaving_shares(indices, parts, sizes, Execution(1))
    np.testing.assert_array_equal(alone, islands.leaving_shares(indices, parts, sizes, Execution(3)))


def test_extents_are_about_the_root_mean_square_radius():
    X = np.random.default_rng(1).normal(size=(3000, 5))
    model = KFuse(1).fit(X)
    tree = model.tree_
    leaves = np.unique(model.representatives_[model.representatives_ == np.arange(3000)])
    parts = islands.Parts(tree.children, tree.leaf_labels, leaves, model.density_)
    found = islands.extents(distances_for(X, "euclidean"), parts, tree.sizes.astype(float))
    for node in (-1, -2, -3):
        inside = X[sorted(members_of(parts)[node])]
        if len(inside) > 100:
            assert found[node] == pytest.approx(np.sqrt(((inside - inside.mean(0)) ** 2).sum(1).mean()), rel=0.35)


@pytest.mark.parametrize("dimension", [1.0, 2.0, 5.0, 12.0])
def test_the_dimension_of_a_ball_is_recovered(dimension):
    sizes = np.array([100.0, 1000.0, 100_000.0])
    log_length = np.log(sizes / 8) / dimension - np.log((dimension + 2) / dimension) / 2
    np.testing.assert_allclose(islands.dimension_of_ball(log_length, sizes), dimension, rtol=0.02)


def test_a_border_is_as_open_as_the_more_open_of_its_sides_and_a_node_holds_its_best_part():
    children = np.array([[0, 1], [2, 3], [4, 5]])
    found = np.empty(3)
    islands.openness_between(children, np.array([0.5, 3.0, np.inf, 0.7, 9.0, 0.6, 9.0]), found)
    np.testing.assert_array_equal(found, [3.0, np.inf, 0.6])


def test_once_one_border_is_shown_the_limit_of_the_others_is_twice_as_high():
    assert islands.count_islands(np.array([1.9, np.inf, 0.9, 2.1])) == 2
    assert islands.count_islands(np.array([1.9, np.inf, 1.1])) == 0
    assert islands.count_islands(np.empty(0)) == 0


def islands_in(X, **options):
    return KFuse(1, **options).fit(X).tree_.borders.n_islands


def test_groups_in_many_dimensions_are_islands_and_structureless_data_has_none():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(6, 30)) * 2.5
    grouped = centres[np.repeat(np.arange(6), 100)] + rng.normal(size=(600, 30))
    assert islands_in(grouped) == 5
    for _ in range(10):
        assert islands_in(rng.normal(size=(600, 30))) == 0
        assert islands_in(rng.normal(size=(600, 8)) * [10, 3, 1, 1, 1, 1, 1, 1]) == 0


def test_a_graph_without_far_distances_has_islands_as_well():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(4, 20)) * 3
    X = centres[np.repeat(np.arange(4), 80)] + rng.normal(size=(320, 20))
    graph = kneighbors_graph(X, 150, mode="distance")
    assert islands_in(graph, metric="precomputed") == islands_in(X) == 3


def test_nothing_is_looked_for_below_three_dimensions():
    rng = np.random.default_rng(0)
    assert islands_in(rng.normal(size=(300, 2)) + np.repeat([[0, 0], [50, 50], [0, 50]], 100, axis=0)) == 0

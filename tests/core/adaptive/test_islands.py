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
    chain, found = np.array([[0, 1], [2, 5], [3, 6], [4, 7]]), np.empty(4)
    islands.openness_between(chain, np.array([5.0, 4.0, 1.0, 0.5, 2.0, 3.0, 2.5, 0.7, 9.0]), found)
    np.testing.assert_array_equal(found, [5.0, 3.0, 1.0, 2.0])


def test_once_one_border_is_shown_the_limit_of_the_others_is_twice_as_high():
    assert islands.count_islands(np.array([1.9, np.inf, 0.9, 2.1])) == 2
    assert islands.count_islands(np.array([1.9, np.inf, 1.1])) == 0
    assert islands.count_islands(np.empty(0)) == 0


# Four leaves of 20, 40, 8 and 12 samples: 0 and 1 merge, then 2 and 3, then all.
TREE = islands.Parts(
    children=np.array([[0, 1], [2, 3], [4, 5]]),
    labels=np.repeat(np.arange(4), [20, 40, 8, 12]),
    representatives=np.array([3, 25, 61, 70]),
    log_density=np.where(np.isin(np.arange(80), [3, 25, 61, 70]), 2.0, 0.0),
)
SIZES = np.array([20.0, 40.0, 8.0, 12.0, 60.0, 20.0, 80.0])
LINE = np.arange(80.0)[:, None] / 4


def test_sums_are_over_the_samples_of_each_node():
    assert TREE.sums(np.ones(80)).tolist() == SIZES.tolist()
    expected = [sum(range(20)), sum(range(20, 60)), sum(range(60, 68)), sum(range(68, 80))]
    expected += [expected[0] + expected[1], expected[2] + expected[3], sum(range(80))]
    assert TREE.sums(np.arange(80.0)).tolist() == expected


@pytest.mark.parametrize(("k", "dimension", "expected"), [(16, 2.5, True), (15, 9.0, False), (64, 2.49, False)])
def test_islands_need_enough_neighbours_and_dimensions(k, dimension, expected):
    assert islands.can_be_found(k, dimension) == expected


def test_extents_grow_by_the_distance_between_the_densest_samples():
    """The densest samples are equally dense, so the first of them stands for a merge."""
    squares = [20 * 40 / 60 * 5.5**2, 8 * 12 / 20 * 2.25**2]
    squares.append(sum(squares) + 60 * 20 / 80 * 14.5**2)
    expected = [0.0] * 4 + [np.sqrt(square / size) for square, size in zip(squares, (60, 20, 80), strict=True)]
    np.testing.assert_allclose(islands.extents(distances_for(LINE, "euclidean"), TREE, SIZES), expected)


def test_the_denser_middle_is_handed_up():
    middles = np.array([5, 2, 7, 0, 0])
    islands.hand_up_densest(np.array([[0, 1], [2, 3]]), np.array([0, 0, 3.0, 0, 0, 3.0, 0, 9.0]), middles)
    assert middles[3:].tolist() == [2, 7]
    islands.hand_up_densest(np.array([[0, 1], [2, 3]]), np.array([0, 0, 2.0, 0, 0, 3.0, 0, 1.0]), middles)
    assert middles[3:].tolist() == [5, 5]


def test_a_part_has_the_dimension_of_its_neighbourhoods_unless_it_is_long():
    radii = np.column_stack([np.full(80, 1.0), np.repeat([1.25, 1.5], [20, 60])])
    mean_spread = (20 * np.log(1.25) + 60 * np.log(1.5)) / 80
    totals = np.array([20, 0, 0, 0, 20, 0, 20]) * np.log(1.25) + np.array([0, 40, 8, 12, 40, 20, 60]) * np.log(1.5)
    local = sum(1 / i for i in range(8, 16)) / ((totals + 16 * mean_spread) / (SIZES + 16))
    extents = islands.extents(distances_for(LINE, "euclidean"), TREE, SIZES)
    with np.errstate(divide="ignore"):
        of_ball = islands.dimension_of_ball(np.maximum(np.log(extents), -700), SIZES)
    expected = np.where(SIZES >= 32, np.minimum(local, of_ball), local)
    assert expected[6] < local[6] < 3
    np.testing.assert_allclose(
        islands.dimensions_of_parts(radii, distances_for(LINE, "euclidean"), TREE, SIZES), expected
    )
    doubled = islands.dimensions_of_parts(2 * radii, distances_for(2 * LINE, "euclidean"), TREE, SIZES)
    np.testing.assert_allclose(doubled, expected)


@pytest.mark.parametrize("n_samples", [31, 32])
def test_the_length_of_32_samples_is_measured(n_samples):
    line = np.arange(float(n_samples))[:, None]
    halves = islands.Parts(
        np.array([[0, 1]]), np.repeat([0, 1], [16, n_samples - 16]), np.array([0, n_samples - 1]), np.zeros(n_samples)
    )
    radii, sizes = (
        np.column_stack([np.ones(n_samples), np.full(n_samples, 1.2)]),
        np.array([16, n_samples - 16, n_samples]),
    )
    found = islands.dimensions_of_parts(radii, distances_for(line, "euclidean"), halves, sizes.astype(float))
    assert (found[2] < found[0]) == (n_samples == 32)


def test_without_known_distances_no_part_is_long():
    graph = distances_for(kneighbors_graph(LINE, 5, mode="distance"), "precomputed")
    radii = np.column_stack([np.full(80, 1.0), np.full(80, 1.25)])
    local = sum(1 / i for i in range(8, 16)) / np.log(1.25)
    np.testing.assert_allclose(islands.dimensions_of_parts(radii, graph, TREE, SIZES), local)
    flat = islands.dimensions_of_parts(np.ones((80, 2)), graph, TREE, SIZES)
    np.testing.assert_allclose(np.delete(flat, 1), 1000 * sum(1 / i for i in range(8, 16)))
    assert flat[1] == pytest.approx(60.0)  # a leaf of 40 samples, of which only the middle is known


def test_the_dimension_of_a_ball_solves_its_equation_within_bounds():
    sizes, log_length = np.array([40.0, 900.0, 5.0]), np.array([0.5, 1.0, 0.5])
    found = islands.dimension_of_ball(log_length, sizes)
    reached = found * (log_length + np.log((found + 2) / found) / 2)
    np.testing.assert_allclose(reached, np.log([5.0, 112.5, 2.0]), rtol=1e-4)
    np.testing.assert_allclose(islands.dimension_of_ball(np.array([99.0, -99.0]), np.full(2, 80.0)), [0.5, 60.0])


def test_openness_is_the_share_over_the_limit_for_the_dimension_and_the_size():
    around = islands.Around(
        (np.arange(80)[:, None] + np.arange(1, 9)).astype(np.int32) % 80,
        np.column_stack([np.full(80, 5.0), np.full(80, 6.0)]),
        distances_for(LINE, "euclidean"),
    )
    dimensions = islands.dimensions_of_parts(around.radii, around.distances, TREE, SIZES)
    shares = islands.leaving_shares(around.indices, TREE, SIZES, Execution(1))
    smaller = np.array([20.0, 40.0, 8.0, 12.0, 20.0, 20.0, 0.0])
    limits = np.interp(dimensions, islands.DIMENSIONS, islands.LEAST_SHARES)
    with np.errstate(divide="ignore"):
        ratio = shares / (limits * (8 / smaller) ** (1 / dimensions))
    assert (limits > 0).all()
    best = {4: min(ratio[[0, 1, 4]]), 5: ratio[5]}  # the leaves 2 and 3 are too small
    found = islands.openness_of_merges(around, TREE)
    np.testing.assert_allclose(found, [max(ratio[0], ratio[1]), np.inf, max(best[4], best[5])])
    assert np.isinf(islands.openness_of_merges(None, TREE)).all()
    alone = TREE._replace(children=np.empty((0, 2), dtype=np.intp), labels=np.zeros(80, dtype=int))
    assert islands.openness_of_merges(around, alone).size == 0


@pytest.mark.parametrize(
    ("dimension", "least"),
    [
        (1.75, 0.0025),
        (2.0, 0.005),
        (2.5, 0.015),
        (3.0, 0.025),
        (4.0, 0.035),
        (5.0, 0.04),
        (6.0, 0.0625),
        (7.0, 0.085),
        (10.0, 0.125),
        (12.5, 0.1325),
        (15.0, 0.14),
        (99.0, 0.14),
        (1.5, None),
        (1.0, None),
    ],
)
def test_limits_are_as_calibrated(dimension, least, monkeypatch):
    """Two leaves of 16 and 64 samples, of which a share of 0.1 leaves."""
    parts = islands.Parts(np.array([[0, 1]]), np.repeat([0, 1], [16, 64]), np.array([0, 20]), np.zeros(80))
    monkeypatch.setattr(islands, "dimensions_of_parts", lambda *_: np.full(3, dimension))
    monkeypatch.setattr(islands, "leaving_shares", lambda *_: np.full(3, 0.1))
    around = islands.Around(np.zeros((80, 8), dtype=np.int32), np.ones((80, 2)), None)
    expected = np.inf if least is None else 0.1 / (least * 0.5 ** (1 / dimension))
    assert islands.openness_of_merges(around, parts) == pytest.approx([expected])


def test_few_dimensions_have_no_limit():
    line = islands.Around(
        np.zeros((80, 8), dtype=np.int32),
        np.column_stack([np.full(80, 1.0), np.full(80, 2.0)]),
        distances_for(LINE, "euclidean"),
    )
    assert np.isinf(islands.openness_of_merges(line, TREE)).all()


def test_the_merge_at_which_two_leaves_meet_is_the_last_on_the_path_between_them():
    parents, times = islands.union_by_size(np.array([[0, 1], [2, 5], [3, 4], [6, 7]]))
    assert parents.tolist() == [0, 0, 0, 0, 3]
    assert times.tolist() == [4, 0, 1, 3, 2]


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

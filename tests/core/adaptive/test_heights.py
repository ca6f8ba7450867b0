"""The order in which merges are undone: k clusters are k groups."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

from kfuse import KFuse
from kfuse.core.adaptive import heights
from kfuse.core.adaptive.fusion import Merges
from kfuse.core.dendrogram import nodes_of_merges, sizes_of_nodes
from kfuse.core.order import ascending


def merge_of(size, density, level=0.0, log_index=-3.0):
    """One merge of a part with 100 samples of log-density 0 and another part."""
    column = np.array([log_index])
    return Merges(
        log_index=column,
        lowest_index=column,
        log_weight=column,
        level=np.array([level]),
        size=np.array([[100.0, size]]),
        density=np.array([[0.0, density]]),
        edge=np.array([[0, 1]]),
    )


def height_of(*args, **kwargs):
    return heights.heights(merge_of(*args, **kwargs), 10, 2.0)[0]


def test_the_fewer_samples_draw_a_border_the_lower_it_is():
    heights = [height_of(size, -1.0) for size in (1, 2, 5, 20, 100)]
    assert (np.diff(heights) > 0).all()
    assert heights[-1] == pytest.approx(3.0, abs=0.1)


def test_a_small_part_that_is_denser_than_its_border_is_a_group():
    assert height_of(8, 5.0) > height_of(8, 0.0) + 0.2


def test_how_far_away_a_lone_sample_is_does_not_count():
    """Half of the difference in density lowers the index, and is taken back for one sample."""
    near, far = (height_of(1, -d, level=-d, log_index=-3.0 - d / 2) for d in (2.0, 20.0))
    assert near == pytest.approx(far)


def test_a_merge_is_as_high_as_those_inside_its_parts():
    merges = merge_of(50, -1.0)
    assert heights.heights(merges._replace(lowest_index=merges.log_index - 2.0), 10, 2.0)[0] == pytest.approx(
        height_of(50, -1.0) + 2.0
    )


def test_heights_equal_the_formula():
    rng = np.random.default_rng(0)
    lowest, level = rng.normal(size=(2, 12))
    size, density = rng.integers(1, 9, (12, 2)) / 2.0, rng.normal(size=(12, 2))
    size[0] = 5.0  # of equally large sides, the first counts as the smaller one
    merges = Merges(np.zeros(12), lowest, np.zeros(12), level, size, density, np.zeros((12, 2), dtype=np.intp))
    found = heights.heights(merges, 7, 1.5)
    for merge in range(12):
        first = size[merge, 0] <= size[merge, 1]
        smaller, own = max(size[merge].min(), 1.0), density[merge, 0 if first else 1]
        doubt = 0.75 * np.exp(-1.5 * max(0.0, own - level[merge])) * np.log(1 + 7 / smaller)
        expected = -lowest[merge] - (density[merge].mean() - density[merge].min()) / smaller - doubt
        assert found[merge] == pytest.approx(expected)


@pytest.mark.parametrize("n_groups", [2, 3, 5, 10])
@pytest.mark.parametrize("size", [2, 3, 4, 5, 7, 10])
def test_tiny_groups_far_apart_are_found(n_groups, size):
    for seed in range(10):
        rng = np.random.default_rng([seed, n_groups, size])
        centres = 100 * np.column_stack([np.arange(n_groups), rng.random(n_groups)])
        y = np.repeat(np.arange(n_groups), size)
        X = centres[y] + rng.normal(size=(y.size, 2))
        assert adjusted_rand_score(y, KFuse(n_groups).fit_predict(X)) == 1.0


def test_two_pairs_are_two_clusters():
    labels = KFuse(2).fit_predict([[0, 0], [1, 0.3], [100, 70], [101, 70.5]])
    np.testing.assert_array_equal(labels, [0, 0, 1, 1])


def test_one_far_row_replaces_nothing():
    X = scale(load_breast_cancer().data)
    before = KFuse(2).fit_predict(X)
    for cell in (0, 7, 29):
        far = X[[0]].copy()
        far[0, cell] = 999.0
        after = KFuse(2).fit_predict(np.vstack([X, far]))
        assert adjusted_rand_score(before, after[:-1]) > 0.99


def test_small_groups_in_noise_are_found():
    rng = np.random.default_rng(3)
    centres = np.array([[x, y] for x in range(6) for y in range(6)]) * 10.0
    y = np.repeat(np.arange(36), 15)
    X = np.vstack([centres[y] + rng.normal(size=(y.size, 2)) * 0.5, rng.uniform(-5, 55, (100, 2))])
    assert adjusted_rand_score(y, KFuse(36).fit_predict(X)[: y.size]) > 0.97


def order_of(height, children, leaf_sizes, n_shown):
    children, height = np.array(children), np.array(height, dtype=float)
    sizes = sizes_of_nodes(children, np.array(leaf_sizes, dtype=float))
    return ascending(heights.separations(height, children, sizes, n_shown)).tolist()


CHAIN = [[0, 1], [2, 4], [3, 5]]  # four leaves: 0 and 1 merge first, then 2 and 3 join them


def test_shown_borders_count_by_the_pairs_that_they_separate():
    """Above 1, the borders rise by 4 and 6; they separate 90 x 40 and 130 x 10 pairs: 14,400 and 7,800."""
    assert order_of([1.0, 5.0, 7.0], CHAIN, [45, 45, 40, 10], 2) == [0, 2, 1]
    assert order_of([1.0, 5.0, 13.0], CHAIN, [45, 45, 40, 10], 2) == [0, 1, 2]  # 14,400 and 15,600


def test_merges_that_are_not_shown_keep_their_order():
    for n_shown in (0, 1):
        assert order_of([1.0, 5.0, 7.0], CHAIN, [45, 45, 40, 10], n_shown) == [0, 1, 2]
    assert order_of([], np.empty((0, 2), dtype=int), [7], 0) == []


def test_if_all_merges_are_shown_they_are_measured_from_the_lowest():
    """The lowest rises by nothing, whatever it separates; the others by 4 and 6."""
    assert order_of([1.0, 5.0, 7.0], CHAIN, [45, 45, 40, 10], 3) == [0, 2, 1]


def test_of_borders_that_separate_as_much_the_earlier_merge_is_first():
    assert order_of([1.0, 3.0, 2.0 + 1.0], [[0, 1], [2, 3], [4, 5]], [8, 8, 4, 16], 2) == [0, 1, 2]
    assert order_of([1.0, 1.0, 1.0], CHAIN, [1, 1, 1, 1], 3) == [0, 1, 2]


@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.data())
def test_the_cut_at_the_number_shown_stays(seed, n_leaves, data):
    rng = np.random.default_rng(seed)
    first = data.draw(st.integers(0, n_leaves - 1))
    edges = np.array([[rng.integers(leaf), leaf] for leaf in range(1, n_leaves)])[rng.permutation(n_leaves - 1)]
    height = np.sort(rng.integers(0, 6, n_leaves - 1) + rng.integers(0, 2, n_leaves - 1) * rng.random(n_leaves - 1))
    order = order_of(height, nodes_of_merges(*edges.T), rng.integers(1, 50, n_leaves), n_leaves - 1 - first)
    assert order[:first] == list(range(first))
    assert sorted(order[first:]) == list(range(first, n_leaves - 1))


def test_fewer_clusters_than_shown_are_the_large_groups():
    """Two large groups that nearly touch, four small ones far from all others: two clusters are the large groups."""
    rng = np.random.default_rng(0)
    large = [rng.normal([x, 0], 1.0, size=(300, 2)) for x in (0, 6)]
    small = [rng.normal([x, y], 0.5, size=(15, 2)) for x in (-6, 12) for y in (-8, 8)]
    model = KFuse(2).fit(np.concatenate(large + small))
    assert model.tree_.suggest(1)[0].n_clusters == 6
    of_large = np.repeat([0, 1], 300)
    assert adjusted_rand_score(of_large, model.labels_[:600]) > 0.95


def test_what_is_inside_is_lower_than_all_that_is_shown():
    """The merge of height 9 is not shown: the borders rise by 4 and 6 above 1, and not by less than nothing above 9."""
    children = [[0, 1], [2, 5], [3, 6], [4, 7]]
    height, sizes = np.array([1.0, 9.0, 5.0, 7.0]), sizes_of_nodes(np.array(children), np.array([45.0, 40, 5, 40, 10]))
    separation = heights.separations(height, np.array(children), sizes, 2)
    np.testing.assert_array_equal(separation, [0, 0, 4 * 90 * 40, 6 * 130 * 10])

"""Cells: larger and larger ones, the density around them, and what they see of shallow valleys."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kfuse import KFuse
from kfuse.core.adaptive import cells, valleys
from kfuse.core.adaptive.links import Links
from tests.core.adaptive.test_valleys import Graph
from tests.strategies import SEEDS


def levels_of(X, k=17):
    graph = Graph(X, k)
    return graph, valleys.levels_beyond(graph.links, graph.labels, graph.scales, graph.log_density)


def plain_level(members, links, log_density, log_radius, growth, dimension):
    """Average over each cell and those next to it, cell by cell; `members` are the samples of each."""
    n_cells = len(members)
    radius = [log_radius[m].mean() for m in members]
    reach = {pair: max(radius[pair[0]], radius[pair[1]]) + np.log(growth) / dimension for pair in links}
    near = [{i} | {a + b - i for a, b in links if i in (a, b) and links[a, b] <= reach[a, b]} for i in range(n_cells)]
    around = [np.concatenate([members[j] for j in sorted(s)]) for s in near]
    density = np.exp(dimension * (log_density - log_density.max()))
    values = [np.log(density[samples].mean()) for samples in around]
    return [samples.size for samples in around], values


@settings(max_examples=25, deadline=None)
@given(SEEDS, st.integers(60, 200), st.sampled_from([1, 2, 3]))
def test_the_first_level_is_the_mean_over_a_sub_cluster_and_those_next_to_it(seed, n_samples, n_features):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features)) + 5 * rng.integers(0, 2, (n_samples, 1))
    graph = Graph(X, 17)
    count, dimension = int(graph.scales.counts[-1]), float(graph.scales.dimensions[-1])
    log_radius = np.log(graph.scales.radii[:, -1])
    smallest = cells._smallest_cells(
        graph.links, graph.labels, dimension * (graph.log_density - graph.log_density.max()), log_radius
    )
    is_next = smallest.gap <= cells._reach(smallest, 2.0, dimension)
    level = cells._level(smallest, is_next, count, dimension)
    members = [np.flatnonzero(graph.labels == leaf) for leaf in range(graph.labels.max() + 1)]
    pairs = zip(graph.links.first.tolist(), graph.links.second.tolist(), strict=True)
    links = dict(zip(pairs, np.log(graph.links.gap[:, -1]), strict=True))
    around, values = plain_level(members, links, graph.log_density, log_radius, 2.0, dimension)
    np.testing.assert_array_equal(level.around, around)
    np.testing.assert_allclose(level.log_density, values, rtol=1e-9, atol=1e-9)
    assert level.n_samples == np.median(around)


@settings(max_examples=25, deadline=None)
@given(SEEDS, st.integers(2, 30), st.integers(1, 80))
def test_pairs_add_up_their_samples_and_links(seed, n_cells, n_links):
    rng = np.random.default_rng(seed)
    ends = np.unique(np.sort(rng.integers(0, n_cells, (n_links, 2)), axis=1), axis=0)
    first, second = ends[ends[:, 0] < ends[:, 1]].T.astype(np.int32)
    values = [rng.integers(1, 9, n_cells).astype(float) for _ in range(3)]
    weight, gap = rng.random(first.size), rng.random(first.size)
    size, mass, radius = values
    before = cells.Cells(size, mass, np.arange(n_cells), mass, radius, first, second, weight, gap)
    pair = np.unique(rng.integers(0, max(1, n_cells // 2), n_cells), return_inverse=True)[1]
    after = cells._merge(before, pair)
    sums, narrowest = {}, {}
    for a, b, w, g in zip(pair[first], pair[second], weight, gap, strict=True):
        if a != b:
            key = (min(a, b), max(a, b))
            sums[key], narrowest[key] = sums.get(key, 0.0) + w, min(narrowest.get(key, np.inf), g)
    found = list(zip(after.first.tolist(), after.second.tolist(), strict=True))
    assert sorted(found) == sorted(sums)
    np.testing.assert_allclose(after.weight, [sums[key] for key in found])
    np.testing.assert_array_equal(after.gap, [narrowest[key] for key in found])
    for number in range(pair.max() + 1):
        members = np.flatnonzero(pair == number)
        assert after.size[number] == size[members].sum()
        assert after.mass[number] == mass[members].sum()
        assert after.standing_mass[number] == mass[members].max() == mass[after.standing[number]]


def test_a_gap_wider_than_twice_the_samples_reach_parts_cells():
    """24 sub-clusters of one sample in a row, which are paired up; the halves are six radii apart."""
    gap = np.where(np.arange(23) == 11, 6.0, 1.5)
    first, weight = np.arange(23, dtype=np.int32), 2.0 - np.arange(23) % 2
    links = Links(first, first + np.int32(1), weight, np.zeros(23), gap[:, None])
    (level,) = cells.levels(links, np.arange(24), np.zeros(24), np.ones(24), count=2, dimension=1.0)
    assert (level.n_samples, level.dimension) == (6.0, 1.0)
    assert level.size.tolist() == [2.0] * 12
    half = [4.0, 6.0, 6.0, 6.0, 6.0, 4.0]
    assert level.around.tolist() == half + half
    np.testing.assert_allclose(level.counted, level.around)
    assert dict(zip(level.first.tolist(), level.second.tolist(), strict=True)) == {i: i + 1 for i in range(11)}
    expected = np.where(level.first == 5, -np.log(2.0), 0.0)  # six samples reach three radii
    np.testing.assert_allclose(level.log_density_between, expected, atol=1e-12)


# Five cells: 0, 1 and 2 are linked with each other, 2 with 3, and that with 4.
FIVE = cells.Cells(
    size=np.array([4.0, 2.0, 6.0, 3.0, 5.0]),
    mass=np.array([2.0, 0.5, 6.0, 0.3, 1.0]),
    standing=np.array([10, 11, 12, 13, 14]),
    standing_mass=np.array([1.0, 0.4, 3.0, 0.2, 0.6]),
    log_radius=np.array([4.0, 4.0, 0.0, 3.0, 10.0]),
    first=np.array([0, 0, 1, 2, 3], dtype=np.int32),
    second=np.array([1, 2, 2, 3, 4], dtype=np.int32),
    weight=np.array([1.0, 2.0, 3.0, 4.0, 0.1]),
    gap=np.array([0.5, 1.5, 2.5, 1.0, 9.0]),
)
IS_NEXT = np.array([True, True, True, True, False])


def test_sub_clusters_are_the_smallest_cells():
    ends = np.array([0], dtype=np.int32), np.array([1], dtype=np.int32)
    links = Links(*ends, np.array([3.0]), np.zeros(1), np.array([[5.0, 7.0]]))
    labels, log_density = np.array([0, 1, 1, 0]), np.array([0.0, -1.0, -2.0, -1e9])
    found = cells._smallest_cells(links, labels, log_density, np.array([1.0, 2.0, 3.0, 4.0]))
    assert found.size.tolist() == [2.0, 2.0]
    np.testing.assert_allclose(found.mass, [1.0 + np.exp(-600.0), np.exp(-1.0) + np.exp(-2.0)])
    assert (found.standing.tolist(), found.log_radius.tolist()) == ([0, 1], [5.0, 5.0])
    np.testing.assert_array_equal(found.standing_mass, found.mass)
    assert (found.first.tolist(), found.second.tolist(), found.weight.tolist()) == ([0], [1], [3.0])
    np.testing.assert_allclose(found.gap, np.log(7.0))
    sparse = cells._smallest_cells(links, labels, np.full(4, -1e9), np.zeros(4))
    assert (sparse.mass > 0).all()


def test_one_sees_as_far_as_from_the_end_with_the_larger_radius():
    np.testing.assert_allclose(cells._reach(FIVE, 8.0, 3.0), np.array([2.0, 1.0, 2.0, 1.0, 2.0]) + np.log(2.0))


def test_a_level_is_the_mean_over_cells_and_those_next_to_them():
    found = cells._level(FIVE, IS_NEXT, 5, 2.5)
    assert found.around.tolist() == [12.0, 12.0, 15.0, 9.0, 5.0]
    assert found.n_samples == 12.0
    density = np.log(np.array([8.5 / 12, 8.5 / 12, 8.8 / 15, 6.3 / 9, 1.0 / 5]))
    np.testing.assert_allclose(found.log_density, density)
    reach = np.array([2.0, 1.0, 2.0, 1.0, 2.0]) + np.log(12 / 5) / 2.5
    lower = np.minimum(density[FIVE.first], density[FIVE.second])
    np.testing.assert_allclose(found.log_density_between, lower - 2.5 * np.maximum(0, FIVE.gap - reach))
    sides = (4 * 2 + 2 * 2 + 6 * 3 + 3 * 1 + 5 * 0) / 20
    assert found.dimension == max(1.0, 1 + (sides - 2) / 2.5)
    beside = np.array([density[[1, 2]].mean(), density[[0, 2]].mean(), density[[0, 1, 3]].mean(), density[2], 0.0])
    roughness = np.var((density - beside)[[0, 1, 3]])
    np.testing.assert_allclose(found.counted, np.minimum(found.around, 12.0) * 0.4 / max(0.4, 12 * roughness))
    np.testing.assert_array_equal(found.standing, FIVE.standing)
    np.testing.assert_array_equal(found.size, FIVE.size)


def test_rough_density_makes_samples_count_less():
    rough = FIVE._replace(mass=np.array([400.0, 0.01, 0.01, 300.0, 0.02]))
    density = np.log(np.array([400.02 / 12, 400.02 / 12, 700.02 / 15, 300.01 / 9, 0.02 / 5]))
    beside = np.array([density[[1, 2]].mean(), density[[0, 2]].mean(), density[[0, 1, 3]].mean(), density[2], 0.0])
    roughness = np.var((density - beside)[density >= np.median(density)])
    assert cells._roughness(density, FIVE.first[:4], FIVE.second[:4], np.array([2, 2, 3, 1, 0])) == pytest.approx(
        roughness
    )
    wide = cells._level(rough, np.array([True, False, False, True, True]), 5, 2.5)
    density = np.log(np.array([400.01 / 6, 400.01 / 6, 300.01 / 9, 300.03 / 14, 300.02 / 8]))
    beside = np.array([density[1], density[0], density[3], density[[2, 4]].mean(), density[3]])
    roughness = np.var((density - beside)[density >= np.median(density)])
    assert 8 * roughness > 0.4
    np.testing.assert_allclose(wide.counted, np.minimum([6.0, 6.0, 9.0, 14.0, 8.0], 8.0) * 0.4 / (8 * roughness))


def test_the_dimension_is_told_by_the_number_of_sides_up_to_that_of_the_data():
    n = 9
    first, second = np.array(list(itertools.combinations(range(n), 2)), dtype=np.int32).T
    ones, zeros = np.ones(n), np.zeros(first.size)
    all_linked = cells.Cells(ones, ones, np.arange(n), ones, np.zeros(n), first, second, zeros + 1, zeros)
    for dimension, expected in ((5.0, 1 + (8 - 2) / 2.5), (3.0, 3.0), (0.5, 1.0)):
        assert cells._level(all_linked, np.ones(first.size, dtype=bool), 2, dimension).dimension == pytest.approx(
            expected
        )


def test_cells_that_touch_most_for_their_size_are_paired_up():
    """Weights per product of sizes: 1/8, 2/24, 3/12, 4/18 and 0.1/15; the last are not next to each other."""
    assert cells._pair_up(FIVE, IS_NEXT).tolist() == [0, 1, 1, 2, 3]
    assert cells._pair_up(FIVE, np.ones(5, dtype=bool)).tolist() == [0, 1, 1, 2, 2]
    assert cells._pair_up(FIVE, np.array([True, True, False, True, False])).tolist() == [0, 0, 1, 1, 2]
    assert cells._pair_up(FIVE, np.zeros(5, dtype=bool)).tolist() == [0, 1, 2, 3, 4]


def test_the_heaviest_sub_cluster_stands_for_a_pair():
    found = cells._merge(FIVE, np.array([0, 1, 1, 0, 2]))
    assert (found.size.tolist(), found.standing.tolist()) == ([7.0, 8.0, 5.0], [10, 12, 14])
    np.testing.assert_allclose(found.mass, [2.3, 6.5, 1.0])
    assert (found.standing_mass.tolist(), found.log_radius.tolist()) == ([1.0, 3.0, 0.6], [7.0, 4.0, 10.0])
    assert list(zip(found.first.tolist(), found.second.tolist(), strict=True)) == [(0, 1), (0, 2)]
    np.testing.assert_allclose(found.weight, [7.0, 0.1])
    assert found.gap.tolist() == [0.5, 9.0]


def row_of(n, gap):
    first = np.arange(n - 1, dtype=np.int32)
    return Links(first, first + np.int32(1), 2.0 - first % 2, np.zeros(n - 1), np.full((n - 1, 1), gap))


def test_a_row_is_paired_up_again_and_again_while_four_cells_have_room():
    """Of 64 samples in a row, cells of 1, 2, 4 and 8 see 3, 6, 12 and 24 with those next to them."""
    found = list(cells.levels(row_of(64, 1.5), np.arange(64), np.zeros(64), np.ones(64), count=2, dimension=1.0))
    assert [level.n_samples for level in found] == [6.0, 12.0]
    assert [level.size.size for level in found] == [32, 16]
    at_once = list(cells.levels(row_of(64, 1.5), np.arange(64), np.zeros(64), np.ones(64), count=1, dimension=1.0))
    assert [level.n_samples for level in at_once] == [3.0, 6.0, 12.0]


def test_where_no_cells_are_next_to_each_other_there_are_no_levels():
    assert list(cells.levels(row_of(64, 99.0), np.arange(64), np.zeros(64), np.ones(64), count=2, dimension=1.0)) == []


def test_densities_are_relative_to_the_highest():
    """In two dimensions, the square of the density counts."""
    log_density = np.linspace(5.0, 6.0, 64)
    (level, *_) = cells.levels(row_of(64, 1.25), np.arange(64), log_density, np.ones(64), count=1, dimension=2.0)
    density = np.exp(2.0 * (log_density - 6.0))
    expected = [density[max(0, i - 1) : i + 2].mean() for i in range(64)]
    np.testing.assert_allclose(level.log_density, np.log(expected))


def test_levels_grow_up_to_a_quarter_of_the_samples():
    X = np.random.default_rng(0).random((3000, 2))
    graph, levels = levels_of(X)
    counts = [graph.scales.counts[-1], *(level.n_samples for level in levels)]
    assert len(levels) >= 3
    assert all(after >= 2 * before for before, after in itertools.pairwise(counts))
    assert counts[-1] <= 3000 / 4
    for level in levels:
        assert level.size.sum() == 3000
        assert len(np.unique(level.standing)) == level.size.size


@pytest.mark.parametrize(("shape", "lowest", "highest"), [("line", 1.0, 1.3), ("ring", 1.0, 1.3), ("square", 1.7, 2.1)])
def test_the_number_of_cells_next_to_one_tells_the_dimension(shape, lowest, highest):
    rng = np.random.default_rng(1)
    if shape == "ring":
        angle = rng.uniform(0, 2 * np.pi, 3000)
        X = np.c_[np.cos(angle), np.sin(angle)] + rng.normal(0, 0.02, (3000, 2))
    else:
        X = rng.random((3000, 1 if shape == "line" else 2))
    dimensions = [level.dimension for level in levels_of(X)[1] if 150 <= level.n_samples <= 500]
    assert dimensions
    assert all(lowest <= dimension <= highest for dimension in dimensions)


@pytest.mark.large
@pytest.mark.parametrize(("n_features", "apart", "n_samples"), [(1, 4.0, 10_000), (2, 3.0, 30_000)])
def test_a_shallow_valley_between_many_samples_is_seen(n_features, apart, n_samples):
    for seed in range(3):
        X = np.random.default_rng(seed).normal(size=(n_samples, n_features))
        X[: n_samples // 2, 0] += apart
        assert KFuse().fit(X).n_clusters_ == 2


@pytest.mark.large
@pytest.mark.parametrize("thickness", [0.05, 0.15])
def test_a_ring_of_many_samples_stays_one_cluster_where_cells_are_as_wide_as_it_is(thickness):
    for seed in range(2):
        rng = np.random.default_rng(seed)
        angle = rng.uniform(0, 2 * np.pi, 30_000)
        X = np.c_[np.cos(angle), np.sin(angle)] + rng.normal(0, thickness, (30_000, 2))
        assert KFuse().fit(X).n_clusters_ == 1


def test_samples_count_less_where_the_density_is_rough_and_as_they_are_where_it_is_smooth():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 30_000)
    ring = np.c_[np.cos(angle), np.sin(angle)] + rng.normal(0, 0.05, (30_000, 2))
    smooth, rough = levels_of(rng.random((30_000, 2)))[1], levels_of(ring)[1]

    def share(level):
        return (level.counted / np.minimum(level.around, level.n_samples)).max()

    assert min(share(level) for level in smooth if level.n_samples < 2000) > 0.9
    assert min(share(level) for level in rough if level.n_samples < 2000) < 0.5


def test_more_samples_make_the_evidence_for_a_valley_grow():
    rng = np.random.default_rng(0)
    for seed in range(4):
        evidence = []
        for n_samples in (500, 2000, 8000):
            X = np.random.default_rng([seed, n_samples]).normal(size=(n_samples, 2))
            X[: n_samples // 2, 0] += 4.0
            found = Graph(X, 17).peaks.evidence
            evidence.append(found[np.isfinite(found)].max())
        assert evidence[0] < evidence[1] < evidence[2]
    flat = [Graph(rng.random((2000, 2)), 17).peaks for _ in range(10)]
    assert [valleys.count_peaks(peaks) for peaks in flat].count(0) >= 9

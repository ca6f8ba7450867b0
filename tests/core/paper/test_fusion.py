"""The fusions of fusion="paper" equal those of all pairs of sub-clusters, measured over all pairs of samples."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import minmax_scale

from kfuse import KFuse
from kfuse.core.execution import SERIAL, Execution
from kfuse.core.paper import fusion, least_distances, spanning
from kfuse.core.paper.least_distances import LeastDistances
from kfuse.core.paper.subclusters import Partition
from kfuse.core.search import NeighborTable, choose_search
from tests.strategies import SEEDS, samples

# The literal evaluation, a block of rows of distances at a time.


def distances_between(points, others):
    total = np.zeros((len(points), len(others)))
    for feature in range(points.shape[1]):
        total += (points[:, [feature]] - others[:, feature]) ** 2
    return np.sqrt(total)


def neighbors_and_gaps(rows_of, labels, natural_value, block=256):
    """The lambda neighbours of every sample (Definition 1), and DC of all pairs of sub-clusters (Eq. 4)."""
    n, m = labels.size, labels.max() + 1
    by_label = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[by_label], np.arange(m))
    neighbors, least = np.empty((n, natural_value), dtype=int), np.full((m, m), np.inf)
    for start in range(0, n, block):
        rows = np.arange(start, min(start + block, n))
        distances = rows_of(rows)
        np.minimum.at(least, labels[rows], np.minimum.reduceat(distances[:, by_label], starts, axis=1))
        distances[np.arange(rows.size), rows] = np.inf
        farthest = np.partition(distances, natural_value - 1, axis=1)[:, natural_value - 1]
        for row, distance, limit in zip(rows, distances, farthest, strict=True):
            near = np.flatnonzero(distance <= limit)
            neighbors[row] = near[np.lexsort((near, distance[near]))][:natural_value]
    return neighbors, np.minimum(least, least.T)


def shared_samples(labels, neighbors):
    """|ADS| of all pairs (Eqs. 2 and 3)."""
    n, m = labels.size, labels.max() + 1
    member = csr_array((np.ones(n, dtype=int), (np.arange(n), labels)), shape=(n, m))
    named = csr_array((np.ones(neighbors.size, dtype=int), (neighbors.ravel(), np.repeat(labels, neighbors.shape[1]))))
    named.resize((n, m))
    augmented = ((member + named) > 0).astype(int)
    return (augmented.T @ augmented).toarray()


def moments(labels, density, left_out):
    means, variances = [], []
    for c in range(labels.max() + 1):
        values = density[(labels == c) & ~left_out].tolist()
        means.append(sum_in_order(values) / len(values))
        variances.append(sum_in_order([(value - means[c]) * (value - means[c]) for value in values]) / len(values))
    return means, variances


def sum_in_order(values):
    total = 0.0
    for value in values:
        total += value
    return total


def ratio(a, b, both_zero):
    return min(a, b) / max(a, b) if max(a, b) > 0 else both_zero


def log_fusion_index(n_shared, gap, sizes, means, variances):
    similarity = ratio(*means, 1.0) * (1 + ratio(*variances, 0.0))
    log_similarity = math.log(similarity) if similarity > 0 else -math.inf
    return math.log((n_shared + 1) / min(sizes)) - gap + log_similarity


def literal_fusions(rows_of, labels, density, left_out, natural_value):
    """Eqs. 2 to 7 of all pairs, sorted, then Algorithm 3: the children and the index of each fusion."""
    m = labels.max() + 1
    neighbors, gap = neighbors_and_gaps(rows_of, labels, natural_value)
    n_shared, sizes = shared_samples(labels, neighbors), np.bincount(labels).tolist()
    means, variances = moments(labels, density, left_out)
    first, second = np.triu_indices(m, 1)
    index = np.empty(first.size)
    for pair, (i, j) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        index[pair] = log_fusion_index(
            n_shared[i, j], gap[i, j], (sizes[i], sizes[j]), (means[i], means[j]), (variances[i], variances[j])
        )
    cluster, children, fused = np.arange(m), [], []
    for pair in np.lexsort((second, first, -index)):
        a, b = sorted((cluster[first[pair]], cluster[second[pair]]))
        if a != b:
            cluster[(cluster == a) | (cluster == b)] = m + len(children)
            children.append((a, b))
            fused.append(index[pair])
    return np.array(children).reshape(-1, 2), np.array(fused)


def assert_literal(X, rows_of=None, **params):
    """The tree is that of the literal evaluation, down to the order of fusions."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The data has .* sub-cluster")
        model = KFuse(2, fusion="paper", **params).fit(X)
    points = np.asarray(X, dtype=float) if rows_of is None else None
    children, log_index = literal_fusions(
        rows_of or (lambda rows: distances_between(points[rows], points)),
        model.subcluster_labels_,
        model.density_,
        model.outlier_mask_,
        model.natural_value_,
    )
    np.testing.assert_array_equal(model.tree_.children, children)
    np.testing.assert_allclose(model.tree_.log_index, log_index, rtol=1e-12)
    return model


def gaussians(n_samples, n_features=2, n_centres=20, seed=0):
    rng = np.random.default_rng(seed)
    centres, spread = rng.random((n_centres, n_features)), rng.uniform(0.005, 0.04, n_centres)
    centre = rng.integers(0, n_centres, n_samples)
    X = centres[centre] + spread[centre, None] * rng.standard_normal((n_samples, n_features))
    noise = rng.random(n_samples) < 0.05
    X[noise] = rng.random((noise.sum(), n_features))
    return minmax_scale(X)


@pytest.mark.large
@pytest.mark.parametrize("neighbors", ["kd_tree", "brute"])
@pytest.mark.parametrize("n_features", [1, 2, 3, 8, 20])
def test_gaussians_and_noise(n_features, neighbors):
    model = assert_literal(gaussians(2500, n_features), neighbors=neighbors)
    assert model.tree_.n_leaves > 5


@pytest.mark.large
@pytest.mark.parametrize("decimals", [1, 2, 3])
def test_ties_and_duplicates(decimals):
    assert_literal(gaussians(2000, seed=1).round(decimals))


@pytest.mark.large
@pytest.mark.parametrize("order", ["by rows", "shuffled"])
def test_grid(order):
    X = np.stack(np.meshgrid(np.arange(45), np.arange(40)), axis=-1).reshape(-1, 2) / 8
    assert_literal(X if order == "by rows" else np.random.default_rng(0).permutation(X))


@pytest.mark.large
@pytest.mark.parametrize("seed", range(4))
def test_row_orders(seed):
    assert_literal(np.random.default_rng(seed).permutation(gaussians(1500, seed=2)))


@pytest.mark.large
@pytest.mark.parametrize("unit", [1e-6, 1e-2, 30.0, 1e4])
def test_units(unit):
    """Small units leave the index to sizes and densities, large ones to distances."""
    assert_literal(gaussians(1500, seed=3) * unit)


def test_single_precision():
    assert_literal(gaussians(1500, seed=4).astype(np.float32))


def test_cosine():
    X = gaussians(1200, 3, seed=5) - 0.5
    largest = np.abs(X).max(axis=1, keepdims=True)
    units = (X / largest) / np.sqrt(((X / largest) ** 2).sum(axis=1, keepdims=True))
    assert_literal(X, lambda rows: distances_between(units[rows], units) ** 2 / 2, metric="cosine")


def test_other_metric():
    X = gaussians(800, seed=6)
    assert_literal(X, lambda rows: np.abs(X[rows, None] - X).sum(axis=2), metric="manhattan")


@pytest.mark.parametrize("n_neighbors", [40, 80])
def test_graph(n_neighbors):
    """Most pairs of sub-clusters are not connected, and the graph is in pieces."""
    X = np.vstack([gaussians(700, seed=7), gaussians(700, seed=8) + 5])
    graph = kneighbors_graph(X, n_neighbors, mode="distance")
    full = graph.toarray()
    full[full == 0] = np.inf
    full = np.minimum(full, full.T)
    model = assert_literal(graph, lambda rows: full[rows].copy(), metric="precomputed")
    assert np.isinf(model.tree_.log_index).any()


def test_extreme_units():
    """Coordinates are brought into range, distances beyond it are infinite."""
    X = gaussians(600, seed=9)
    tree = KFuse(2, fusion="paper").fit(np.ldexp(X, -500)).tree_
    far_apart = KFuse(2, fusion="paper").fit(np.ldexp(X, 600)).tree_
    assert tree.n_leaves == far_apart.n_leaves
    for model, scale in ((tree, -500), (far_apart, 600)):
        assert_same_as_all_rows(np.ldexp(X, scale), model.leaf_labels, np.ones(600))


# The same from any partition and any densities, which real ones seldom are as hard as.


def fusion_indices(X, labels, density, natural_value=3, metric="euclidean", neighbors="auto"):
    table = NeighborTable(choose_search(X, metric, neighbors), Execution(2))
    return fusion.FusionIndices(table, density, Partition(labels, np.zeros(labels.size, dtype=bool)), natural_value)


def assert_same_edges(edges, expected):
    for column, expected_column in zip(edges, expected, strict=True):
        np.testing.assert_array_equal(column, expected_column)


def spanning_edges(indices):
    return fusion.SPANNING_EDGES[indices.distances.compared_by](indices, SERIAL)


def assert_same_as_all_rows(X, labels, density, **params):
    indices = fusion_indices(X, labels, density, **params)
    assert_same_edges(spanning_edges(indices), fusion._from_rows(indices, SERIAL))


@st.composite
def partitions(draw, n_samples):
    """Any sub-clusters, from a few large ones to nearly one for each sample, with any densities."""
    rng = np.random.default_rng(draw(SEEDS))
    labels = np.unique(rng.integers(0, draw(st.integers(1, 2 * n_samples)), n_samples), return_inverse=True)[1].ravel()
    kind = draw(st.sampled_from(["equal", "few values", "any", "zeros"]))
    density = {
        "equal": np.ones(n_samples),
        "few values": rng.integers(1, 4, n_samples).astype(float),
        "any": rng.exponential(size=n_samples),
        "zeros": rng.integers(0, 2, n_samples) * rng.random(n_samples),
    }[kind]
    return labels, density


@settings(max_examples=300)
@given(st.data(), samples(), st.sampled_from(["kd_tree", "brute"]), st.sampled_from([1e-3, 1.0, 50.0]))
def test_any_partition(data, X, neighbors, unit):
    if len(X) < 2:
        return
    natural_value = data.draw(st.integers(1, min(10, len(X) - 1)))
    labels, density = data.draw(partitions(len(X)))
    assert_same_as_all_rows(X * unit, labels, density, natural_value=natural_value, neighbors=neighbors)


@settings(max_examples=100)
@given(st.data(), samples(max_samples=80))
def test_any_partition_of_a_graph(data, X):
    if len(X) < 2:
        return
    k = data.draw(st.integers(1, min(6, len(X) - 1)))
    labels, density = data.draw(partitions(len(X)))
    graph = kneighbors_graph(X, k, mode="distance")
    assert_same_as_all_rows(csr_array(graph), labels, density, natural_value=k, metric="precomputed")


def hard(n):
    """Sizes from 1 to hundreds, all over the place, with densities of a few values."""
    rng = np.random.default_rng(0)
    labels = np.unique(rng.zipf(1.3, n) % 700, return_inverse=True)[1].ravel()
    return rng.random((n, 2)).round(2), labels, rng.integers(1, 4, n).astype(float)


def hardly_different(unit):
    """Each sample is a sub-cluster. In a tiny unit, only density tells pairs apart, and that hardly."""
    density = np.ones(60)
    density[0] = 0.99
    return np.random.default_rng(0).random((60, 2)) * unit, np.arange(60), density


@pytest.mark.parametrize("unit", [2.0**-600, 1.0, 2.0**600])
def test_distances_count_in_the_unit_of_the_data(unit):
    assert_same_as_all_rows(*hardly_different(unit), natural_value=1)


def test_pairs_that_nothing_rules_out_find_room(monkeypatch):
    indices = fusion_indices(*hardly_different(2.0**-600), natural_value=1)
    monkeypatch.setattr(spanning, "PAIRS_AT_A_TIME", 1)
    found = [pairs.i.size for pairs in pairs_of_the_first_tree(indices)]
    assert len(found) > 3
    assert max(found) <= 60
    assert_same_edges(spanning_edges(indices), fusion._from_rows(indices, SERIAL))


def pairs_of_the_first_tree(indices):
    star = spanning.Edges(np.zeros(59, dtype=int), np.arange(1, 60), indices[0][1:])
    tree = spanning.spanning_tree(60, star)
    subclusters = spanning.SubClusters(indices.sizes, *indices.moments, indices.radius)
    return spanning.pairs_that_may_improve(tree, subclusters, only_best=False)


@pytest.mark.parametrize("room", [1, 100, 5000])
@pytest.mark.parametrize("n_samples", [200, pytest.param(3000, marks=pytest.mark.large)])
def test_amount_at_a_time_changes_nothing(n_samples, room, monkeypatch):
    indices = fusion_indices(*hard(n_samples))
    expected = spanning_edges(indices)
    monkeypatch.setattr(spanning, "PAIRS_AT_A_TIME", room)
    monkeypatch.setattr(spanning, "LOOKS_AT_A_TIME", room)
    monkeypatch.setattr(least_distances, "WORK_PER_PART", 100 * room)
    assert_same_edges(spanning_edges(indices), expected)
    assert_same_edges(fusion._from_rows(indices, SERIAL), expected)


@pytest.mark.large
def test_few_pairs_are_measured(monkeypatch):
    X = gaussians(10_000, n_centres=50)
    measured = []
    between = LeastDistances.between
    monkeypatch.setattr(LeastDistances, "between", lambda self, i, j: measured.append(i.size) or between(self, i, j))
    n_subclusters = KFuse(50, fusion="paper").fit(X).tree_.n_leaves
    assert sum(measured) < n_subclusters * (n_subclusters - 1) / 2 / 5


@pytest.mark.parametrize("seed", range(5))
def test_equal_indices_everywhere(seed):
    """Each sample is a sub-cluster, as dense as any other, on a grid: the smaller pair has to come first."""
    rng = np.random.default_rng(seed)
    X = rng.permutation(np.stack(np.meshgrid(np.arange(20), np.arange(20)), axis=-1).reshape(-1, 2))[:300] / 4
    assert_same_as_all_rows(X, np.arange(300), np.ones(300), natural_value=1 + seed % 3)


@pytest.mark.parametrize("neighbors", ["kd_tree", "brute"])
@pytest.mark.parametrize("seed", range(6))
def test_a_few_samples_in_any_partition(seed, neighbors):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 9, (45, 2)) / 4 if seed % 2 else rng.random((45, 2)) * 3
    labels = np.unique(rng.integers(0, [6, 20, 60][seed // 2], 45), return_inverse=True)[1].ravel()
    density = rng.integers(1, 4, 45).astype(float) if seed % 3 else rng.exponential(size=45)
    assert_same_as_all_rows(X, labels, density, natural_value=1 + seed % 4, neighbors=neighbors)


@pytest.mark.parametrize("at_a_time", [1, 7, 10**6])
def test_a_few_pairs_at_a_time_change_nothing(at_a_time, monkeypatch):
    indices = fusion_indices(*hard(50))
    expected = fusion._from_rows(indices, SERIAL)
    for module, name in ((spanning, "PAIRS_AT_A_TIME"), (spanning, "LOOKS_AT_A_TIME"), (fusion, "PAIRS_AT_A_TIME")):
        monkeypatch.setattr(module, name, at_a_time)
    assert_same_edges(fusion._from_rows(indices, SERIAL), expected)
    assert_same_edges(spanning_edges(indices), expected)


def test_a_few_samples_are_fused_as_evaluated_literally():
    for X in (gaussians(40, n_centres=3), np.round(gaussians(40, n_centres=3, seed=1), 1)):
        assert_literal(X)

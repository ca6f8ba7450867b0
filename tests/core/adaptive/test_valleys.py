"""Density peaks: the way to a higher one, and how often chance makes one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import f as f_distribution

from kfuse.core import adaptive
from kfuse.core.adaptive import density, peaks, valleys
from kfuse.core.adaptive.neighborhoods import own_neighborhoods
from kfuse.core.execution import SERIAL
from kfuse.core.search import NeighborTable, choose_search
from tests.strategies import SEEDS


class Graph:
    """The stages up to the links, on distinct samples."""

    def __init__(self, X, k):
        table = NeighborTable(choose_search(X, "euclidean", "auto"))
        self.nearest = table.collect(k)
        own = own_neighborhoods(self.nearest.indices, self.nearest.distances)
        rho = density.log_density(self.nearest.distances).values
        self.labels = peaks.climb(self.nearest.indices, own.counts, rho, 9).labels
        self.scales = valleys.choose_scales(self.nearest.distances)
        radii = self.scales.radii
        self.links = adaptive.link(table, self.nearest, own.counts, radii, rho, np.ones(len(rho)), self.labels, SERIAL)
        self.evidence = valleys.evidence_of_peaks(self.links, self.labels, self.scales)


@pytest.mark.parametrize(("k", "counts"), [(3, []), (7, []), (8, [8]), (15, [8]), (16, [8, 16]), (70, [8, 16, 32, 64])])
def test_scales_are_powers_of_two_up_to_k(k, counts):
    distances = np.sort(np.random.default_rng(0).random((5, k)), axis=1)
    scales = valleys.choose_scales(distances)
    assert scales.counts.tolist() == counts
    np.testing.assert_array_equal(scales.radii, distances[:, [count - 1 for count in counts]])


@pytest.mark.parametrize("n_features", [1, 2, 4])
def test_the_dimension_at_a_scale_is_that_of_the_data(n_features):
    X = np.random.default_rng(n_features).random((2000, n_features))
    nearest = NeighborTable(choose_search(X, "euclidean", "auto")).collect(16)
    np.testing.assert_allclose(valleys.choose_scales(nearest.distances).dimensions, n_features, rtol=0.15)


@pytest.mark.parametrize("count", [8, 32])
def test_surprise_is_the_tail_of_an_f_distribution(count):
    depth = np.linspace(0, 3, 7)
    expected = -f_distribution.logsf(np.exp(depth), 2 * count, 2 * count)
    np.testing.assert_allclose(valleys.surprise(depth, count), expected, rtol=1e-6)


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(30, 120), st.sampled_from([1, 2, 3]))
def test_a_peak_ends_where_the_best_way_to_a_higher_one_is_widest(seed, n_samples, n_features):
    """Against minimax paths between all sub-clusters, and the samples that a smaller gap reaches from the peak."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features)) + 6 * rng.integers(0, 3, (n_samples, 1))
    graph = Graph(X, 17)
    n_leaves = graph.labels.max() + 1
    for scale, count in enumerate(graph.scales.counts):
        way = np.full((n_leaves, n_leaves), np.inf)
        way[graph.links.first, graph.links.second] = graph.links.gap[:, scale]
        way = np.minimum(way, way.T)
        np.fill_diagonal(way, 0.0)
        for middle in range(n_leaves):
            way = np.minimum(way, np.maximum(way[:, [middle]], way[[middle]]))
        radius = np.array([graph.scales.radii[graph.labels == leaf, scale].min() for leaf in range(n_leaves)])
        for leaf in range(n_leaves):
            is_before = np.arange(n_leaves) < leaf  # two samples may be each other's M-th neighbours
            higher = np.flatnonzero((radius < radius[leaf]) | ((radius == radius[leaf]) & is_before))
            if not higher.size:
                assert graph.evidence[leaf, scale] == np.inf
                continue
            gap = way[leaf, higher].min()
            members = way[leaf][graph.labels] < gap
            if members.sum() < count:
                assert graph.evidence[leaf, scale] == -np.inf
                continue
            spread = graph.scales.spreads[members, scale].mean()
            dimension = valleys.expected_spread(np.array([count]))[0] / spread
            depth = np.array([dimension * np.log(gap / radius[leaf])])
            correction = valleys.corrections(graph.scales, scale, np.array([members.sum()]), n_samples)
            expected = valleys.surprise(depth, count) - correction
            assert graph.evidence[leaf, scale] == pytest.approx(expected[0], rel=1e-9, abs=1e-9)


def test_chance_makes_no_peaks_and_a_valley_does():
    rng = np.random.default_rng(0)
    found = [valleys.count_peaks(Graph(rng.normal(size=(500, 2)), 20).evidence) for _ in range(40)]
    assert found.count(0) >= 37
    apart = [[0, 0], [6, 0], [0, 6]]
    found = [
        valleys.count_peaks(Graph(rng.normal(size=(600, 2)) + np.repeat(apart, 200, axis=0), 20).evidence)
        for _ in range(10)
    ]
    assert found == [2] * 10


def test_counting_is_by_step_up():
    needed = np.log(1 / valleys.LEVEL)
    assert valleys.count_peaks(np.array([[np.inf], [needed + 1e-9], [needed - np.log(2) - 1e-9], [-np.inf]])) == 1
    assert valleys.count_peaks(np.array([[np.inf], [needed - 0.1], [needed - np.log(2) + 1e-9], [-9.0]])) == 2
    assert valleys.count_peaks(np.array([[np.inf], [needed - 0.1], [-9.0], [-9.0]])) == 0
    assert valleys.count_peaks(np.empty((4, 0))) == 0


def test_scales_share_the_level_and_the_best_one_counts():
    needed = np.log(2 / valleys.LEVEL)
    evidence = np.array([[np.inf, 0.0], [needed - 0.1, needed + 0.1], [-np.inf, needed], [-np.inf, np.inf]])
    assert valleys.count_peaks(evidence) == 2


def test_a_merge_has_the_lesser_peak_of_its_two_sides():
    children = np.array([[0, 1], [2, 3], [4, 5]])
    evidence = np.array([[5.0, 1.0], [np.inf, 2.0], [3.0, np.inf], [-np.inf, 7.0]])
    np.testing.assert_array_equal(valleys.evidence_of_merges(children, evidence), [5.0, 7.0, 3.0])

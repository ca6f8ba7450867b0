"""What the line of stages hands on, on few samples."""

import numpy as np
import pytest
from sklearn.neighbors import kneighbors_graph

from kfuse.core import adaptive, noise
from kfuse.core.adaptive import islands, links, neighborhoods, places, profiles, scales
from kfuse.core.execution import SERIAL, Execution
from kfuse.core.natural import NaturalNeighbors
from kfuse.core.search import NeighborTable, choose_search

RNG = np.random.default_rng(0)
X = np.vstack([RNG.normal(size=(30, 3)), RNG.normal(size=(20, 3)) + 8.0])[RNG.permutation(50)]
COPIED = np.vstack([X, X[[4, 4, 7]]])


def table_of(X, metric="euclidean"):
    return NeighborTable(choose_search(X, metric, "auto"))


@pytest.mark.parametrize(
    ("largest", "natural_value", "n_samples", "expected"),
    [(9, 3, 99, 9), (40, 3, 99, 16), (40, 9, 99, 18), (40, 9, 11, 10), (99, 50, 200, 64), (20, 8, 99, 16)],
)
def test_neighbours_are_capped(largest, natural_value, n_samples, expected):
    assert adaptive.count_neighbors(largest, natural_value, n_samples) == expected


def test_places_of_least_weight_that_nobody_names_are_left_out():
    distinct = places.Places(np.arange(4), np.arange(4), np.ones(4), np.array([True, True, False, True]))
    found = NaturalNeighbors(3, np.array([0, 2, 0, 0]))
    assert adaptive._without_reverse_neighbors(distinct, found).tolist() == [True, False, False, True]
    alone = places.Places(np.zeros(1, int), np.zeros(1, int), np.ones(1), np.ones(1, dtype=bool))
    assert not adaptive._without_reverse_neighbors(alone, NaturalNeighbors(0, np.zeros(1, dtype=int))).any()


@pytest.mark.parametrize("sample_weight", [None, RNG.integers(1, 5, 53).astype(float)])
def test_places_are_described_by_their_neighbours(sample_weight):
    distinct, neighbors = places.find_places(table_of(COPIED), sample_weight)
    nearest = neighbors.nearest(16)
    lengths = nearest.distances_of()
    found = adaptive.describe(nearest, 0.0, distinct, sample_weight, SERIAL)
    copies = np.bincount(distinct.place, sample_weight)
    own = neighborhoods.own_neighborhoods(nearest, neighborhoods.spreads_of(lengths))
    np.testing.assert_array_equal(found.own.counts, own.counts)
    assert found.own.dimension == own.dimension > 1
    around = np.column_stack([np.arange(50), nearest.indices])
    mean_weight = (copies / copies.mean())[around].mean(axis=1)
    expected = -np.log(lengths.mean(axis=1) / found.log_density.unit) + np.log(mean_weight) / own.dimension
    np.testing.assert_allclose(found.log_density.values, expected)
    np.testing.assert_array_equal(found.radius, lengths[np.arange(50), own.counts - 1])
    np.testing.assert_array_equal(found.looked_at.radii, lengths[:, [7, 15]])
    seen = scales.without_gaps(scales.all_scales(lengths), own.counts)
    np.testing.assert_allclose(found.looked_at.spreads, seen.spreads)
    of_places = noise.log_levels(nearest.indices, lengths, copies, copies, own.dimension)
    of_places[copies > 8] = of_places.max()
    np.testing.assert_allclose(found.levels, of_places[distinct.place])


def test_parts_and_threads_change_no_description(monkeypatch):
    distinct, neighbors = places.find_places(table_of(COPIED))
    nearest = neighbors.nearest(16)
    expected = adaptive.describe(nearest, 0.0, distinct, None, SERIAL)
    for module in (profiles, neighborhoods):
        monkeypatch.setattr(module, "SAMPLES_PER_PART", 7)
    found = adaptive.describe(nearest, 0.0, distinct, None, Execution(2))
    np.testing.assert_array_equal(found.levels, expected.levels)
    np.testing.assert_array_equal(found.own.counts, expected.own.counts)
    np.testing.assert_array_equal(found.log_density.values, expected.log_density.values)


@pytest.mark.parametrize(("metric", "is_kept"), [("euclidean", False), ("precomputed", True)])
def test_neighbours_are_kept_where_they_cannot_be_found_again(metric, is_kept):
    given = X if metric == "euclidean" else np.linalg.norm(X[:, None] - X, axis=2)
    distinct, neighbors = places.find_places(table_of(given, metric))
    nearest = neighbors.nearest(16)
    summed = scales.all_scales(nearest.distances_of()).summed(np.zeros(50, dtype=int))
    for weight in (None, np.ones(50)):
        kept = adaptive.what_is_kept(nearest, neighbors, distinct, summed, 2.5, weight)
        assert (kept.around is not None) == (is_kept or weight is not None)
        if kept.around is not None:
            np.testing.assert_array_equal(kept.around.distances, nearest.distances_of())
        np.testing.assert_array_equal(kept.for_islands.indices, nearest.indices[:, : islands.N_LINKS])
        np.testing.assert_array_equal(kept.for_islands.radii, nearest.distances_of()[:, [7, 15]])
    assert adaptive.what_is_kept(nearest, neighbors, distinct, summed, 2.4, None).for_islands is None


def test_sub_clusters_have_the_weight_and_the_density_of_their_samples():
    ends = links.Ends(
        np.array([0, 1, 0]), np.array([1.0, 2.0, 4.0]), np.array([0.5, 1.5, 1.0]), None, None, np.empty((3, 0))
    )
    first, second = np.array([0], dtype=np.int32), np.array([1], dtype=np.int32)
    graph = links.Links(first, second, np.array([2.0]), np.array([6.0]), np.empty((1, 0)))
    looked_at = scales.SummedScales(np.empty(0, int), np.empty((3, 0)), [], np.empty(0), np.empty(0), 0.0)
    merges, peaks = adaptive.merge(graph, ends, looked_at, Execution(2))
    assert merges.size.tolist() == [[1.5, 1.5]]
    np.testing.assert_allclose(merges.density, [[4.5 / 1.5, 2.0]])
    np.testing.assert_allclose(merges.log_index, np.log(2.0 / (1.5 * np.sqrt(1.5))) + 3.0 - 2.5)
    assert peaks.most.size == 0


@pytest.mark.parametrize("sample_weight", [None, RNG.integers(1, 5, 53).astype(float)])
def test_a_fit_tells_of_every_sample(sample_weight):
    found = adaptive.fit(table_of(COPIED), SERIAL, sample_weight)
    lengths = np.linalg.norm(X[:, None] - X, axis=2)
    near = np.sort(lengths, axis=1)[:, 1 : found.n_neighbors + 1]
    if sample_weight is None:
        copies = np.ones(50)
        copies[[4, 7]] = 3.0, 2.0
    else:
        copies = sample_weight[:50].copy()
        copies[4] += sample_weight[50:52].sum()
        copies[7] += sample_weight[52]
    order = np.argsort(lengths, axis=1)[:, : found.n_neighbors + 1]
    mean_weight = (copies / copies.mean())[order].mean(axis=1) ** (1 / found.borders.dimension)
    place = np.append(np.arange(50), [4, 4, 7])
    np.testing.assert_allclose(found.density, (mean_weight / near.mean(axis=1))[place])
    named = np.bincount(order[:, 1 : found.natural_value + 1].ravel(), minlength=50)
    np.testing.assert_array_equal(found.reverse_counts, named[place])
    np.testing.assert_array_equal(found.left_out, ((named == 0) & (copies == copies.min()))[place])
    assert (found.representatives < 50).all()
    assert (found.density[found.representatives] >= found.density).all()
    np.testing.assert_array_equal(found.subclusters[found.representatives], found.subclusters)
    assert (found.leaving[found.representatives == place] == -1).all()
    assert (found.leaving[found.representatives != place] >= 0).all()
    assert found.n_missing == 0
    assert (np.diff(found.height) >= 0).all()
    np.testing.assert_array_equal(np.sort(found.children.ravel()), np.arange(2 * len(found.children)))


def test_a_graph_that_holds_too_few_neighbours_tells_how_many_are_missing():
    graph = kneighbors_graph(X, 8, mode="distance")
    found = adaptive.fit(table_of(graph, "precomputed"), SERIAL)
    whole = adaptive.fit(table_of(X), SERIAL)
    assert found.n_neighbors == 8 < whole.n_neighbors
    assert found.n_missing >= whole.n_neighbors - 8
    assert whole.n_missing == 0

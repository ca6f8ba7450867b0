"""Links between sub-clusters equal those that are added up pair by pair of samples."""

import math

import numpy as np
import pytest

from kfuse.core.adaptive import links
from kfuse.core.search import Nearest

K = 6


def random_places(seed, has_ties, is_weighted):
    """Places with their K nearest neighbours, of which a random number is in the neighbourhood."""
    rng = np.random.default_rng(seed)
    X = rng.permutation(64)[:40, None] // [1, 8] % 8.0 if has_ties else rng.random((40, 2))
    lengths = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    np.fill_diagonal(lengths, np.inf)
    indices = np.argsort(lengths, axis=1, kind="stable")[:, :K].astype(np.int32)
    distances = np.take_along_axis(lengths, indices, axis=1)
    counts = rng.integers(1, K + 1, 40).astype(np.int32)
    labels = np.append(np.arange(7), rng.integers(0, 7, 33))
    weights = rng.integers(1, 4, 40) / 2.0 if is_weighted else np.ones(40)
    radius = distances[np.arange(40), counts - 1]
    ends = links.Ends(labels, rng.normal(size=40), weights, counts, radius, rng.random((40, 2)))
    return Nearest(indices, distances), ends


def pair_by_pair(nearest, ends):
    """The weight, the level and the gaps between each two sub-clusters."""
    lists = [row[:count].tolist() for row, count in zip(nearest.indices, ends.counts, strict=True)]
    around = [{p, *others} for p, others in enumerate(lists)]
    found = {}
    for p, others in enumerate(lists):
        for rank, q in enumerate(others):
            is_mutual = p in lists[q]
            if ends.labels[p] == ends.labels[q] or (is_mutual and q < p):
                continue
            share = len(around[p] & around[q]) / min(len(around[p]), len(around[q]))
            weight = share**2 * math.sqrt(ends.weights[p] * ends.weights[q]) / (1 if is_mutual else 2)
            gap = np.maximum(np.maximum(ends.radii[p], ends.radii[q]), nearest.distances_of()[p, rank])
            pair = tuple(sorted((int(ends.labels[p]), int(ends.labels[q]))))
            old = found.get(pair, (0.0, 0.0, np.inf))
            level = weight * min(ends.log_density[p], ends.log_density[q])
            found[pair] = old[0] + weight, old[1] + level, np.minimum(old[2], gap)
    return found


@pytest.mark.parametrize("has_ties", [False, True])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_links_equal_those_added_up_pair_by_pair(has_ties, is_weighted):
    for seed in range(3):
        nearest, ends = random_places(seed, has_ties, is_weighted)
        found, expected = links.links_between(nearest, ends), pair_by_pair(nearest, ends)
        pairs = list(zip(found.first.tolist(), found.second.tolist(), strict=True))
        assert pairs == sorted(expected)
        for number, pair in enumerate(pairs):
            weight, level, gap = expected[pair]
            assert found.weight[number] == pytest.approx(weight)
            assert found.level[number] == pytest.approx(level)
            np.testing.assert_array_equal(found.gap[number], gap)


@pytest.mark.parametrize(("at_a_time", "most", "n_parts"), [(7, 256, 6), (1, 3, 4), (40, 1, 1)])
def test_parts_of_the_sub_clusters_change_nothing(at_a_time, most, n_parts, monkeypatch):
    nearest, ends = random_places(5, True, True)
    expected = links.links_between(nearest, ends)
    monkeypatch.setattr(links, "SAMPLES_LINKED", at_a_time)
    monkeypatch.setattr(links, "MOST_PARTS", most)
    one_way = links.links_one_way(nearest, ends)
    assert len(one_way) == n_parts
    for one, other in zip(links.both_ways(one_way), expected, strict=True):
        np.testing.assert_array_equal(one, other)
    assert one_way == []  # to free their memory


@pytest.mark.parametrize("per_part", [2, links.SAMPLES_PER_PART])
def test_the_radius_is_the_distance_of_the_last_neighbour_before_the_gap(per_part, monkeypatch):
    monkeypatch.setattr(links, "SAMPLES_PER_PART", per_part)
    distances = np.arange(1.0, 22.0).reshape(7, 3)
    counts = np.array([1, 3, 2, 3, 1, 2, 1], dtype=np.int32)
    expected = [1.0, 6.0, 8.0, 12.0, 13.0, 17.0, 19.0]
    nearest = Nearest(np.zeros((7, 3), dtype=np.int32), distances)
    assert links.radius_of(distances, counts).tolist() == expected
    assert links.radii_of_neighborhoods(nearest, distances[:, -1], counts).tolist() == expected
    assert links.radius_of(np.empty((2, 0)), np.zeros(2, dtype=np.int32)).tolist() == [0.0, 0.0]


def test_one_place_has_no_links():
    ends = links.Ends(np.zeros(1, int), np.zeros(1), np.ones(1), np.zeros(1, np.int32), np.zeros(1), np.empty((1, 0)))
    found = links.links_between(Nearest(np.empty((1, 0), dtype=np.int32), np.empty((1, 0))), ends)
    assert [column.shape for column in found] == [(0,), (0,), (0,), (0,), (0, 0)]

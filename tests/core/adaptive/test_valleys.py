"""Density peaks: the way to a higher one, and how often chance makes one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import f as f_distribution

from kfuse.core import adaptive
from kfuse.core.adaptive import cells, density, links, peaks, valleys
from kfuse.core.adaptive import scales as chosen
from kfuse.core.adaptive.neighborhoods import own_neighborhoods, spreads_of
from kfuse.core.adaptive.significance import NEEDED
from kfuse.core.natural import sum_in_order
from kfuse.core.search import NeighborTable, choose_search
from tests.strategies import SEEDS


class Graph:
    """The stages up to the links, on distinct samples."""

    def __init__(self, X, k):
        table = NeighborTable(choose_search(X, "euclidean", "auto"))
        self.nearest = table.nearest(k)
        distances = self.nearest.distances_of()
        own = own_neighborhoods(self.nearest, spreads_of(distances))
        rho = self.log_density = density.log_density(sum_in_order(distances), k, distances.max()).values
        self.labels = peaks.climb(self.nearest.indices, own.counts, rho, 9).labels
        self.scales = chosen.without_gaps(chosen.all_scales(distances), own.counts)
        radius = links.radius_of(distances, own.counts)
        ends = links.Ends(self.labels, rho, np.ones(len(rho)), own.counts, radius, self.scales.radii)
        one_way = links.links_one_way(self.nearest, ends)
        self.links = adaptive.connect(one_way, table.search, k, ends)
        summed = self.scales.summed(self.labels)
        beyond = valleys.levels_beyond(self.links, self.labels, summed, rho)
        self.selection = valleys.Selection.of(summed, beyond, len(X))
        self.peaks = valleys.evidence_of_peaks(self.links, self.labels, summed, rho)


@pytest.mark.parametrize(("k", "counts"), [(3, []), (7, []), (8, [8]), (15, [8]), (16, [8, 16]), (70, [8, 16, 32, 64])])
def test_scales_are_powers_of_two_up_to_k(k, counts):
    distances = np.sort(np.random.default_rng(0).random((5, k)), axis=1)
    scales = chosen.without_gaps(chosen.all_scales(distances), np.full(5, k))
    assert scales.counts.tolist() == counts
    np.testing.assert_array_equal(scales.radii, distances[:, [count - 1 for count in counts]])


@pytest.mark.parametrize("n_features", [1, 2, 4])
def test_the_dimension_at_a_scale_is_that_of_the_data(n_features):
    X = np.random.default_rng(n_features).random((2000, n_features))
    nearest = NeighborTable(choose_search(X, "euclidean", "auto")).collect(16)
    scales = chosen.without_gaps(chosen.all_scales(nearest.distances), np.full(2000, 16))
    np.testing.assert_allclose(scales.dimensions, n_features, rtol=0.15)


def test_what_lies_beyond_a_gap_tells_nothing_of_the_dimension():
    """Groups of fifteen, 10 standard deviations apart: the sixteenth neighbour is in another group."""
    rng = np.random.default_rng(0)
    centres = 10.0 * np.stack(np.meshgrid(np.arange(12), np.arange(12)), axis=-1).reshape(-1, 1, 2)
    X = np.concatenate([(rng.normal(size=(144, 15, 2)) + centres).reshape(-1, 2), rng.normal(size=(60, 2)) - 100.0])
    nearest = NeighborTable(choose_search(X, "euclidean", "auto")).collect(20)
    everything = chosen.without_gaps(chosen.all_scales(nearest.distances), np.full(len(X), 20))
    inside = chosen.without_gaps(chosen.all_scales(nearest.distances), np.repeat([14, 20], [144 * 15, 60]))
    assert everything.dimensions[1] < 1.0
    assert inside.dimensions[1] > 1.5
    np.testing.assert_array_equal(inside.radii, everything.radii)


def test_without_enough_samples_a_scale_has_the_dimension_of_the_one_before():
    distances = np.sort(np.random.default_rng(0).random((30, 16)), axis=1)
    scales = chosen.without_gaps(chosen.all_scales(distances), np.repeat([8, 16], [20, 10]))
    np.testing.assert_allclose(scales.spreads[:20, 1], scales.spreads[:, 0].mean())
    assert len(np.unique(scales.spreads[20:, 1])) == 10


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
                assert graph.peaks.evidence[leaf, scale] == np.inf
                continue
            gap = way[leaf, higher].min()
            members = way[leaf][graph.labels] < gap
            if members.sum() < count:
                assert graph.peaks.evidence[leaf, scale] == -np.inf
                continue
            spreads = graph.scales.spreads[:, scale]
            spread = (spreads[members].sum() + 32 * spreads.mean()) / (members.sum() + 32)
            dimension = chosen.expected_spread(np.array([count]))[0] / spread
            depth = np.array([dimension * np.log(gap / radius[leaf])])
            correction = valleys.corrections(graph.selection, scale, np.array([members.sum()]))
            expected = valleys.surprise(depth, count) - correction
            assert graph.peaks.evidence[leaf, scale] == pytest.approx(expected[0], rel=1e-9, abs=1e-9)


def test_the_smallest_dimension_up_to_the_size_of_a_piece_counts():
    selection = valleys.Selection(np.array([8.0, 16.0, 100.0]), np.array([2.5, 1.8, 1.3]), 2, 800)
    found = valleys.corrections(selection, 0, np.array([np.nan, 63.0, 64.0, 399.0, 400.0]))
    log_places, log_scales = np.log(100.0), np.log(3.0)
    in_two = [1.0 * log_places + 0.5] * 2 + [1.2 * log_places + 1.2] * 2 + [2.0 * log_places + 1.5]
    np.testing.assert_allclose(found, np.array(in_two) + log_scales)
    np.testing.assert_allclose(valleys.corrections(selection, 2, np.array([9.0])), 2.0 * np.log(8.0) + 1.5 + log_scales)


def test_chance_makes_no_peaks_and_a_valley_does():
    rng = np.random.default_rng(0)
    found = [valleys.count_peaks(Graph(rng.normal(size=(500, 2)), 20).peaks) for _ in range(40)]
    assert found.count(0) >= 37
    apart = [[0, 0], [6, 0], [0, 6]]
    found = [
        valleys.count_peaks(Graph(rng.normal(size=(600, 2)) + np.repeat(apart, 200, axis=0), 20).peaks)
        for _ in range(10)
    ]
    assert found == [2] * 10


def peaks_with(evidence, most=100.0):
    """Make peaks with the given evidence, one column for each scale."""
    evidence = np.array(evidence, dtype=float)
    return valleys.Peaks(evidence, np.full(evidence.shape[1], most))


def test_counting_is_by_step_up():
    needed = NEEDED
    two = needed - np.log(2) + np.log(99 / 100)
    assert valleys.count_peaks(peaks_with([[np.inf], [needed + 1e-9], [two - 1e-9], [-np.inf]])) == 1
    assert valleys.count_peaks(peaks_with([[np.inf], [needed - 0.1], [two + 1e-9], [-9.0]])) == 2
    assert valleys.count_peaks(peaks_with([[np.inf], [needed - 0.1], [-9.0], [-9.0]])) == 0
    assert valleys.count_peaks(peaks_with(np.empty((4, 0)))) == 0


def test_many_peaks_do_not_lower_the_bar_further_than_there_is_room_for():
    """Twenty samples have no room for forty peaks of ten samples: none of them is more than chance."""
    evidence = np.append(np.inf, np.full(40, 0.0))[:, None]
    assert valleys.count_peaks(peaks_with(evidence, most=100.0)) == 40
    assert valleys.count_peaks(peaks_with(evidence, most=2.0)) == 0


def test_the_more_of_the_room_peaks_fill_the_less_is_left_for_chance():
    """Of 60 peaks with room for 100, the level is divided by the 41 places that are left."""
    needed = NEEDED - np.log(60) + np.log(41 / 100)
    for margin, count in ((1e-9, 60), (-1e-9, 0)):
        evidence = np.append(np.inf, np.full(60, needed + margin))[:, None]
        assert valleys.count_peaks(peaks_with(evidence, most=100.0)) == count
    full = np.append(np.inf, np.full(100, NEEDED - 2 * np.log(100) + 1e-9))[:, None]
    assert valleys.count_peaks(peaks_with(full, most=100.0)) == 100


def test_a_single_peak_needs_the_full_level_however_little_room_there_is():
    assert valleys.count_peaks(peaks_with([[np.inf], [NEEDED - 1e-9]], most=1.5)) == 0
    assert valleys.count_peaks(peaks_with([[np.inf], [NEEDED + 1e-9]], most=1.5)) == 1


def test_the_best_scale_counts():
    needed = NEEDED
    evidence = [[np.inf, 0.0], [needed - 0.1, needed + 0.1], [-np.inf, needed], [-np.inf, np.inf]]
    assert valleys.count_peaks(peaks_with(evidence)) == 2


def test_a_merge_has_the_lesser_peak_of_its_two_sides():
    children, sizes = np.array([[0, 1], [2, 3], [4, 5]]), np.array([15.0, 20, 20, 15, 35, 35, 70])
    peaks = peaks_with([[5.0, 1.0], [np.inf, 2.0], [3.0, np.inf], [-np.inf, 7.0]])
    np.testing.assert_array_equal(valleys.evidence_of_merges(children, sizes, peaks), [5.0, 7.0, 3.0])


def test_no_peak_where_there_is_room_counts_against_a_merge():
    children = np.array([[0, 1]])
    peaks = peaks_with([[np.inf], [-np.inf]])
    for size, expected in ((15.0, -np.inf), (16.0, -NEEDED)):
        assert valleys.evidence_of_merges(children, np.array([size, 40.0, 40.0 + size]), peaks) == [expected]


def three_in_a_row(gap):
    """Three sub-clusters of 40, 30 and 20 samples; the first is linked with the second, and that with the third."""
    labels = np.repeat(np.arange(3), [40, 30, 20])
    ends = np.array([0, 1], dtype=np.int32), np.array([1, 2], dtype=np.int32)
    return labels, links.Links(*ends, np.ones(2), np.zeros(2), np.array(gap, dtype=float)[:, None])


def test_a_piece_ends_at_the_gap_to_a_higher_peak():
    first, second = np.array([0, 1, 2], dtype=np.int32), np.array([1, 2, 3], dtype=np.int32)
    size, spread = np.array([10.0, 20.0, 30.0, 40.0]), np.array([1.0, 4.0, 3.0, 8.0])
    found = valleys.peaks_end(first, second, np.array([4.0, 6.0, 5.0]), np.array([2.0, 1.0, 2.5, 0.5]), size, spread)
    np.testing.assert_array_equal(found.ratio, [2.0, 6.0, 2.0, np.nan])
    np.testing.assert_array_equal(found.size, [10.0, 30.0, 30.0, np.nan])
    np.testing.assert_allclose(found.mean_spread, [0.1, 5 / 30, 0.1, np.nan])


def test_a_piece_is_taken_as_it_was_before_the_gap_at_which_it_ends():
    """All links have the same gap, so no piece has grown before it ends."""
    first, second = np.array([0, 0, 1], dtype=np.int32), np.array([1, 2, 2], dtype=np.int32)
    size, spread = np.array([10.0, 20.0, 30.0]), np.array([1.0, 4.0, 9.0])
    found = valleys.peaks_end(first, second, np.full(3, 3.0), np.array([1.0, 1.5, 1.0]), size, spread)
    np.testing.assert_array_equal(found.ratio, [np.nan, 2.0, 3.0])  # of equally high ones, the first is the peak
    np.testing.assert_array_equal(found.size, [np.nan, 20.0, 30.0])
    np.testing.assert_allclose(found.mean_spread, [np.nan, 0.2, 0.3])


@pytest.mark.parametrize("step", [0.0, 0.5])
def test_the_evidence_within_neighbourhoods(step):
    labels, graph = three_in_a_row([3.0, 2.5])
    radii = np.repeat([1.5, 1.0, 2.0], [40, 30, 20])[:, None]
    spread_sums = [np.array([16.0, 15.0, 4.0])]
    looked_at = chosen.SummedScales(np.array([24]), radii, spread_sums, np.array([0.4]), np.array([1.9]), step)
    selection = valleys.Selection(np.array([24.0]), np.array([1.9]), 1, 90)
    found = valleys._of_neighborhoods(graph, labels, looked_at, 0, selection)
    # The third peak has fewer than 24 samples; the first ends at the gap to the second.
    mean_spread = (16.0 + 32 * 0.4) / (40 + 32)
    dimension = sum(1 / i for i in range(12, 24)) / mean_spread
    ratio = np.sqrt((3.0**2 - step**2) / (1.5**2 + step**2))
    depth = np.array([dimension * np.log(ratio)])
    expected = valleys.surprise(depth, 24) - valleys.corrections(selection, 0, np.array([40.0]))
    np.testing.assert_allclose(found, [expected[0], np.inf, -np.inf])


def test_the_evidence_of_cells():
    """Three cells, the second of which is the densest; sub-clusters 5, 0 and 3 stand for them."""
    level = cells.Level(
        n_samples=24.0,
        dimension=1.0,
        standing=np.array([5, 0, 3]),
        size=np.array([40.0, 30.0, 26.0]),
        around=np.array([50.0, 60.0, 11.9]),
        counted=np.array([20.0, 24.0, 24.0]),
        log_density=np.array([-1.0, 0.0, -1.2]),
        first=np.array([0, 1], dtype=np.int32),
        second=np.array([1, 2], dtype=np.int32),
        log_density_between=np.array([-2.0, -1e9]),
    )
    selection = valleys.Selection(np.array([8.0, 24.0]), np.array([2.0, 1.0]), 1, 96)
    found = valleys._of_cells(level, 1, 7, selection)
    correction = valleys.corrections(selection, 1, np.array([40.0, 26.0]))
    expected = valleys.surprise(np.array([1.0]), 20.0)[0] - correction[0]
    np.testing.assert_allclose(found, [np.inf, -np.inf, -np.inf, -np.inf, -np.inf, expected, -np.inf])
    seen = valleys._of_cells(level._replace(around=np.array([50.0, 60.0, 12.0])), 1, 7, selection)
    deep = valleys.surprise(np.array([598.8]), 24.0)[0]
    assert seen[3] == pytest.approx(deep - correction[1])
    few = valleys._of_cells(level._replace(size=np.array([24.0, 30.0, 23.0])), 1, 7, selection)
    assert np.isfinite(few[5])
    assert few[3] == -np.inf


def test_all_scales_stand_side_by_side():
    """24 sub-clusters of one sample in a row: one scale of cells beyond that of the neighbourhoods."""
    first = np.arange(23, dtype=np.int32)
    gap = np.column_stack([np.where(np.arange(23) == 11, 6.0, 1.5)])
    graph = links.Links(first, first + np.int32(1), 2.0 - np.arange(23) % 2, np.zeros(23), gap)
    labels, spread = np.arange(24), [np.ones(24)]
    looked_at = chosen.SummedScales(np.array([2]), np.ones((24, 1)), spread, np.array([1.0]), np.array([1.0]), 0.0)
    found = valleys.evidence_of_peaks(graph, labels, looked_at, np.zeros(24))
    assert found.most.tolist() == [12.0, 4.0]
    (level,) = valleys.levels_beyond(graph, labels, looked_at, np.zeros(24))
    selection = valleys.Selection.of(looked_at, [level], 24)
    assert selection.counts.tolist() == [2.0, 6.0]
    assert (selection.dimensions.tolist(), selection.n_within, selection.n_samples) == ([1.0, 1.0], 1, 24)
    np.testing.assert_array_equal(
        found.evidence[:, 0], valleys._of_neighborhoods(graph, labels, looked_at, 0, selection)
    )
    np.testing.assert_array_equal(found.evidence[:, 1], valleys._of_cells(level, 1, 24, selection))
    none = looked_at._replace(counts=np.empty(0, dtype=int))
    without = valleys.evidence_of_peaks(graph, labels, none, np.zeros(24))
    assert (without.evidence.shape, without.most.size) == ((24, 0), 0)


def test_evidence_is_the_best_of_all_scales_and_not_below_that_of_no_peak():
    children, sizes = np.array([[0, 1], [2, 3]]), np.array([16.0, 30.0, 9.0, 46.0, 55.0])
    peaks = peaks_with([[4.0, 1.0], [2.0, 9.0], [np.inf, -9.0]])
    assert valleys.evidence_of_merges(children, sizes, peaks).tolist() == [2.0, 4.0]
    low = peaks_with([[-50.0], [-60.0], [np.inf]])
    np.testing.assert_allclose(valleys.evidence_of_merges(children, sizes, low), [-NEEDED, -50.0])
    untested = valleys.Peaks(np.empty((3, 0)), np.empty(0))
    assert valleys.evidence_of_merges(children, sizes, untested).tolist() == [-np.inf, -np.inf]


def test_surprise_stays_finite_however_deep():
    found = valleys.surprise(np.array([0.0, 600.0, 1e9]), 8)
    assert found[0] == pytest.approx(np.log(2.0))
    assert found[1] == found[2] == pytest.approx(-np.log(np.finfo(float).tiny))


@pytest.mark.parametrize(
    ("dimension", "places", "offset"),
    [
        (1.0, 2.0, 1.5),
        (1.3, 2.0, 1.5),
        (1.8, 1.2, 1.2),
        (2.15, 1.1, 0.85),
        (2.5, 1.0, 0.5),
        (3.25, 0.9, 0.5),
        (4.0, 0.8, 0.5),
        (9.0, 0.8, 0.5),
    ],
)
def test_corrections_are_as_calibrated(dimension, places, offset):
    selection = valleys.Selection(np.array([8.0]), np.array([dimension]), 1, 800)
    expected = places * np.log(100.0) + offset
    np.testing.assert_allclose(valleys.corrections(selection, 0, np.array([50.0])), [expected])

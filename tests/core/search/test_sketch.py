"""Sketches: short lists by a few directions, measured exactly; used only where they tell the nearest."""

import numpy as np
import pytest

from kfuse import KFuse
from kfuse.core.distances import CosineDistances, EuclideanDistances
from kfuse.core.execution import Execution
from kfuse.core.search import NeighborTable, cells, sketch
from kfuse.core.search import approximate as room
from kfuse.core.search.approximate import ApproximateSearch
from kfuse.core.search.brute_force import BruteForceSearch, compete
from kfuse.core.search.screen import Visit
from kfuse.core.search.sketch import Sketch, compete_in_any_order, has_whole_squares, principal_directions, sketch_of

N, K = 3000, 12


def decaying(n_samples=N, n_features=130, seed=0):
    """Samples whose spread falls from one direction to the next, turned at random, in a few groups."""
    rng = np.random.default_rng(seed)
    turned = np.linalg.qr(rng.normal(size=(n_features, n_features)))[0]
    X = rng.normal(size=(n_samples, n_features)) * np.arange(1, n_features + 1) ** -1.2
    X[:, :3] += 4 * rng.integers(0, 2, (n_samples, 3))
    return (X @ turned).astype(np.float32)


@pytest.fixture
def looks_at_few(monkeypatch):
    monkeypatch.setattr(cells, "CELL_SIZE", 16)
    monkeypatch.setattr(cells, "FEWEST_SEEN", 40)
    monkeypatch.setattr(cells, "SEEN_PER_NEIGHBOR", 2)
    monkeypatch.setattr(room, "SHARE_SEARCHED", 1.0)


def all_of(n_samples):
    return lambda rows: [Visit(np.arange(rows.size), np.arange(n_samples, dtype=np.int32))]


@pytest.mark.parametrize("rounded", [False, True])
def test_all_directions_find_the_nearest_of_all(rounded):
    X = decaying(600, 40)
    X = np.rint(20 * X) if rounded else X
    distances, rows = EuclideanDistances(X), np.arange(590, 3, -7)
    made = Sketch(X, np.eye(40))
    assert made.is_whole == rounded
    expected = BruteForceSearch(distances).query(rows, K)
    found, lengths = made.nearest(rows, K, all_of(600))
    np.testing.assert_array_equal(found, expected.indices)
    np.testing.assert_array_equal(lengths, expected.distances)
    listed, estimates = made.listed(rows, K, all_of(600))
    by_estimate = np.take_along_axis(distances.rows(rows), listed.astype(int), axis=1)
    np.testing.assert_allclose(by_estimate, expected.distances, rtol=1e-3)
    assert (np.diff(estimates, axis=1) >= 0).all()


def test_estimates_are_those_of_the_directions_and_all_lengths():
    X = decaying(300, 30, seed=1).astype(np.float64)
    directions = principal_directions(X - X.mean(axis=0), 6)
    made, exponent = Sketch(X, directions), np.frexp(np.abs(X - X.mean(axis=0)).max())[1]
    z = np.ldexp(X - X.mean(axis=0), -exponent)
    expected = (z * z).sum(axis=1) / 2 - (z @ directions) @ (z @ directions).T
    np.fill_diagonal(expected, np.inf)
    listed, estimates = made.listed(np.arange(300), K, all_of(300))
    np.testing.assert_allclose(estimates, np.sort(expected, axis=1)[:, :K], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(
        np.take_along_axis(expected, listed.astype(int), axis=1), estimates, rtol=1e-4, atol=1e-5
    )


def test_lists_that_end_early_leave_infinite_distances():
    X = decaying(50, 20)
    made = Sketch(X, np.eye(20))
    few = lambda rows: [Visit(np.arange(rows.size), np.arange(5, dtype=np.int32))]  # noqa: E731
    for indices, lengths in (made.nearest(np.arange(50), K, few), made.listed(np.arange(50), K, few)):
        np.testing.assert_array_equal(np.isfinite(lengths).sum(axis=1), np.where(np.arange(50) < 5, 4, 5))
        assert (indices[np.isinf(lengths)] == 50).all()


@pytest.mark.parametrize("wide", [False, True])
def test_principal_directions_are_those_of_the_spread(wide):
    rng = np.random.default_rng(0)
    some = rng.normal(size=(40, 60) if wide else (200, 30)) * np.arange(1, 61 if wide else 31) ** -1.0
    some -= some.mean(axis=0)
    found, expected = principal_directions(some, 7), np.linalg.svd(some)[2][:7].T
    np.testing.assert_allclose(np.abs((found * expected).sum(axis=0)), 1, atol=1e-9)
    np.testing.assert_allclose(found.T @ found, np.eye(7), atol=1e-9)


def test_a_sketch_is_made_only_where_it_tells_the_nearest():
    rng = np.random.default_rng(2)
    assert sketch_of(decaying(), 0).factors.shape == (N, 17)
    groups = 50 * rng.normal(size=(6, 130))[rng.integers(6, size=N)]  # directions tell these apart, and no more
    assert sketch_of(groups + rng.normal(size=(N, 130)), 0) is None
    long = rng.normal(size=(N, 130))
    long[:, 0] *= 100
    assert sketch_of(long, 0) is None
    assert sketch_of(decaying(N, 127), 0) is None
    assert sketch_of(np.ones((N, 130)), 0) is None


@pytest.mark.parametrize(
    ("points", "is_whole"),
    [
        (np.array([[3.0, -4.0]]), True),
        (np.array([[3.0, 0.5]], np.float32), False),
        (np.array([[2.0**26, 1.0]]), False),  # squares beyond 2^53
        (np.array([[True, False]]), True),
        (np.array([[7, 200]], np.uint8), True),
        (np.array([[np.inf, 1.0]]), False),
    ],
)
def test_whole_squares(points, is_whole):
    assert has_whole_squares(points) == is_whole


def test_any_order_is_exact_for_whole_numbers():
    rng = np.random.default_rng(3)
    X, samples = np.rint(rng.normal(size=(200, 97)) * 1e5), rng.permutation(200).astype(np.int32)
    heaps = [(np.full(K, 200, np.int32), np.full(K, np.inf)) for _ in range(2)]
    compete(X, 5, samples, *heaps[0])
    compete_in_any_order(X, 5, samples, *heaps[1])
    np.testing.assert_array_equal(heaps[0][0], heaps[1][0])
    np.testing.assert_array_equal(heaps[0][1], heaps[1][1])


@pytest.mark.large
@pytest.mark.parametrize("kind", [EuclideanDistances, CosineDistances])
def test_finds_nearly_all_and_measures_exactly(kind, looks_at_few):
    distances = kind(decaying())
    search = ApproximateSearch(distances, 0)
    found = NeighborTable(search).collect(K)
    assert search._sketch is not None
    exact = BruteForceSearch(distances).query(np.arange(N), K)
    assert np.mean([np.isin(a, b).mean() for a, b in zip(exact.indices, found.indices, strict=True)]) > 0.95
    np.testing.assert_array_equal(
        found.distances, np.take_along_axis(distances.rows(np.arange(N)), found.indices.astype(int), axis=1)
    )


@pytest.mark.large
def test_threads_do_not_matter_and_the_seed_does(looks_at_few):
    X = decaying()
    tables = [
        NeighborTable(ApproximateSearch(EuclideanDistances(X), seed, Execution(n)), Execution(n)).collect(K)
        for seed, n in ((0, 1), (0, 3), (1, 1))
    ]
    np.testing.assert_array_equal(tables[0].indices, tables[1].indices)
    assert (tables[0].indices != tables[2].indices).any()
    fits = [KFuse(8, neighbors="approximate", random_state=0, n_jobs=n).fit(X) for n in (1, 2)]
    np.testing.assert_array_equal(fits[0].labels_, fits[1].labels_)


@pytest.mark.parametrize("rounded", [False, True])
def test_of_a_few_samples_all_directions_find_the_nearest(rounded):
    X = decaying(60, 20).astype(np.float64)
    X = np.rint(20 * X) if rounded else X
    distances, rows = EuclideanDistances(X), np.arange(50, 3, -7)
    expected = BruteForceSearch(distances).query(rows, 5)
    made = Sketch(X, np.eye(20))
    found, lengths = made.nearest(rows, 5, all_of(60))
    np.testing.assert_array_equal(found, expected.indices)
    np.testing.assert_array_equal(lengths, expected.distances)
    listed, estimates = made.listed(rows, 5, all_of(60))
    by_estimate = np.take_along_axis(distances.rows(rows), listed.astype(int), axis=1)
    np.testing.assert_allclose(by_estimate, expected.distances, rtol=1e-3)
    assert (np.diff(estimates, axis=1) >= 0).all()


@pytest.mark.parametrize(("half", "exponent"), [(0.4, -1), (1.0, 1), (3.9, 2), (4.0, 3)])
def test_no_usual_coordinate_reaches_the_power_of_two_of_a_frame(half, exponent):
    frame, is_usual = sketch.frame_of(np.array([[7.0 - half, 0.0], [7.0 + half, 0.0]]))
    assert frame.centre.tolist() == [7.0, 0.0]
    assert frame.exponent == exponent
    assert is_usual.all()


def test_identical_rows_have_a_frame():
    frame, is_usual = sketch.frame_of(np.full((3, 2), 5.0))
    assert (frame.centre.tolist(), frame.exponent, is_usual.all()) == ([5.0, 5.0], 0, True)
    few_differ = np.zeros((9, 2))
    few_differ[0] = 1.0, 3.0
    assert sketch.frame_of(few_differ)[1].all()


@pytest.mark.parametrize("far", [1e4, 1e9, 1e30, 1e140])
def test_far_rows_do_not_count_for_the_frame_and_stay_finite(far):
    X = decaying(300, 30).astype(np.float64)
    near = sketch.frame_of(X[1:])[0]
    X[0, 3] = far
    frame, is_usual = sketch.frame_of(X)
    np.testing.assert_array_equal(is_usual, np.arange(300) > 0)
    np.testing.assert_array_equal(frame.centre, near.centre)
    assert frame.exponent == near.exponent
    assert np.isfinite(Sketch(X, np.eye(30), frame).factors).all()


@pytest.mark.parametrize("far", [1e9, 1e30])
def test_one_far_value_costs_the_others_no_neighbours(far):
    X = decaying(600, 40).astype(np.float64)
    X[0, 0] = far
    rows = np.arange(1, 600, 7)
    expected = BruteForceSearch(EuclideanDistances(X)).query(rows, K)
    found, lengths = Sketch(X, np.eye(40)).nearest(rows, K, all_of(600))
    np.testing.assert_array_equal(found, expected.indices)
    np.testing.assert_array_equal(lengths, expected.distances)


def share_listed(some, sketched):
    half_squares = (some**2).sum(axis=1) / 2
    nearest = np.argsort(sketch.estimates_of(some, half_squares), axis=1)[:, : sketch.NEIGHBORS_TRIED]
    return sketch.share_listed(sketched, half_squares, nearest)


def test_the_share_listed_is_that_of_the_nearest_below_the_limit(monkeypatch):
    """Of four nearest among twelve samples, the sketch has to list six."""
    rng = np.random.default_rng(5)
    some = rng.normal(size=(12, 6))
    some -= some.mean(axis=0)
    for directions in (some[:, :1], some[:, :3], some):
        n_listed = 0
        for own in range(12):
            others = [other for other in range(12) if other != own]
            lengths = ((some - some[own]) ** 2).sum(axis=1)
            estimates = (some**2).sum(axis=1) / 2 - directions @ directions[own]
            nearest = sorted(others, key=lambda other: lengths[other])[:4]
            n_listed += len(set(nearest) & set(sorted(others, key=lambda other: estimates[other])[:6]))
        assert share_listed(some, directions) == pytest.approx(n_listed / 48)
    monkeypatch.setattr(sketch, "ROWS_TRIED", 5)
    assert share_listed(some, some) == 1.0


def test_as_few_directions_as_suffice_are_taken(monkeypatch):
    monkeypatch.setattr(sketch, "FEWEST_FEATURES", 40)
    monkeypatch.setattr(sketch, "FEWEST_DIRECTIONS", 3)
    tried = []
    monkeypatch.setattr(sketch, "share_listed", lambda sketched, *_: tried.append(sketched.shape) or 0.98)
    X = decaying(50, 48)
    assert sketch_of(X, 0) is None
    assert tried == [(50, 3), (50, 6), (50, 12)]
    monkeypatch.setattr(sketch, "share_listed", lambda sketched, *_: 0.99 if sketched.shape[1] == 6 else 0.98)
    made = sketch_of(X, 0)
    assert made.factors.shape == (50, 7)
    assert sketch_of(X[:, :39], 0) is None
    monkeypatch.setattr(sketch, "ROWS_DRAWN", 20)
    monkeypatch.setattr(sketch, "share_listed", lambda sketched, *_: float(len(sketched) == 20))
    assert sketch_of(X, 0).factors.shape == (50, 4)


def test_a_list_ends_with_the_first_bound_that_is_missing():
    points, rows = np.array([[0.0], [1.0], [2.5], [4.0]]), np.array([0, 3])
    bounds = np.array([[0.0, 1.0, np.nan], [5.0, 6.0, 7.0]])
    columns = np.array([[0, 2, 1], [2, 1, 0]], dtype=np.int32)
    for is_whole in (False, True):
        indices, distances = np.full((2, 2), 4, dtype=np.int32), np.full((2, 2), np.inf)
        sketch.measure_listed(bounds, columns, rows, points, is_whole, indices, distances)
        assert sorted(distances[0].tolist()) == [2.5, np.inf]
        assert sorted(distances[1].tolist()) == [1.5, 3.0]
        assert sorted(indices[1].tolist()) == [1, 2]
    estimates = np.full((2, 2), np.inf)
    sketch.offer_estimates(bounds, columns, rows, indices, estimates)
    assert sorted(estimates.ravel().tolist()) == [1.0, 5.0, 6.0, np.inf]

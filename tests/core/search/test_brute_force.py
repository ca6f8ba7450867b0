"""Matrix products find the same neighbours as sums in order do, to the last tie."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from kfuse.core.adaptive.bridges import shortest_bridges
from kfuse.core.distances import CosineDistances, EuclideanDistances
from kfuse.core.execution import Execution
from kfuse.core.search import NeighborTable
from kfuse.core.search import brute_force as room
from kfuse.core.search import screen as screens
from kfuse.core.search.brute_force import BruteForce, BruteForceSearch
from kfuse.core.search.kd_tree import KDTreeSearch
from kfuse.core.search.rows import RowSearch
from kfuse.core.search.screen import Screen, Visit, bound_limit
from tests.strategies import repeats


def integer_grid(rng, n, d):
    return rng.integers(0, 3, (n, d))


def pixels(rng, n, d):
    return rng.integers(0, 256, (n, d)) * (rng.random((n, d)) < 0.3)


def gaussian(rng, n, d):
    return rng.normal(size=(n, d))


def duplicates(rng, n, d):
    return rng.normal(size=(3, d))[rng.integers(0, 3, n)]


def one_place(rng, n, d):
    return np.full((n, d), 0.1)


def far_from_zero(rng, n, d):
    return 1e6 + rng.normal(size=(n, d))


def far_apart(rng, n, d):
    return rng.integers(-1, 2, (n, 1)) * 1e7 + rng.normal(size=(n, d))


def constant_columns(rng, n, d):
    return rng.normal(size=(n, d)) * (np.arange(d) % 3 == 0) + 7.3


def with_an_outlier(rng, n, d):
    return np.vstack([rng.normal(size=(n - 1, d)), np.full((1, d), 1e15)])


def of_all_sizes(rng, n, d):
    return rng.normal(size=(n, d)) * 10.0 ** rng.integers(-18, 18, (n, 1))


def nearly_tied(rng, n, d):
    steps = rng.integers(-3, 4, (n, d)) * np.finfo(np.float32).eps
    return rng.integers(0, 2, (n, d)) + steps * rng.integers(0, 2)


def on_a_sphere(rng, n, d):
    X = rng.normal(size=(n, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


KINDS = [
    integer_grid,
    pixels,
    gaussian,
    duplicates,
    one_place,
    far_from_zero,
    far_apart,
    constant_columns,
    with_an_outlier,
    of_all_sizes,
    nearly_tied,
    on_a_sphere,
]


def distances_in_order(X):
    """Every distance, as one sum over the features in order."""
    X = X.astype(np.float64)
    total = np.zeros((len(X), len(X)))
    for column in X.T:
        total += (column[:, None] - column) ** 2
    return np.sqrt(total)


def by_sorting(X):
    """The slow truth: sort all others by (distance, index)."""
    distances = distances_in_order(X)
    np.fill_diagonal(distances, -1)
    order = np.argsort(distances, axis=1, kind="stable")[:, 1:]
    return order, np.take_along_axis(distances, order, axis=1)


def assert_equals_sorting(X, numbers, search=None):
    search = BruteForce(X) if search is None else search
    expected = by_sorting(X)
    for k in numbers:
        indices, distances = search.query(np.arange(len(X)), int(k))
        np.testing.assert_array_equal(indices, expected[0][:, :k])
        np.testing.assert_array_equal(distances, expected[1][:, :k])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_equals_sorting(kind, dtype, monkeypatch):
    rng = np.random.default_rng(0)
    for _ in range(repeats(100)):
        n, d = int(rng.integers(2, 90)), int(rng.choice([1, 2, 5, 13, 40, 200]))
        monkeypatch.setattr(screens, "COLUMNS_AT_A_TIME", int(rng.choice([1, 7, 64, 65, 4096])))
        X = kind(rng, n, d).astype(dtype)
        assert_equals_sorting(X, rng.integers(0, n, 2))


@pytest.mark.large
@pytest.mark.parametrize("kind", KINDS)
def test_equals_sorting_with_more_samples_than_a_block(kind):
    X = kind(np.random.default_rng(1), 600, 30)
    assert_equals_sorting(X, (1, 10, 200, 599))


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_no_bound_is_beyond_the_reach_of_its_distance(kind, dtype, precision):
    rng = np.random.default_rng(2)
    for d in (1, 3, 50, 1000):
        X = kind(rng, 200, d).astype(dtype)
        screen = Screen(X, precision)
        rows = np.arange(200)
        ((_, bounds),) = screen.blocks(rows, [Visit(rows, rows.astype(np.int32))])
        reach = getattr(bound_limit, "py_func", bound_limit)(
            distances_in_order(X), np.arange(200)[:, None], screen.limits
        )
        assert (bounds <= reach.astype(precision)).all()


@pytest.mark.parametrize("size", [1e-300, 1e-150, 1e-40, 1e40, 1e149, 1e300])
def test_any_unit(size):
    X = np.random.default_rng(3).integers(0, 4, (150, 20)) * size
    points = EuclideanDistances(X).points
    assert_equals_sorting(points, [30])


@pytest.mark.parametrize("size", [1e-44, 1e-38, 1e37])
def test_any_unit_of_float32(size):
    X = (np.random.default_rng(4).integers(0, 4, (150, 20)) * np.float32(size)).astype(np.float32)
    assert_equals_sorting(X, [30])


@pytest.mark.large
def test_float64_takes_over_where_float32_cannot_tell():
    X = far_apart(np.random.default_rng(5), 2000, 10)
    search = BruteForce(X)
    assert search._current_screen().factors.dtype == np.float32
    assert_equals_sorting(X, [5], search)
    assert search._current_screen().factors.dtype == np.float64
    assert_equals_sorting(X, [5], search)


def test_float32_is_enough_for_pixels():
    X = pixels(np.random.default_rng(6), 3000, 50)
    search = BruteForce(X.astype(np.float64))
    search.query(np.arange(256), 20)
    assert search._current_screen().factors.dtype == np.float32


def test_input_is_not_changed():
    X = far_apart(np.random.default_rng(7), 500, 4)
    before = X.copy()
    BruteForce(X).query(np.arange(500), 9)
    np.testing.assert_array_equal(X, before)


@pytest.mark.large
@pytest.mark.parametrize("kind", [EuclideanDistances, CosineDistances])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_search_equals_the_search_in_rows(kind, n_threads, monkeypatch):
    monkeypatch.setattr(room, "ROWS_AT_A_TIME", 32)
    distances = kind(pixels(np.random.default_rng(8), 700, 60) + 1.0)
    found = NeighborTable(BruteForceSearch(distances), Execution(n_threads)).collect(25)
    expected = NeighborTable(RowSearch(distances), Execution(n_threads)).collect(25)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.distances, expected.distances)


@pytest.mark.parametrize("distances_of", [EuclideanDistances, CosineDistances])
@pytest.mark.parametrize("kind", [integer_grid, pixels, gaussian, far_apart, duplicates])
def test_bridges_equal_those_of_the_search_in_rows(kind, distances_of, monkeypatch):
    monkeypatch.setattr(room, "ROWS_AT_A_TIME", 16)
    rng = np.random.default_rng(10)
    for n_pieces in (1, 2, 3, 20, 90):
        X = kind(rng, 90, 8) + np.eye(8)[0] * 9.0
        _, piece = np.unique(rng.integers(0, n_pieces, 90), return_inverse=True)
        found = [
            shortest_bridges(search(distances_of(X)), piece.astype(np.int32))
            for search in (BruteForceSearch, RowSearch, KDTreeSearch)
        ]
        for other in found[1:]:
            for field, expected in zip(found[0], other, strict=True):
                np.testing.assert_array_equal(field, expected)


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.mark.parametrize("n_threads", [1, 3])
def test_products_run_in_the_thread_that_asks_for_them(n_threads, monkeypatch):
    monkeypatch.setattr(room, "ROWS_AT_A_TIME", 64)
    during = []

    def watched(screen, rows, visits):
        for block in blocks(screen, rows, visits):
            during.append(blas_threads())
            yield block

    blocks = Screen.blocks
    monkeypatch.setattr(Screen, "blocks", watched)
    search = BruteForceSearch(EuclideanDistances(gaussian(np.random.default_rng(9), 300, 5)))
    with threadpool_limits(2, user_api="blas"):
        assert blas_threads() == {2}
        NeighborTable(search, Execution(n_threads)).collect(9)
        assert during == [{1}] * 5
        assert blas_threads() == {2}


@pytest.mark.parametrize("kind", KINDS)
def test_a_few_samples_equal_sorting(kind, monkeypatch):
    rng = np.random.default_rng(1)
    monkeypatch.setattr(screens, "COLUMNS_AT_A_TIME", 30)
    X = kind(rng, 40, 6)
    assert_equals_sorting(X, (0, 1, 5))
    assert_equals_sorting(X[:9], (8,))


def test_lists_hold_the_lowest_bounds_and_a_cut_of_the_others():
    X = np.random.default_rng(2).normal(size=(150, 4))
    screen, rows = Screen(X, np.float64), np.array([3, 140, 77])
    every = np.arange(150)
    ((_, bounds),) = screen.blocks(rows, [Visit(np.arange(3), every.astype(np.int32))])
    bounds = bounds.copy()
    for k in (1, 9, 149):
        lists = screen.short_lists(rows, k)
        least, most = min(150, k + 1), min(150, k + k // 8 + 9)
        assert lists.columns.shape == lists.bounds.shape == (3, most)
        for row in range(3):
            listed = lists.columns[row][~np.isnan(lists.bounds[row])]
            assert len(set(listed.tolist())) == listed.size >= least
            np.testing.assert_array_equal(bounds[row, listed], lists.bounds[row, : listed.size])
            others = np.setdiff1d(every, listed)
            assert (bounds[row, others] >= lists.cut[row]).all()
            assert bounds[row, listed].max() <= np.sort(bounds[row])[listed.size - 1]


def test_what_is_not_visited_is_not_found():
    X = np.random.default_rng(3).normal(size=(40, 3))

    def visiting(rows):
        yield Visit(np.arange(rows.size), np.arange(10, 15, dtype=np.int32))
        if (rows == 20).any():
            yield Visit(np.flatnonzero(rows == 20), np.array([3, 9], dtype=np.int32))

    indices, distances = BruteForce(X).query(np.array([12, 20]), 6, visiting)
    expected = by_sorting(X)
    first = [i for i in expected[0][12] if i in (10, 11, 13, 14)]
    second = [i for i in expected[0][20] if i in (10, 11, 12, 13, 14, 3, 9)][:6]
    assert indices.tolist() == [[*first, 40, 40], second]
    assert np.isinf(distances[0, 4:]).all()
    np.testing.assert_array_equal(distances[1], distances_in_order(X)[20, second])


def test_a_screen_is_the_points_moved_to_their_mean_and_scaled():
    X = np.array([[1.0, 10.0], [3.0, 10.0], [5.0, 40.0]])
    screen = Screen(X, np.float64)
    scale = 2.0**-5  # the farthest is 20 from the mean
    z = (X - X.mean(axis=0)) * scale
    np.testing.assert_allclose(screen.factors[:, :-1], z)
    np.testing.assert_allclose(screen.factors[:, -1], (z * z).sum(axis=1) / 2)
    assert screen.limits.scale == scale
    slack = 10 * (2.0**-53 + 2.0**-53) / (1 - 10 * 2.0**-53)
    np.testing.assert_allclose(screen.limits.own_part, (z * z).sum(axis=1) * (0.5 - slack), rtol=1e-16)
    assert screen.limits.margin == 8 * 2.0**-53 + 40 * 2.0**-53
    assert (screen.limits.tiny, Screen(X, np.float32).limits.tiny) == (1e-80, 1e-30)
    limit = bound_limit(4.0, 2, screen.limits._replace(margin=0.25, tiny=100.0))
    half, own = (4.0 * scale) ** 2 / 2, screen.limits.own_part[2]
    assert limit == pytest.approx(half - own + 0.25 * (half + own) + 100.0)


@pytest.mark.parametrize(("n_open", "precision"), [(0, np.float32), (2, np.float32), (3, np.float64)])
def test_where_more_than_a_tenth_of_the_lists_does_not_suffice_products_are_in_float64(n_open, precision, monkeypatch):
    X = gaussian(np.random.default_rng(4), 40, 3)
    search, rows, expected, settle = BruteForce(X), np.arange(20), by_sorting(X), room.settle

    def settle_some(lists, *others):
        settle(lists, *others)
        others[-1][:n_open] = False

    monkeypatch.setattr(room, "settle", settle_some)
    indices, distances = search.query(rows, 4)
    np.testing.assert_array_equal(indices, expected[0][:20, :4])
    np.testing.assert_array_equal(distances, expected[1][:20, :4])
    assert search._current_screen().factors.dtype == precision


def test_a_list_suffices_if_all_others_are_beyond_its_limit():
    X = np.arange(12.0)[:, None]
    screen, rows = Screen(X, np.float64), np.array([0, 11])
    lists = screen.short_lists(rows, 1)
    for cut, expected in ((lists.cut, [True, True]), (np.array([-np.inf, np.inf]), [False, True])):
        indices, distances = np.full((2, 1), 12, dtype=np.int32), np.full((2, 1), np.inf)
        suffices = np.zeros(2, dtype=bool)
        buffers = room._buffers_for(lists.bounds)
        room.settle(lists._replace(cut=cut), rows, X, screen.limits, buffers, indices, distances, suffices)
        assert (indices.tolist(), distances.tolist()) == ([[1], [10]], [[1.0], [1.0]])
        assert suffices.tolist() == expected


def test_the_nearest_in_another_component_within_reach():
    X = np.array([[0.0], [1.0], [3.0], [7.0], [8.0]])
    component = np.array([0, 0, 1, 1, 1], dtype=np.int32)
    reach = np.array([np.inf, 1.9, 2.0])
    found, distances = BruteForce(X).nearest_elsewhere(np.array([0, 1, 2]), component, reach)
    assert found.tolist() == [2, 5, 1]
    assert distances.tolist() == [3.0, 1.9, 2.0]


@pytest.mark.parametrize("n", range(1, 10))
def test_samples_compete_whatever_their_number(n):
    rng = np.random.default_rng(n)
    X = rng.integers(0, 4, (12, 3)).astype(float)
    samples = rng.permutation(12)[:n].astype(np.int32)
    indices, distances = np.full(4, 12, dtype=np.int32), np.full(4, np.inf)
    room.compete(X, 3, samples, indices, distances)
    expected = sorted((float(np.linalg.norm(X[i] - X[3])), int(i)) for i in samples if i != 3)[:4]
    found = sorted(zip(distances.tolist(), indices.tolist(), strict=True))
    assert [index for _, index in found[: len(expected)]] == [index for _, index in expected]
    np.testing.assert_allclose([d for d, _ in found[: len(expected)]], [d for d, _ in expected])
    assert np.isinf(distances).sum() == 4 - len(expected)


def test_a_list_that_was_just_shortened_has_room_for_a_glance():
    """Of the first 64 columns, 42 stay, as many as a list of 30 to 42 may hold; the next 32 are all lower."""
    bounds = np.concatenate([np.linspace(10, 11, 42), np.linspace(100, 101, 22), np.linspace(0, 1, 32)])
    lists = screens.Products(np.column_stack([np.zeros(96), bounds])).short_lists(np.array([5]), 30)
    assert set(range(64, 96)) <= set(lists.columns[0][~np.isnan(lists.bounds[0])].tolist())
    assert lists.cut[0] <= 11

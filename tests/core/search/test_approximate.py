"""Approximate neighbours: nearly all of the nearest, measured and sorted as the exact ones, the same for a seed."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from kfuse import KFuse
from kfuse.core.distances import CosineDistances, EuclideanDistances, MetricDistances
from kfuse.core.execution import Execution
from kfuse.core.search import NeighborTable, cells, choose_search
from kfuse.core.search import approximate as room
from kfuse.core.search.approximate import ApproximateSearch
from kfuse.core.search.brute_force import BruteForceSearch
from kfuse.core.search.rows import RowSearch
from kfuse.core.search.sketch import Sketch

N = 3000


@pytest.fixture(scope="module")
def data():
    return make_blobs(N, n_features=12, centers=6, random_state=0)[0]


@pytest.fixture
def looks_at_few(monkeypatch):
    """Small cells, of which few are looked into, and leaders of leaders: as with many samples."""
    monkeypatch.setattr(cells, "CELL_SIZE", 8)
    monkeypatch.setattr(cells, "FEWEST_SEEN", 200)
    monkeypatch.setattr(cells, "SEEN_PER_NEIGHBOR", 4)
    monkeypatch.setattr(cells, "MOST_LEADERS", 60)
    monkeypatch.setattr(cells, "ROWS_AT_A_TIME", 500)
    monkeypatch.setattr(cells, "COLUMNS_AT_A_TIME", 33)
    monkeypatch.setattr(cells, "ENTRIES_AT_A_TIME", 1000)


def kinds(X):
    return [EuclideanDistances(X), CosineDistances(X), MetricDistances(X, "manhattan")]


def seen_by(search, rows, k):
    """The samples that each of some rows looks at."""
    divided = search._cells_for(k)
    seen = [set() for _ in rows]
    for visit in divided.visits(rows, cells.samples_seen(k), divided.near[rows]):
        for place in visit.which:
            seen[place].update(int(column) for column in visit.columns)
    return seen


@pytest.mark.large
@pytest.mark.parametrize("kind", range(3))
@pytest.mark.parametrize("k", [1, 6, 15])
@pytest.mark.parametrize("ties", [False, True])
def test_equals_sorting_what_is_looked_at(kind, k, ties, looks_at_few):
    rng = np.random.default_rng(0)
    X = rng.integers(1, 6, (1500, 3)).astype(float) if ties else rng.random((1500, 5))
    distances, rows = kinds(X)[kind], np.arange(1400, 5, -7)
    search = ApproximateSearch(distances, 0)
    found, lengths = search.query(rows, k), distances.rows(rows)
    for row, seen in enumerate(seen_by(search, rows, k)):
        others = (seen if len(seen) > k else set(range(1500))) - {int(rows[row])}  # where these are few, all are
        expected = sorted((lengths[row, other], other) for other in others)[:k]
        assert list(zip(found.distances[row], found.indices[row], strict=True)) == expected


@pytest.mark.large
@pytest.mark.parametrize("seed", range(3))
def test_every_sample_is_in_the_cell_of_its_nearest_leader(seed, looks_at_few):
    X = np.random.default_rng(seed).random((400, 3))
    search = ApproximateSearch(EuclideanDistances(X), seed)
    divided = search._divide(50)
    assert divided.above is None  # so that all leaders are looked at
    np.testing.assert_array_equal(np.sort(divided.members), divided.samples)
    for cell, leader in enumerate(divided.leaders):
        members = divided.members[divided.starts[cell] : divided.starts[cell + 1]]
        assert leader in members
        for member in members:
            assert leader == divided.leaders[np.argmin(search.distances.rows(np.array([member]))[0, divided.leaders])]


@pytest.mark.large
def test_the_nearest_cells_come_first_until_enough_are_seen(looks_at_few):
    X = np.random.default_rng(3).random((1200, 4))
    search = ApproximateSearch(EuclideanDistances(X), 0)
    divided, rows = search._cells_for(5), np.arange(0, 1200, 11)
    for row, seen in zip(rows, seen_by(search, rows, 5), strict=True):
        near = divided.near[row][divided.near[row] >= 0]
        lengths = search.distances.rows(np.array([row]))[0, divided.leaders[near]]
        assert (np.diff(lengths) >= 0).all()
        sizes = np.cumsum(divided.sizes[near])
        n_cells = min(np.searchsorted(sizes, cells.samples_seen(5)) + 1, near.size)
        assert len(seen) == sizes[n_cells - 1]


@pytest.mark.large
@pytest.mark.parametrize("kind", range(3))
def test_finds_nearly_all_neighbours_and_measures_them_exactly(data, kind, monkeypatch):
    distances, rows = kinds(data)[kind], np.arange(0, N, 5)
    exact = RowSearch(distances).query(rows, 30)
    monkeypatch.setattr(room, "SHARE_SEARCHED", 1.0)
    found = ApproximateSearch(distances, 0).query(rows, 30)
    assert np.mean([np.isin(a, b).mean() for a, b in zip(exact.indices, found.indices, strict=True)]) > 0.97
    np.testing.assert_array_equal(
        found.distances, np.take_along_axis(distances.rows(rows), found.indices.astype(int), axis=1)
    )


@pytest.mark.large
def test_finds_nearly_all_neighbours_of_many_samples():
    """Ten thousand samples in twenty dimensions, of which a query looks at a fifth."""
    X = make_blobs(10_000, n_features=20, centers=3, random_state=1)[0].astype(np.float32)
    rows = np.arange(0, 10_000, 20)
    found = ApproximateSearch(EuclideanDistances(X), 0).query(rows, 30)
    exact = BruteForceSearch(EuclideanDistances(X)).query(rows, 30)
    share = np.mean([np.isin(a, b).mean() for a, b in zip(exact.indices, found.indices, strict=True)])
    assert 0.95 < share < 1


@pytest.mark.large
def test_more_neighbours_take_more_leaders(looks_at_few):
    search = ApproximateSearch(EuclideanDistances(np.random.default_rng(2).random((N, 4))), 0)
    search.initial_count = 5
    assert [search._cells_for(k).near.shape[1] for k in (1, 5, 40, 7)] == [28, 28, 45, 45]


@pytest.mark.large
@pytest.mark.parametrize("kind", [0, 2])
def test_samples_that_see_too_few_are_searched_exactly(kind, looks_at_few, monkeypatch):
    """Of lone samples far from each other, each is the only one in its cell."""
    monkeypatch.setattr(cells, "FEWEST_SEEN", 8)
    monkeypatch.setattr(cells, "SEEN_PER_NEIGHBOR", 1)
    rng = np.random.default_rng(4)
    X = np.vstack([rng.random((600, 3)), 100 * rng.random((200, 3))])
    distances = kinds(X + 1.0)[kind]
    search = ApproximateSearch(distances, 0)
    search.initial_count = 12
    found, expected = search.query(np.arange(800), 12), RowSearch(distances).query(np.arange(800), 12)
    too_few = np.array([len(seen) <= 12 for seen in seen_by(search, np.arange(800), 12)])
    assert 0 < too_few.sum() < 800
    np.testing.assert_array_equal(found.indices[too_few], expected.indices[too_few])
    np.testing.assert_array_equal(found.distances[too_few], expected.distances[too_few])


@pytest.mark.parametrize(
    ("n_samples", "k"), [(2, 1), (700, 20), pytest.param(N, 1000, marks=pytest.mark.large), (N, 0)]
)
def test_small_data_and_large_k_are_searched_exactly(data, n_samples, k):
    distances = EuclideanDistances(data[:n_samples])
    found = ApproximateSearch(distances, 0).query(np.arange(n_samples), k)
    np.testing.assert_array_equal(found.indices, BruteForceSearch(distances).query(np.arange(n_samples), k).indices)


@pytest.mark.large
def test_the_seed_decides_and_threads_and_blocks_do_not(looks_at_few, monkeypatch):
    X = np.random.default_rng(0).normal(size=(N, 40))
    fits = [KFuse(4, neighbors="approximate", random_state=3, n_jobs=n).fit(X) for n in (1, 2, 3)]
    for other in fits[1:]:
        np.testing.assert_array_equal(fits[0].labels_, other.labels_)
        np.testing.assert_array_equal(fits[0].density_, other.density_)
    tables = []
    for seed, per_block in ((0, 500), (0, 77), (1, 500)):
        monkeypatch.setattr(room, "ROWS_AT_A_TIME", per_block)
        tables.append(NeighborTable(choose_search(X, "euclidean", "approximate", seed=seed), Execution(2)).collect(60))
    np.testing.assert_array_equal(tables[0].indices, tables[1].indices)
    assert (tables[0].indices != tables[2].indices).any()


@pytest.mark.large
def test_far_from_zero_nothing_is_lost(data, looks_at_few):
    near = ApproximateSearch(EuclideanDistances(data), 0).query(np.arange(N), 30)
    far = ApproximateSearch(EuclideanDistances(data + 2.0**30), 0).query(np.arange(N), 30)
    assert np.mean(near.indices == far.indices) > 0.95


@pytest.mark.large
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", "mahalanobis"])
def test_clusters_as_the_exact_search_does(data, metric, looks_at_few):
    data = data[:1500]
    model = KFuse(6, metric=metric, neighbors="approximate", random_state=0).fit(data)
    exact = KFuse(6, metric=metric).fit(data)
    assert adjusted_rand_score(exact.labels_, model.labels_) > 0.95


@pytest.mark.large
def test_identical_samples_share_a_cluster(looks_at_few):
    X = np.repeat(np.random.default_rng(1).normal(size=(N // 3, 20)), 3, axis=0)
    labels = KFuse(10, neighbors="approximate", random_state=0).fit_predict(X).reshape(-1, 3)
    assert (labels == labels[:, :1]).all()


@pytest.mark.large
def test_many_identical_samples(looks_at_few):
    X = np.vstack([np.zeros((N, 3)), np.random.default_rng(2).normal(size=(50, 3)) + 9])
    assert KFuse(2, neighbors="approximate", random_state=0).fit(X).n_clusters_ == 2


@pytest.mark.large
def test_any_function_is_a_metric(looks_at_few, monkeypatch):
    monkeypatch.setattr(cells, "FEWEST_SEEN", 20)
    X = np.random.default_rng(5).random((300, 3))
    rows = np.arange(0, 300, 10)
    found = ApproximateSearch(MetricDistances(X, lambda a, b: abs(a - b).sum()), 0).query(rows, 3)
    named = ApproximateSearch(MetricDistances(X, "manhattan"), 0).query(rows, 3)
    np.testing.assert_array_equal(found.indices, named.indices)


def test_precomputed_distances_are_refused():
    with pytest.raises(ValueError, match=r"searches among features.*use neighbors='auto'"):
        KFuse(metric="precomputed", neighbors="approximate").fit(np.zeros((3, 3)))


@pytest.fixture
def looks_at_very_few(monkeypatch):
    """So few that a search among 150 samples takes no second where kernels are not compiled."""
    small = {"CELL_SIZE": 4, "FEWEST_SEEN": 12, "SEEN_PER_NEIGHBOR": 2, "MOST_LEADERS": 12, "ROWS_AT_A_TIME": 40}
    for name, value in small.items():
        monkeypatch.setattr(cells, name, value)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("kind", range(3))
def test_the_nearest_of_what_is_looked_at_are_found(kind, ties, looks_at_very_few):
    rng = np.random.default_rng(0)
    X = rng.integers(1, 9, (150, 2)).astype(float) if ties else rng.random((150, 3)) + 0.5
    distances, rows = kinds(X)[kind], np.arange(149, 2, -9)
    search = ApproximateSearch(distances, 0)
    search.initial_count = 4
    found, lengths, seen = search.query(rows, 3), distances.rows(rows), seen_by(search, rows, 3)
    assert max(len(others) for others in seen) < 75
    for row, others in enumerate(seen):
        among = (others if len(others) > 3 else set(range(150))) - {int(rows[row])}
        expected = sorted((lengths[row, other], other) for other in among)[:3]
        assert list(zip(found.distances[row], found.indices[row], strict=True)) == expected


@pytest.mark.parametrize("kind", [0, 2])
def test_who_sees_too_few_looks_at_all(kind, looks_at_very_few, monkeypatch):
    monkeypatch.setattr(cells, "FEWEST_SEEN", 1)
    monkeypatch.setattr(cells, "SEEN_PER_NEIGHBOR", 1)
    rng = np.random.default_rng(1)
    X = np.vstack([rng.random((40, 2)), 100 * rng.random((30, 2))])
    distances, rows = kinds(X)[kind], np.arange(0, 70, 3)
    search = ApproximateSearch(distances, 0)
    search.initial_count = 5
    found, expected = search.query(rows, 5), RowSearch(distances).query(rows, 5)
    too_few = np.array([len(seen - {int(row)}) < 5 for row, seen in zip(rows, seen_by(search, rows, 5), strict=True)])
    assert 0 < too_few.sum() < rows.size
    np.testing.assert_array_equal(found.indices[too_few], expected.indices[too_few])
    np.testing.assert_array_equal(found.distances[too_few], expected.distances[too_few])
    assert np.isfinite(found.distances).all()


def test_cells_have_64_samples_on_average():
    assert [cells.cells_seen(n) for n in (64, 65, 128)] == [1, 2, 2]


def test_where_a_quarter_would_be_looked_at_all_are():
    searches = {n: ApproximateSearch(EuclideanDistances(np.arange(float(n))[:, None]), 0) for n in (100, 6207, 6208)}
    assert {n: search._looks_at_all(1) for n, search in searches.items()} == {100: True, 6207: True, 6208: False}
    assert searches[6208]._looks_at_all(0)
    assert searches[6208].rows_per_block(9) == 8192
    assert [search.initial_count for search in searches.values()] == [64, 64, 64]
    assert ApproximateSearch(EuclideanDistances(np.zeros((9, 1))), 0).initial_count == 8


def test_cells_are_kept_until_more_neighbours_need_more_of_them(looks_at_very_few):
    search = ApproximateSearch(EuclideanDistances(np.random.default_rng(2).random((150, 2))), 0)
    search.initial_count = 4
    first = search._cells_for(2)
    assert first.near.shape[1] == 5  # of four samples each, to see 20
    assert search._cells_for(4) is first
    more = search._cells_for(9)
    assert more.near.shape[1] == 8
    assert search._cells_for(2) is more
    np.testing.assert_array_equal(search.order_of_visits(9), more.members)
    np.testing.assert_array_equal(search.order_of_visits(60), np.arange(150))


def test_the_seed_decides_who_leads(looks_at_very_few):
    X = np.random.default_rng(3).random((150, 2))
    leaders = [ApproximateSearch(EuclideanDistances(X), seed)._divide(3).leaders.tolist() for seed in (0, 0, 1)]
    assert leaders[0] == leaders[1] != leaders[2]
    assert ApproximateSearch(EuclideanDistances(X), 7).subset(np.arange(9)).seed == 7


def test_lists_are_completed_where_distances_are_symmetric(looks_at_very_few):
    X = np.arange(150.0)[:, None]
    for distances, is_told in ((EuclideanDistances(X), True), (MetricDistances(X, "manhattan"), False)):
        indices = np.array([[2], [0], *[[1]] * 148], dtype=np.int32)
        lengths = np.array([[2.0], [1.0], *[[9.0]] * 148])
        ApproximateSearch(distances, 0).complete(indices, lengths, Execution(1))
        assert indices[0, 0] == (1 if is_told else 2)


@pytest.mark.parametrize("kind", [0, 2])
def test_identical_samples_are_found_whatever_is_looked_at(kind):
    X = np.array([[1.0], [2.0], [1.0], [1e-170], [2e-170], [2.0]])
    found = ApproximateSearch(kinds(X)[kind], 0).duplicates()
    assert found.tolist() == [0, 1, 0, 3, 3 if kind == 0 else 4, 1]


def test_a_sketch_makes_cells_larger_and_more_of_them_seen(looks_at_very_few, monkeypatch):
    X = np.random.default_rng(4).random((150, 5))
    monkeypatch.setattr(room, "sketch_of", lambda points, *_: Sketch(points, np.eye(5)))
    search = ApproximateSearch(EuclideanDistances(X), 0)
    search.initial_count = 3
    divided = search._cells_for(3)
    assert (search._times, search._n_seen(3)) == (2, 72)
    assert divided.leaders.size == 19
    assert divided.near.shape[1] == 9
    rows = np.arange(0, 150, 11)
    found, expected = search.query(rows, 3), RowSearch(EuclideanDistances(X)).query(rows, 3)
    assert (found.indices == expected.indices).mean() > 0.8

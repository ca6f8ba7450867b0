"""How many neighbours to ask for, of which search, and in what blocks."""

import math

import numpy as np
import pytest

from kfuse.core import natural
from kfuse.core.distances import EuclideanDistances, MatrixDistances, MetricDistances
from kfuse.core.search import NeighborTable, base, choose, choose_search
from kfuse.core.search.brute_force import BruteForceSearch
from kfuse.core.search.kd_tree import KDTreeSearch
from kfuse.core.search.rows import RowSearch


def guess(found_in_round, reach, largest_share):
    """The guess of `_neighbors_needed`, round by round."""
    look = len(found_in_round)
    early, late = sum(found_in_round[look // 4 : look // 2]), sum(found_in_round[look // 2 :])
    power = 1 + math.log2(max(1, early / late))
    chance, natural_value = 0.0, 4 * look
    for number in range(look + 1, 4 * look + 1):
        chance += math.exp(-2 * late / look * (0.75 * look / number) ** power)
        if chance >= 1:
            natural_value = number
            break
    return math.ceil(natural_value * max(1.0, min(reach, largest_share * 1.1)))


@pytest.mark.parametrize("reach", [1.0, 1.5, math.inf])
@pytest.mark.parametrize(
    "found", [[90, 40, 20, 11, 9, 6, 4, 3], [50, 20, 9, 5, 3, 2, 1, 1], [40, 30] * 4, [9] * 40, [800] + [5] * 15]
)
def test_the_next_look_is_long_enough(found, reach):
    X = np.random.default_rng(4).random((120, 3))
    table = NeighborTable(KDTreeSearch(EuclideanDistances(X)))
    shares = np.bincount(table.collect(len(found)).indices.ravel()).max() / len(found)
    assert natural._neighbors_needed(table, np.array(found), reach) == guess(found, reach, shares)


def test_nothing_found_asks_for_one():
    assert natural._neighbors_needed(None, np.empty(0, dtype=int), 3.0) == 1


@pytest.mark.parametrize("search", [RowSearch, KDTreeSearch])
def test_blocks_fill_the_room_that_they_have(search):
    X = np.random.default_rng(5).random((1000, 2))
    found = search(EuclideanDistances(X))
    room = base.ENTRIES_PER_BLOCK
    for k in (0, 1, 50):
        entries = 1000 + k if search is RowSearch else 8 * max(1, k)
        assert found.rows_per_block(k) * entries <= room < (found.rows_per_block(k) + 1) * entries


@pytest.mark.parametrize(
    ("how", "metric", "kind"),
    [
        ("kd_tree", "euclidean", KDTreeSearch),
        ("brute", "euclidean", BruteForceSearch),
        ("brute", "cosine", BruteForceSearch),
        ("kd_tree", "cosine", KDTreeSearch),
        ("auto", "manhattan", RowSearch),
        ("brute", "manhattan", RowSearch),
    ],
)
def test_the_search_is_the_one_asked_for(how, metric, kind):
    assert type(choose_search(np.ones((5, 2)), metric, how)) is kind


def test_a_try_takes_the_time_of_stretches_from_all_over_the_data(monkeypatch):
    asked, clock = [], iter([10.0, 13.5])
    monkeypatch.setattr(choose.time, "thread_time", lambda: next(clock))
    search = RowSearch(MetricDistances(np.arange(1000.0)[:, None], "manhattan"))
    monkeypatch.setattr(search, "query", lambda rows, k: asked.append((rows, k)))
    assert choose._trial_time(search, 7) == 3.5
    (warm, k), (rows, _) = asked
    assert (len(warm), k, len(rows), rows[0], rows[-1]) == (2, 7, 128, 0, 999)
    assert (np.diff(rows.reshape(8, 16), axis=1) == 1).all()


@pytest.mark.parametrize(("few", "many", "expected"), [(1.0, 2.0, 64), (1.0, 2.1, 32), (3.0, 1.0, 64)])
def test_the_first_look_is_long_if_that_takes_little_longer(few, many, expected, monkeypatch):
    monkeypatch.setattr(choose, "TIMED_SAMPLES", 300)
    monkeypatch.setattr(choose, "_trial_time", lambda _, k: many if k == 64 else few)
    X = np.random.default_rng(6).random((300, 4))
    look = {d: NeighborTable(KDTreeSearch(EuclideanDistances(X[:, :d]))).initial_count for d in (3, 4)}
    assert look == {3: 32, 4: expected}
    assert NeighborTable(KDTreeSearch(EuclideanDistances(X[:299]))).initial_count == 32
    assert NeighborTable(BruteForceSearch(EuclideanDistances(X))).initial_count == 64
    assert NeighborTable(KDTreeSearch(EuclideanDistances(X[:20]))).initial_count == 19
    assert NeighborTable(RowSearch(MatrixDistances(np.zeros((300, 300))))).initial_count == 32
    monkeypatch.setattr(choose, "ENTRIES_KEPT", 64 * 299)
    assert NeighborTable(KDTreeSearch(EuclideanDistances(X))).initial_count == 32


@pytest.mark.parametrize(("n_features", "kind"), [(1, KDTreeSearch), (12, KDTreeSearch), (13, BruteForceSearch)])
def test_a_tree_suits_up_to_twelve_dimensions(n_features, kind):
    assert type(choose_search(np.ones((9, n_features)), "euclidean", "auto")) is kind


@pytest.mark.parametrize(("n_features", "is_timed"), [(6, False), (7, True), (128, True), (129, False)])
def test_both_searches_are_timed_in_7_to_128_dimensions(n_features, is_timed, monkeypatch):
    timed = []
    monkeypatch.setattr(choose, "_trial_time", lambda search: timed.append(search) or 0.0)
    monkeypatch.setattr(choose, "TIMED_SAMPLES", 40)
    assert type(choose.faster_search(EuclideanDistances(np.ones((40, n_features))))) is (
        BruteForceSearch if n_features == 129 else KDTreeSearch
    )
    assert len(timed) == 2 * is_timed
    del timed[:]
    choose.faster_search(EuclideanDistances(np.ones((39, n_features))))
    assert timed == []

"""Cells: who leads, who follows whom, and who looks at whom; on few samples, with a plain search."""

import numpy as np
import pytest

from kfuse.core.search import cells

POINTS = np.random.default_rng(0).random((90, 2))


@pytest.fixture(autouse=True)
def small_cells(monkeypatch):
    for name, value in (("CELL_SIZE", 4), ("MOST_LEADERS", 6), ("FEWEST_SEEN", 11), ("SEEN_PER_NEIGHBOR", 3)):
        monkeypatch.setattr(cells, name, value)
    for name, value in (("COLUMNS_AT_A_TIME", 3), ("ENTRIES_AT_A_TIME", 13), ("ROWS_AT_A_TIME", 16)):
        monkeypatch.setattr(cells, name, value)


def lengths(row, others):
    return np.linalg.norm(POINTS[others] - POINTS[row], axis=1)


def seen_by(visits, n_rows):
    """What each row looks at, once each, in blocks that are not too large."""
    seen = [[] for _ in range(n_rows)]
    for visit in visits:
        assert visit.columns.size <= 3
        assert visit.which.size * visit.columns.size <= 13
        for place in visit.which:
            seen[place].extend(visit.columns.tolist())
    return seen


def nearest(rows, k, visiting):
    found, distances = np.full((rows.size, k), 90, dtype=np.int32), np.full((rows.size, k), np.inf)
    for place, seen in enumerate(seen_by(visiting(rows), rows.size)):
        assert len(set(seen)) == len(seen)
        others = np.array([other for other in seen if other != rows[place]], dtype=int)
        best = others[np.argsort(lengths(rows[place], others))][:k]
        found[place, : best.size], distances[place, : best.size] = best, lengths(rows[place], best)
    return found, distances


def divided(n_near=3, times=1):
    return cells.divide(np.random.default_rng(1).permutation(90), n_near, nearest, times=times)


def levels(lowest):
    return [lowest] if lowest.above is None else [lowest, *levels(lowest.above)]


@pytest.mark.parametrize(("times", "sizes"), [(1, [(90, 23), (23, 6)]), (2, [(90, 12), (12, 2)]), (6, [(90, 4)])])
def test_one_in_so_many_leads_until_the_leaders_are_few(times, sizes):
    found = levels(divided(times=times))
    assert [(level.samples.size, level.leaders.size) for level in found] == sizes
    shuffled = np.random.default_rng(1).permutation(90)
    for level in found:
        np.testing.assert_array_equal(level.leaders, np.sort(shuffled[: level.leaders.size]))
    assert [level.near.shape[1] for level in found[1:]] == [1] * (len(found) - 1)


@pytest.mark.parametrize("n_near", [1, 2, 4, 9])
def test_where_all_leaders_are_looked_at_a_sample_is_in_the_cell_of_the_nearest(n_near):
    found = divided(n_near, times=6)
    assert found.near.shape == (90, min(n_near, 4))
    by_distance = [found.leaders[np.argsort(lengths(row, found.leaders))] for row in range(90)]
    np.testing.assert_array_equal(found.leaders[found.near[:, :3]], np.array(by_distance)[:, : min(n_near, 3)])
    if n_near >= 4:  # the farthest of all is noted by those that lead
        np.testing.assert_array_equal(np.flatnonzero(found.near[:, 3] >= 0), found.leaders)
    assert found.starts.tolist() == [0, *np.cumsum(found.sizes)]
    for cell, leader in enumerate(found.leaders):
        members = found.members[found.starts[cell] : found.starts[cell + 1]]
        assert members.tolist() == [row for row in range(90) if by_distance[row][0] == leader]


def test_where_leaders_have_leaders_each_leads_itself_and_who_sees_too_few_is_told():
    found = divided(20)
    for number, leader in enumerate(found.leaders):
        assert found.near[leader, 0] == number
    assert (found.near[:, 0] >= 0).all()
    seen = seen_by(found.above.visits(np.arange(90), cells.samples_seen(20)), 90)
    for row in range(90):
        expected = sorted(set(seen[row]) | ({row} & set(found.leaders)), key=lambda other: lengths(row, [other])[0])
        assert found.leaders[found.near[row][found.near[row] >= 0]].tolist() == expected[:20]


@pytest.mark.parametrize("count", [1, 5, 14, 90])
@pytest.mark.parametrize("is_given", [True, False])
def test_the_nearest_cells_are_looked_into_until_enough_is_seen(count, is_given):
    found, rows = divided(4, times=6), np.array([80, 3, 3, 41])
    near = found.nearest_leaders(rows, 4 if is_given else cells.cells_seen(count))
    for place, seen in enumerate(seen_by(found.visits(rows, count, near if is_given else None), 4)):
        expected = []
        for cell in near[place]:
            if len(expected) < count:
                expected += found.members[found.starts[cell] : found.starts[cell + 1]].tolist()
        assert sorted(seen) == sorted(expected)


def test_nobody_looks_at_nothing():
    assert list(divided(times=6).visits(np.array([], dtype=int), 5)) == []
    assert list(divided(times=6).visits(np.array([2]), 5, np.array([[-1, -1]], dtype=np.int32))) == []


def test_how_many_samples_and_cells_are_looked_at():
    assert [cells.samples_seen(k) for k in (0, 1, 5)] == [11, 14, 26]
    assert [cells.cells_seen(n) for n in (1, 4, 5, 8, 9)] == [1, 1, 2, 2, 3]
    assert [cells.cells_seen(n, 2) for n in (8, 9)] == [1, 2]

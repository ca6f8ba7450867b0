"""Work in threads, and compiled code on disk."""

from types import SimpleNamespace

import pytest
from numba.core.caching import FunctionCache

from kfuse.core import threads
from kfuse.core.compiled import ForgivingCache


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize(("n_items", "per_range", "n_ranges"), [(10, 4, 3), (8, 4, 2), (3, 4, 1), (9, 1, 9)])
def test_ranges_cover_everything_in_order(n_items, per_range, n_ranges, n_threads):
    seen = []
    progress = SimpleNamespace(advance=lambda *what: seen.append(what))
    found = threads.over_ranges(lambda start, stop: (start, stop), n_items, per_range, n_threads, progress)
    assert len(found) == n_ranges
    assert [number for start, stop in found for number in range(start, stop)] == list(range(n_items))
    assert seen == [(stop, n_items, "samples") for _, stop in found]


def test_one_thread_is_the_one_that_there_is():
    assert type(threads.workers(1)) is threads.Inline
    with threads.workers(2) as pool:
        assert pool._max_workers == 2


def test_a_worker_of_a_pool_has_one_thread(monkeypatch):
    assert threads.number_of_threads(3) == 3
    monkeypatch.setattr(threads, "current_process", lambda: SimpleNamespace(daemon=True))
    assert threads.number_of_threads(3) == 1


def test_a_cache_that_cannot_be_read_or_written_is_as_good_as_none(monkeypatch):
    done = []

    def fails(self, *_):
        done.append("tried")
        raise OSError

    monkeypatch.setattr(FunctionCache, "load_overload", fails)
    monkeypatch.setattr(FunctionCache, "save_overload", fails)
    monkeypatch.setattr(FunctionCache, "flush", lambda self: done.append("emptied"))
    cache = ForgivingCache(threads.number_of_threads)
    assert cache.load_overload(None, None) is None
    cache.save_overload(None, None)
    assert done == ["tried", "tried", "emptied", "tried"]

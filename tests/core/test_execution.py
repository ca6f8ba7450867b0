"""Work in execution."""

import threading
from types import SimpleNamespace

import pytest

from kfuse.core import execution
from kfuse.core.execution import Execution, Inline


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize(("n_items", "per_range", "n_ranges"), [(10, 4, 3), (8, 4, 2), (3, 4, 1), (9, 1, 9)])
def test_ranges_cover_everything_in_order(n_items, per_range, n_ranges, n_threads):
    seen = []
    progress = SimpleNamespace(advance=lambda *what: seen.append(what))
    found = Execution(n_threads, progress).over_ranges(lambda start, stop: (start, stop), n_items, per_range)
    assert len(found) == n_ranges
    assert [number for start, stop in found for number in range(start, stop)] == list(range(n_items))
    assert seen == [(stop, n_items, "samples") for _, stop in found]


def test_one_thread_is_the_one_that_there_is():
    assert type(Execution(1).workers()) is Inline
    with Execution(2).workers() as pool:
        assert pool._max_workers == 2


def test_a_worker_of_a_pool_has_one_thread(monkeypatch):
    assert execution.number_of_threads(3) == 3
    monkeypatch.setattr(execution, "current_process", lambda: SimpleNamespace(daemon=True))
    assert execution.number_of_threads(3) == 1


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_two_tasks_run_side_by_side_the_first_in_the_calling_thread(n_threads):
    found = Execution(n_threads).side_by_side(threading.get_ident, threading.get_ident)
    assert found[0] == threading.get_ident()
    assert (found[1] == found[0]) == (n_threads == 1)


def test_memory_is_returned_where_there_are_many_samples(monkeypatch):
    trimmed = []
    monkeypatch.setattr(execution, "_malloc_trim", lambda: trimmed.append)
    execution.return_freed_memory(2**17 - 1)
    assert trimmed == []
    execution.return_freed_memory(2**17)
    assert trimmed == [0]
    monkeypatch.setattr(execution, "_malloc_trim", lambda: None)  # another C library
    execution.return_freed_memory(2**17)

"""Work in execution."""

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

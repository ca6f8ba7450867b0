"""No task holds more than its box, its halo and a constant, however many samples there are."""

import pytest
from sklearn.datasets import make_blobs

pytest.importorskip("distributed")
from benchmarks.held_on_dask import held_by_tasks


def test_tasks_do_not_grow_with_the_number_of_samples():
    few, many = (held_by_tasks(make_blobs(n, centers=n // 128, random_state=0)[0], 512, 512) for n in (2048, 8192))
    assert max(many.values()) < 1.3 * max(few.values()), (few.most_common(5), many.most_common(5))

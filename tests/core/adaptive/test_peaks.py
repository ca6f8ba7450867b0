"""Sub-clusters: the way up to a local density peak, step by step."""

import numpy as np
import pytest

from kfuse.core.adaptive import peaks

# Each row has the three nearest of six samples.
NEAREST = np.array([[1, 2, 3], [0, 2, 3], [3, 1, 0], [2, 4, 1], [5, 3, 2], [4, 3, 2]], dtype=np.int32)
LOG_DENSITY = np.array([1.0, 2.0, 3.0, 5.0, 6.0, 4.0])


@pytest.mark.parametrize(
    ("natural_value", "counts", "expected"),
    [
        (4, [3] * 6, [1, 2, 3, 4, 4, 4]),  # two nearest: 0 names 2, but 2 does not name 0
        (1, [3] * 6, [1, 1, 3, 3, 4, 4]),
        (9, [3] * 6, [2, 3, 3, 4, 4, 4]),
        (9, [3, 3, 2, 3, 1, 3], [1, 3, 3, 3, 4, 4]),  # 2 does not name 0 any more, nor 4 name 3
    ],
)
def test_a_sample_climbs_to_its_densest_natural_neighbour(natural_value, counts, expected):
    found = peaks.climb(NEAREST, np.array(counts, dtype=np.int32), LOG_DENSITY, natural_value)
    assert found.representatives.tolist() == expected
    assert found.peaks.tolist() == [sample for sample, up in enumerate(expected) if up == sample]
    top = np.array(expected)[np.array(expected)][np.array(expected)][np.array(expected)]
    np.testing.assert_array_equal(found.peaks[found.labels], top)


def test_equally_dense_samples_do_not_climb():
    found = peaks.climb(NEAREST, np.full(6, 3, dtype=np.int32), np.zeros(6), 9)
    assert found.labels.tolist() == list(range(6))


def test_only_the_samples_asked_for_climb(monkeypatch):
    monkeypatch.setattr(peaks, "SAMPLES_PER_PART", 2)
    counts = np.full(6, 3, dtype=np.int32)
    found = peaks.find_representatives(NEAREST, counts, LOG_DENSITY, 9, range(1, 4))
    assert found.tolist() == [0, 3, 3, 4, 4, 5]
    assert peaks.find_representatives(NEAREST, counts, LOG_DENSITY, 9, range(6)).tolist() == [2, 3, 3, 4, 4, 4]


def test_the_root_of_lambda_is_rounded_up():
    assert [peaks.count_of_climbing(value) for value in (1, 2, 4, 5, 9, 10)] == [1, 2, 2, 3, 3, 4]


def test_the_sparsest_leave_first_and_peaks_never():
    basins = peaks.Basins(np.array([0, 0, 0, 1, 1]), np.array([1, 1, 1, 4, 4], dtype=np.int32))
    assert peaks.order_of_leaving(basins, np.array([3.0, 9.0, 1.0, 2.0, 2.5])).tolist() == [2, -1, 0, 1, -1]
    assert peaks.order_of_leaving(basins, np.array([3.0, 9.0, 3.0, 3.0, 9.0])).tolist() == [0, -1, 1, 2, -1]

"""What is read from the distances of each sample, by hand."""

import numpy as np
import pytest

from kfuse.core.adaptive import profiles
from kfuse.core.search import Nearest


@pytest.mark.parametrize("step", [0.0, 0.25])
@pytest.mark.parametrize("k", [3, 9, 20])
def test_profiles_are_those_of_each_sample(k, step, monkeypatch):
    monkeypatch.setattr(profiles, "SAMPLES_PER_PART", 4)
    distances = np.sort(np.random.default_rng(k).random((11, k)) + 0.5, axis=1)
    distances[3, 0] = 0.0
    found = profiles.read_profiles(Nearest(np.zeros((11, k), dtype=np.int32), distances), step)
    np.testing.assert_allclose(found.total, distances.sum(axis=1))
    np.testing.assert_allclose(found.total_of_few, distances[:, :8].sum(axis=1))
    np.testing.assert_array_equal(found.farthest, distances[:, -1])
    others = np.arange(11) != 3
    with np.errstate(divide="ignore"):
        expected = np.log(distances[:, -1:] / distances[:, :-1]).mean(axis=1)
    np.testing.assert_allclose(found.spread[others], expected[others])
    assert found.spread[3] == -1.0
    counts = [count for count in (8, 16) if count <= k]
    assert found.radii.shape == found.spreads.shape == (11, len(counts))
    for scale, count in enumerate(counts):
        reach = np.sqrt(distances[:, count - 1] ** 2 + step**2)
        np.testing.assert_array_equal(found.radii[:, scale], distances[:, count - 1])
        np.testing.assert_allclose(found.spreads[:, scale], np.log(reach / distances[:, count // 2 - 1]))


def test_one_place_has_an_empty_profile():
    found = profiles.read_profiles(Nearest(np.empty((1, 0), dtype=np.int32), np.empty((1, 0))), 0.0)
    assert (found.total.tolist(), found.farthest.tolist(), found.spread.tolist()) == ([0.0], [0.0], [-1.0])
    assert found.radii.shape == (1, 0)

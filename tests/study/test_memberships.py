"""The study of memberships, on little data."""

import importlib.util

import numpy as np
import pytest

from study.memberships import noise, outliers, posteriors


def test_the_posterior_is_that_of_the_mixture():
    data = posteriors.mixture(20_000, 2, 3.0, 1.5, 0.7, seed=0)
    near = np.abs(data.posterior - 0.6) < 0.1
    assert data.is_second[near].mean() == pytest.approx(0.6, abs=0.05)
    assert data.is_second.mean() == pytest.approx(0.7, abs=0.02)


@pytest.mark.parametrize("method", ["KFuse", "KFuse, labels only", "Gaussian mixture"])
def test_methods_are_measured(method):
    data = posteriors.mixture(600, 2, 5.0, 1.0, 0.5, seed=0)
    found = posteriors.measure(method, data)
    assert found.memberships.shape == (600,)
    assert 0 <= found.brier < 0.05


def test_noise_is_counted():
    found = noise.measure("five dimensions", 0.2, 1)
    precision, recall, marked = found["KFuse"]
    assert precision > 0.9
    assert recall > 0.9
    assert marked == pytest.approx(0.2, abs=0.02)
    assert np.isnan(noise.measure("moons", 0.0, 1)["KFuse"][1])


def test_a_class_is_thinned():
    X, count = outliers.thinned(np.arange(100.0).reshape(-1, 1), np.arange(100) >= 50, 0)
    assert (len(X), count) == (51, 1)
    assert X[-1, 0] >= 50


@pytest.mark.skipif(importlib.util.find_spec("hdbscan") is None, reason="hdbscan is not installed")
@pytest.mark.filterwarnings("ignore")
def test_hdbscan_is_measured():
    data = posteriors.mixture(600, 2, 5.0, 1.0, 0.5, seed=0)
    assert posteriors.measure("HDBSCAN", data).brier < 0.25
    assert outliers.of_glosh(data.X).shape == (600,)

"""The study of data whose number of clusters is certain."""

import numpy as np
import pytest

from study import null
from study.peers import PEERS


@pytest.fixture
def a_method(monkeypatch):
    """Return the name of a method that labels samples by their first feature."""
    first = PEERS["HDBSCAN"]._replace(make=lambda number, seed: FirstFeature())
    monkeypatch.setitem(PEERS, "first", first)
    return "first"


class FirstFeature:
    def fit_predict(self, X):
        return X[:, 0]


def test_noise_is_no_cluster_and_noise_alone_is_one(a_method):
    assert null.number_found(a_method, np.array([[-1.0], [0], [3], [3]])) == 2
    assert null.number_found(a_method, np.full((4, 1), -1.0)) == 1


def test_each_method_has_its_share_of_right_numbers(a_method):
    sets = [(np.arange(n, dtype=float)[:, None], number) for n, number in ((1, 1), (2, 2), (3, 4), (4, 4))]
    assert null.shares_of_right([a_method, a_method], sets) == "0.75 / 0.75"


def test_separated_gaussians_have_centres_apart():
    X = null.separated_gaussians(np.random.default_rng(0), 4, 3)
    centres = X.reshape(4, null.PER_GAUSSIAN, 3).mean(axis=1)
    apart = np.linalg.norm(centres[:, None] - centres, axis=2)[np.triu_indices(4, 1)]
    assert apart.min() > null.SEPARATION - 1

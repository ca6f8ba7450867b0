"""Memberships: the walk between cores, solved literally, and the projection that keeps the label in front."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_array

from kfuse.core import memberships
from kfuse.core.result import Surroundings
from tests.strategies import SEEDS


def random_surroundings(seed, n_places, k):
    rng = np.random.default_rng(seed)
    indices = np.array([rng.choice(np.delete(np.arange(n_places), i), k, replace=False) for i in range(n_places)])
    return Surroundings(np.arange(n_places), indices.astype(np.int32), np.sort(rng.random((n_places, k)) + 0.5), 1.0)


def literal_walk(conductance, labels, is_core, n_clusters):
    """Step the chances until they stand still."""
    chances = np.eye(n_clusters)[labels]
    step = conductance / conductance.sum(axis=1, keepdims=True)
    for _ in range(20_000):
        chances = np.where(is_core[:, None], np.eye(n_clusters)[labels], step @ chances)
    return chances


def literal_network(around, dimension, node, n_nodes):
    conductance, rho = np.zeros((n_nodes, n_nodes)), 1 / around.distances.mean(axis=1)
    for i, neighbors in enumerate(around.indices):
        for j in neighbors:
            weight = (rho[i] * rho[j]) ** ((dimension + 2) / 2)
            conductance[node[i], node[j]] += weight
            conductance[node[j], node[i]] += weight
    np.fill_diagonal(conductance, 0)
    return conductance


@pytest.mark.parametrize("few_nodes", [400, 0])
@pytest.mark.parametrize("seed", range(5))
def test_the_network_is_solved(seed, few_nodes, monkeypatch):
    monkeypatch.setattr(memberships, "FEW_NODES", few_nodes)
    monkeypatch.setattr(memberships, "TOLERANCE", 1e-10)
    rng = np.random.default_rng(seed)
    around, leaves = random_surroundings(seed, 60, 3), rng.permutation(np.arange(60) % 20)
    labels = np.append([0, 1, 2], rng.integers(0, 3, 17))[leaves]
    network = memberships.build_network(around, 2.0, leaves, labels)
    conductance = literal_network(around, 2.0, network.node, 20)
    found = network.conductance.toarray()
    np.testing.assert_allclose(found / found.max(), conductance / conductance.max(), rtol=1e-10)
    expected = literal_walk(conductance, network.labels, memberships._find_cores(network), 3)
    np.testing.assert_allclose(memberships.memberships_of_nodes(network, 4).toarray()[:, :3], expected, atol=1e-5)


def test_the_deepest_half_is_the_core():
    """A chain of nodes in two clusters: the ends are deep."""
    n_nodes = 8
    indices = np.array([[i - 1 if i else 1, i + 1 if i < 7 else 6] for i in range(n_nodes)], dtype=np.int32)
    around = Surroundings(np.arange(n_nodes), indices, np.ones((n_nodes, 2)), 1.0)
    network = memberships.build_network(around, 1.0, np.arange(n_nodes), np.repeat([0, 1], 4))
    np.testing.assert_array_equal(memberships._find_cores(network), [1, 1, 0, 0, 0, 0, 1, 1])
    chances = memberships.memberships_of_nodes(network, 2).toarray()
    np.testing.assert_allclose(chances[:, 1], [0, 0, 0.2, 0.4, 0.6, 0.8, 1, 1], atol=1e-12)


def test_what_reaches_no_core_stays_in_its_cluster():
    inside, towards = csr_array((2, 2)), csr_array((2, 3))
    reached, chances = memberships._solve(inside, towards, np.array([2, 0]))
    np.testing.assert_array_equal(reached, [0, 2])
    np.testing.assert_array_equal(chances, [[0, 1], [1, 0]])


@given(SEEDS, st.integers(1, 6))
def test_the_own_column_leads_and_the_rest_is_nearest(seed, n_columns):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(n_columns), 5).round(1) + 1e-3
    own = rng.integers(0, n_columns, 5)
    found = memberships.lead(shares, own)
    np.testing.assert_array_equal(found.argmax(axis=1), own)
    np.testing.assert_allclose(found.sum(axis=1), shares.sum(axis=1))
    leads = shares.argmax(axis=1) == own
    np.testing.assert_allclose(found[leads], shares[leads], atol=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_leading_changes_as_little_as_it_can(seed):
    rng = np.random.default_rng(seed)
    shares, own = rng.dirichlet(np.ones(4), 1), np.array([2])
    in_front = [{"type": "ineq", "fun": lambda p, j=j: p[2] - p[j]} for j in (0, 1, 3)]
    whole = {"type": "eq", "fun": lambda p: p.sum() - 1}
    best = minimize(lambda p: ((p - shares[0]) ** 2).sum(), np.full(4, 0.25), constraints=[*in_front, whole], tol=1e-12)
    np.testing.assert_allclose(memberships.lead(shares, own)[0], best.x, atol=1e-5)

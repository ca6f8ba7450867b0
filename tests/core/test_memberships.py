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


def chain(labels, links, k=2):
    """Nodes in a row, with the given neighbours."""
    around = Surroundings(np.arange(len(labels)), np.array(links, dtype=np.int32), np.ones((len(labels), k)), 1.0)
    return memberships.build_network(around, 1.0, np.arange(len(labels)), np.array(labels))


def test_depth_is_the_number_of_steps_to_another_cluster_less_the_share_of_links_there():
    network = chain([0, 0, 0, 1, 1, 1], [[1, 2], [0, 2], [1, 3], [2, 4], [3, 5], [4, 3]])
    np.testing.assert_array_equal(network.foreign, [0.0, 0.0, 0.5, 0.5, 0.0, 0.0])
    np.testing.assert_array_equal(memberships._depths(network), [1.0, 1.0, -0.5, -0.5, 1.0, 1.0])
    far = chain([0, 0, 0, 1, 1, 1], [[1, 1], [0, 2], [1, 3], [2, 4], [3, 5], [4, 4]])
    np.testing.assert_array_equal(memberships._depths(far), [2.0, 1.0, -0.5, -0.5, 1.0, 2.0])
    apart = chain([0, 0, 1, 1], [[1, 1], [0, 0], [3, 3], [2, 2]])
    assert np.isinf(memberships._depths(apart)).all()
    assert memberships._find_cores(apart).all()


def test_places_of_one_leaf_and_label_are_one_node():
    around = random_surroundings(0, 6, 2)
    leaves, labels = np.array([0, 0, 1, 1, 0, 2]), np.array([1, 0, 0, 0, 1, 1])
    network = memberships.build_network(around, 1.0, leaves, labels)
    assert network.node.tolist() == [1, 0, 2, 2, 1, 3]
    assert network.labels.tolist() == [0, 1, 0, 1]
    assert network.sizes.tolist() == [1, 2, 2, 1]
    foreign = [np.mean(labels[around.indices[network.node == node]] != network.labels[node]) for node in range(4)]
    np.testing.assert_allclose(network.foreign, foreign)
    three = memberships.build_network(around, 1.0, leaves, np.array([2, 0, 1, 0, 2, 1]))
    assert three.node.tolist() == [1, 0, 3, 2, 1, 4]
    assert three.labels.tolist() == [0, 2, 0, 1, 1]
    assert (network.conductance.diagonal() == 0).all()
    found = network.conductance.toarray()
    np.testing.assert_array_equal(found, found.T)


def test_conductances_neither_vanish_nor_overflow():
    around = random_surroundings(1, 6, 2)._replace(distances=np.array([[1e-300] * 2] * 3 + [[1e300] * 2] * 3))
    network = memberships.build_network(around, 40.0, np.arange(6), np.zeros(6, dtype=int))
    assert np.exp(-300.0) == network.conductance.data.min()
    assert network.conductance.data.max() <= 2.0
    alone = Surroundings(np.zeros(1, dtype=int), np.empty((1, 0), dtype=np.int32), np.empty((1, 0)), 1.0)
    assert memberships.build_network(alone, 2.0, np.zeros(1, dtype=int), np.zeros(1, dtype=int)).foreign.tolist() == [0]


def test_the_core_is_half_of_the_samples_not_of_the_nodes():
    network = chain([0, 0, 0, 0, 1, 1], [[1, 1], [0, 2], [1, 3], [2, 4], [3, 5], [4, 4]])
    heavy = network._replace(sizes=np.array([6, 1, 1, 1, 1, 1]))
    assert memberships._find_cores(heavy).tolist() == [True, False, False, False, False, True]
    light = network._replace(sizes=np.array([1, 1, 1, 6, 2, 1]))
    assert memberships._find_cores(light).tolist() == [True, True, True, True, True, True]


@pytest.mark.parametrize("entries", [1, 7, 2**22])
def test_blocks_of_rows_change_no_network(entries, monkeypatch):
    around, leaves = random_surroundings(2, 30, 3), np.arange(30) % 7
    expected = memberships.build_network(around, 2.0, leaves, leaves % 3)
    monkeypatch.setattr(memberships, "ENTRIES_PER_BLOCK", entries)
    found = memberships.build_network(around, 2.0, leaves, leaves % 3)
    np.testing.assert_allclose(found.conductance.toarray(), expected.conductance.toarray())
    np.testing.assert_allclose(found.foreign, expected.foreign)
    assert sum(rows.stop - rows.start for rows in memberships.blocks_of_rows(30, 3)) >= 30
    sizes = {rows.stop - rows.start for rows in memberships.blocks_of_rows(30, 3)}
    assert sizes == {max(1, entries // 3)}
    assert next(memberships.blocks_of_rows(2, 0)) == slice(0, entries)


def test_parts_are_what_links_connect():
    links = csr_array((np.ones(3), ([0, 3, 1], [2, 1, 4])), (6, 6))
    assert sorted(part.tolist() for part in memberships._connected_parts(links)) == [[0, 2], [1, 3, 4], [5]]
    assert memberships._connected_parts(csr_array((0, 0))) == []


def test_what_is_negligible_does_not_count():
    """A walk from the middle goes to the left a million times as readily."""
    conductance = csr_array(np.array([[0, 0, 1.0], [0, 0, 1e-7], [1.0, 1e-7, 0]]))
    network = memberships.Network(np.arange(3), np.array([0, 1, 0]), np.array([2, 1, 1]), np.zeros(3), conductance)
    found = memberships.memberships_of_nodes(network, 2).toarray()
    np.testing.assert_array_equal(found, [[1, 0], [0, 1], [1, 0]])
    more = network._replace(conductance=csr_array(np.array([[0, 0, 1.0], [0, 0, 1e-4], [1.0, 1e-4, 0]])))
    np.testing.assert_allclose(memberships.memberships_of_nodes(more, 2).toarray()[2], [1 / 1.0001, 1e-4 / 1.0001])


def test_the_mean_is_over_the_nodes_of_each_row():
    of_nodes = csr_array(np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]))
    found = memberships.average(np.array([[0, 1, 1], [2, 2, 0]]), of_nodes)
    np.testing.assert_allclose(found, [[1 / 3, 2 / 3], [2 / 3, 1 / 3]])


def test_the_own_column_leads_by_a_trace():
    found = memberships.lead(np.array([[0.5, 0.3, 0.2], [0.2, 0.2, 0.4]]), np.array([1, 2]))
    np.testing.assert_allclose(found, [[0.4, 0.4, 0.2], [0.2, 0.2, 0.4]], atol=1e-8)
    assert 1e-10 < found[0, 1] - found[0, 0] < 1e-8


def test_gradients_end_where_all_columns_are_solved():
    rng = np.random.default_rng(0)
    dense = rng.random((30, 30)) * (rng.random((30, 30)) < 0.2)
    links = csr_array((dense + dense.T) / 20)
    sides = rng.random((30, 3))
    expected = np.linalg.solve(np.eye(30) - links.toarray(), sides)
    np.testing.assert_allclose(memberships._conjugate_gradients(links, sides), expected, rtol=1e-3)
    assert not memberships._conjugate_gradients(links, np.zeros((30, 2))).any()

"""The numbers of docs/worked_example.md, worked out by hand, against the package and against the oracle."""

import doctest
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from kfuse import KFuse
from kfuse.core import natural
from kfuse.core.paper import density, fusion, subclusters
from kfuse.core.paper.boundary import (
    adjacent_sample_counts,
    augmented_subclusters,
    distances_from,
    log_connectivity,
)
from kfuse.core.paper.similarity import density_moments, log_similarity, smaller_over_larger
from kfuse.core.search import NeighborTable, choose_search
from tests.oracle.paper import Oracle

PAGE = Path(__file__).parents[3] / "docs" / "worked_example.md"

X = [[0], [2], [3], [4], [7], [9], [10], [13], [18], [22], [25], [27]]

# Section 1: the four nearest of each sample, and their distances.
NEIGHBORS = [
    [1, 2, 3, 4],
    [2, 0, 3, 4],
    [1, 3, 0, 4],
    [2, 1, 4, 0],
    [5, 3, 6, 2],
    [6, 4, 7, 3],
    [5, 4, 7, 3],
    [6, 5, 8, 4],
    [9, 7, 10, 6],
    [10, 8, 11, 7],
    [11, 9, 8, 7],
    [10, 9, 8, 7],
]
DISTANCES = [
    [2, 3, 4, 7],
    [1, 2, 2, 5],
    [1, 1, 3, 4],
    [1, 2, 3, 4],
    [2, 3, 3, 4],
    [1, 2, 4, 5],
    [1, 3, 3, 6],
    [3, 4, 5, 6],
    [4, 5, 7, 8],
    [3, 4, 5, 9],
    [2, 3, 7, 12],
    [2, 5, 9, 14],
]

# Section 2.
COUNTS_AFTER_ROUND = {
    1: [0, 2, 2, 0, 0, 2, 2, 0, 0, 1, 2, 1],
    2: [1, 3, 3, 2, 2, 3, 2, 1, 1, 3, 2, 1],
    3: [2, 3, 3, 4, 3, 3, 3, 3, 4, 3, 3, 2],
}
FIRST_ROUND = [2, 1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 1]  # in which a sample is first somebody's neighbour
NATURAL_VALUE = 3
REVERSE_COUNTS = [2, 3, 3, 4, 3, 3, 3, 3, 4, 3, 3, 2]
K = 4

# Section 3.
SUMS = [16, 10, 9, 10, 12, 12, 13, 18, 24, 21, 24, 30]
DENSITY = [1 / 8, 3 / 10, 1 / 3, 2 / 5, 1 / 4, 1 / 4, 3 / 13, 1 / 6, 1 / 6, 1 / 7, 1 / 8, 1 / 15]
REPRESENTATIVES = [3, 3, 3, 3, 3, 3, 3, 5, 6, 8, 8, 8]

# Sections 4 and 5.
SUBCLUSTERS = [0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2]
LEFT_OUT = [False, False, False, False, False, False, False, False, False, False, False, True]
MEANS = [169 / 600, 101 / 468, 73 / 504]
MEANS_IN_DECIMALS = [0.281667, 0.215812, 0.144841]
VARIANCES = [3064 / 600**2, 278 / 468**2, 74 / 504**2]
VARIANCES_IN_DECIMALS = [0.00851111, 0.00126927, 0.000291320]
SIZES = [5, 3, 4]

# Sections 6 to 8.
AUGMENTED = [{0, 1, 2, 3, 4, 5, 6}, {4, 5, 6, 7, 8}, {7, 8, 9, 10, 11}]
PAIRS = [(0, 1), (0, 2), (1, 2)]
ADJACENT = {(0, 1): {4, 5, 6}, (0, 2): set(), (1, 2): {7, 8}}
N_ADJACENT = {(0, 1): 3, (0, 2): 0, (1, 2): 2}
DC = {(0, 1): 2, (0, 2): 11, (1, 2): 5}
CON = {(0, 1): 0.180447, (0, 2): 0.00000417543, (1, 2): 0.00673795}
MEAN_RATIO = {(0, 1): 0.766196, (0, 2): 0.514229, (1, 2): 0.671146}
VARIANCE_RATIO = {(0, 1): 0.149131, (0, 2): 0.0342282, (1, 2): 0.229518}
SIM = {(0, 1): 0.880460, (0, 2): 0.531831, (1, 2): 0.825186}
FI = {(0, 1): 0.158876, (0, 2): 0.00000222062, (1, 2): 0.00556006}
LOG_FI = {(0, 1): -1.839629, (0, 2): -13.017725, (1, 2): -5.192146}
LABELS = {
    3: [0, 0, 0, 0, 0, 2, 2, 2, 1, 1, 1, 1],
    2: [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1],
    1: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
}


def close(expected):
    """Equal up to the last of the six digits on the page."""
    return pytest.approx(expected, rel=5e-6, abs=0)


def exact(expected):
    """Equal up to rounding in float64."""
    return pytest.approx(expected, rel=1e-12, abs=0)


@pytest.fixture(params=["kd_tree", "brute"])
def search(request):
    return request.param


@pytest.fixture
def table(search):
    return NeighborTable(choose_search(np.array(X, dtype=float), "euclidean", search))


@pytest.fixture
def model(search):
    return KFuse(n_clusters=2, fusion="paper", neighbors=search).fit(X)


@pytest.fixture
def rows(table):
    parts = subclusters.Partition(np.array(SUBCLUSTERS), np.array(LEFT_OUT))
    return fusion.FusionIndices(table, np.array(DENSITY), parts, NATURAL_VALUE)


@pytest.fixture
def oracle():
    return Oracle(X)


# The estimator.


def test_natural_neighbors_of_the_estimator(model):
    assert model.natural_value_ == NATURAL_VALUE
    assert model.n_neighbors_ == K
    assert model.reverse_neighbor_counts_.tolist() == REVERSE_COUNTS


def test_densities_of_the_estimator(model):
    assert model.density_.tolist() == exact(DENSITY)
    assert model.representatives_.tolist() == REPRESENTATIVES


def test_subclusters_of_the_estimator(model):
    assert model.subcluster_labels_.tolist() == SUBCLUSTERS
    assert model.outlier_mask_.tolist() == LEFT_OUT


def test_tree_of_the_estimator(model):
    assert model.tree_.children.tolist() == [[0, 1], [2, 3]]
    assert model.tree_.sizes.tolist() == [5, 3, 4, 8, 12]
    assert model.tree_.log_index.tolist() == close([-1.839629, -5.192146])


def test_labels_of_the_estimator(model):
    assert model.labels_.tolist() == LABELS[2]
    for n_clusters, labels in LABELS.items():
        assert model.cut(n_clusters).tolist() == labels
        assert KFuse(n_clusters=n_clusters, fusion="paper").fit_predict(X).tolist() == labels


def test_left_out_sample_is_labelled_minus_one_if_asked():
    labels = KFuse(n_clusters=2, fusion="paper", outliers="label").fit_predict(X)
    assert labels.tolist() == [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, -1]


# The core, stage by stage, each fed with the numbers of the page.


def test_neighbors(table):
    for block in table.blocks(K):
        for row, indices, distances in zip(*block, strict=True):
            assert indices.tolist() == NEIGHBORS[row]
            assert distances.tolist() == DISTANCES[row]


def test_rounds_of_algorithm_1(table):
    rounds = np.full(12, K + 1)
    natural.note_first_rounds(np.array(NEIGHBORS, dtype=np.int32), rounds)
    assert rounds.tolist() == FIRST_ROUND
    for last, counts in COUNTS_AFTER_ROUND.items():
        found = [sum(sample in row[:last] for row in NEIGHBORS) for sample in range(12)]
        assert found == counts
        assert [count > 0 for count in counts] == [first <= last for first in FIRST_ROUND]
    assert natural.find_natural_neighbors(table).natural_value == NATURAL_VALUE
    assert natural.find_natural_neighbors(table).reverse_counts.tolist() == COUNTS_AFTER_ROUND[NATURAL_VALUE]
    assert natural.find_natural_neighbors(table).n_neighbors == K


def test_sums_and_representatives():
    assert natural.sum_in_order(np.array(DISTANCES, dtype=float)).tolist() == SUMS
    found = density.densest(np.arange(12), np.array(NEIGHBORS, dtype=np.int32), np.array(DENSITY))
    assert found.tolist() == REPRESENTATIVES


def test_flood_of_algorithm_2(table):
    given = density.Density(
        np.array(DENSITY),
        np.array(REPRESENTATIVES),
        np.array([row[-1] for row in DISTANCES], dtype=float),
        np.array([row[-1] for row in NEIGHBORS], dtype=np.int32),
    )
    parts = subclusters.divide(table, given, K)
    assert parts.n_subclusters == 3
    assert parts.labels.tolist() == SUBCLUSTERS
    assert parts.left_out.tolist() == LEFT_OUT


def test_moments_leave_the_left_out_sample_out():
    moments = density_moments(np.array(DENSITY), np.array(SUBCLUSTERS), np.array(LEFT_OUT))
    assert moments.means.tolist() == exact(MEANS)
    assert moments.means.tolist() == close(MEANS_IN_DECIMALS)
    assert moments.variances.tolist() == exact(VARIANCES)
    assert moments.variances.tolist() == close(VARIANCES_IN_DECIMALS)


def test_augmented_subclusters(table):
    augmented = augmented_subclusters(table, np.array(SUBCLUSTERS), NATURAL_VALUE).table.toarray()
    assert [set(np.flatnonzero(column).tolist()) for column in augmented.T] == AUGMENTED


@pytest.mark.parametrize("pair", PAIRS)
def test_parts_of_the_fusion_index(rows, table, pair):
    i, j = pair
    assert rows.sizes.tolist() == SIZES
    assert rows.adjacent.toarray()[i, j] == N_ADJACENT[pair]
    members = np.flatnonzero(np.array(SUBCLUSTERS) == i)
    assert distances_from(table.distances, members, np.array(SUBCLUSTERS), 3)[j] == DC[pair]
    log_con = log_connectivity(N_ADJACENT[pair], float(DC[pair]), SIZES[i], SIZES[j])
    assert math.exp(log_con) == close(CON[pair])
    assert smaller_over_larger(MEANS[i], MEANS[j], 1.0) == close(MEAN_RATIO[pair])
    assert smaller_over_larger(VARIANCES[i], VARIANCES[j], 0.0) == close(VARIANCE_RATIO[pair])
    log_sim = log_similarity(MEANS[i], MEANS[j], VARIANCES[i], VARIANCES[j])
    assert math.exp(log_sim) == close(SIM[pair])


@pytest.mark.parametrize("pair", PAIRS)
def test_fusion_index(rows, pair):
    i, j = pair
    assert rows[i][j] == close(LOG_FI[pair])
    assert rows[j][i] == close(LOG_FI[pair])
    assert math.exp(rows[i][j]) == close(FI[pair])


def test_counts_of_adjacent_samples():
    membership = np.array([[sample in group for group in AUGMENTED] for sample in range(12)], dtype=np.int64)
    counts = adjacent_sample_counts(csr_array(membership)).toarray()
    assert {pair: counts[pair] for pair in PAIRS} == N_ADJACENT


# The oracle, whose sub-clusters are numbered from 1 as in the paper.


def test_first_stages_of_the_oracle(oracle):
    assert [row[:K] for row in oracle.NN] == NEIGHBORS
    assert [[oracle.d[p][q] for q in row] for p, row in enumerate(NEIGHBORS)] == DISTANCES
    assert oracle.lam == NATURAL_VALUE
    assert oracle.nb == REVERSE_COUNTS
    assert oracle.k == K
    assert oracle.rho == exact(DENSITY)
    assert oracle.rep == REPRESENTATIVES


def test_subclusters_of_the_oracle(oracle):
    assert oracle.m == 3
    assert oracle.subclusters == SUBCLUSTERS
    assert oracle.left_out == LEFT_OUT
    assert [oracle.mean_density[c] for c in (1, 2, 3)] == exact(MEANS)
    assert [oracle.variance[c] for c in (1, 2, 3)] == exact(VARIANCES)


@pytest.mark.parametrize("pair", PAIRS)
def test_pairs_of_the_oracle(oracle, pair):
    key = pair[0] + 1, pair[1] + 1
    assert oracle.ADS[key] == ADJACENT[pair]
    assert oracle.DC[key] == DC[pair]
    assert oracle.con[key] == close(CON[pair])
    assert oracle.sim[key] == close(SIM[pair])
    assert oracle.log_fi[key] == close(LOG_FI[pair])
    assert math.exp(oracle.log_fi[key]) == close(FI[pair])


def test_fusions_of_the_oracle(oracle):
    assert sorted(oracle.log_fi, key=oracle.log_fi.get, reverse=True) == [(1, 2), (2, 3), (1, 3)]
    for n_clusters, labels in LABELS.items():
        assert oracle.fuse(n_clusters) == labels


# The page.


def test_code_on_the_page():
    results = doctest.testfile(str(PAGE), module_relative=False)
    assert results.attempted > 0
    assert results.failed == 0

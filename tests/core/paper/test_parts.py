"""Small parts of the printed algorithm, each alone."""

import math

import numpy as np
import pytest

from kfuse.core.distances import MatrixDistances
from kfuse.core.paper import subclusters
from kfuse.core.paper.similarity import log_similarity
from kfuse.core.search import NeighborTable
from kfuse.core.search.rows import RowSearch


def test_left_out_samples_that_reach_nobody_join_the_first_that_has_a_label():
    far = np.full((5, 5), np.inf)
    far[0, 1] = far[1, 0] = 1.0
    far[3, 4] = far[4, 3] = 2.0
    table = NeighborTable(RowSearch(MatrixDistances(far)))
    labels = np.array([-1, -1, -1, 7, 4])
    subclusters._assign_left_out(table, 1, labels, np.array([0, 1, 2]))
    np.testing.assert_array_equal(labels, [7, 7, 7, 7, 4])


@pytest.mark.parametrize(
    ("means", "variances", "expected"),
    [
        ((1, 2), (3, 6), 0.5 * 1.5),
        ((2, 1), (6, 3), 0.5 * 1.5),
        ((1, 4), (0, 0), 0.25),  # of no variance and none, nothing is similar
        ((0, 0), (0, 0), 1.0),  # of no density and none, all is
        ((0, 1), (5, 5), 0.0),
        ((3, 3), (0, 2), 1.0),
    ],
)
def test_similarity(means, variances, expected):
    assert math.exp(log_similarity(*map(float, means + variances))) == pytest.approx(expected)

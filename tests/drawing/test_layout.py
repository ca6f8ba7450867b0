"""The layout of the dendrogram."""

import numpy as np
import pytest

from kfuse import KFuse
from kfuse.datasets import make_shapes
from kfuse.drawing import layout


@pytest.fixture(scope="module")
def shapes():
    return KFuse().fit(make_shapes(400)[0])


@pytest.mark.parametrize("most_leaves", [1, 2, 7, 10_000])
def test_folded_branches_have_the_heights_of_the_linkage_and_do_not_cross(shapes, most_leaves):
    top = layout.branches(shapes.tree_, most_leaves)
    assert top.n_leaves == min(most_leaves, shapes.tree_.n_leaves)
    assert sorted(top.x[: top.n_leaves]) == list(range(top.n_leaves))
    assert top.sizes[: top.n_leaves].sum() == shapes.labels_.size
    linkage = shapes.tree_.to_linkage()[:, 2]
    np.testing.assert_array_equal(top.height[top.n_leaves :], linkage[linkage.size - len(top.children) :])
    leaves = [{leaf} for leaf in range(top.n_leaves)]
    for pair in top.children:
        leaves.append(leaves[pair[0]] | leaves[pair[1]])
        places = sorted(top.x[list(leaves[-1])])
        assert places[-1] - places[0] == len(places) - 1  # side by side


@pytest.mark.parametrize("most_leaves", [1, 2, 12])
def test_each_child_of_a_merge_has_a_stem_and_half_a_crossbar(shapes, most_leaves):
    top = layout.branches(shapes.tree_, most_leaves)
    ends, nodes = top.segments()
    lines = iter(zip(ends.tolist(), nodes, strict=True))
    for merge, pair in enumerate(top.children, start=top.n_leaves):
        for child in pair:
            x, height = top.x[child], top.height[merge]
            assert next(lines) == ([x, top.height[child], x, height], child)
            assert next(lines) == ([x, height, top.x[merge], height], merge)
    assert next(lines, None) is None

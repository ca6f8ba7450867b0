"""Merging by a heap equals merging with all indices computed anew in every step."""

import math

import numpy as np
import pytest

from kfuse.core.adaptive import fusion
from kfuse.core.adaptive.links import Links
from kfuse.core.execution import Execution, Progress

N_NODES = 24


def random_graph(seed, has_ties):
    """A connected graph with few or many links; with ties, many indices are equal."""
    rng = np.random.default_rng(seed)
    tree = [(int(rng.integers(0, node)), node) for node in range(1, N_NODES)]
    ends = np.array(sorted({*tree, *(tuple(sorted(rng.choice(N_NODES, 2, False).tolist())) for _ in range(30 * seed))}))
    weight = np.ones(len(ends)) if has_ties else rng.random(len(ends))
    level = np.zeros(len(ends)) if has_ties else rng.normal(size=len(ends))
    size = np.ones(N_NODES) if has_ties else rng.integers(1, 9, N_NODES).astype(float)
    log_density = np.zeros(N_NODES) if has_ties else rng.normal(size=N_NODES) * size
    first, second = ends[rng.permutation(len(ends))].astype(np.int32).T
    return Links(first, second, weight, weight * level, np.empty((len(ends), 0))), fusion.Nodes(size, log_density)


def merged_one_by_one(links, nodes):
    pairs = list(zip(links.first.tolist(), links.second.tolist(), strict=True))
    weight, level = dict(zip(pairs, links.weight, strict=True)), dict(zip(pairs, links.level, strict=True))
    size, density = dict(enumerate(nodes.size)), dict(enumerate(nodes.log_density))
    leaves, lowest = {i: {i} for i in size}, dict.fromkeys(size, math.inf)

    def index(pair):
        small, large = sorted(math.log(size[i]) for i in pair)
        connectivity = math.log(weight[pair]) - small - 0.5 * large  # rounded as there, so that ties are ties
        a, b = (density[i] / size[i] for i in pair)
        return connectivity + level[pair] / weight[pair] - (a + b) / 2

    before_any = {pair: index(pair) for pair in pairs}
    merges = []
    while weight:
        best = max(index(pair) for pair in weight)
        a, b = min(pair for pair in weight if index(pair) == best)
        across = [p for p in pairs if all(leaves[i] & set(p) for i in (a, b))]
        edge = max(across, key=lambda p: (before_any[p], -p[0], -p[1]))
        lowest[a] = min(best, lowest[a], lowest[b])
        sides = [size[a], size[b]], [density[a] / size[a], density[b] / size[b]]
        merges.append((best, lowest[a], math.log(weight[a, b]), level[a, b] / weight[a, b], *sides, edge))
        leaves[a] |= leaves[b]
        size[a], density[a] = size[a] + size[b], density[a] + density[b]
        del weight[a, b], level[a, b]
        for pair in [pair for pair in weight if b in pair]:
            moved = tuple(sorted((a, sum(pair) - b)))
            weight[moved] = weight.get(moved, 0.0) + weight.pop(pair)
            level[moved] = level.get(moved, 0.0) + level.pop(pair)
    return merges


@pytest.mark.parametrize("has_ties", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_merges_equal_those_one_by_one(seed, has_ties):
    links, nodes = random_graph(seed, has_ties)
    found = fusion.agglomerate(links, nodes)
    for column, expected in zip(found, zip(*merged_one_by_one(links, nodes), strict=True), strict=True):
        np.testing.assert_allclose(column, np.array(expected), rtol=1e-9, atol=1e-9)


def test_an_interrupt_is_heard_between_merges(monkeypatch):
    monkeypatch.setattr(fusion, "MERGES_AT_A_TIME", 9)
    seen = []

    class Seen(Progress):
        def advance(self, done, total, unit):
            seen.append((done, total, unit))

    links, nodes = random_graph(1, False)
    found = fusion.agglomerate(links, nodes, Execution(1, Seen()))
    assert seen == [(9, 23, "merges"), (18, 23, "merges"), (23, 23, "merges")]
    monkeypatch.undo()
    np.testing.assert_array_equal(found.log_index, fusion.agglomerate(links, nodes).log_index)

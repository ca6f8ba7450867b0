"""Ablation study: change one ingredient of the default at a time and score the result on labelled data.

    KFUSE_DATA=path/to/data python -m study.ablation --out ablation.md
    python -m study.ablation --data path/to/data --only default --rows        # all data sets
    python -m study.ablation --data path/to/data --only default --share 0.85 --repeats 5

The last averages over five random subsets of each data set, which scatters less than a single fit of the whole.

The package is not edited: a variant patches constants or functions of its modules while it runs. Kernels that are
called by other kernels cannot be patched, so a variant of the index rebuilds the merging module around another index.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from kfuse.core import adaptive, kernels, natural, paper
from kfuse.core.adaptive import (
    borders,
    density,
    fusion,
    islands,
    links,
    n_clusters,
    neighborhoods,
    peaks,
    valleys,
)
from kfuse.core.dendrogram import nodes_of_merges
from kfuse.core.execution import SERIAL, Execution
from kfuse.core.search import Nearest, NeighborTable
from kfuse.tree import FusionTree
from study.labelled import PAPER_15, LabelledSet, Score, load, score, set_rows

Change = tuple[Any, str, Any]  # a module or class, the name of the attribute, and its replacement


class Variant(NamedTuple):
    """The default with something changed."""

    group: str
    name: str
    changes: tuple[Change, ...] = ()
    fusion: str = "adaptive"


# The index


def compile_uncached(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Compile without the cache on disk, where a variant would replace the package's kernel."""
    return numba.njit(nogil=True, error_model="numpy", **options)(function)


def rebuild(module: Any, name: str, replacement: Callable[..., float]) -> Any:
    """Rebuild a module of the package around another function in place of the one with that name."""
    spec = importlib.util.spec_from_file_location(f"{replacement.__name__}_in_{module.__name__}", module.__file__)
    assert spec is not None
    assert spec.loader is not None
    rebuilt = importlib.util.module_from_spec(spec)

    def compile_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
        return compile_uncached(replacement if function.__name__ == name else function)

    with (
        patch.object(kernels, "kernel", compile_kernel),
        patch.object(kernels, "inner_kernel", compile_kernel),
    ):
        spec.loader.exec_module(rebuilt)
    return rebuilt


def fusing_by(log_fusion_index: Callable[..., float]) -> Change:
    """Merge by another index."""
    return (fusion, "agglomerate", rebuild(fusion, "log_fusion_index", log_fusion_index).agglomerate)


def weighing_by(link_weight: Callable[..., float]) -> Change:
    """Weight links by another function of the share of common neighbours and of whether the link is mutual."""
    return (links, "links_one_way", rebuild(links, "link_weight", link_weight).links_one_way)


def same_index(log_weight, level, log_size, other_log_size, rho, other_rho):
    """Return the default, to check that a rebuilt module gives the same result."""
    sizes = min(log_size, other_log_size) + 0.5 * max(log_size, other_log_size)
    return log_weight - sizes + level - (rho + other_rho) / 2.0


def no_density(log_weight, level, log_size, other_log_size, rho, other_rho):
    """Return the boundary connectivity alone."""
    return log_weight - min(log_size, other_log_size) - 0.5 * max(log_size, other_log_size)


def doubled_valley(log_weight, level, log_size, other_log_size, rho, other_rho):
    """Square the density term."""
    sizes = min(log_size, other_log_size) + 0.5 * max(log_size, other_log_size)
    return log_weight - sizes + 2.0 * level - (rho + other_rho)


def smaller_size_only(log_weight, level, log_size, other_log_size, rho, other_rho):
    """Divide by the smaller size only, as in Eq. 5."""
    return log_weight - min(log_size, other_log_size) + level - (rho + other_rho) / 2.0


def both_sizes(log_weight, level, log_size, other_log_size, rho, other_rho):
    """Divide by both sizes: the mean weight over all pairs, as in average linkage."""
    return log_weight - log_size - other_log_size + level - (rho + other_rho) / 2.0


def sizes_to(larger_exponent: float) -> tuple[Change, ...]:
    """Compute strengths for an index that decreases with another power of the larger size."""
    default = n_clusters.strengths

    def strengths(merges: fusion.Merges) -> NDArray[np.float64]:
        larger = np.log(merges.size.max(axis=1))
        return default(merges._replace(log_index=merges.log_index + (larger_exponent - 0.5) * larger))

    return ((n_clusters, "strengths", strengths),)


def first_indices(graph: links.Links, nodes: fusion.Nodes) -> NDArray[np.float64]:
    """Return the index of each link before any merge."""
    log_size, mean_density = np.log(nodes.size), nodes.log_density / nodes.size
    sizes = log_size[graph.first], log_size[graph.second]
    valley = graph.level / graph.weight - (mean_density[graph.first] + mean_density[graph.second]) / 2
    return np.log(graph.weight) - np.minimum(*sizes) - 0.5 * np.maximum(*sizes) + valley


def merge_once(graph: links.Links, nodes: fusion.Nodes, _: Execution) -> fusion.Merges:
    """Merge by the initial indices, best first: Kruskal's algorithm."""
    log_index = first_indices(graph, nodes)
    best_first = np.lexsort((graph.second, graph.first, -log_index))
    rank = np.empty(log_index.size)
    rank[best_first] = np.arange(log_index.size) + 1
    shape = (nodes.log_density.size, nodes.log_density.size)
    tree = minimum_spanning_tree(csr_array((rank, (graph.first, graph.second)), shape=shape)).tocoo()
    order = np.argsort(tree.data)
    link = best_first[tree.data[order].astype(int) - 1]
    i, j = tree.row[order].astype(np.intp), tree.col[order].astype(np.intp)
    children = nodes_of_merges(i, j)
    sizes, densities = (_sums_of_nodes(children, values) for values in nodes)
    return fusion.Merges(
        log_index[link], log_index[link], np.log(graph.weight[link]), graph.level[link] / graph.weight[link],
        sizes[children], (densities / sizes)[children], np.column_stack([i, j]),
    )  # fmt: skip  # best first, so each index is the lowest so far


def _sums_of_nodes(children: NDArray[np.intp], of_leaves: NDArray[np.float64]) -> NDArray[np.float64]:
    sums = np.append(of_leaves, np.zeros(len(children)))
    for merge, pair in enumerate(children):
        sums[of_leaves.size + merge] = sums[pair].sum()
    return sums


# The graph


def same_weight(share, is_mutual):
    """Return the default, to check that a rebuilt module gives the same result."""
    return share**2 * (1.0 if is_mutual else 0.5)


def all_alike(share, is_mutual):
    """Weight all links alike, one-way links half."""
    return 1.0 if is_mutual else 0.5


def plain_share(share, is_mutual):
    """Weight links by the share itself."""
    return share * (1.0 if is_mutual else 0.5)


def fourth_power(share, is_mutual):
    """Weight links by the share to the power 4."""
    return share**4 * (1.0 if is_mutual else 0.5)


def not_halved(share, is_mutual):
    """Give one-way links their full weight."""
    return share**2


NO_MAX_NB = (natural.NaturalNeighbors, "n_neighbors", property(lambda found: found.reverse_counts.size))


# Sub-clusters and density


def climb_among_lambda() -> Change:
    """Climb to the densest of lambda neighbours; the package takes the root of the squared value passed here."""
    default = peaks.climb
    return (peaks, "climb", lambda indices, counts, rho, lam, *rest: default(indices, counts, rho, lam**2, *rest))


def every_sample_its_own(
    indices: NDArray[np.int32],
    counts: NDArray[np.int32],
    rho: NDArray[np.float64],
    natural_value: int,
    execution: Execution,
) -> peaks.Basins:
    """Make every sample its own sub-cluster."""
    return peaks.Basins(np.arange(rho.size), np.arange(rho.size))


def density_with_counts() -> tuple[Change, ...]:
    """Multiply the density by nb as in Eq. 1; nb = 0 counts as 0.5 because the logarithm is needed."""
    search, log_density = natural.find_natural_neighbors, density.log_density
    counts: list[NDArray[np.int64]] = []

    def noting_search(neighbors: NeighborTable, most: float, **options: Any) -> natural.NaturalNeighbors:
        found = search(neighbors, most, **options)
        counts[:] = [found.reverse_counts]
        return found

    def with_counts(*arguments: Any) -> density.LogDensity:
        plain = log_density(*arguments)
        return plain._replace(values=plain.values + np.log(np.maximum(counts[0], 0.5)))

    return (natural, "find_natural_neighbors", noting_search), (density, "log_density", with_counts)


# The neighbourhoods and the order of merges


def whole_neighborhoods() -> Change:
    """Let no gap end a neighbourhood."""
    default = neighborhoods.own_neighborhoods

    def whole(nearest: Nearest, *rest: Any) -> neighborhoods.Neighborhoods:
        found = default(nearest, *rest)
        return found._replace(counts=np.full_like(found.counts, nearest.indices.shape[1]))

    return (neighborhoods, "own_neighborhoods", whole)


def undone_as_merged(merges: fusion.Merges, natural_value: int, dimension: float) -> NDArray[np.float64]:
    """Undo the last merges, lone outliers first."""
    return np.arange(merges.log_index.size, dtype=float)


# The number of clusters


def density_by_its_root() -> Change:
    """Take the root of the index without its sizes, so that density counts no more than the weight."""
    default = n_clusters.strengths

    def strengths(merges: fusion.Merges) -> NDArray[np.float64]:
        sizes = np.log(merges.size.min(axis=1)) + np.log(merges.size.max(axis=1)) / 2
        connection = merges.log_index + sizes
        return default(merges._replace(log_index=merges.log_index - (connection - merges.log_weight) / 2))

    return (n_clusters, "strengths", strengths)


def unseen(*_: Any) -> int:
    """See no border by a sign."""
    return 0


def level(value: float) -> tuple[Change, ...]:
    """Change the level of significance."""
    needed = -math.log(value)
    return ((valleys, "NEEDED", needed), (n_clusters, "NEEDED", needed))


def constant_median(_: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compare every merge with the median of all, whatever its size."""
    return np.full(y.size, np.median(y))


# All variants


def constant(name: str, value: float) -> tuple[Change, ...]:
    """Change REACH or MOST_NEIGHBORS, or a constant of n_clusters.py."""
    return ((adaptive if name in ("REACH", "MOST_NEIGHBORS") else n_clusters, name, value),)


UNCAPPED = 10**9

VARIANTS = (
    Variant("", "the default"),
    Variant("", 'the paper\'s algorithm, `fusion="paper"`', fusion="paper"),
    Variant("index", "not recomputed after a merge", ((fusion, "agglomerate", merge_once),)),
    Variant("index", "no density term", (fusing_by(no_density),)),
    Variant("index", "density term squared", (fusing_by(doubled_valley),)),
    Variant("index", "W / min", (fusing_by(smaller_size_only), *sizes_to(0.0))),
    Variant("index", "W / (min max)", (fusing_by(both_sizes), *sizes_to(1.0))),
    Variant("links", "all of weight 1", (weighing_by(all_alike),)),
    Variant("links", "share to the power 1", (weighing_by(plain_share),)),
    Variant("links", "share to the power 4", (weighing_by(fourth_power),)),
    Variant("links", "one-way links not halved", (weighing_by(not_halved),)),
    Variant("neighbours", "no gap ends a neighbourhood", (whole_neighborhoods(),)),
    Variant("order", "the last merges are undone first", ((borders, "heights", undone_as_merged),)),
    Variant("neighbours", "k = λ", constant("REACH", 1)),
    Variant("neighbours", "k = 2 λ", (*constant("REACH", 2), NO_MAX_NB)),
    Variant("neighbours", "k at most 32", constant("MOST_NEIGHBORS", 32)),
    Variant("neighbours", "k at most 2 λ, also above 64", constant("MOST_NEIGHBORS", UNCAPPED)),
    Variant("neighbours", "REACH = 4", (*constant("REACH", 4), *constant("MOST_NEIGHBORS", UNCAPPED))),
    Variant("neighbours", "REACH = 8", (*constant("REACH", 8), *constant("MOST_NEIGHBORS", UNCAPPED))),
    Variant("sub-clusters", "none: each sample is its own", ((peaks, "climb", every_sample_its_own),)),
    Variant("sub-clusters", "climbing among λ neighbours", (climb_among_lambda(),)),
    Variant("density", "with reverse neighbour counts (Eq. 1)", density_with_counts()),
    Variant("number", "ALLOWANCE = 2", constant("ALLOWANCE", 2.0)),
    Variant("number", "ALLOWANCE = 8", constant("ALLOWANCE", 8.0)),
    Variant("number", "STEP_IN_ONE_DIMENSION = 0.75", constant("STEP_IN_ONE_DIMENSION", 0.75)),
    Variant("number", "STEP_IN_ONE_DIMENSION = 3", constant("STEP_IN_ONE_DIMENSION", 3.0)),
    Variant("number", "LEVEL = 0.01", level(0.01)),
    Variant("number", "LEVEL = 0.2", level(0.2)),
    Variant("number", "no steps", ((n_clusters, "count_below_step", unseen),)),
    Variant("number", "no peaks", ((valleys, "count_peaks", unseen),)),
    Variant("number", "no islands", ((islands, "count_islands", unseen),)),
    Variant("number", "square root of the density, too", (density_by_its_root(),)),
    Variant("number", "no line: 1 is typical", ((n_clusters, "_median_line", lambda x, y: np.zeros(y.size)),)),
    Variant("number", "no slope: the median", ((n_clusters, "_median_line", constant_median),)),
)


def score_variant(variant: Variant, sets: list[LabelledSet]) -> list[Score]:
    """Score a variant on every data set."""
    with ExitStack() as stack:
        for owner, name, value in variant.changes:
            stack.enter_context(patch.object(owner, name, value))
        algorithm = {"adaptive": adaptive, "paper": paper}[variant.fusion]
        return [score(FusionTree.of(algorithm.fit(s.neighbors, SERIAL)), s.labellings) for s in sets]


def check_rebuilding(sets: list[LabelledSet]) -> None:
    """Check that modules rebuilt around the default index and the default weight give the same trees."""
    for changed in (fusing_by(same_index), weighing_by(same_weight)):
        for labelled in sets:
            expected = FusionTree.of(adaptive.fit(labelled.neighbors, SERIAL))
            with patch.object(*changed):
                got = FusionTree.of(adaptive.fit(labelled.neighbors, SERIAL))
            for k in (2, 5, 20):
                np.testing.assert_array_equal(got.cut(k), expected.cut(k), err_msg=f"{labelled.name}: {changed[1]}")


def table_row(variant: Variant, scores: list[Score], sets: list[LabelledSet]) -> str:
    """Format one row of the table."""
    ari, ari_found, right = np.mean([s[:3] for s in scores], axis=0)
    paper = np.mean([s.ari for s, labelled in zip(scores, sets, strict=True) if labelled.name in PAPER_15])
    found = "- | -" if np.isnan(ari_found) else f"{ari_found:.3f} | {right:.2f}"
    return f"| {variant.group} | {variant.name} | {paper:.3f} | {ari:.3f} | {found} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("KFUSE_DATA"), help="folder of the data sets; default: KFUSE_DATA"
    )
    parser.add_argument("--out", type=Path, help="file for the table")
    parser.add_argument("--only", default="", help="run only variants whose group or name contains this")
    parser.add_argument("--rows", action="store_true", help="also list every data set")
    parser.add_argument("--share", type=float, default=1.0, help="share of the samples of each set, drawn at random")
    parser.add_argument("--repeats", type=int, default=1, help="number of such draws to average over")
    args = parser.parse_args()
    if args.data is None:
        parser.error("no data: pass --data or set KFUSE_DATA")

    sets = [labelled for seed in range(args.repeats) for labelled in load(args.data, args.share, seed)]
    check_rebuilding(sets[:6])
    lines = [
        "| changed | how | true number, paper 15 | "
        f"true number, all {len(sets) // args.repeats} | estimated number: ARI | right number |",
        "|---|---|---|---|---|---|",
    ]
    print("\n".join(lines))
    details: list[str] = []
    for variant in VARIANTS:
        if args.only not in f"{variant.group}: {variant.name}":
            continue
        scores = score_variant(variant, sets)
        lines.append(table_row(variant, scores, sets))
        print(lines[-1], flush=True)
        if args.rows:
            details += ["", f"{variant.name}:", "", *set_rows(scores, sets)]
    print("\n".join(details))
    if args.out:
        args.out.write_text("\n".join(lines + details) + "\n")


if __name__ == "__main__":
    main()

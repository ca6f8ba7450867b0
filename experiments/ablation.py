"""What each ingredient of the default is worth: change one at a time and score the result on labelled data.

    KFUSE_DATA=path/to/data python -m experiments.ablation --out ablation.md
    python -m experiments.ablation --data path/to/data --only default --rows        # every data set
    python -m experiments.ablation --data path/to/data --only default --share 0.85 --repeats 5

The last runs on five random parts of each data set, which scatters less than one figure on all of it.

Nothing in the package is edited: a variant replaces constants or functions of its modules while it runs. Kernels that
other kernels call cannot be replaced from outside, so a variant of the index has the module that fuses built anew
around another index.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree

from experiments.labelled import PAPER_15, LabelledSet, Score, load, score
from kfuse.core import climb, compiled, density, flow, natural, number
from kfuse.core.fusion import adaptive, agglomerate, graph, index
from kfuse.core.neighbors import NeighborTable

Change = tuple[Any, str, Any]  # a module or class, the name of what is replaced, and the replacement


class Variant(NamedTuple):
    """The default with something changed."""

    group: str
    name: str
    changes: tuple[Change, ...] = ()
    fusion: str = "adaptive"


# The index


def compile_anew(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile without the cache on disk, where a variant would take the place of the package's kernel."""
    return numba.njit(nogil=True, error_model="numpy")(function)


def built_anew(module: Any, name: str, kernel: Callable[..., float]) -> Any:
    """A module of the package, built anew around another kernel of index.py."""
    spec = importlib.util.spec_from_file_location(f"{kernel.__name__}_in_{module.__name__}", module.__file__)
    assert spec is not None
    assert spec.loader is not None
    rebuilt = importlib.util.module_from_spec(spec)
    with patch.object(compiled, "kernel", compile_anew), patch.object(index, name, compile_anew(kernel)):
        spec.loader.exec_module(rebuilt)
    return rebuilt


def fusing_by(log_fusion_index: Callable[..., float]) -> Change:
    """Fuse by another index."""
    return (adaptive, "agglomerate", built_anew(agglomerate, "log_fusion_index", log_fusion_index).agglomerate)


def weighing_by(link_weight: Callable[..., float]) -> Change:
    """Weigh links by another function of the share of common neighbours and of whether the link is mutual."""
    return (adaptive, "links_between", built_anew(graph, "link_weight", link_weight).links_between)


def same_index(log_weight, level, log_size, other_log_size, rho, other_rho):
    """The default, to check that a module built anew gives the same."""
    sizes = min(log_size, other_log_size) + 0.5 * max(log_size, other_log_size)
    return log_weight - sizes + level - (rho + other_rho) / 2.0


def no_density(log_weight, level, log_size, other_log_size, rho, other_rho):
    """Boundary connectivity alone."""
    return log_weight - min(log_size, other_log_size) - 0.5 * max(log_size, other_log_size)


def doubled_valley(log_weight, level, log_size, other_log_size, rho, other_rho):
    """The density term squared."""
    sizes = min(log_size, other_log_size) + 0.5 * max(log_size, other_log_size)
    return log_weight - sizes + 2.0 * level - (rho + other_rho)


def smaller_size_only(log_weight, level, log_size, other_log_size, rho, other_rho):
    """W / min, as Eq. 5 has it."""
    return log_weight - min(log_size, other_log_size) + level - (rho + other_rho) / 2.0


def both_sizes(log_weight, level, log_size, other_log_size, rho, other_rho):
    """W / (min x max): the mean weight over all pairs, as in average linkage."""
    return log_weight - log_size - other_log_size + level - (rho + other_rho) / 2.0


def sizes_to(larger_exponent: float) -> tuple[Change, ...]:
    """Let the strengths follow an index that falls with the larger size to another power."""
    default = adaptive.strengths

    def strengths(log_index, log_weight, sizes, other_sizes):
        larger = np.log(np.maximum(sizes, other_sizes))
        return default(log_index + (larger_exponent - 0.5) * larger, log_weight, sizes, other_sizes)

    return ((adaptive, "strengths", strengths),)


def first_indices(links: agglomerate.Links, nodes: agglomerate.Nodes) -> NDArray[np.float64]:
    """The index of each link before any fusion."""
    log_size, mean_density = np.log(nodes.size), nodes.log_density / nodes.size
    sizes = log_size[links.first], log_size[links.second]
    valley = links.level / links.weight - (mean_density[links.first] + mean_density[links.second]) / 2
    return np.log(links.weight) - np.minimum(*sizes) - 0.5 * np.maximum(*sizes) + valley


def fuse_once(
    links: agglomerate.Links, nodes: agglomerate.Nodes
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
    """Fuse by the first indices, best first: Kruskal's algorithm."""
    log_index = first_indices(links, nodes)
    best_first = np.lexsort((links.second, links.first, -log_index))
    rank = np.empty(log_index.size)
    rank[best_first] = np.arange(log_index.size) + 1
    shape = (nodes.log_density.size, nodes.log_density.size)
    tree = minimum_spanning_tree(csr_array((rank, (links.first, links.second)), shape=shape)).tocoo()
    order = np.argsort(tree.data)
    fused = np.column_stack([tree.row, tree.col])[order].astype(np.intp)
    link = best_first[tree.data[order].astype(int) - 1]
    return fused, log_index[link], np.log(links.weight[link])


# The graph


def same_weight(share, is_mutual):
    """The default, to check that a module built anew gives the same."""
    return share**2 * (1.0 if is_mutual else 0.5)


def all_alike(share, is_mutual):
    """Every link counts the same, but a one-way link half."""
    return 1.0 if is_mutual else 0.5


def plain_share(share, is_mutual):
    """The share itself."""
    return share * (1.0 if is_mutual else 0.5)


def fourth_power(share, is_mutual):
    """The share to the power 4."""
    return share**4 * (1.0 if is_mutual else 0.5)


def not_halved(share, is_mutual):
    """One-way links count in full."""
    return share**2


NO_MAX_NB = (natural.NaturalNeighbors, "n_neighbors", property(lambda found: found.reverse_counts.size))


# Sub-clusters and density


def climb_among_lambda() -> Change:
    """Look for the densest natural neighbour among lambda: the square root of its square."""
    default = climb.climb
    return (climb, "climb", lambda indices, rho, natural_value, *rest: default(indices, rho, natural_value**2, *rest))


def every_sample_its_own(
    indices: NDArray[np.int32], rho: NDArray[np.float64], natural_value: int, n_threads: int = 1
) -> climb.Basins:
    """No sub-clusters."""
    return climb.Basins(np.arange(rho.size), np.arange(rho.size))


def density_with_counts() -> tuple[Change, ...]:
    """Eq. 1: the density times nb, where 0 counts as a half since its logarithm is needed."""
    search, log_density = natural.search, density.log_density
    counts: list[NDArray[np.int64]] = []

    def noting_search(neighbors: NeighborTable) -> natural.NaturalNeighbors:
        found = search(neighbors)
        counts[:] = [found.reverse_counts]
        return found

    def with_counts(distances: NDArray[np.float64]) -> NDArray[np.float64]:
        return log_density(distances) + np.log(np.maximum(counts[0], 0.5))

    return (natural, "search", noting_search), (density, "log_density", with_counts)


# The number of clusters


def density_by_its_root() -> Change:
    """Let density count as little as the weight does: the root of the index without its sizes."""
    default = adaptive.strengths

    def strengths(log_index, log_weight, sizes, other_sizes):
        smaller, larger = np.minimum(sizes, other_sizes), np.maximum(sizes, other_sizes)
        connection = log_index + np.log(smaller) + np.log(larger) / 2
        return default(log_index - (connection - log_weight) / 2, log_weight, sizes, other_sizes)

    return (adaptive, "strengths", strengths)


def clear_by_gap_alone(ascending: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Ask for the same gap whatever the number of borders."""
    return (ascending[:-1] < 1) & (np.diff(np.log(ascending)) >= number.LEAST_GAP)


def all_clear(ascending: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Take any gap above a border weaker than usual."""
    return ascending[:-1] < 1


# All variants


def constant(name: str, value: float) -> tuple[Change, ...]:
    """A constant of number.py, or REACH of flow.py, with another value."""
    return ((flow if name == "REACH" else number, name, value),)


UNCAPPED = 10**9

VARIANTS = (
    Variant("", "the default"),
    Variant("", 'the printed algorithm, `fusion="paper"`', fusion="paper"),
    Variant("index", "not taken anew after a fusion", ((adaptive, "agglomerate", fuse_once),)),
    Variant("index", "no density term", (fusing_by(no_density),)),
    Variant("index", "density term squared", (fusing_by(doubled_valley),)),
    Variant("index", "W / min", (fusing_by(smaller_size_only), *sizes_to(0.0))),
    Variant("index", "W / (min max)", (fusing_by(both_sizes), *sizes_to(1.0))),
    Variant("links", "all of weight 1", (weighing_by(all_alike),)),
    Variant("links", "share to the power 1", (weighing_by(plain_share),)),
    Variant("links", "share to the power 4", (weighing_by(fourth_power),)),
    Variant("links", "one-way links not halved", (weighing_by(not_halved),)),
    Variant("reach", "k = λ", constant("REACH", 1)),
    Variant("reach", "k = 2 λ", (*constant("REACH", 2), NO_MAX_NB)),
    Variant("reach", "k = max(nb), no cap", constant("REACH", UNCAPPED)),
    Variant("reach", "REACH = 2", constant("REACH", 2)),
    Variant("reach", "REACH = 8", constant("REACH", 8)),
    Variant("sub-clusters", "none: every sample its own", ((climb, "climb", every_sample_its_own),)),
    Variant("sub-clusters", "climbing among λ", (climb_among_lambda(),)),
    Variant("density", "with reverse counts (Eq. 1)", density_with_counts()),
    Variant("number", "ALLOWANCE = 2", constant("ALLOWANCE", 2.0)),
    Variant("number", "ALLOWANCE = 8", constant("ALLOWANCE", 8.0)),
    Variant("number", "LEAST_GAP = 0.25", constant("LEAST_GAP", 0.25)),
    Variant("number", "LEAST_GAP = 1", constant("LEAST_GAP", 1.0)),
    Variant("number", "no least gap", ((number, "_is_clear", all_clear),)),
    Variant("number", "the same least gap for all numbers", ((number, "_is_clear", clear_by_gap_alone),)),
    Variant("number", "density by its root, too", (density_by_its_root(),)),
    Variant("number", "no line: 1 is usual", ((number, "_median_line", lambda x, y: np.zeros(y.size)),)),
    Variant("number", "no slope: the median", ((number, "_median_line", lambda x, y: np.full(y.size, np.median(y))),)),
)


def score_variant(variant: Variant, sets: list[LabelledSet]) -> list[Score]:
    """Score a variant on every set."""
    with ExitStack() as stack:
        for owner, name, value in variant.changes:
            stack.enter_context(patch.object(owner, name, value))
        fuse = flow.FLOWS[variant.fusion]
        return [score(fuse(s.neighbors, lambda _: nullcontext()).tree, s.labellings) for s in sets]


def check_rebuilding(sets: list[LabelledSet]) -> None:
    """Make sure that the module built anew around the default index, and links weighed anew, give the same trees."""
    stage = lambda _: nullcontext()  # noqa: E731
    for changed in (fusing_by(same_index), weighing_by(same_weight)):
        for labelled in sets:
            expected = flow.fuse_adaptively(labelled.neighbors, stage).tree
            with patch.object(*changed):
                got = flow.fuse_adaptively(labelled.neighbors, stage).tree
            for k in (2, 5, 20):
                np.testing.assert_array_equal(got.cut(k), expected.cut(k), err_msg=f"{labelled.name}: {changed[1]}")


def table_row(variant: Variant, scores: list[Score], sets: list[LabelledSet]) -> str:
    """One line of the table."""
    ari, ari_found, right = np.mean([s[:3] for s in scores], axis=0)
    paper = np.mean([s.ari for s, labelled in zip(scores, sets, strict=True) if labelled.name in PAPER_15])
    found = "- | -" if np.isnan(ari_found) else f"{ari_found:.3f} | {right:.2f}"
    return f"| {variant.group} | {variant.name} | {paper:.3f} | {ari:.3f} | {found} |"


def set_rows(scores: list[Score], sets: list[LabelledSet]) -> list[str]:
    """One line for each data set, with how often neighbours have the same label, and the smallest strengths."""
    lines = [
        "| data set | samples | alike | ARI | ARI, number found | true | found | weakest fusions |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for labelled, s in zip(sets, scores, strict=True):
        size, alike = labelled.neighbors.n_samples, neighbors_alike(labelled)
        ari, weakest = f"{s.ari:.3f} | {s.ari_found:.3f}", " ".join(f"{f:.2f}" for f in s.weakest)
        lines.append(f"| {labelled.name} | {size} | {alike:.2f} | {ari} | {s.true} | {s.found} | {weakest} |")
    return lines


def neighbors_alike(labelled: LabelledSet) -> float:
    """The share of pairs of a sample and one of its ten nearest with the same label, in the first labelling."""
    y = labelled.labellings[0]
    alike = y[labelled.neighbors.collect(10).indices] == y[:, None]
    return float(alike[y > 0].mean())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("KFUSE_DATA"), help="or the variable KFUSE_DATA")
    parser.add_argument("--out", type=Path, help="a file for the table")
    parser.add_argument("--only", default="", help="variants whose name contains this")
    parser.add_argument("--rows", action="store_true", help="also every data set")
    parser.add_argument("--share", type=float, default=1.0, help="of the samples of each set, drawn at random")
    parser.add_argument("--repeats", type=int, default=1, help="draws of that share, over which figures are averaged")
    args = parser.parse_args()
    if args.data is None:
        parser.error("say where the data is: --data or KFUSE_DATA")

    sets = [labelled for seed in range(args.repeats) for labelled in load(args.data, args.share, seed)]
    check_rebuilding(sets[:6])
    lines = [
        "| changed | how | true number, paper 15 | "
        f"true number, all {len(sets) // args.repeats} | number found: ARI | right number |",
        "|---|---|---|---|---|---|",
    ]
    print("\n".join(lines))
    details: list[str] = []
    for variant in VARIANTS:
        if args.only not in variant.name:
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

"""Friedman's and Nemenyi's tests, average ranks, and critical-difference diagrams.

    python -m study.statistics            # prints both: the paper's table, and our results

Needs scikit-posthocs.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kfuse.datasets import names
from study.scores import LOOKALIKES, METRICS, OF_THE_PAPER, OTHERS, RESULTS, complete, own, printed

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

LEVEL = 0.05
TIE = 5e-4  # scores that agree to three digits share a first place, as in the paper's tables


class TooFewResultsError(Exception):
    """There are too few results to rank."""


class Comparison(NamedTuple):
    """The tests of a table of data sets x methods."""

    n_datasets: int
    chi_squared: float
    p: float
    ranks: pd.Series  # average rank of each method, 1 is best
    nemenyi: pd.DataFrame  # p of each pair of methods
    critical_difference: float
    firsts: pd.Series  # on how many data sets each method is first, ties included

    def differ_from(self, method: str) -> list[str]:
        """Return the methods that differ from this one at the 0.05 level."""
        row = self.nemenyi[method]
        return [other for other in row.index if row[other] < LEVEL and other != method]


def compare(scores: pd.DataFrame) -> Comparison:
    """Test whether methods differ over the data sets."""
    import scikit_posthocs  # noqa: PLC0415 - optional

    chi_squared, p = friedman(scores)
    return Comparison(
        n_datasets=len(scores),
        chi_squared=chi_squared,
        p=p,
        ranks=average_ranks(scores),
        nemenyi=scikit_posthocs.posthoc_nemenyi_friedman(scores),
        critical_difference=critical_difference(scores.shape[1], len(scores)),
        firsts=firsts(scores),
    )


def friedman(scores: pd.DataFrame) -> tuple[float, float]:
    """Compute chi-squared and p of Friedman's test, corrected for ties."""
    from scipy.stats import friedmanchisquare  # noqa: PLC0415

    found = friedmanchisquare(*(scores[method] for method in scores))
    return float(found.statistic), float(found.pvalue)


def average_ranks(scores: pd.DataFrame) -> pd.Series:
    """Return the average rank of each method, best first; equal scores share their ranks."""
    return scores.rank(axis=1, ascending=False).mean().sort_values(kind="stable")


def firsts(scores: pd.DataFrame) -> pd.Series:
    """Count the data sets on which each method is first, ties included."""
    return scores.ge(scores.max(axis=1) - TIE, axis=0).sum()


def critical_difference(n_methods: int, n_datasets: int) -> float:
    """Compute Nemenyi's critical difference of average ranks, the paper's Eq. 8."""
    from scipy.stats import studentized_range  # noqa: PLC0415

    q = studentized_range.ppf(1 - LEVEL, n_methods, math.inf) / math.sqrt(2)
    # Rounded to three digits like the printed tables of q that the paper uses.
    return float(round(q, 3) * math.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))


def draw(comparison: Comparison, ax: Axes, highlight: str = "kFuse") -> None:
    """Draw a critical-difference diagram: methods joined by a bar do not differ."""
    import scikit_posthocs  # noqa: PLC0415 - optional

    colours = {name: "#0072B2" if name == highlight else "#4D4D4D" for name in comparison.ranks.index}
    scikit_posthocs.critical_difference_diagram(
        comparison.ranks,
        comparison.nemenyi,
        ax=ax,
        label_fmt_left="{label} {rank:.2f}",
        label_fmt_right="{rank:.2f} {label}",
        label_props={"size": 9},
        elbow_props={"linewidth": 1},
        crossbar_props={"color": "#D55E00", "linewidth": 3, "marker": None},
        marker_props={"marker": None},
        color_palette=colours,
        text_h_margin=0.02,
    )


def selections(results: Path) -> dict[str, dict[str, pd.DataFrame]]:
    """Return the tables to test, by name and metric: the paper's, and selections of ours."""
    tables: dict[str, dict[str, Any]] = {"printed": {metric: printed(metric) for metric in METRICS}}
    if not results.is_file():
        return tables
    ours = {metric: own(metric, results) for metric in METRICS}
    tables["own"] = {metric: complete(ours[metric], OF_THE_PAPER) for metric in METRICS}
    tables["own, public data"] = {
        metric: table.drop(index=list(LOOKALIKES), errors="ignore") for metric, table in tables["own"].items()
    }
    tables["own, printed algorithm"] = {
        metric: complete(ours[metric], ("kFuse (paper)", *OF_THE_PAPER[1:])).rename(columns={"kFuse (paper)": "kFuse"})
        for metric in METRICS
    }
    tables["own, all methods"] = {metric: complete(ours[metric], (*OF_THE_PAPER, *OTHERS)) for metric in METRICS}
    return tables


def report(results: Path = RESULTS) -> str:
    """Format all tests as Markdown."""
    lines = [HEAD]
    for name, tables in selections(results).items():
        lines += [f"## {name.capitalize()}", "", *_section(name, tables), ""]
    return "\n".join(lines)


def _section(name: str, tables: dict[str, pd.DataFrame]) -> list[str]:
    if not can_be_compared(tables["ARI"]):
        return [f"{TITLES[name]} {TOO_FEW}"]
    comparisons = {metric: compare(table) for metric, table in tables.items()}
    absent = [dataset for dataset in names() if dataset not in tables["ARI"].index]
    words = f"{TITLES[name]} Left out: {', '.join(absent) or 'none'}."
    return [words, "", *_friedman_lines(comparisons), "", *_rank_lines(comparisons)]


def can_be_compared(scores: pd.DataFrame) -> bool:
    """Return whether there are at least two data sets on which every method has a result."""
    return len(scores) > 1


TOO_FEW = "Not tested: all of these methods have a result on fewer than two data sets."


HEAD = """# The tests of the study

Written by `python -m study.statistics`. Rank 1 is best; equal scores share their ranks, and scores that agree to
three digits share a first place. A data set on which one of the methods has no result is left out.
"""
TITLES = {
    "printed": "The paper's table.",
    "own": "Our results with the methods of the paper's table: SLINK as both linkages, WANN-DPC in place of ANN-DPC.",
    "own, public data": "The same without the look-alikes.",
    "own, printed algorithm": 'The same as Own, but kFuse is the printed algorithm, `fusion="paper"`.',
    "own, all methods": "Our results with the methods that the paper does not run.",
}


def _friedman_lines(comparisons: dict[str, Comparison]) -> list[str]:
    lines = [
        "| | " + " | ".join(comparisons) + " |",
        "|---|" + "---|" * len(comparisons),
    ]
    rows = {
        "data sets": lambda c: str(c.n_datasets),
        "Friedman's chi-squared": lambda c: f"{c.chi_squared:.3f}",
        "degrees of freedom": lambda c: str(len(c.ranks) - 1),
        "p": lambda c: f"{c.p:.4g}",
        "critical difference": lambda c: f"{c.critical_difference:.4f}",
        "kFuse first on": lambda c: str(c.firsts["kFuse"]),
        "differ from kFuse": lambda c: ", ".join(c.differ_from("kFuse")) or "none",
    }
    return lines + [
        f"| {title} | " + " | ".join(show(c) for c in comparisons.values()) + " |" for title, show in rows.items()
    ]


def _rank_lines(comparisons: dict[str, Comparison]) -> list[str]:
    head = [f"{metric} rank | firsts" for metric in comparisons]
    lines = ["| method | " + " | ".join(head) + " |", "|---|" + "---|" * (2 * len(comparisons))]
    for method in comparisons["ARI"].ranks.index:
        cells = [f"{c.ranks[method]:.3f} | {c.firsts[method]}" for c in comparisons.values()]
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    """Print all tests."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--out", type=Path, help="Markdown file; default: standard output")
    args = parser.parse_args()
    text = report(args.results)
    if args.out:
        args.out.write_text(text + "\n", encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()

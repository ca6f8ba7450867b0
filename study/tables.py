"""The paper's two tables in Markdown and LaTeX, with our value and the printed one in each cell.

    python -m study.tables        # reads docs/study/results.csv, writes tables.md and tables.tex beside it

A cell is our value, with the printed one in brackets where the paper has that column; the best of ours is bold.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kfuse.datasets import names
from study.cells import group
from study.embedding import EMBEDDED
from study.scores import (
    LOOKALIKES,
    METRICS,
    OF_THE_PAPER,
    OTHERS,
    OURS,
    RESULTS,
    own,
    printed,
    printed_average,
)
from study.statistics import TIE
from study.store import read_table

if TYPE_CHECKING:
    import pandas as pd

CLOSE = 0.002  # printed values are truncated as often as rounded
ANN_DPC = "ANN-DPC"  # printed only
COLUMNS = (*OURS, *OF_THE_PAPER[1:5], ANN_DPC, *OF_THE_PAPER[5:])
TITLES = {"synthetic": "Synthetic data", "real": "Real data"}


class Cell(NamedTuple):
    """One value in a table."""

    ours: float
    printed: float = math.nan
    mark: str = ""
    best: bool = False


Rows = list[tuple[str, str, list[Cell]]]  # data set, metric, cells


def printed_column(method: str, of_group: str) -> str | None:
    """Return the paper's column to compare a method with."""
    if method in OURS:
        return None if method == "kFuse (auto)" else "kFuse"  # the paper gives the number of clusters
    if method in ("Single linkage", "Ward"):  # one column of two methods
        return "SLINK" if (method == "Ward") == (of_group == "real") else None
    return method if method in (ANN_DPC, "LDP-MST", "DPC", "MSC", "AP", "K-means", "DBSCAN") else None


def rows(of_group: str, methods: tuple[str, ...], results: Path) -> Rows:
    """Return the rows of one table: three for each data set, and three averages."""
    marks = {(record["dataset"], record["method"]): _mark(record["status"]) for record in read_table(results)}
    scores = {metric: own(metric, results) for metric in METRICS}
    theirs = {metric: printed(metric) for metric in METRICS}
    chosen = [name for name in names() if group(name) == of_group]
    table: Rows = []
    for name in chosen + [EMBEDDED] * (of_group == "real"):
        for metric in METRICS:
            cells = []
            for method in methods:
                column = printed_column(method, of_group)
                known = theirs[metric][column].get(name, math.nan) if column else math.nan
                ours = scores[metric].get(method, default={}).get(name, math.nan)
                cells.append(Cell(ours, known, marks.get((name, method), "")))
            table.append((name, metric, _with_best(cells)))
    return table + [
        ("Average", metric, _averages(metric, of_group, methods, scores[metric].loc[chosen])) for metric in METRICS
    ]


def _averages(metric: str, of_group: str, methods: tuple[str, ...], scores: pd.DataFrame) -> list[Cell]:
    """Average over the data sets on which any method has a score; mark methods that lack some."""
    usable = scores.dropna(how="all")
    known = printed_average(metric, of_group)
    cells = []
    for method in methods:
        column = printed_column(method, of_group)
        values = usable[method] if method in usable else usable.iloc[:, 0] * math.nan
        mark = f" ({values.count()} of {len(usable)})" if 0 < values.count() < len(usable) else ""
        cells.append(Cell(float(values.mean()), known[column] if column else math.nan, mark))
    return _with_best(cells)


def _with_best(cells: list[Cell]) -> list[Cell]:
    best = max((cell.ours for cell in cells if not math.isnan(cell.ours)), default=math.nan)
    return [cell._replace(best=cell.ours >= best - TIE) for cell in cells]


def _mark(status: str) -> str:
    return {"partial": "*", "not feasible": "n.f."}.get(status, "")


class Style(NamedTuple):
    """Markup of one output format."""

    nothing: str
    star: str
    bold: str


MARKDOWN = Style("-", r"\*", "**{}**")
LATEX = Style("--", "$^*$", r"\textbf{{{}}}")


def _shown(cell: Cell, style: Style) -> str:
    """Format our value, and the printed one in brackets."""
    mark = cell.mark.replace("*", style.star)
    ours = (mark or style.nothing) if math.isnan(cell.ours) else f"{cell.ours:.3f}{mark}"
    ours = style.bold.format(ours) if cell.best else ours
    return ours if math.isnan(cell.printed) else f"{ours} ({cell.printed:.3f})"


def markdown(title: str, methods: tuple[str, ...], table: Rows) -> str:
    """Format one table as Markdown."""
    lines = [f"## {title}", "", "| data set | | " + " | ".join(methods) + " |", "|---|---|" + "---|" * len(methods)]
    for name, metric, cells in table:
        shown = name if metric == METRICS[0] else ""
        lines.append(f"| {shown} | {metric} | " + " | ".join(_shown(cell, MARKDOWN) for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def latex(title: str, methods: tuple[str, ...], table: Rows) -> str:
    """Format one table as LaTeX with booktabs."""
    lines = [
        r"\begin{table*}",
        r"\centering\scriptsize\setlength{\tabcolsep}{2pt}",
        rf"\caption{{{title}: our value, and the printed one in brackets; the best of ours in bold.}}",
        rf"\begin{{tabular}}{{ll{'c' * len(methods)}}}",
        r"\toprule",
        "Data set & & " + " & ".join(methods) + r" \\",
    ]
    for name, metric, cells in table:
        if metric == METRICS[0]:
            lines.append(r"\midrule")
        shown = name if metric == METRICS[0] else ""
        lines.append(f"{shown} & {metric} & " + " & ".join(_shown(cell, LATEX) for cell in cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table*}", ""])


def agreement(results: Path) -> str:
    """List, for each column of the paper, the data sets on which our ARI equals, exceeds or is below the printed one.

    Equal means that all three measures are within 0.002. Look-alikes are excluded.
    """
    ours, theirs = ({metric: table(metric) for metric in METRICS} for table in (lambda m: own(m, results), printed))
    lines = [
        "## Where ours and the printed values agree",
        "",
        AGREEMENT_WORDS,
        "| method | equal | ours higher | ours lower |",
    ]
    lines.append("|---|---|---|---|")
    for method in (name for name in COLUMNS if name not in ("kFuse (auto)", "WANN-DPC", ANN_DPC)):
        kinds: dict[str, list[str]] = {"equal": [], "higher": [], "lower": []}
        for name in names():
            column = printed_column(method, group(name))
            apart = [ours[m].loc[name, method] - theirs[m].loc[name, column] for m in METRICS] if column else [math.nan]
            if name in LOOKALIKES or any(map(math.isnan, apart)):
                continue
            kind = "equal" if max(map(abs, apart)) <= CLOSE else "higher" if apart[1] > 0 else "lower"
            kinds[kind].append(name if kind == "equal" else f"{name} ({apart[1]:+.3f})")
        cells = [f"{len(kind)}: {', '.join(kind)}" if kind else "0" for kind in kinds.values()]
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


AGREEMENT_WORDS = """\
Data sets on which all three measures are within 0.002 of the printed ones, and for the others by how much our ARI
differs. MNIST is raw pixels. Pole and Away are left out.
"""


def write(results: Path, folder: Path) -> None:
    """Write all tables in both formats."""
    in_markdown, in_latex = [HEAD], []
    for methods, words in ((COLUMNS, ""), (("kFuse", *OTHERS), ", methods that the paper does not run")):
        for of_group, title in TITLES.items():
            table = rows(of_group, methods, results)
            in_markdown.append(markdown(title + words, methods, table))
            in_latex.append(latex(title + words, methods, table))
    in_markdown.append(agreement(results))
    (folder / "tables.md").write_text("\n".join(in_markdown), encoding="utf-8")
    (folder / "tables.tex").write_text("\n".join(in_latex), encoding="utf-8")


HEAD = """# The tables of the study

Written by `python -m study.tables` from [results.csv](results.csv). Each cell is our value, with the one that the
paper prints in brackets where the paper has that column; the best of ours in each row is bold. All methods but kFuse
(auto), MSC, AP, DBSCAN, OPTICS, HDBSCAN and PLSCAN are given the true number of clusters.

- \\* not all settings of the grid were tried within the time limit; the best of those tried is shown.
- n.f.: not feasible, no fit was finished within the time limit. -: no result, the data or the method is not at hand.
- Averages are over the data sets with any result of ours; a method that lacks some of them says how many it has. The
  printed averages are over all data sets of the paper, so the two are not to be compared where a set is missing.
- The printed column SLINK is compared with single linkage on synthetic and with Ward on real data, which is what it
  shows. Pole and Away are look-alikes: our values and the printed ones are of different data.
"""


def main() -> None:
    """Write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--out", type=Path, help="output folder; default: the folder of the results")
    args = parser.parse_args()
    write(args.results, args.out or args.results.parent)


if __name__ == "__main__":
    main()

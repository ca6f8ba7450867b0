"""The table and the plot of a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import data, growth, machine
from benchmarks.measure import NOT_RUN, OK, OUT_OF_MEMORY, OUT_OF_TIME
from benchmarks.methods import ALL_METHODS
from benchmarks.records import Cell, Records, Summary

TABLE, PLOT = "benchmark.md", "benchmark.png"
LEAST_MB = 1.0  # smaller increases are not plotted: the untimed fit has used as much before
GROWTH_FROM, GROWTH_TO = 100_000, 1_000_000

# Okabe and Ito's colours, safe for colour-blind readers; markers differ as well.
STYLES: dict[str, dict[str, Any]] = {
    "kfuse": {"color": "#000000", "marker": "o", "linewidth": 2.6, "zorder": 5},
    "kfuse auto": {"color": "#000000", "marker": "o", "linestyle": ":", "markerfacecolor": "white", "zorder": 4},
    "kfuse paper": {"color": "#555555", "marker": "h", "linestyle": "--"},
    "kfuse approximate": {"color": "#555555", "marker": "o", "linestyle": "-."},
    "fast_hdbscan": {"color": "#D55E00", "marker": "s"},
    "Genie": {"color": "#0072B2", "marker": "^"},
    "hdbscan": {"color": "#E69F00", "marker": "D"},
    "sklearn HDBSCAN": {"color": "#CC79A7", "marker": "v"},
    "KMeans": {"color": "#009E73", "marker": "P"},
    "DBSCAN": {"color": "#56B4E9", "marker": "X"},
    "spectral": {"color": "#B8A900", "marker": "*", "markersize": 9},
}


def write(records: Records, folder: Path) -> None:
    """Write the table, and the plot if there is more than one size to plot."""
    (folder / TABLE).write_text("\n".join(_document(records)) + "\n")
    print(f"wrote {TABLE}")
    if any(len(records.sizes(family)) > 1 for family in data.DIMENSIONS):
        _plot(records).savefig(folder / PLOT, dpi=150)
        print(f"wrote {PLOT}")


def _document(records: Records) -> list[str]:
    header = records.header
    lines = [
        "# kfuse and comparable methods",
        "",
        *machine.in_words(header["machine"], header["date"], header["load"]),
        "",
        f"Data: {data.N_GAUSSIANS} Gaussians and {data.NOISE_SHARE:.0%} uniform noise, float64, and MNIST (70,000 x "
        "784, float32). Each fit runs in a fresh process, after an untimed fit on 1,000 samples; medians of three "
        "rounds, fewer for slow fits. Memory is what the fit adds to the largest resident size of the "
        "process; worker processes that hdbscan starts are not counted. ARI excludes the noise. Limits for a fit: "
        f"{header['seconds']:g} s, {header['seconds_large']:g} s from 10,000,000 samples on, and "
        f"{header['memory_gb']:g} GB. In a cell, "
        f'"> {header["seconds"]:g} s" ran out of time, "about 900 s" was not run since that was expected from the '
        'smaller sizes, "not run" could not finish a smaller size.',
        "",
        "The methods and their settings are in `benchmarks/methods.py`. `python -m benchmarks` measures this.",
    ]
    for family in (*data.DIMENSIONS, data.MNIST):
        lines += _family_tables(records, family)
    if any(len(records.sizes(family)) > 1 for family in data.DIMENSIONS):
        lines += ["", f"![Time and memory against the number of samples]({PLOT})"]
    return lines


def _family_tables(records: Records, family: str) -> list[str]:
    """Return one table for a single size, otherwise one each for time, memory and ARI."""
    sizes = records.sizes(family)
    methods = [method for method in ALL_METHODS if any(_get(records, family, n, method) for n in sizes)]
    if not sizes:
        return []
    lines = ["", f"## {family}"]
    if len(sizes) == 1:
        columns = list(MEASURES)
        body = [
            [method, *(show(_get(records, family, sizes[0], method)) for show in MEASURES.values())]
            for method in methods
        ]
        return [*lines, "", *_table([f"{sizes[0]:,} samples", *columns], body)]
    for measure, show in MEASURES.items():
        rows = [[method, *(show(_get(records, family, n, method)) for n in sizes)] for method in methods]
        head = [measure, *(f"{n:,}" for n in sizes)]
        if measure == "time" and {GROWTH_FROM, GROWTH_TO} <= set(sizes):
            head.append("growth, 100 k to 1 M")
            rows = [[*row, _growth(records, family, row[0])] for row in rows]
        lines += ["", *_table(head, rows)]
    return lines


def _get(records: Records, family: str, n_samples: int, method: str) -> Summary | None:
    return records.summary(Cell(family, n_samples, method))


def _growth(records: Records, family: str, method: str) -> str:
    """Return the exponent of n in the growth of time, if both sizes were measured."""
    small, large = (_get(records, family, n, method) for n in (GROWTH_FROM, GROWTH_TO))
    if small is None or large is None or OK not in (small.status, large.status) or small.status != large.status:
        return ""
    return f"{growth.exponent(GROWTH_FROM, small.seconds, GROWTH_TO, large.seconds):.2f}"


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    """Format a Markdown table, with kfuse in bold."""
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    for name, *values in rows:
        lines.append("| " + " | ".join([f"**{name}**" if name.startswith("kfuse") else name, *values]) + " |")
    return lines


def seconds_in_words(seconds: float) -> str:
    """Format seconds to about three digits.

    Examples
    --------
    >>> [seconds_in_words(s) for s in (0.00412, 0.5, 12.34, 456.7)]
    ['4.1 ms', '0.50 s', '12.3 s', '457 s']
    """
    if seconds < 0.1:
        return f"{1000 * seconds:.1f} ms"
    return f"{seconds:.{2 if seconds < 10 else 1 if seconds < 100 else 0}f} s"


def _time_cell(summary: Summary | None) -> str:
    if summary is None:
        return ""
    if summary.status == OK:
        return seconds_in_words(summary.seconds)
    if summary.status in (OUT_OF_TIME, OUT_OF_MEMORY):
        return summary.reason.replace("more than", ">")
    if summary.status == NOT_RUN:
        return summary.reason.partition(" expected")[0] if summary.reason.startswith("about") else NOT_RUN
    return summary.reason.replace("|", "/")


def _of_finished(show: Callable[[Summary], str]) -> Callable[[Summary | None], str]:
    return lambda summary: show(summary) if summary is not None and summary.status == OK else ""


MEASURES: dict[str, Callable[[Summary | None], str]] = {
    "time": _time_cell,
    "memory added": _of_finished(lambda summary: f"{summary.added_mb:,.0f} MB"),
    "ARI": _of_finished(lambda summary: f"{summary.ari:.3f}"),
}


def _plot(records: Records) -> Any:
    """Plot time and memory against the number of samples, one column per dimension."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    families = [family for family in data.DIMENSIONS if len(records.sizes(family)) > 1]
    figure = Figure(figsize=(3.6 * len(families) + 2.2, 7.2), layout="constrained")
    axes = figure.subplots(2, len(families), sharex="col", sharey="row", squeeze=False)
    for column, family in enumerate(families):
        _plot_family(records, family, *axes[:, column])
    axes[0, 0].set_ylabel("time of a fit (s)")
    axes[1, 0].set_ylabel("memory added by a fit (MB)")
    handles = {line.get_label(): line for axis in axes[0] for line in axis.get_lines()}
    names = [name for name in (*ALL_METHODS, "linear growth") if name in handles]
    figure.legend([handles[name] for name in names], names, loc="outside right center", frameon=False)
    header = records.header
    figure.suptitle(
        f"{data.N_GAUSSIANS} Gaussians and {data.NOISE_SHARE:.0%} noise, {header['machine']['cores']} cores, "
        f"{header['date']}",
        fontsize=11,
    )
    return figure


def _plot_family(records: Records, family: str, time_axis: Any, memory_axis: Any) -> None:
    """Draw every method's lines for one family."""
    sizes = records.sizes(family)
    for method in ALL_METHODS:
        found = [(n, _get(records, family, n, method)) for n in sizes]
        done = [(n, summary) for n, summary in found if summary is not None and summary.status == OK]
        style = {"linewidth": 1.5, "markersize": 6, **STYLES[method]}
        if done:
            time_axis.loglog([n for n, _ in done], [summary.seconds for _, summary in done], label=method, **style)
            seen = [(n, summary.added_mb) for n, summary in done if summary.added_mb >= LEAST_MB]
            memory_axis.loglog([n for n, _ in seen], [added for _, added in seen], **style)
    ends = sizes[0], sizes[-1]
    time_axis.loglog(
        ends, [n / GROWTH_TO for n in ends], color="0.6", linewidth=1, linestyle="-.", zorder=0, label="linear growth"
    )
    time_axis.set_title(family)
    memory_axis.set_xlabel("samples")
    for axis in (time_axis, memory_axis):
        axis.grid(True, color="0.9", linewidth=0.8)
        axis.spines[["top", "right"]].set_visible(False)

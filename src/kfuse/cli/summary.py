"""The summary of a clustering for people to read: sizes, what the clusters are, how sure, and what to do next."""

from __future__ import annotations

import polars as pl
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kfuse import KFuse, description, tables
from kfuse.cli import console, fitting
from kfuse.cli.errors import in_options, in_shell
from kfuse.cli.fitting import Work
from kfuse.cli.options import AUTO, STREAM, Choice, Source
from kfuse.description import Description
from kfuse.description.number import clarity, hedge, limit_of
from kfuse.drawing.palette import PALETTE
from kfuse.suggestion import Suggestion, written
from kfuse.tables.columns import typed
from kfuse.wording import counted

MOST_SUGGESTED = 4
MOST_SENTENCES = 20
LARGEST = 10  # of more clusters than that, those that always have a sentence; the others are those set apart best
STANDS_OUT = {"clear": "clearly", "fairly clear": "somewhat", "faint": "little"}
SILENT = {"identifier", "text", "constant"}  # roles of columns that tell nothing about clusters


def show(work: Work, source: Source, choice: Choice) -> None:
    """Print the summary to standard output.

    Parameters
    ----------
    work : Work
        The table and its clustering.
    source, choice : Source, Choice
        What the command was asked for, to spell the next commands.
    """
    out = console.console()
    n_columns = counted(len(work.features.columns), "column")
    out.print(console.heading(f"{work.table.name}: {work.found.summary}, by {n_columns}"))
    out.print(console.size_table(work.found.sizes, console.bar_character(out)))
    out.print()
    _print_sentences(out, described(work))
    for line in (confidence(work), *(f"Beware: {one}." for one in _other_remarks(work))):
        out.print(Padding(Text(line), (0, 0, 0, 1), expand=False))
    out.print()
    _next_steps(out, work, source, choice)


def described(work: Work) -> list[Description]:
    """Return what sets each cluster apart, by all columns that can say something."""
    columns = description.columns_of(work.found.model, telling_columns(work))
    return description.describe_labels(columns, work.found.labels)


def telling_columns(work: Work) -> pl.DataFrame:
    """Return the columns that can say something about clusters, as they are in the table, for the rows clustered."""
    names = [one.column for one in work.features.decisions if one.used or one.role not in SILENT]
    return typed(work.table, names).select(names).filter(work.features.used)


def _print_sentences(out: Console, found: list[Description]) -> None:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right")
    told = worth_telling(found)
    for one in told:
        grid.add_row(Text(f" {one.label}", f"bold {PALETTE[one.label % len(PALETTE)]}"), Text(one.sentence))
    out.print(grid)
    if len(told) < len(found):
        others = f"the {len(told) - LARGEST} others that a column sets apart most clearly"
        out.print(Text(f" These are the {LARGEST} largest, and {others}.", "dim"))
    out.print()


def worth_telling(found: list[Description]) -> list[Description]:
    """Choose the clusters to describe if there are many: the largest, and those that a column sets apart best."""
    if len(found) <= MOST_SENTENCES:
        return found
    rest = sorted(found[LARGEST:], key=lambda one: -max((each.effect for each in one.telling), default=0.0))
    chosen = {one.label for one in (*found[:LARGEST], *rest[: MOST_SENTENCES - LARGEST])}
    return [one for one in found if one.label in chosen]


def confidence(work: Work) -> str:
    """Say how clearly the number of clusters stands out, and which other numbers do."""
    ranked = work.found.model.tree_.suggest(MOST_SUGGESTED + 1)
    n_clusters, noise = len(work.found.sizes), int((work.found.labels < 0).sum())
    others = ", ".join(f"{one.n_clusters:,}" for one in ranked if one.n_clusters != n_clusters)
    also = f" Other numbers to look at: {others}." if others else ""
    outliers = f" {counted(noise, 'row')} are noise." if noise else ""
    if not work.found.number_found:
        return f"The number of clusters was given; by itself, the data suggests {ranked[0].n_clusters:,}.{outliers}"
    if limit := _limit(work, ranked[0]):
        return f"{limit}: by itself, the data suggests {ranked[0].n_clusters:,}.{outliers}"
    doubt = f" {hedged}." if (hedged := hedge(work.found.model.tree_)) else ""
    if n_clusters == 1:
        return f"No number of clusters stands out, so the data counts as one.{doubt}{also}{outliers}"
    p_value = ranked[0].p_value
    how = STANDS_OUT[clarity(p_value)]
    return f"The {n_clusters:,} clusters stand out {how} (p {written(p_value)}).{doubt}{also}{outliers}"


def _limit(work: Work, best: Suggestion) -> str:
    """Say which option made the number of clusters differ from the one that the data suggests, if one did."""
    model, found = work.found.model, counted(len(work.found.sizes), "cluster")
    if limit := limit_of(model, model.n_clusters_, best):
        return f"{found}, {limit}"
    if model.min_cluster_size is not None and model.n_clusters_ != best.n_clusters:
        return f"{found} of at least {counted(model.min_cluster_size, 'row')}"
    return ""


def _other_remarks(work: Work) -> list[str]:
    """Return what to beware of, but for a number of clusters that stands out little, which `confidence` says."""
    found = tables.advice(work.features, work.found.model)
    return [in_options(one) for one in found if one.about != "number"]


def _next_steps(out: Console, work: Work, source: Source, choice: Choice) -> None:
    """List commands to continue with, with the same table, columns and method."""
    data = in_shell(str(source.data)) if source.data != STREAM else "-"
    options = "".join(f" {option}" for option in _spelled(source, choice, work.found.model))
    found = len(work.found.sizes)
    given = "" if work.found.model.n_clusters == AUTO else f" -k {fitting.spelled_number(work.found.model.n_clusters)}"
    other = next((one.n_clusters for one in work.found.model.tree_.suggest() if one.n_clusters not in {1, found}), 2)
    steps = {f"kfuse cluster {data}{options}{given} -o labels.csv": "write the labels"}
    if other <= work.found.model.tree_.most_clusters:
        steps[f"kfuse cluster {data}{options} -k {other}"] = "another number of clusters"
    steps[f"kfuse report {data}{options}{given}"] = "explore them in a browser"
    for position, (command, purpose) in enumerate(steps.items()):
        start = "Next" if position == 0 else "    "
        out.print(Text.assemble(f" {start}  ", (command, "bold"), (f"  # {purpose}", "dim")), soft_wrap=True)
    out.print()


def _spelled(source: Source, choice: Choice, model: KFuse) -> list[str]:
    """Return all options that are not at their defaults, but for the number of clusters and what changes no label."""
    given = {name: getattr(choice, name) for name in ("columns", "exclude", "category", "number", "id")}
    given |= {"missing": _unless("impute", choice.missing), "scale": _unless("auto", choice.scaling)}
    given |= {"from": source.form, "separator": source.separator}
    given |= {"min-cluster-size": model.min_cluster_size, "outliers": _unless("assign", model.outliers)}
    given |= {"metric": _unless("euclidean", model.metric), "neighbors": _unless("auto", model.neighbors)}
    header = {None: [], True: ["--header"], False: ["--no-header"]}[source.header]
    return header + [f"--{name} {in_shell(str(value))}" for name, value in given.items() if value is not None]


def _unless(default: str, value: object) -> object | None:
    """Return a value that is not the default."""
    return None if value == default else value

"""The commands."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from kfuse import __version__, files
from kfuse.cli import demo, tables
from kfuse.cli.clustering import cluster_rows
from kfuse.cli.errors import CommandError, say, told_in_one_line

app = typer.Typer(
    help="Cluster by density, with nothing to tune.",
    context_settings={"help_option_names": ["-h", "--help"]},
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _show_version(asked: bool) -> None:
    if asked:
        print(f"kfuse {__version__}")
        raise typer.Exit


@app.callback()
def start(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Hold the options that stand before a command; typer needs the function, nothing calls it."""


@app.command("demo", help="Cluster a made-up data set and draw it.")
def run_demo(
    out: Annotated[
        Path,
        typer.Option(
            "--out", metavar="DIR", readable=False, help="The folder to write to; files of the same name are replaced."
        ),
    ] = Path("kfuse-demo"),
) -> None:
    """Cluster a made-up data set and draw it.

    Parameters
    ----------
    out : Path
        The folder for data.csv, labels.csv and clusters.png.
    """
    with told_in_one_line():
        demo.run(out)


@app.command("cluster", help="Cluster the rows of a CSV file.")
def run_cluster(  # noqa: PLR0913, PLR0917 - one for each option
    file: Annotated[Path, typer.Argument(metavar="FILE", readable=False, help="A CSV file; - is standard input.")],
    n_clusters: Annotated[
        int | None,
        typer.Option("-k", "--clusters", metavar="N", min=1, help="How many clusters; else the number is found."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="FILE", readable=False, help="Where to write; else standard output."),
    ] = None,
    columns: Annotated[
        str | None, typer.Option(metavar="A,B", help="Cluster by these columns; else by all of them.")
    ] = None,
    exclude: Annotated[str | None, typer.Option(metavar="C", help="Leave these columns out.")] = None,
    scale: Annotated[bool, typer.Option("--scale/--no-scale", help="Scale each column to [0, 1].")] = True,
    keep: Annotated[bool, typer.Option("--keep", help="Write the input columns too, before the labels.")] = False,
    separator: Annotated[
        str | None, typer.Option(metavar="C", help="What stands between values, such as ';' or tab; else a comma.")
    ] = None,
    header: Annotated[
        bool | None,
        typer.Option("--header/--no-header", help="Whether the first line names the columns; else it does."),
    ] = None,
) -> None:
    """Cluster the rows of a CSV file.

    Parameters
    ----------
    file : Path
        The table; ``-`` is standard input.
    n_clusters : int or None
        How many clusters; None means to find the number.
    out : Path or None
        Where to write; None and ``-`` are standard output.
    columns, exclude : str or None
        The columns to cluster by, and those to leave out.
    scale : bool
        Whether to scale each column to [0, 1].
    keep : bool
        Whether to write the input columns too.
    separator : str or None
        What stands between values, in the input and the output; None is a comma.
    header : bool or None
        Whether the first line names the columns; None means yes, unless all names are numbers.
    """
    with told_in_one_line():
        _check_out(file, out)
        form = tables.Form(tables.separator_of(separator), header)
        table = tables.read_table(file, form)
        if keep and "label" in table.columns:
            raise CommandError("the input has a column 'label' already: rename it, or leave out --keep")
        X = tables.numbers(table, tables.choose_columns(table, columns, exclude))
        found = cluster_rows(tables.scale(X) if scale else X, n_clusters, tables.name_of(file))
        label = pl.Series("label", found.labels)
        _write(table.with_columns(label) if keep else label.to_frame(), out, form.separator or tables.COMMA)
        if out is not None and sys.stderr is not None and sys.stderr.isatty():
            say(f"{found.summary} -> {out}")


def _check_out(file: Path, out: Path | None) -> None:
    if out is None or out == tables.STREAM:
        if sys.stdout is None:
            raise CommandError("standard output is closed: open it, or name a file with -o")
        return
    files.check_target(out)
    if out.exists() and file.exists() and out.samefile(file):
        raise CommandError(f"{out} is the input, which would be lost: choose another file for -o")


def _write(table: pl.DataFrame, out: Path | None, separator: str) -> None:
    content = tables.to_csv(table, separator)
    if out is None or out == tables.STREAM:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    with files.whole_file(out) as handle:
        handle.write(content)

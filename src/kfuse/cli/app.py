"""The commands and their options. Each imports its implementation when it runs, so that help shows at once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from kfuse import __version__
from kfuse.cli.errors import CommandError
from kfuse.cli.options import FLAG, Choice, Json, Method, Output, Quiet, Source, command
from kfuse.tables.formats import Writable

app = typer.Typer(
    help="Density-based clustering without parameters to tune.",
    epilog="Try: kfuse demo",
    context_settings={"help_option_names": ["-h", "--help"]},
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
        bool, typer.Option("--version", metavar=FLAG, callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Declare the options that come before a command; typer needs the function."""


@command(app, "cluster")
def run_cluster(
    source: Source,
    choice: Choice,
    method: Method,
    output: Output,
    more: Annotated[
        list[Path] | None, typer.Argument(metavar="[DATA]...", show_default=False, help="More files, with --dask.")
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            "--dask",
            metavar="SCHEDULER",
            help="Cluster Parquet files that do not fit in memory, on the Dask scheduler at this address, or 'local'; "
            "-o is a folder.",
        ),
    ] = None,
) -> None:
    """Cluster the rows of a table: show a summary, or write their labels."""
    if dask is not None:
        from kfuse.cli.commands import cluster_on_dask  # noqa: PLC0415 - slow to import

        cluster_on_dask.run([source.data, *(more or [])], source, choice, method, output, dask)
        return
    if more:
        raise CommandError(f"{more[0]}: only one table can be clustered: join them first, or use --dask for Parquet")
    from kfuse.cli.commands import cluster  # noqa: PLC0415 - slow to import

    cluster.run(source, choice, method, output)


@command(app, "suggest")
def run_suggest(
    source: Source,
    choice: Choice,
    method: Method,
    most: Annotated[int, typer.Option("-n", metavar="N", min=1, help="How many to list.")] = 5,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Rank the numbers of clusters that the data suggests."""
    from kfuse.cli.commands import suggest  # noqa: PLC0415 - slow to import

    suggest.run(source, choice, method, most, as_json=as_json, quiet=quiet)


@command(app, "plot")
def run_plot(
    source: Source,
    choice: Choice,
    method: Method,
    out: Annotated[
        Path, typer.Option("-o", "--out", metavar="FILE", readable=False, help="The image file: .png, .svg or .pdf.")
    ],
    kind: Annotated[
        Literal["scatter", "dendrogram", "curve", "profiles", "subclusters", "density"],
        typer.Option("--kind", help="What to plot."),
    ] = "scatter",
    quiet: Quiet = False,
) -> None:
    """Plot the clusters, the dendrogram, or another view of the data."""
    from kfuse.cli.commands import plot  # noqa: PLC0415 - slow to import

    plot.run(source, choice, method, out, kind, quiet=quiet)


@command(app, "report")
def run_report(
    source: Source,
    choice: Choice,
    method: Method,
    out: Annotated[
        Path, typer.Option("-o", "--out", metavar="FILE", readable=False, help="The HTML file to write.")
    ] = Path("report.html"),
    title: Annotated[str | None, typer.Option("--title", help="The title; the name of DATA by default.")] = None,
    quiet: Quiet = False,
) -> None:
    """Write an interactive report, one HTML file that works offline."""
    from kfuse.cli.commands import report  # noqa: PLC0415 - slow to import

    report.run(source, choice, method, out, title, quiet=quiet)


@command(app, "compare")
def run_compare(
    source: Source,
    choice: Choice,
    method: Method,
    truth: Annotated[
        str | None,
        typer.Option("--truth", metavar="COLUMN", help="The column with the true clusters; not clustered by."),
    ] = None,
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods", metavar="A,B", help="Methods to run at any size; by default those that suit the size."
        ),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare kFuse with other clustering methods on the same data."""
    from kfuse.cli.commands import compare  # noqa: PLC0415 - slow to import

    compare.run(source, choice, method, truth, methods, as_json=as_json, quiet=quiet)


@command(app, "demo")
def run_demo(
    out: Annotated[
        Path,
        typer.Option(
            "--out", metavar="DIR", readable=False, help="The folder to write to; existing files are replaced."
        ),
    ] = Path("kfuse-demo"),
) -> None:
    """Cluster a synthetic data set and plot it."""
    from kfuse.cli.commands import demo  # noqa: PLC0415 - slow to import

    demo.run(out)


@command(app, "datasets")
def run_datasets(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="A data set; lists all if not given.")] = None,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="FILE", readable=False, help="The file to write the data set to."),
    ] = None,
    to: Annotated[Writable | None, typer.Option("--to", help="The format; that of FILE by default, or CSV.")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List labelled data sets, or write one to a file."""
    from kfuse.cli.commands import datasets  # noqa: PLC0415 - slow to import

    datasets.run(name, out, to, as_json=as_json, quiet=quiet)

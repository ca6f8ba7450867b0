"""The commands. What they need is imported when they run, so that help is there at once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from kfuse import __version__
from kfuse.cli.formats import Writable
from kfuse.cli.options import Choice, Json, Method, Output, Quiet, Source, command

app = typer.Typer(
    help="Cluster by density, with nothing to tune.",
    epilog="Try: kfuse demo",
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


@command(app, "cluster")
def run_cluster(
    source: Source,
    choice: Choice,
    method: Method,
    output: Output,
) -> None:
    """Give every row of a table the number of its cluster."""
    from kfuse.cli import labelling  # noqa: PLC0415 - slow to import

    labelling.run(source, choice, method, output)


@command(app, "suggest")
def run_suggest(
    source: Source,
    choice: Choice,
    method: Method,
    most: Annotated[int, typer.Option("-n", metavar="N", min=1, help="How many numbers to list.")] = 5,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Rank the numbers of clusters that the data suggests."""
    from kfuse.cli import suggesting  # noqa: PLC0415 - slow to import

    suggesting.run(source, choice, method, most, as_json=as_json, quiet=quiet)


@command(app, "plot")
def run_plot(
    source: Source,
    choice: Choice,
    method: Method,
    out: Annotated[
        Path, typer.Option("-o", "--out", metavar="FILE", readable=False, help="The picture: .png, .svg or .pdf.")
    ],
    kind: Annotated[
        Literal["scatter", "dendrogram", "curve", "profiles", "subclusters", "density"],
        typer.Option("--kind", help="What to draw."),
    ] = "scatter",
    quiet: Quiet = False,
) -> None:
    """Draw the clusters, the tree, or another view of the data."""
    from kfuse.cli import drawing  # noqa: PLC0415 - slow to import

    drawing.run(source, choice, method, out, kind, quiet=quiet)


@command(app, "report")
def run_report(
    source: Source,
    choice: Choice,
    method: Method,
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", readable=False, help="The page to write.")] = Path(
        "report.html"
    ),
    title: Annotated[str | None, typer.Option("--title", help="The title; else the name of DATA.")] = None,
    quiet: Quiet = False,
) -> None:
    """Write an interactive page of the clusters, one file that works offline."""
    from kfuse.cli import reporting  # noqa: PLC0415 - slow to import

    reporting.run(source, choice, method, out, title, quiet=quiet)


@command(app, "compare")
def run_compare(
    source: Source,
    choice: Choice,
    method: Method,
    truth: Annotated[
        str | None, typer.Option("--truth", metavar="COLUMN", help="The true clusters; not clustered by.")
    ] = None,
    methods: Annotated[
        str | None, typer.Option("--methods", metavar="A,B", help="Run these, at any size; else those that suit.")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run other methods beside kFuse on the same data."""
    from kfuse.cli import comparing  # noqa: PLC0415 - slow to import

    comparing.run(source, choice, method, truth, methods, as_json=as_json, quiet=quiet)


@command(app, "demo")
def run_demo(
    out: Annotated[
        Path,
        typer.Option(
            "--out", metavar="DIR", readable=False, help="The folder to write to; files of the same name are replaced."
        ),
    ] = Path("kfuse-demo"),
) -> None:
    """Cluster a made-up data set and draw it."""
    from kfuse.cli import demo  # noqa: PLC0415 - slow to import

    demo.run(out)


@command(app, "datasets")
def run_datasets(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="A data set; else all are listed.")] = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FILE", readable=False, help="Write it to this file.")
    ] = None,
    to: Annotated[Writable | None, typer.Option("--to", help="The format; else that of FILE, or CSV.")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List labelled data sets to try things on, or write one to a file."""
    from kfuse.cli import collection  # noqa: PLC0415 - slow to import

    collection.run(name, out, to, as_json=as_json, quiet=quiet)

"""The options that commands share, each declared once, in groups that a command takes as one parameter."""

from __future__ import annotations

import csv
import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_type_hints

import typer

from kfuse.cli.errors import CommandError, reported_in_one_line
from kfuse.tables.formats import Readable, Writable

STREAM = Path("-")  # standard input or output
INPUT, CHOICE, METHOD = "Input", "Columns and rows", "Clustering"
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON to standard output.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print nothing but errors.")]


class Source(NamedTuple):
    """The data table, and how it is written."""

    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            readable=False,
            help="CSV, TSV, Parquet, Arrow, JSON, JSON lines, .npy or .npz; - is standard input.",
        ),
    ]
    form: Annotated[
        Readable | None,
        typer.Option("--from", rich_help_panel=INPUT, help="The format; detected by default."),
    ] = None
    separator: Annotated[
        str | None,
        typer.Option(
            metavar="C",
            rich_help_panel=INPUT,
            help="The separator of CSV values, such as ';' or tab; a comma by default.",
        ),
    ] = None
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header", rich_help_panel=INPUT, help="Whether the first line of CSV has column names."
        ),
    ] = None


class Choice(NamedTuple):
    """The columns to cluster by, and how their values are prepared."""

    columns: Annotated[
        str | None,
        typer.Option(metavar="A,B", rich_help_panel=CHOICE, help="Cluster by these columns; by all if not given."),
    ] = None
    exclude: Annotated[
        str | None, typer.Option(metavar="C,D", rich_help_panel=CHOICE, help="Leave these columns out.")
    ] = None
    id: Annotated[
        str | None,
        typer.Option(
            "--id", metavar="COLUMN", rich_help_panel=CHOICE, help="The column that identifies rows; not clustered by."
        ),
    ] = None
    missing: Annotated[
        Literal["refuse", "drop", "median"],
        typer.Option(
            rich_help_panel=CHOICE, help="Missing values: refuse them, drop their rows, or fill in the median."
        ),
    ] = "refuse"
    scale: Annotated[
        bool, typer.Option("--scale/--no-scale", rich_help_panel=CHOICE, help="Scale each column to [0, 1].")
    ] = True


class Method(NamedTuple):
    """How to cluster."""

    n_clusters: Annotated[
        int | None,
        typer.Option(
            "-k",
            "--clusters",
            metavar="N",
            min=1,
            rich_help_panel=METHOD,
            help="The number of clusters; found if not given.",
        ),
    ] = None
    metric: Annotated[
        Literal["euclidean", "cosine", "manhattan", "chebyshev", "canberra", "braycurtis", "correlation", "hamming"],
        typer.Option(rich_help_panel=METHOD, help="The distance between rows."),
    ] = "euclidean"
    outliers: Annotated[
        Literal["assign", "label"],
        typer.Option(rich_help_panel=METHOD, help="Assign outliers to clusters, or label them -1 as noise."),
    ] = "assign"
    neighbors: Annotated[
        Literal["auto", "kd_tree", "brute", "approximate"],
        typer.Option(rich_help_panel=METHOD, help="How to search nearest neighbours; all but 'approximate' are exact."),
    ] = "auto"
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, max=2**32 - 1, rich_help_panel=METHOD, help="The random seed.")
    ] = 0
    jobs: Annotated[
        int | None,
        typer.Option(
            "-j",
            "--jobs",
            metavar="N",
            min=1,
            rich_help_panel=METHOD,
            help="The number of threads; all cores by default.",
        ),
    ] = None


class Output(NamedTuple):
    """What to write and print, and where."""

    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--out", metavar="FILE", readable=False, help="The file to write; standard output by default."
        ),
    ] = None
    to: Annotated[Writable | None, typer.Option("--to", help="The format; that of FILE by default, or CSV.")] = None
    keep: Annotated[bool, typer.Option("--keep", help="Write the input columns too, before the labels.")] = False
    label: Annotated[str, typer.Option(metavar="NAME", help="The name of the label column.")] = "label"
    as_json: Json = False
    quiet: Quiet = False

    @property
    def is_file(self) -> bool:
        """Return whether the labels go to a file."""
        return self.out is not None and self.out != STREAM


def command(app: typer.Typer, name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a function as a command: its docstring is the help, and errors are reported in one line.

    A parameter whose type is a group of options becomes these options.

    Parameters
    ----------
    app : typer.Typer
        The application to register the command with.
    name : str
        The name of the command.

    Returns
    -------
    callable
        A decorator.
    """

    def register(function: Callable[..., None]) -> Callable[..., None]:
        written = inspect.signature(function, eval_str=True).parameters
        groups = {key: one.annotation for key, one in written.items() if hasattr(one.annotation, "_fields")}

        @wraps(function)
        def run(**given: Any) -> None:
            with reported_in_one_line(quiet=given.get("quiet", False)):
                for key, kind in groups.items():
                    given[key] = kind(**{field: given.pop(field) for field in kind._fields})
                function(**given)

        parts = [_fields(groups[key]) if key in groups else [one] for key, one in written.items()]
        options = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for part in parts for one in part]
        # typer reads these two attributes.
        run.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in options}
        app.command(name, help=inspect.getdoc(function))(run)
        return function

    return register


def _fields(group: Any) -> list[inspect.Parameter]:
    """Return the options of a group as parameters."""
    types, empty = get_type_hints(group, include_extras=True), inspect.Parameter.empty
    return [
        inspect.Parameter(
            field,
            inspect.Parameter.KEYWORD_ONLY,
            default=group._field_defaults.get(field, empty),
            annotation=types[field],
        )
        for field in group._fields
    ]


def names_in(option: str, text: str) -> list[str]:
    """Split the value of an option at its commas; double quotes protect commas within a name."""
    try:
        return next(csv.reader([text], skipinitialspace=True)) or [""]
    except csv.Error:
        raise CommandError(
            f"{option} {text!r} has a line break between names: separate names with commas, "
            "and put a name that contains a line break in double quotes"
        ) from None

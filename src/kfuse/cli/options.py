"""The options that commands share, each declared once, in groups that a command takes as one parameter."""

from __future__ import annotations

import csv
import inspect
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_type_hints

import typer

from kfuse.cli.errors import CommandError, reported_in_one_line
from kfuse.tables.formats import Readable, Writable

# Spelled here because the modules that use them import polars, which help does not need.
Metric = Literal[
    "euclidean",
    "cosine",
    "manhattan",
    "chebyshev",
    "canberra",
    "braycurtis",
    "correlation",
    "hamming",
    "haversine",
]
MissingMode = Literal["impute", "drop", "refuse"]
Scale = Literal["auto", "minmax", "standard", "robust", "log", "none"]

STREAM = Path("-")  # standard input or output
AUTO = "auto"
INPUT, CHOICE, METHOD = "Input", "Columns and rows", "Clustering"
FLAG = ""  # as a metavar: without it, help shows <bool> after the option
Json = Annotated[bool, typer.Option("--json", metavar=FLAG, help="Print the result as JSON to standard output.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", metavar=FLAG, help="Print nothing but errors.")]


def number_of_clusters(text: str) -> int | tuple[int, int] | None:
    """Read the value of -k: 5, a range such as 2:6, or auto, for which None stands.

    Parameters
    ----------
    text : str
        The value.

    Returns
    -------
    int, tuple of int or None
        The number, or the least and the most.

    Raises
    ------
    typer.BadParameter
        If it is something else.
    """
    if text == AUTO:
        return None
    numbers = text.split(":")
    if all(number.isascii() and number.isdigit() for number in numbers):
        if len(numbers) == 1 and int(text) >= 1:
            return int(text)
        if len(numbers) == 2 and 1 <= int(numbers[0]) <= int(numbers[1]):
            return int(numbers[0]), int(numbers[1])
    raise typer.BadParameter(f"{text!r} is neither a number from 1 on, nor a range such as 2:6, nor {AUTO}.")


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
            help="The separator of CSV values; by default, it is found among ',', ';', tab and '|'.",
        ),
    ] = None
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            metavar=FLAG,
            rich_help_panel=INPUT,
            help="Whether the first line of CSV has column names.",
        ),
    ] = None


class Choice(NamedTuple):
    """The columns to cluster by, and how their values are prepared."""

    columns: Annotated[
        str | None,
        typer.Option(metavar="A,B", rich_help_panel=CHOICE, help="Cluster by these columns; chosen if not given."),
    ] = None
    exclude: Annotated[
        str | None, typer.Option(metavar="C,D", rich_help_panel=CHOICE, help="Leave these columns out.")
    ] = None
    category: Annotated[
        str | None,
        typer.Option(metavar="E,F", rich_help_panel=CHOICE, help="Cluster by these columns, as categories."),
    ] = None
    number: Annotated[
        str | None,
        typer.Option(metavar="G,H", rich_help_panel=CHOICE, help="Cluster by these columns, as numbers."),
    ] = None
    id: Annotated[
        str | None,
        typer.Option(
            "--id", metavar="COLUMN", rich_help_panel=CHOICE, help="The column that identifies rows; not clustered by."
        ),
    ] = None
    missing: Annotated[
        MissingMode,
        typer.Option(
            rich_help_panel=CHOICE,
            help="Missing values: fill in the median or a category of their own, drop their rows, or refuse them.",
        ),
    ] = "impute"
    scale: Annotated[
        Scale,
        typer.Option(rich_help_panel=CHOICE, help="How to scale numbers; 'auto' chooses for each column."),
    ] = "auto"
    no_scale: Annotated[
        bool, typer.Option("--no-scale", metavar=FLAG, rich_help_panel=CHOICE, help="The same as --scale none.")
    ] = False

    @property
    def scaling(self) -> Scale:
        """Return how numbers are scaled."""
        return "none" if self.no_scale else self.scale


class Method(NamedTuple):
    """How to cluster."""

    n_clusters: Annotated[
        Any,  # int, tuple[int, int] or None; typer has no unions
        typer.Option(
            "-k",
            "--clusters",
            metavar="N",
            parser=number_of_clusters,
            rich_help_panel=METHOD,
            help="The number of clusters, or a range such as 2:6 to find it in; 'auto', the default, finds it.",
        ),
    ] = None
    min_cluster_size: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            rich_help_panel=METHOD,
            help="The least number of rows in a cluster; what is smaller joins another, or is noise with "
            "--outliers label.",
        ),
    ] = None
    metric: Annotated[
        Metric,
        typer.Option(rich_help_panel=METHOD, help="The distance between rows; 'haversine' is of places on the Earth."),
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

    @property
    def number(self) -> int | str | tuple[int, int]:
        """Return the number of clusters as `KFuse` takes it."""
        return AUTO if self.n_clusters is None else self.n_clusters

    @property
    def finds_number(self) -> bool:
        """Return whether the number of clusters is to be found, be it in a range."""
        return not isinstance(self.n_clusters, int)


class Output(NamedTuple):
    """What to write and print, and where."""

    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            metavar="FILE",
            readable=False,
            help="The file to write; by default, a terminal shows a summary, and a pipe gets the labels.",
        ),
    ] = None
    to: Annotated[Writable | None, typer.Option("--to", help="The format; that of FILE by default, or CSV.")] = None
    keep: Annotated[
        bool, typer.Option("--keep", metavar=FLAG, help="Write the input columns too, before the labels.")
    ] = False
    label: Annotated[str, typer.Option(metavar="NAME", help="The name of the label column.")] = "label"
    guard: Annotated[
        bool,
        typer.Option(
            "--guard-formulas",
            metavar=FLAG,
            help="In CSV and TSV, put ' before texts that a spreadsheet would run as a formula.",
        ),
    ] = False
    as_json: Json = False
    quiet: Quiet = False

    @property
    def is_file(self) -> bool:
        """Return whether the labels go to a file."""
        return self.out is not None and self.out != STREAM

    @property
    def is_summary(self) -> bool:
        """Return whether people read the result: a terminal shows a summary unless it is asked for the labels."""
        asked = self.as_json or self.out is not None or self.to is not None or self.keep
        return not asked and sys.stdout is not None and sys.stdout.isatty()


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

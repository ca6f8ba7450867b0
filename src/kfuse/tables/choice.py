"""Choose the columns to cluster by: by their roles, and by what the user wishes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import polars as pl

from kfuse.tables import positions, roles, scales
from kfuse.tables.errors import Setting, TableError
from kfuse.tables.positions import Position
from kfuse.tables.reading import Table
from kfuse.tables.roles import Column, Parts
from kfuse.wording import counted

Positions = Literal["sphere", "radians", "numbers"]

MOST_MISSING = 0.5  # the share of missing values above which a column is left out
MOST_CATEGORIES = 1000  # values of a category that the user asks for
MOST_NAMES = 20  # that a message lists
MOST_LINES = 20  # that must have as many words each if spaces separate values
MOST_REASONS = 3  # that a message lists
ARTICLES = {"identifier": "an ", "ordered category": "an ", "text": "", "constant": "", "yes/no": ""}
EXCLUDED: Parts = ("excluded",)
NOT_CHOSEN: Parts = ("not chosen",)


class Wishes(NamedTuple):
    """What the user says about columns."""

    columns: Sequence[str] | None = None
    exclude: Sequence[str] = ()
    category: Sequence[str] = ()
    number: Sequence[str] = ()

    def wants(self, name: str) -> bool:
        """Return whether a column is asked for by its name."""
        return name in (self.columns or ()) or name in self.category or name in self.number


class Chosen(NamedTuple):
    """The columns of a table as they were understood, and those to cluster by."""

    understood: dict[str, Column]  # all, in the order of the table
    used: list[Column]  # in the order of the features
    left_out: dict[str, Parts]  # the others, with the reason
    places: list[Position] = []  # noqa: RUF012 - the pairs among `used` that are places; never changed


def choose(table: Table, wishes: Wishes, *, imputes: bool, scales_numbers: bool) -> Chosen:
    """Choose the columns to cluster by.

    Parameters
    ----------
    table : Table
        The table.
    wishes : Wishes
        What the user says about columns.
    imputes : bool
        Whether missing values will be filled in, so that columns that are mostly missing are left out.
    scales_numbers : bool
        Whether numbers will be scaled, so that those whose range overflows are left out.

    Returns
    -------
    Chosen
        At least one column to cluster by, and why each of the others is left out.
    """
    check(table, wishes)
    understood = {name: _understood(table, name, wishes) for name in table.frame.columns}
    left_out: dict[str, Parts] = {}
    for name, column in understood.items():
        why = _against(table, column, wishes)
        if why is None and imputes and not wishes.wants(name):
            why = _mostly_missing(column)
        if why is None and scales_numbers:
            why = _too_wide(column)
        if why is not None:
            left_out[name] = why
    order = [*(wishes.columns or table.features), *wishes.category, *wishes.number]
    used = [understood[name] for name in dict.fromkeys(order) if name not in left_out]
    if used:
        return Chosen(understood, used, left_out)
    return _constants(table, understood, left_out, wishes)


def check(table: Table, wishes: Wishes) -> None:
    """Reject names of columns that do not exist, and contradictions."""
    for name in (*(wishes.columns or ()), *wishes.exclude, *wishes.category, *wishes.number):
        check_column(table, name)
    for name in wishes.category:
        if name in wishes.number:
            raise TableError(f"column {name!r} cannot be both a category and a number: choose one")


def check_column(table: Table, name: str) -> None:
    """Reject the name of a column that does not exist."""
    existing = table.frame.columns
    if name not in existing:
        more = f" and {len(existing) - MOST_NAMES} more" if len(existing) > MOST_NAMES else ""
        listed = ", ".join(map(repr, existing[:MOST_NAMES]))
        raise TableError(f"there is no column {name!r}: choose from {listed}{more}")


def with_places(chosen: Chosen, mode: Positions, wishes: Wishes) -> Chosen:
    """Mark latitudes and longitudes; for the haversine distance, leave out all but the first pair.

    Parameters
    ----------
    chosen : Chosen
        The columns.
    mode : {"sphere", "radians", "numbers"}
        What becomes of places.
    wishes : Wishes
        What the user says: columns that are to be numbers stay so, unless for the haversine distance.

    Returns
    -------
    Chosen
        The same with pairs.
    """
    if mode == "numbers":
        return chosen
    is_free = mode == "radians"
    pairs = positions.find([column for column in chosen.used if is_free or column.name not in wishes.number])
    if mode == "sphere":
        return chosen._replace(places=pairs)
    pair = pairs[0] if pairs else _only_pair(chosen)
    left_out = {column.name: ("the haversine distance is of places alone",) for column in chosen.used}
    return Chosen(
        chosen.understood,
        [chosen.understood[name] for name in pair],
        {name: why for name, why in {**chosen.left_out, **left_out}.items() if name not in pair},
        [pair],
    )


def _understood(table: Table, name: str, wishes: Wishes) -> Column:
    """Find the role of a column, or give it the role that the user says."""
    column, decimal_comma = table.frame[name], table.separator != ","
    if name in wishes.category:
        made = roles.as_category(column)
        n_values = made.values.n_unique() if made.values is not None else 0
        if n_values > MOST_CATEGORIES:
            raise TableError(
                f"column {name!r} has {n_values:,} values, too many for a category: at most {MOST_CATEGORIES:,}"
            )
        return made
    found = roles.understand(column, decimal_comma=decimal_comma)
    is_wanted_date = found.role == "date" and name in (wishes.columns or ())
    if name not in wishes.number and not is_wanted_date:
        return found
    number = roles.as_number(column, decimal_comma=decimal_comma)
    if number is None:
        raise TableError(f"column {name!r} has no numbers: cluster by it with ", Setting("category", [name]))
    return number


def _against(table: Table, column: Column, wishes: Wishes) -> Parts | None:
    """Return why a column is left out; None if it is not."""
    if column.name in wishes.exclude:
        return EXCLUDED
    if wishes.columns is not None and not wishes.wants(column.name):
        return NOT_CHOSEN
    if column.values is None:
        return column.left_out or ("no values",)
    if wishes.wants(column.name):
        return column.left_out if column.role == "constant" else None
    if column.left_out is None and column.name not in table.features:
        return ("not part of X",)
    return column.left_out


def _mostly_missing(column: Column) -> Parts | None:
    values = column.values
    share = values.null_count() / values.len() if values is not None else 0.0
    return (f"{share:.0%} missing",) if share > MOST_MISSING else None


def _too_wide(column: Column) -> Parts | None:
    values = column.values
    if values is None or values.dtype != pl.Float64 or not scales.is_too_wide(values.drop_nulls().to_numpy()):
        return None
    return ("values too large to compute with",)


def _constants(table: Table, understood: dict[str, Column], left_out: dict[str, Parts], wishes: Wishes) -> Chosen:
    """Cluster by constant numbers if there is nothing else: rows that do not differ are one cluster."""
    constants = [
        column
        for name, column in understood.items()
        if column.role == "constant" and column.values is not None and left_out[name] == column.left_out
    ]
    constants = [column for column in constants if wishes.columns is None or wishes.wants(column.name)]
    if not constants:
        reasons = _misread(table) or [*_reasons(understood, left_out)]
        raise TableError(f"no column of {table.name} is left to cluster by: ", *reasons)
    names = {column.name for column in constants}
    return Chosen(understood, constants, {name: why for name, why in left_out.items() if name not in names})


def _misread(table: Table) -> Parts:
    """Return why a file of text was probably misread: it begins with a comment, or has spaces between its values."""
    header = table.frame.columns[0]
    if table.is_text and header.startswith("#"):
        return ("its first line begins with '#': if it is a comment, remove such lines",)
    if not table.is_text or table.frame.width > 1:
        return ()
    rows = [header, *table.frame[header].head(MOST_LINES).drop_nulls()]
    widths = {len(row.split()) for row in rows}
    if len(widths) > 1 or widths <= {0, 1}:
        return ()
    if any("  " in row.strip() for row in rows):
        return ("spaces seem to separate its columns: put one comma in their place",)
    return ("spaces seem to separate its columns: use ", Setting("separator", " "))


def _reasons(understood: dict[str, Column], left_out: dict[str, Parts]) -> Iterator[str | Setting]:
    """List why columns are left out, those that were asked for if any were, and how to use one nevertheless."""
    left_out = {name: why for name, why in left_out.items() if why != NOT_CHOSEN} or left_out
    shown = list(left_out.items())[:MOST_REASONS]
    for position, (name, why) in enumerate(shown):
        yield "" if position == 0 else " and " if position == len(left_out) - 1 else ", "
        if why == EXCLUDED:
            yield f"{name!r} is excluded"
        else:
            yield f"{name!r} is {ARTICLES.get(understood[name].role, 'a ')}{understood[name].role} ("
            yield from why
            yield ")"
    if len(left_out) > len(shown):
        yield f" and {counted(len(left_out) - len(shown), 'other')}"
    if all(understood[name].role == "text" and why != EXCLUDED for name, why in left_out.items()):
        yield "; turn texts into columns of numbers first, such as embeddings or counts of words"
    else:
        yield "; use "
        yield Setting("columns")


def _only_pair(chosen: Chosen) -> Position:
    """Take two columns of numbers as latitude and longitude if there are exactly two."""
    numbers = [column for column in chosen.used if column.values is not None and column.values.dtype == pl.Float64]
    if len(numbers) == 2:
        pair = [column._replace(name=axis) for column, axis in zip(numbers, ("lat", "lon"), strict=True)]
        if positions.find(pair):
            return Position(numbers[0].name, numbers[1].name)
    if wrong := positions.out_of_range(chosen.used):
        raise TableError(f"{wrong}: correct it, or name columns of latitude and longitude with ", Setting("columns"))
    raise TableError(
        "the haversine distance is of places on the Earth, but no columns are called latitude and longitude: "
        "name both, in degrees, with ",
        Setting("columns"),
    )

"""From a data table to features: choose columns by their roles (`roles`), handle missing values, scale and encode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kfuse.tables import choice, encoding, gate, numbers
from kfuse.tables.choice import Chosen, Positions
from kfuse.tables.encoding import Block
from kfuse.tables.errors import Setting, TableError
from kfuse.tables.frames import as_table
from kfuse.tables.reading import Table
from kfuse.tables.roles import Column, Parts, Role
from kfuse.tables.scales import Scale
from kfuse.wording import counted

if TYPE_CHECKING:
    from kfuse.tables.frames import Frame

MissingMode = Literal["impute", "drop", "refuse"]
FEW_MISSING = 0.25  # the share of a row's values that may be filled in; one value always may


class Decision(NamedTuple):
    """What became of a column."""

    column: str
    role: Role
    used: bool  # whether rows are clustered by it
    reason: Parts  # why it is left out, or what there is to know about it, with parameters kept apart
    scaling: str | None = None  # how it was scaled or encoded
    imputed: int = 0  # how many missing values were filled in

    @property
    def why(self) -> str:
        """The reason as text."""
        return "".join(map(str, self.reason))


class Missing(NamedTuple):
    """How many values were missing, in how many rows, how they were handled, and how many rows are no samples."""

    mode: MissingMode
    values: int
    rows: int
    dropped: int


class Features(NamedTuple):
    """The samples to cluster, and how they were obtained from a table."""

    X: NDArray[np.float64]  # as they are clustered
    names: list[str]  # of the features
    decisions: list[Decision]  # one for each column of the table
    values: NDArray[np.float64]  # the same samples before scaling
    sources: list[str]  # the column that each feature comes from
    used: NDArray[np.bool_]  # for each row of the table, whether it is a sample
    missing: Missing
    is_missing: dict[str, NDArray[np.bool_]]  # for each column that is used, the samples whose value is missing

    @property
    def columns(self) -> list[str]:
        """The columns that rows are clustered by."""
        return list(dict.fromkeys(self.sources))


def features(
    frame: Frame,
    *,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] = (),
    category: Sequence[str] = (),
    number: Sequence[str] = (),
    missing: MissingMode = "impute",
    scale: Scale = "auto",
    positions: Positions = "sphere",
) -> Features:
    """Turn a data table into finite features, and say what became of each column.

    By default, rows are clustered by numbers, yes/no columns and categories with few values; identifiers, constants,
    dates and free text are left out.

    Parameters
    ----------
    frame : Table, polars.DataFrame or pandas.DataFrame
        The table.
    columns : sequence of str or None, default=None
        The columns to cluster by, also those that would be left out; None chooses by their roles.
    exclude : sequence of str, default=()
        Columns to leave out.
    category, number : sequence of str, default=()
        Columns to cluster by as categories, or as numbers, whatever they look like; dates become days.
    missing : {"impute", "drop", "refuse"}, default="impute"
        Missing values: fill in the median or a category of its own, drop their rows, or raise an error. "impute"
        leaves out columns of which more than half is missing, and rows that miss more than one value and more than a
        quarter of their values.
    scale : {"auto", "minmax", "standard", "robust", "log", "none"}, default="auto"
        How to scale numbers; "auto" chooses for each column by its skew and its tails.
    positions : {"sphere", "radians", "numbers"}, default="sphere"
        Latitude and longitude become points on the unit sphere; or radians, with all other columns left out, for
        ``KFuse(metric="haversine")``; or they are numbers like any other.

    Returns
    -------
    Features
        The samples, the names of the features, and the decisions.

    Raises
    ------
    TableError
        If a column does not exist, if nothing is left to cluster by, or if a value is missing and that is refused.

    Examples
    --------
    >>> import polars as pl
    >>> from kfuse import tables
    >>> frame = pl.DataFrame({"id": range(20), "height": [1.7, 1.8] * 10, "smokes": ["yes", "no"] * 10})
    >>> found = tables.features(frame)
    >>> found.names
    ['height', 'smokes']
    >>> found.decisions[0].role, found.decisions[0].used, found.decisions[0].why
    ('identifier', False, 'counts the rows')
    """
    table = as_table(frame)
    wishes = choice.Wishes(columns, exclude, category, number)
    chosen = choice.choose(table, wishes, imputes=missing == "impute", scales_numbers=scale != "none")
    chosen = choice.with_places(chosen, positions, wishes)
    gate.check_size(gate.BYTES_PER_FEATURE * table.frame.height * len(chosen.used), table.name)
    is_missing = np.column_stack([_values(column).is_null().to_numpy() for column in chosen.used])
    used = _samples(table, chosen.used, is_missing, missing)
    blocks = list(_blocks(chosen, used, scale, as_radians=positions == "radians"))
    n_missing, rows = int(is_missing.sum()), int(is_missing.any(axis=1).sum())
    of_columns = {column.name: here for column, here in zip(chosen.used, is_missing[used].T, strict=True)}
    return Features(
        X=encoding.joined(blocks),
        names=[name for block in blocks for name in block.names],
        decisions=_decisions(table, chosen, blocks, of_columns),
        values=np.hstack([block.values for block in blocks]),
        sources=[name for block in blocks for name in block.columns],
        used=used,
        missing=Missing(missing, n_missing, rows, int((~used).sum())),
        is_missing=of_columns,
    )


def typed(table: Table, names: Sequence[str]) -> pl.DataFrame:
    """Return the frame of a table, with the named columns parsed as numbers if it is text; others stay as written."""
    if not table.is_text:
        return table.frame
    return table.frame.with_columns(_as_numbers(table, name) for name in names)


def _as_numbers(table: Table, name: str) -> pl.Series:
    """Parse a text column as integers if all its numbers are, else as floats; return other columns as they are."""
    column = table.frame[name]
    parsed = numbers.parse(numbers.without_missing(column), decimal_comma=table.separator != ",")
    if not parsed.is_number:
        return column
    integers = column.str.strip_chars().cast(pl.Int64, strict=False)
    found = parsed.numbers.fill_nan(None)
    return integers if integers.null_count() == found.null_count() else found


def _values(column: Column) -> pl.Series:
    if column.values is None:
        raise AssertionError(f"{column.name!r} has no values to cluster by")
    return column.values


def _samples(
    table: Table, columns: list[Column], is_missing: NDArray[np.bool_], mode: MissingMode
) -> NDArray[np.bool_]:
    """Return which rows are samples; refuse missing values if asked to."""
    if mode == "refuse" and is_missing.any():
        position = int(is_missing.any(axis=0).argmax())
        raise _missing_error(table, columns[position].name, is_missing[:, position])
    n_columns, n_missing = is_missing.shape[1], is_missing.sum(axis=1)
    most = 0 if mode == "drop" else min(n_columns - 1, max(1, int(FEW_MISSING * n_columns)))
    used = np.asarray(n_missing <= most)
    if not used.any():
        if mode == "drop":
            raise TableError(f"every row of {table.name} has a missing value: use ", Setting("missing", "impute"))
        raise TableError(f"every row of {table.name} has too many missing values: use ", Setting("columns"))
    return used


def _missing_error(table: Table, name: str, here: NDArray[np.bool_]) -> TableError:
    row, more = int(here.argmax()), int(here.sum()) - 1
    value = table.frame[name][row]
    what = "has no value" if value is None or not str(value).strip() else f"has {_shown(value)}"
    others = f" and {counted(more, 'other')}" if more else ""
    return TableError(
        f"column {name!r} {what} in data row {row + 1}{others}: use ",
        *(Setting("missing", "impute"), " or ", Setting("missing", "drop")),
        *(", or leave the column out with ", Setting("exclude", [name])),
    )


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _blocks(chosen: Chosen, used: NDArray[np.bool_], scale: Scale, *, as_radians: bool) -> Iterator[Block]:
    """Encode the columns, and pairs of columns that are places, in the order of the features."""
    pairs = {pair.latitude: pair for pair in chosen.places}
    second = {pair.longitude for pair in chosen.places}
    for column in chosen.used:
        values = _values(column).filter(pl.Series(used))
        if column.name in pairs:
            pair = pairs[column.name]
            longitude = _filled(_values(chosen.understood[pair.longitude]).filter(pl.Series(used)))
            if as_radians:
                yield encoding.radians(pair, _filled(values), longitude)
            else:
                yield encoding.place(pair, _filled(values), longitude, scale)
        elif column.name in second:
            continue
        elif values.dtype == pl.Float64 and not (column.role == "yes/no" and values.null_count()):
            yield encoding.number(column, _filled(values), scale)
        else:
            yield encoding.category(column, values)


def _filled(values: pl.Series) -> NDArray[np.float64]:
    """Fill in the median where a value is missing."""
    return values.fill_null(values.median() if values.null_count() < values.len() else 0.0).to_numpy()


def _remark(column: Column) -> Parts:
    """Return what there is to know about a column that is clustered by; a constant is if there is nothing else."""
    note: Parts = (column.note,) if column.note else ()
    if column.role != "constant" or column.left_out is None:
        return note
    return (*column.left_out, "; ", *note) if note else column.left_out


def _decisions(
    table: Table, chosen: Chosen, blocks: list[Block], is_missing: dict[str, NDArray[np.bool_]]
) -> list[Decision]:
    """Say what became of each column of the table, in its order."""
    scalings = {name: block.scaling for block in blocks for name in block.columns}
    found = []
    for name in table.frame.columns:
        column = chosen.understood[name]
        if name in chosen.left_out:
            found.append(Decision(name, column.role, False, chosen.left_out[name]))
        else:
            found.append(
                Decision(name, column.role, True, _remark(column), scalings[name], int(is_missing[name].sum()))
            )
    return found

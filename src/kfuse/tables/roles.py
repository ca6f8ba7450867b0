"""The roles of columns: what a column is, and whether rows are clustered by it unless the user says otherwise.

A rule looks at the values first and at the name second: names only decide whether integers or an unnamed column
identify the rows. The constants below are the rules of the page "Tables" in the documentation.
"""

from __future__ import annotations

import math
import re
from typing import Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kfuse.tables import dates, numbers, ordered
from kfuse.tables.errors import Setting
from kfuse.wording import counted

Role = Literal["number", "yes/no", "category", "ordered category", "date", "text", "identifier", "constant"]
Parts = tuple[str | Setting, ...]

MOST_VALUES = 12  # of a category that is clustered by; as many as there are months
MOST_HINTED = 50  # values of a category for which it makes sense to overrule that
ROWS_PER_VALUE = 10  # that a number must have on average to be an ordered category
LEAST_ROWS = 10  # below that, integers may count up by chance
COUNTING = 0.98  # the share of steps of one that tells a counter, which may start again a few times
IDENTIFIES = 0.95  # the share of distinct values from which words identify rows
WORDS_OF_TEXT = 3  # words per value, on average, from which words are free text
LONG_TEXT = 1000  # bytes per value, on average, from which words are text without being looked at
MOSTLY_NUMBERS = 0.5  # the share of numbers from which words among them may stand for missing values
MOST_WORDS_SHOWN = 3  # of those that are taken as missing
NO_VALUE: Parts = ("no value at all",)
YES_NO = ({"yes", "no"}, {"y", "n"}, {"true", "false"}, {"t", "f"}, {"on", "off"})
MOST_SPELLINGS = 6  # of yes and no: yes, Yes, YES, no, ...
YES = {"yes", "y", "true", "t", "on"}
INDEX_NAME = re.compile(
    r"^(|unnamed: ?\d+|__index_level_\d+__|index|level_\d+|row[ _]?(names?|ids?|num(ber)?)?)$", re.I
)
ID_NAME = re.compile(
    r"(?i:(^|[ _.-])(id|ids|uuid|guid|key)$|^(id|uuid)[ _.-])|[a-z](ID|Id)$"  # id, user_id, userId
    r"|(?i:(^|[ _.-])(zip|fips|phone|(zip|post|postal|fips)[ _.-]?code|phone[ _.-]?number)$)"
)


class Column(NamedTuple):
    """A column as it was understood."""

    name: str
    role: Role
    values: pl.Series | None  # Float64, or String for categories; None if it cannot be clustered by
    left_out: Parts | None = None  # why it is not clustered by unless the user asks for it
    note: str = ""  # what there is to say about it if it is


def understand(column: pl.Series, *, decimal_comma: bool = False) -> Column:
    """Find the role of a column.

    Parameters
    ----------
    column : polars.Series
        The column.
    decimal_comma : bool, default=False
        Whether a comma in a number stands before the decimals even if it could separate thousands.

    Returns
    -------
    Column
        Its role, its values, and why it is left out if it is.
    """
    kind = column.dtype
    if column.null_count() == column.len():
        return Column(column.name, "constant", None, NO_VALUE)
    if kind.is_temporal():
        return _date(column)
    if kind == pl.Boolean or kind.is_numeric():
        return _number(column.cast(pl.Float64), note="")
    if isinstance(kind, pl.Enum):
        return _ordered(column.cast(pl.String), kind.categories.to_list())
    is_long = kind == pl.String and _mean_bytes(column) > LONG_TEXT  # copies of it may fill the memory
    if _holds_words(kind) and not is_long:
        return _words(numbers.without_missing(column.cast(pl.String)), decimal_comma)
    return Column(column.name, "text", None, ("long text" if is_long else "nested values",))


def as_number(column: pl.Series, *, decimal_comma: bool = False) -> Column | None:
    """Understand a column as numbers because the user says so; None if it has none.

    Dates become days, ordered categories ranks; words among numbers count as missing.
    """
    found = understand(column, decimal_comma=decimal_comma)
    if found.role == "date":
        return Column(column.name, "number", dates.in_days(_plain(column)), note="in days")
    if found.values is not None and found.values.dtype == pl.Float64:
        return found._replace(role="number", left_out=None, note="" if found.role == "ordered category" else found.note)
    if not _holds_words(column.dtype):
        return None
    parsed = numbers.parse(numbers.without_missing(column.cast(pl.String)), decimal_comma=decimal_comma)
    if not parsed.share:
        return None
    values, n_infinite = _finite(parsed.numbers)
    return Column(column.name, "number", values, note=_and(_infinite_note(n_infinite), _words_note(parsed.words)))


def as_category(column: pl.Series) -> Column:
    """Understand a column as a category because the user says so."""
    values = numbers.without_missing(column.cast(pl.String, strict=False))
    return Column(column.name, "category", values, note=counted(values.drop_nulls().n_unique(), "value"))


def counts_rows(values: NDArray[np.float64]) -> bool:
    """Return whether integers count the rows: a permutation of consecutive ones, or ones that keep counting up."""
    if values.size < LEAST_ROWS or not np.array_equal(values, np.round(values)):
        return False
    steps = np.diff(values)
    if (steps == 1).mean() >= COUNTING:
        return True
    return bool(np.ptp(values) == values.size - 1 and (np.diff(np.sort(values)) == 1).all())


def _number(values: pl.Series, note: str) -> Column:
    """Tell numbers from constants, flags, row numbers and codes."""
    name, (values, n_infinite) = values.name, _finite(values)
    note = _and(_infinite_note(n_infinite), note)
    known = values.drop_nulls()
    n_distinct = known.n_unique()
    if n_distinct <= 1:
        return Column(name, "constant", values if n_distinct else None, _constant(values), note)
    if n_distinct == 2 and set(known.unique()) == {0, 1}:
        return Column(name, "yes/no", values)
    why = _identifies(name, known.to_numpy(), n_distinct)
    if why is not None:
        return Column(name, "identifier", values, (why,))
    if n_distinct <= min(MOST_VALUES, known.len() / ROWS_PER_VALUE):
        return Column(name, "ordered category", values, note=_and(f"{n_distinct} values", note))
    return Column(name, "number", values, note=note)


def _identifies(name: str, known: NDArray[np.float64], n_distinct: int) -> str | None:
    """Say why integers identify rows; None if they do not."""
    if not np.array_equal(known, np.round(known)):
        return None
    if INDEX_NAME.match(name) and n_distinct > known.size / 2:
        return "an index by its name" if name else "an index without a name"
    if counts_rows(known):
        return "counts the rows"
    if ID_NAME.search(name) and n_distinct > MOST_VALUES:
        return "an identifier by its name"
    return None


def _words(text: pl.Series, decimal_comma: bool) -> Column:
    """Tell numbers, dates, categories, identifiers and free text apart in a column of text."""
    known = text.drop_nulls()
    if not known.len():
        return Column(text.name, "constant", None, NO_VALUE)
    share = 0.0  # of numbers
    if not numbers.is_code(text):
        parsed = numbers.parse(text, decimal_comma=decimal_comma)
        if parsed.is_number:
            return _number(parsed.numbers, _words_note(parsed.words))
        share = parsed.share
    n_distinct = known.n_unique()
    if n_distinct == 1:
        return Column(text.name, "constant", None, _constant(text))
    if dates.are_dates(text):
        return _date(text)
    if n_distinct <= MOST_SPELLINGS and set(known.str.to_lowercase().unique()) in YES_NO:
        flags = text.str.to_lowercase().is_in(YES).cast(pl.Float64)
        return Column(text.name, "yes/no", flags.set(text.is_null(), None))
    found = _category(text, known, n_distinct)
    return found if found.left_out is None or share < MOSTLY_NUMBERS else _mostly_numbers(found, share)


def _category(text: pl.Series, known: pl.Series, n_distinct: int) -> Column:
    """Tell categories, ordered or not, from identifiers and free text."""
    name = text.name
    few = n_distinct <= min(MOST_VALUES, known.len() / 2)
    if few:
        levels = ordered.levels(known.unique().to_list())
        if levels is not None:
            return _ordered(text, levels)
        return Column(name, "category", text, note=f"{n_distinct} values")
    words = float(known.str.count_matches(r"\S+").mean() or 0)  # type: ignore[arg-type]
    if words >= WORDS_OF_TEXT and n_distinct > known.len() / 2:
        return Column(name, "text", None, ("free text",))
    if n_distinct >= IDENTIFIES * known.len() or INDEX_NAME.match(name) or ID_NAME.search(name):
        return Column(name, "identifier", None, ("names the rows",))
    return Column(name, "category", text, _too_many(name, n_distinct, known.len()))


def _too_many(name: str, n_distinct: int, n_rows: int) -> Parts:
    """Say that a category has many values, and how to cluster by it nevertheless if that is an option."""
    if n_distinct <= MOST_VALUES:
        return (f"{n_distinct:,} values in {counted(n_rows, 'row')}",)
    many = f"{n_distinct:,} values, more than {MOST_VALUES}"
    return (f"{many}; ", Setting("category", [name]), " keeps it") if n_distinct <= MOST_HINTED else (many,)


def _mostly_numbers(column: Column, share: float) -> Column:
    """Add to the reason why a column is left out how to cluster by its numbers."""
    hint = (f"; {math.floor(100 * share)} % are numbers: ", Setting("number", [column.name]), " clusters by them")
    return column._replace(left_out=(*(column.left_out or ()), *hint))


def _ordered(text: pl.Series, levels: list[str]) -> Column:
    """Return an ordered category as the ranks of the levels that occur."""
    occurring = set(text.drop_nulls().unique())
    present = [level for level in levels if level in occurring]
    ranks = ordered.ranks(text, present)
    if len(present) == 1:
        return Column(text.name, "constant", ranks, _constant(text))
    shown = " < ".join(present) if len(present) <= 4 else f"{present[0]} < {present[1]} < ... < {present[-1]}"
    return Column(text.name, "ordered category", ranks, note=shown)


def _date(column: pl.Series) -> Column:
    return Column(column.name, "date", column, (Setting("number", [column.name]), " clusters by its time"))


def _holds_words(kind: pl.DataType) -> bool:
    return kind in (pl.String, pl.Categorical)  # no set: a categorical type has a hash of its own


def _mean_bytes(column: pl.Series) -> float:
    return int(column.str.len_bytes().cast(pl.UInt64).sum() or 0) / max(1, column.len())


def _finite(values: pl.Series) -> tuple[pl.Series, int]:
    """Take what is no finite number as missing; return how many values were infinite, too."""
    is_infinite = values.is_infinite().fill_null(False)
    return values.fill_nan(None).set(is_infinite, None), int(is_infinite.sum())


def _plain(column: pl.Series) -> pl.Series:
    return numbers.without_missing(column) if column.dtype == pl.String else column


def _constant(column: pl.Series) -> Parts:
    if column.null_count() == column.len():
        return NO_VALUE
    return ("one value, missing elsewhere",) if column.null_count() else ("one value",)


def _words_note(words: pl.Series) -> str:
    if not words.len():
        return ""
    distinct = words.unique(maintain_order=True)
    shown = ", ".join(repr(word) for word in distinct.head(MOST_WORDS_SHOWN))
    more = f" and {distinct.len() - MOST_WORDS_SHOWN:,} more" if distinct.len() > MOST_WORDS_SHOWN else ""
    return f"{shown}{more} taken as missing"


def _infinite_note(n_infinite: int) -> str:
    return f"{counted(n_infinite, 'infinite value')} taken as missing" if n_infinite else ""


def _and(first: str, second: str) -> str:
    return f"{first}, {second}" if first and second else first or second

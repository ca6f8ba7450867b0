"""Numbers that are written as text: plain, with decimal commas, thousands separators, signs of currency, or a unit."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

MISSING_WORDS = ("", "na", "n/a", "n.a.", "#n/a", "<na>", "nan", "null", "none", "missing", "\\n", "?", "-", "--", ".")
LEAST_SHARE = 0.95  # of numbers, for a column of numbers with a few words among them
MOST_WORDS = 3  # distinct ones in such a column
LEAST_ROWS = 20  # that such a column must have

_SIGNED = (
    r"^([-+]?)\s?[$€£¥]?\s?([-+]?[\d.,]+(?:[eE][-+]?\d+)?)\s?[%$€£¥]?$"  # a number, perhaps with a sign of its unit
)
_WITH_UNIT = r"^([-+]?[\d.,]*\d(?:[eE][-+]?\d+)?)\s?(\pL[\pL/]{0,5}[²³]?|°\pL?)$"  # as in 12.5 cm
_IN_BRACKETS = r"^\(([^()]+)\)$"  # how accountants write negative numbers
_THOUSANDS = r"^[-+]?\d{1,3}(,\d{3})+(\.\d*)?$"
_DECIMAL_COMMA = r"^[-+]?(\d+|\d{1,3}(\.\d{3})+)?(,\d*)?([eE][-+]?\d+)?$"
_PADDED = r"^0\d+$"


class Parsed(NamedTuple):
    """Text parsed as numbers, and the values that are neither numbers nor missing."""

    numbers: pl.Series  # null where missing or a word
    words: pl.Series  # as text, without missing values

    @property
    def share(self) -> float:
        """The share of numbers among the values that are not missing."""
        known = self.numbers.len() - self.numbers.null_count()
        return known / max(1, known + self.words.len())

    @property
    def is_number(self) -> bool:
        """Whether the column is numeric, with a few words at most."""
        if not self.words.len():
            return self.share > 0
        few = self.words.n_unique() <= MOST_WORDS and self.numbers.len() >= LEAST_ROWS
        return few and self.share >= LEAST_SHARE


def without_missing(column: pl.Series) -> pl.Series:
    """Strip spaces from text, and replace the words for a missing value by null."""
    column = column.str.strip_chars()
    says_missing = column.str.to_lowercase().is_in(MISSING_WORDS).fill_null(True)
    return column.set(says_missing, None) if says_missing.any() else column


def parse(text: pl.Series, *, decimal_comma: bool = False) -> Parsed:
    """Parse a column of text as numbers.

    Parameters
    ----------
    text : polars.Series
        The column, null where a value is missing.
    decimal_comma : bool, default=False
        Whether "1,234" is a little more than one, as in files whose columns are not separated by commas.

    Returns
    -------
    Parsed
        Its numbers, and the words that are not numbers.
    """
    plain = _plain(text)
    if not plain.words.len() or plain.words.len() == text.len() - text.null_count() == 0:
        return plain
    distinct = text.unique()  # which spelling it is shows in a few values
    n_words = _plain(distinct).words.len()
    for spelled in (lambda some: _with_commas(_without_units(some), decimal_comma), _without_units):
        candidate = spelled(distinct)
        if candidate is not None and _plain(candidate).words.len() < n_words and (whole := spelled(text)) is not None:
            return _plain(whole)
    return plain


def is_code(text: pl.Series) -> bool:
    """Return whether digits are a code, not a number: all equally long, and some with a leading zero, as in 02134."""
    known = text.drop_nulls()
    if not known.str.starts_with("0").any() or not known.str.contains(_PADDED).any():
        return False
    return known.str.len_bytes().n_unique() == 1 and bool(known.str.contains(r"^\d+$").all())


def _plain(text: pl.Series) -> Parsed:
    numbers = text.cast(pl.Float64, strict=False)
    return Parsed(numbers, text.filter(numbers.is_null() & text.is_not_null()))


def _without_units(text: pl.Series) -> pl.Series:
    """Remove currency and per cent signs if every value is a number with or without one, or the unit that all have."""
    signed = text.str.replace(_IN_BRACKETS, "-${1}")
    if signed.str.contains(_SIGNED).all():
        return signed.str.replace(_SIGNED, "${1}${2}")
    units = text.str.extract(_WITH_UNIT, 2).drop_nulls()
    if units.n_unique() == 1 and units.len() == text.len() - text.null_count():
        return text.str.replace(_WITH_UNIT, "${1}")
    return text


def _with_commas(text: pl.Series, decimal_comma: bool) -> pl.Series | None:
    """Replace decimal commas by points, or remove commas between thousands; None if neither explains all commas."""
    commas = text.filter(text.str.contains(",", literal=True).fill_null(False))
    if not commas.len():
        return None
    is_thousands = bool(commas.str.contains(_THOUSANDS).all())
    is_decimal = bool(commas.str.contains(_DECIMAL_COMMA).all())
    if is_thousands and not (decimal_comma and is_decimal):  # 1,234.56 is a number with thousands in any file
        return text.str.replace_all(",", "", literal=True)
    if is_decimal:
        points_separate = commas.str.contains(".", literal=True).any()
        bare = text.str.replace_all(".", "", literal=True) if points_separate else text
        return bare.str.replace(",", ".", literal=True)
    return None

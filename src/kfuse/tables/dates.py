"""Dates and times that are written as text."""

from __future__ import annotations

import polars as pl

_TIME = r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?[AaPp][Mm])?( ?(Z|UTC|[+-]\d{2}:?\d{2}))?"
_MONTH = r"(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec)[a-z]*\.?"
_DATE = "|".join(
    [
        r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}",
        r"\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})",
        rf"\d{{1,2}}[ -]{_MONTH}[ -]\d{{2,4}}",
        rf"{_MONTH} \d{{1,2}},? \d{{4}}",
        rf"{_MONTH} \d{{4}}",
        r"\d{4}-\d{2}",
    ]
)
PATTERN = rf"(?i)^({_TIME}|({_DATE})([ T]+{_TIME})?)$"
SAMPLE = 100  # values that are looked at before all are

# In the order in which they are tried; of equally good ones, the first wins, so that 01/02/2003 is in January.
FORMATS = (
    *("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%m/%d/%y"),
    *("%b %d %Y", "%b %d, %Y", "%B %d, %Y", "%B %d %Y", "%d %b %Y", "%d-%b-%Y", "%d %B %Y", "%d-%b-%y"),
)
SECONDS_PER_DAY = 86_400


def are_dates(text: pl.Series) -> bool:
    """Return whether all values of a column of text are dates or times."""
    known = text.drop_nulls()
    return known.len() > 0 and bool(
        known.head(SAMPLE).str.contains(PATTERN).all() and known.str.contains(PATTERN).all()
    )


def in_days(column: pl.Series) -> pl.Series:
    """Return dates as days since 1970 and times as days since midnight, null where a value cannot be parsed."""
    if column.dtype == pl.String:
        column = _parsed(column)
    if column.dtype == pl.Time:
        return column.cast(pl.Int64).cast(pl.Float64) / (SECONDS_PER_DAY * 1e9)
    if column.dtype == pl.Duration:
        return column.dt.total_milliseconds().cast(pl.Float64) / (SECONDS_PER_DAY * 1e3)
    return column.cast(pl.Datetime("ms")).cast(pl.Int64).cast(pl.Float64) / (SECONDS_PER_DAY * 1e3)


def _parsed(text: pl.Series) -> pl.Series:
    """Parse text by the format that fails least."""
    candidates = [text.str.to_time(form, strict=False) for form in ("%H:%M:%S", "%H:%M")]
    for form in FORMATS:
        for time in ("", " %H:%M:%S", "T%H:%M:%S", " %H:%M", "T%H:%M", "T%H:%M:%SZ"):
            if time:
                candidates.append(text.str.to_datetime(form + time, strict=False, time_unit="ms"))
            else:
                candidates.append(text.str.to_date(form, strict=False).cast(pl.Datetime("ms")))
    return min(candidates, key=lambda parsed: parsed.null_count())

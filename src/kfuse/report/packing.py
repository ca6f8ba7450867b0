"""Columns and arrays as compact JSON, with nothing lost that the page shows."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kfuse.description.columns import DATE, DURATION, MISSING, Column

DIGITS = 6  # significant digits of a value, as many as float32 has
FINE = 1e-6  # the rounding error that float32 may have, as a share of a column's range
INTEGERS = (np.uint8, np.int16, np.int32)
MOST_TEXT = 5_000_000  # characters of the distinct values of one column


def pack(array: NDArray[Any], dtype: Any) -> dict[str, str]:
    """Return an array as its type and its little-endian bytes in base64."""
    little = np.ascontiguousarray(array, dtype=np.dtype(dtype).newbyteorder("<"))
    return {"type": np.dtype(dtype).name, "data": base64.b64encode(little.tobytes()).decode("ascii")}


def is_too_long(column: Column) -> bool:
    """Return whether the texts of a column would make the page too large."""
    return not column.is_ordered and sum(map(len, column.values)) > MOST_TEXT


def pack_column(column: Column) -> dict[str, Any]:
    """Pack a column: numbers in the smallest type that keeps all digits shown, categories as codes and texts."""
    head = {"name": column.name, "kind": column.kind}
    if not column.is_ordered:
        texts = column.values.tolist()
        return {**head, "texts": texts, "values": pack_codes(column.codes, len(texts))}
    if column.kind == DATE:
        unit = next(
            unit for unit in ("D", "s", "us") if unit == "us" or _is_whole(column.values, f"datetime64[{unit}]")
        )
        return {**head, "unit": unit, "digits": 16, "values": pack(numbers_of(column), np.float64)}
    values = numbers_of(column)
    dtype = smallest_type(values)
    digits = digits_of(values, dtype)
    return {**head, "digits": digits, "whole": dtype in INTEGERS, "values": pack(values, dtype)}


def numbers_of(column: Column) -> NDArray[np.float64]:
    """Return a column as the page computes with it: dates in milliseconds, durations in seconds, gaps as NaN."""
    return column.numbers / {DATE: 1e3, DURATION: 1e6}.get(column.kind, 1)


def pack_codes(codes: NDArray[np.int32], n_values: int) -> dict[str, str]:
    """Pack the codes of a category; one past the last is missing."""
    dtype = next(one for one in (np.uint8, np.uint16, np.uint32) if n_values <= np.iinfo(one).max)
    return pack(np.where(codes == MISSING, n_values, codes), dtype)


def _is_whole(values: NDArray[Any], dtype: str) -> bool:
    return bool((values.astype(dtype) == values).all())


def smallest_type(values: NDArray[np.float64]) -> type[np.generic]:
    """Return the smallest type that shows values as they are to DIGITS digits; only floats have gaps."""
    there = values[np.isfinite(values)]
    if there.size < values.size or not there.size:
        return np.float32 if _float32_suffices(there) else np.float64
    if np.array_equal(there, np.trunc(there)):
        for dtype in INTEGERS:
            if np.iinfo(dtype).min <= there.min() and there.max() <= np.iinfo(dtype).max:
                return dtype
    return np.float32 if _float32_suffices(there) else np.float64


def _float32_suffices(values: NDArray[np.float64]) -> bool:
    if not values.size:
        return True
    largest, spread = np.abs(values).max(), np.ptp(values)
    if largest >= np.finfo(np.float32).max or spread == 0:
        return bool(largest < np.finfo(np.float32).max)
    fits = spread > np.finfo(np.float32).tiny / FINE
    return bool(fits and np.abs(values - values.astype(np.float32)).max() <= FINE * spread)


def digits_of(values: NDArray[np.float64], dtype: type[np.generic]) -> int:
    """Return how many significant digits to show: more if values differ only in late ones."""
    there = values[np.isfinite(values)]
    if dtype is not np.float64 or not there.size or np.ptp(there) == 0:
        return DIGITS
    return int(np.clip(DIGITS + np.log10(np.abs(there).max() / np.ptp(there)), DIGITS, 15))

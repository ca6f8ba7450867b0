"""JSON: the number of objects times that of distinct keys, since objects that lack a key are filled up."""

from __future__ import annotations

import re

from kfuse.tables.sizes.estimate import MOST_FILLED, Estimate, enough_values

BYTES_PER_VALUE = 30  # of a column
BYTES_PER_COLUMN = 2000
PER_ITEM, PER_ITEM_OF_LINES = 160, 20  # bytes of a value or key while the content is parsed
PIECE = 1 << 20  # bytes whose keys are collected at a time
STRING = rb'"[^"\\]*(?:\\.[^"\\]*)*"'
KEY = re.compile(STRING + rb"\s*:")
KEY_OR_BRACE = re.compile(STRING + rb"(?:\s*:)?|[{}]")
NESTED = re.compile(rb":\s*[\[{]")


def estimate(content: bytes, *, lines: bool) -> Estimate:
    """Estimate how many bytes the table takes while it is read, and how many of its values are in the file.

    Keys are told apart only if the table might be ragged, and counted until it is sure to be.
    """
    n_objects, n_keys, n_commas = content.count(b"{"), content.count(b":"), content.count(b",")
    n_columns = n_keys
    if n_objects * n_keys > MOST_FILLED:
        count = _n_paths if NESTED.search(content) else _n_keys
        n_columns = count(content, enough_values(n_keys) // n_objects)
    parsed = (PER_ITEM_OF_LINES if lines else PER_ITEM) * (n_objects + n_keys + n_commas) + 2 * len(content)
    size = parsed + n_columns * (BYTES_PER_COLUMN + BYTES_PER_VALUE * n_objects)
    return Estimate(size, n_objects * n_columns, n_keys)


def _n_keys(content: bytes, enough: int) -> int:
    """Count distinct keys until there are more than enough."""
    keys: set[bytes] = set()
    for start in range(0, len(content), PIECE):
        keys.update(KEY.findall(content, start, start + PIECE))
        if len(keys) > enough:
            break
    return len(keys)


def _n_paths(content: bytes, enough: int) -> int:
    """Count distinct keys of nested objects, each together with the keys that lead to it, until there are enough."""
    paths: set[int] = set()
    above, path = [0], 0
    for found in KEY_OR_BRACE.finditer(content):
        token = found[0]
        if token == b"{":
            above.append(path)
        elif token == b"}":
            path = above.pop() if len(above) > 1 else 0
        elif token.endswith(b":"):
            path = hash((above[-1], token))
            paths.add(path)
            if len(paths) > enough:
                break
    return len(paths)

"""CSV and TSV: the number of rows times that of columns, since rows that are too short are filled up."""

from __future__ import annotations

from kfuse.tables.sizes.estimate import Estimate

BYTES_PER_VALUE = 40  # of text, with room for a second copy while chunks are joined
BYTES_PER_COLUMN = 2000
COPIES = 4  # of the content while it is read
MOST_QUOTED_LINES = 1000  # of the first record


def estimate(content: bytes, separator: str) -> Estimate:
    """Estimate how many bytes the table takes while it is read, and how many of its values are in the file."""
    character = separator.encode()
    n_columns = 1 + content.count(character, 0, _end_of_first_record(content))
    n_rows = 1 + content.count(b"\n")
    size = COPIES * len(content) + n_columns * (BYTES_PER_COLUMN + BYTES_PER_VALUE * n_rows)
    return Estimate(size, n_rows * n_columns, n_rows + content.count(character))


def _end_of_first_record(content: bytes) -> int:
    """Return where the first line ends that is not within quotes."""
    end, n_quotes = -1, 0
    for _ in range(MOST_QUOTED_LINES):
        start, end = end + 1, content.find(b"\n", end + 1)
        if end < 0:
            break
        n_quotes += content.count(b'"', start, end)
        if n_quotes % 2 == 0:
            return end
    return len(content)

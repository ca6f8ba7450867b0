"""What is known of a table of text before it is read."""

from __future__ import annotations

from typing import NamedTuple

MOST_FILLED, MOST_TIMES_FILLED = 10_000_000, 100  # values of a table: so many, or so many times those in its file


class Estimate(NamedTuple):
    """How many bytes a table takes, how many values it has, and how many of them its file holds."""

    size: int
    n_values: int
    n_given: int

    @property
    def is_ragged(self) -> bool:
        """Whether hardly any value is in the file; to fill up the others would take long."""
        return self.n_values > enough_values(self.n_given)


def enough_values(n_given: int) -> int:
    """Return how many values a table may have if its file holds so many."""
    return max(MOST_FILLED, MOST_TIMES_FILLED * n_given)

"""Errors about data tables.

A message names the problem and the remedy, which is often a parameter to set. The command line spells parameters as
options, so a message is kept as parts: text, and `Setting` for a parameter with the recommended value.
"""

from __future__ import annotations

from typing import NamedTuple


class Setting(NamedTuple):
    """A parameter and the value that an error message recommends."""

    name: str
    value: object = ...  # an ellipsis if the choice is the reader's

    def __str__(self) -> str:
        return f"{self.name}={'...' if self.value is ... else repr(self.value)}"


class TableError(ValueError):
    """A table that cannot be read, written or turned into features.

    Parameters
    ----------
    *parts : str or Setting
        The message, with the parameters that it mentions kept apart from the text.

    Examples
    --------
    >>> print(TableError("'y' has no value in row 2: use ", Setting("missing", "drop")))
    'y' has no value in row 2: use missing='drop'
    """

    def __init__(self, *parts: str | Setting):
        super().__init__(*parts)
        self.parts = parts

    def __str__(self) -> str:
        return "".join(map(str, self.parts))

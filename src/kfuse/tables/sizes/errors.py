"""The error for metadata that cannot be true."""

from __future__ import annotations


class DamagedError(ValueError):
    """The metadata of a file contradicts itself or the size of the file."""

"""One interactive page of a clustering, in one file that works without a network."""

from kfuse.report.page import html, write

__all__ = ["html", "write"]

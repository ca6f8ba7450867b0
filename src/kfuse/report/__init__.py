"""An interactive report of a clustering: one HTML file that works offline."""

from kfuse.report.page import html, write

__all__ = ["html", "write"]

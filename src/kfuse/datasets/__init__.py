"""Seeded generators of data whose clusters have shapes."""

from kfuse.datasets.shapes import make_rings, make_shapes, make_spirals

__all__ = ["make_rings", "make_shapes", "make_spirals"]

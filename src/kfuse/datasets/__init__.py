"""The data sets of the paper by name, and generators of clusters of various shapes."""

from kfuse.datasets.download import DownloadError
from kfuse.datasets.loading import Dataset, cache_folder, describe, load, names
from kfuse.datasets.lookalikes import make_away, make_pathbased, make_pole, make_waveform
from kfuse.datasets.shapes import make_rings, make_shapes, make_spirals

__all__ = [
    "Dataset",
    "DownloadError",
    "cache_folder",
    "describe",
    "load",
    "make_away",
    "make_pathbased",
    "make_pole",
    "make_rings",
    "make_shapes",
    "make_spirals",
    "make_waveform",
    "names",
]

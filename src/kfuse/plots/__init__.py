"""Plots of a clustering with matplotlib, each on axes that are passed in or created."""

from kfuse.drawing.palette import GREY, MARKERS, PALETTE
from kfuse.plots.hierarchy import dendrogram, fusion_curve
from kfuse.plots.profiles import profiles
from kfuse.plots.samples import adjacent, density, scatter, subclusters

__all__ = [
    "GREY",
    "MARKERS",
    "PALETTE",
    "adjacent",
    "dendrogram",
    "density",
    "fusion_curve",
    "profiles",
    "scatter",
    "subclusters",
]

"""Pictures of a clustering, each drawn on matplotlib axes that you give or that are made."""

from kfuse.plots.hierarchy import dendrogram, fusion_curve
from kfuse.plots.profiles import profiles
from kfuse.plots.samples import adjacent, density, scatter, subclusters
from kfuse.plots.style import GREY, MARKERS, PALETTE

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

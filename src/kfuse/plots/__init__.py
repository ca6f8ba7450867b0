"""Plots of a clustering with matplotlib, each on axes that are passed in or created.

A new plot is a function in the module of its subject that takes a fitted model or labels and `ax=None`, and returns the
axes, new ones by `style.new_axes`. It is exported here; `KINDS` in `kfuse.cli.commands.plot` and ``--kind`` in
`kfuse.cli.app` offer it on the command line.
"""

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

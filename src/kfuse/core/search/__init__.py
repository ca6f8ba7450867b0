"""Exact and approximate nearest neighbours, behind one protocol: `base.py`.

A new kind of search is a new file with a class that overrides what it can do faster, and a line in `choose.py`.
"""

from kfuse.core.search.base import Bridges, NeighborBlock, NeighborSearch
from kfuse.core.search.choose import choose_search
from kfuse.core.search.prediction import NearestSamples
from kfuse.core.search.table import Nearest, NeighborTable

__all__ = ["Bridges", "Nearest", "NearestSamples", "NeighborBlock", "NeighborSearch", "NeighborTable", "choose_search"]

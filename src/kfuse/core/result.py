"""What a fit returns, whichever algorithm ran."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Result(NamedTuple):
    """What each stage found; arrays have one entry per sample, those of merges one per merge."""

    natural_value: int  # lambda, Definition 3
    n_neighbors: int  # k
    reverse_counts: NDArray[np.int64]  # nb, Definition 2
    density: NDArray[np.float64]  # in the data's unit
    representatives: NDArray[np.intp]  # Definition 5
    subclusters: NDArray[np.intp]
    left_out: NDArray[np.bool_]
    children: NDArray[np.intp]  # (n_merges, 2): the nodes that each merge joins
    log_index: NDArray[np.float64]  # of each merge: the logarithm of its fusion index
    height: NDArray[np.float64]  # of each merge: never decreases; the last merge is undone first
    strength: NDArray[np.float64] | None = None  # of each merge; the paper has none
    leaving: NDArray[np.intp] | None = None  # the order in which samples leave their sub-clusters; the paper has none

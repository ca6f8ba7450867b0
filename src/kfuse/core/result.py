"""What a fit returns, whichever algorithm ran."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.order import weights_of_places


class Borders(NamedTuple):
    """What the merges of a tree tell about borders between clusters; arrays have one entry per merge."""

    strength: NDArray[np.float64]  # compared with what is usual for its size: 1 is usual, 0 is no connection
    is_valley: NDArray[np.bool_]  # whether both sides are denser, on average, than the border
    evidence: NDArray[np.float64]  # for a density peak on both sides, in nats; minus infinity if not tested
    dimension: float  # intrinsic, at the scale of the neighbourhoods
    n_peaks: int  # density peaks that stand out, beside the highest
    n_islands: int  # merges between parts that few neighbours leave or enter
    openness: NDArray[np.float64]  # the share that leaves or enters both sides, over the limit; infinite if not tested
    separation: NDArray[np.float64]  # of the borders that are shown, by which they are ordered; zero for other merges
    n_steps: int = 0  # merges below the step that tells borders from what is inside

    def in_order(self, order: NDArray[np.intp]) -> Borders:
        """Return the same with the merges in another order; the counts stay as they are."""
        return self._replace(
            strength=self.strength[order],
            is_valley=self.is_valley[order],
            evidence=self.evidence[order],
            openness=self.openness[order],
            separation=self.separation[order],
        )


class Surroundings(NamedTuple):
    """The nearest neighbours of the places, in the order of places, and the place of every sample."""

    place: NDArray[np.integer]
    indices: NDArray[np.int32]  # (n_places, k), as numbers of places
    distances: NDArray[np.float64]  # (n_places, k), in multiples of `unit`
    unit: float  # of these distances, in the data's own

    sample_weight: NDArray[np.float64] | None = None  # if weights were given

    @property
    def copies(self) -> NDArray[np.float64]:
        """How many samples each place has, or their weight."""
        return weights_of_places(self.place, self.sample_weight, len(self.indices))

    @property
    def first(self) -> NDArray[np.intp]:
        """The first sample at each place, of those with a weight."""
        samples = np.arange(self.place.size) if self.sample_weight is None else np.flatnonzero(self.sample_weight)
        first = np.empty(len(self.indices), dtype=np.intp)
        first[self.place[samples[::-1]]] = samples[::-1]  # of several, the first is written last
        return first


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
    borders: Borders | None = None  # what the number of clusters is read from; the paper has none
    n_missing: int = 0  # neighbours that a graph does not hold, though they were needed
    around: Surroundings | None = None  # the neighbours that all of this was computed from; the paper keeps none
    levels: NDArray[np.float64] | None = None  # the logarithm of the density, as noise is told by
    edges: NDArray[np.intp] | None = None  # (n_merges, 2): a leaf on either side, linked best; the paper has none
    leaving: NDArray[np.intp] | None = None  # the order in which samples leave their sub-clusters; the paper has none
    sample_weight: NDArray[np.float64] | None = None  # if weights were given

    def spread_over(
        self, sample: NDArray[np.intp], of_result: NDArray[np.intp], sample_weight: NDArray[np.float64]
    ) -> Result:
        """Return the result for more samples, each as `sample` of this one; `of_result` are those of this result."""
        around = self.around
        if around is not None:
            around = around._replace(place=around.place[sample], sample_weight=sample_weight)
        return self._replace(
            reverse_counts=self.reverse_counts[sample],
            density=self.density[sample],
            representatives=of_result[self.representatives][sample],
            subclusters=self.subclusters[sample],
            left_out=self.left_out[sample],
            leaving=None if self.leaving is None else self.leaving[sample],
            levels=None if self.levels is None else self.levels[sample],
            around=around,
            sample_weight=sample_weight,
        )

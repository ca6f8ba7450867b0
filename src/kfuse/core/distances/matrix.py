"""A square matrix of distances that the caller computed."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kfuse.core.distances.base import unit_of


class MatrixDistances:
    """Distances looked up in a matrix, of which `kept` selects the samples that take part."""

    points = None
    is_zero_if_identical = True
    step = 0.0
    compared_by: Literal["boxes", "stored", "rows"] = "rows"

    def __init__(self, matrix: NDArray[Any], kept: NDArray[np.intp] | None = None, unit: float | None = None):
        self.matrix, self.kept = matrix, kept
        self.unit = unit_of(matrix) if unit is None else unit
        self.n_samples = matrix.shape[0] if kept is None else kept.size

    def rows(self, samples: NDArray[np.intp]) -> NDArray[np.float64]:
        rows = self.matrix[samples] if self.kept is None else self.matrix[self.kept[samples]][:, self.kept]
        rows = np.ascontiguousarray(rows, dtype=np.float64)
        return rows if self.unit == 1 else rows / self.unit

    def pairs(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.float64]:
        if self.kept is not None:
            first, second = self.kept[first], self.kept[second]
        return self.matrix[first, second].astype(np.float64) / self.unit

    def subset(self, kept: NDArray[np.intp]) -> MatrixDistances:
        return MatrixDistances(self.matrix, kept if self.kept is None else self.kept[kept], self.unit)

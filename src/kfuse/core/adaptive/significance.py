"""The level of significance, and evidence as p-values: evidence is minus the natural logarithm of a p-value."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.05  # of significance: how often structureless data may show more than one cluster
NEEDED = -math.log(LEVEL)  # evidence at that level
MOST_EVIDENCE = 700.0  # evidence that is told apart: beyond it, p-values would be zero


def p_values(evidence: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the p-values of evidence: from almost 0 to 1, however much speaks for or against it."""
    return np.asarray(np.exp(-np.clip(evidence, 0.0, MOST_EVIDENCE)))

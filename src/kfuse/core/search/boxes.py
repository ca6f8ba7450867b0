"""Least distances of boxes, by which whole nodes of a tree, or runs of samples, are ruled out."""

from __future__ import annotations

import numpy as np

from kfuse.core.kernels import kernel


@kernel
def squared_distance_to_box(point, box):
    """Compute the least squared distance from a point to anything in a box."""
    total = 0.0
    for feature in range(point.size):
        outside = max(box[0, feature] - point[feature], point[feature] - box[1, feature])
        if outside > 0.0:
            total += outside * outside
    return total


@kernel
def squared_distance_of_boxes(box, other):
    """Compute the least squared distance of anything in one box to anything in another.

    It is computed as that of two points is, so that rounding never makes it larger than theirs.
    """
    total = 0.0
    for feature in range(box.shape[1]):
        apart = max(
            np.float64(other[0, feature]) - np.float64(box[1, feature]),
            np.float64(box[0, feature]) - np.float64(other[1, feature]),
        )
        if apart > 0.0:
            total += apart * apart
    return total

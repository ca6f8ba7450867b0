"""A sketch of the samples: their coordinates in the few directions in which they differ most.

In hundreds of dimensions, looking at a sample is expensive, and most of what is looked at is far away, which a few
directions tell as well: the principal ones of some samples, drawn at random. With z the samples moved to the mean of
those that are not far out, and p their coordinates in these directions,

    d(i, j)^2 / 2  =  |z_i|^2 / 2 + |z_j|^2 / 2 - z_i . z_j  ~  |z_i|^2 / 2 + |z_j|^2 / 2 - p_i . p_j

The lengths are those in all directions, so that what is left out is only how two samples differ in the others from what
is usual for samples that far from the mean. The samples with the least estimates make a short list, and are measured in
all dimensions. A sketch suits data whose spread falls from one direction to the next, as that of images or embeddings.
Whether it does is tried on a few samples; for other data there is none.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kfuse.core.execution import SERIAL, Execution, one_blas_thread
from kfuse.core.kernels import fast_kernel, kernel
from kfuse.core.search.brute_force import compete, sort_rows
from kfuse.core.search.nearest import offer
from kfuse.core.search.screen import COLUMNS_AT_A_TIME, Products, Visiting

FEWEST_FEATURES = 128  # with fewer, looking at a sample is about as cheap as at its sketch
FEATURES_PER_DIRECTION = 4  # or more: a sketch of more directions would save little
FEWEST_DIRECTIONS = 16
ROWS_DRAWN = 2048  # from which the directions are found, ...
ROWS_TRIED, NEIGHBORS_TRIED = 512, 4  # ... and where it is tried whether they suffice: ...
SHARE_LISTED = 0.99  # ... so many of the nearest must be on the short lists
LISTED_PER_NEIGHBOR = 1.5  # samples to measure
FAR = 2.0**8  # times as far out as is usual: a row that a sketch is not made for
FARTHEST = 2.0**55  # in units of the frame: squares of coordinates stay finite in float32
MOST_EXACT = 2.0**53  # whole numbers up to here are exact in float64


class Frame(NamedTuple):
    """Where and how large the samples are, but for a few far ones: these would cost the others their precision."""

    centre: NDArray[np.float64]
    exponent: int  # of the power of two that no usual coordinate reaches, so that squares neither overflow nor vanish

    def written(self, points: NDArray[Any]) -> NDArray[np.float64]:
        """Return samples in this frame; what is farther than anything matters is cut off."""
        with np.errstate(over="ignore"):
            return np.clip(np.ldexp(points - self.centre, -self.exponent), -FARTHEST, FARTHEST)


class Sketch(Products):
    """Estimates of Euclidean distances, and the nearest samples by them.

    Parameters
    ----------
    points : ndarray of shape (n_samples, n_features)
        The samples.
    directions : ndarray of shape (n_features, n_directions)
        Orthogonal directions of length one.
    frame : Frame or None, default=None
        Where the samples are; None to find out from all of them.
    execution : Execution, default=SERIAL
        The threads to compute it with.
    """

    def __init__(
        self,
        points: NDArray[Any],
        directions: NDArray[np.float64],
        frame: Frame | None = None,
        execution: Execution = SERIAL,
    ):
        self.points, self.is_whole = points, has_whole_squares(points)
        self.frame = frame_of(points.astype(np.float64))[0] if frame is None else frame
        super().__init__(np.empty((len(points), directions.shape[1] + 1), dtype=np.float32))
        rounded = directions.astype(np.float32)

        def sketch(start: int, stop: int) -> None:
            with one_blas_thread():
                moved = self.frame.written(points[start:stop]).astype(np.float32)
                self.factors[start:stop, :-1] = moved @ rounded
            self.factors[start:stop, -1] = np.einsum("ij,ij->i", moved, moved) / 2

        with one_blas_thread():
            execution.over_ranges(sketch, len(points), COLUMNS_AT_A_TIME)

    def listed(
        self, rows: NDArray[np.intp], k: int, visiting: Visiting
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Find the k samples with the least estimates of what each of `rows` looks at, and these, least first."""
        indices, estimates = self._nobody(rows, k)
        bounds, columns, _ = self.short_lists(rows, k, visiting)
        offer_estimates(bounds, columns, rows, indices, estimates)
        sort_rows(indices, estimates)
        return indices, estimates

    def nearest(
        self, rows: NDArray[np.intp], k: int, visiting: Visiting
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Find the k nearest of those with the least estimates, measured exactly, nearest first.

        Where a sample looks at fewer than k, the last distances are infinite.
        """
        indices, distances = self._nobody(rows, k)
        bounds, columns, _ = self.short_lists(rows, math.ceil(LISTED_PER_NEIGHBOR * k), visiting)
        measure_listed(bounds, columns, rows, self.points, self.is_whole, indices, distances)
        sort_rows(indices, distances)
        return indices, distances

    def _nobody(self, rows: NDArray[np.intp], k: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        return np.full((rows.size, k), len(self.points), dtype=np.int32), np.full((rows.size, k), np.inf)


def sketch_of(points: NDArray[Any], seed: int, execution: Execution = SERIAL) -> Sketch | None:
    """Sketch samples in as few of their principal directions as tell the nearest; None where that takes many."""
    n_samples, n_features = points.shape
    if n_features < FEWEST_FEATURES:
        return None
    drawn = np.random.default_rng(seed).choice(n_samples, min(n_samples, ROWS_DRAWN), replace=False)
    some = points[drawn].astype(np.float64)
    frame, is_usual = frame_of(some)
    some = frame.written(some[is_usual])
    with one_blas_thread():  # more could add in another order
        directions = principal_directions(some, n_features // FEATURES_PER_DIRECTION)
        sketched = some @ directions
        half_squares, count = np.einsum("ij,ij->i", some, some) / 2, FEWEST_DIRECTIONS
        nearest = np.argpartition(estimates_of(some, half_squares), NEIGHBORS_TRIED, axis=1)[:, :NEIGHBORS_TRIED]
        while count <= directions.shape[1]:
            if share_listed(sketched[:, :count], half_squares, nearest) >= SHARE_LISTED:
                return Sketch(points, directions[:, :count], frame, execution)
            count *= 2
    return None


def frame_of(rows: NDArray[np.float64]) -> tuple[Frame, NDArray[np.bool_]]:
    """Return the frame of some samples, and which of them are usual, not far out."""
    with np.errstate(over="ignore"):
        size = np.abs(rows - np.median(rows, axis=0)).max(axis=1)
    is_usual = size <= FAR * np.median(size[size > 0.0]) if size.any() else np.ones(len(rows), dtype=np.bool_)
    centre = rows[is_usual].mean(axis=0)
    return Frame(centre, int(np.frexp(np.abs(rows[is_usual] - centre).max())[1])), is_usual


def principal_directions(some: NDArray[np.float64], most: int) -> NDArray[np.float64]:
    """Find the directions in which centred samples differ most, the widest first."""
    is_wide = some.shape[1] > some.shape[0]
    _, vectors = np.linalg.eigh(some @ some.T if is_wide else some.T @ some)
    vectors = vectors[:, : -most - 1 : -1]
    if not is_wide:
        return vectors
    vectors = some.T @ vectors
    return vectors / np.maximum(np.sqrt((vectors * vectors).sum(axis=0)), np.finfo(np.float64).tiny)


def share_listed(sketched: NDArray[np.float64], half_squares: NDArray[np.float64], nearest: NDArray[np.intp]) -> float:
    """Return how many of the nearest of a few samples are on the short lists that a sketch of them makes.

    Principal directions may tell groups apart and say nothing of who is near within them, so this is tried.
    """
    estimated = estimates_of(sketched, half_squares)
    n_listed = math.ceil(LISTED_PER_NEIGHBOR * NEIGHBORS_TRIED)
    limit = np.partition(estimated, n_listed, axis=1)[:, n_listed]
    return float((np.take_along_axis(estimated, nearest, axis=1) < limit[:, None]).mean())


def estimates_of(coordinates: NDArray[np.float64], half_squares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return half the squared distance from each of a few samples to the others, less a constant for each."""
    rows = slice(ROWS_TRIED)
    estimates = half_squares - coordinates[rows] @ coordinates.T
    own = np.arange(len(estimates))
    estimates[own, own] = np.inf
    return estimates


def has_whole_squares(points: NDArray[Any]) -> bool:
    """Return whether all squared distances are whole numbers, exact in float64, so that sums may run in any order."""
    largest = max(abs(float(points.max())), abs(float(points.min())))
    return 4.0 * largest * largest * points.shape[1] < MOST_EXACT and bool(are_whole(points))


@kernel
def are_whole(points):
    """Return whether all coordinates are whole numbers."""
    for row in range(points.shape[0]):
        for feature in range(points.shape[1]):
            if points[row, feature] != np.floor(points[row, feature]):
                return False
    return True


@kernel
def offer_estimates(bounds, columns, rows, indices, estimates):
    """Let the samples on each short list compete by their estimates."""
    for row in range(rows.size):
        for j in range(columns.shape[1]):
            # NaN, where a list has ended, is below nothing.
            if columns[row, j] != rows[row] and bounds[row, j] <= estimates[row, 0]:
                offer(estimates[row], indices[row], np.float64(bounds[row, j]), columns[row, j])


@kernel
def measure_listed(bounds, columns, rows, points, is_whole, indices, distances):
    """Find the nearest samples on each short list."""
    for row in range(rows.size):
        count = 0
        while count < columns.shape[1] and not np.isnan(bounds[row, count]):
            count += 1
        if is_whole:
            compete_in_any_order(points, rows[row], columns[row, :count], indices[row], distances[row])
        else:
            compete(points, rows[row], columns[row, :count], indices[row], distances[row])


@kernel
def compete_in_any_order(points, own, samples, indices, distances):
    """Do what `compete` does for coordinates that are whole numbers."""
    for place in range(samples.size):
        if samples[place] != own:
            distance = np.sqrt(square_between(points[own], points[samples[place]]))
            offer(distances, indices, distance, samples[place])


@fast_kernel
def square_between(first, second):
    """Return the squared distance of two points, summed in any order."""
    total = 0.0
    for feature in range(first.size):
        difference = np.float64(first[feature]) - np.float64(second[feature])
        total += difference * difference
    return total

"""Neighbours tell each other: whoever has found a sample nearby is near to it as well.

An approximate search may find j from i but not i from j, since each looks at other samples. Distances are symmetric, so
j can be told at no cost.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kfuse.core.execution import Execution
from kfuse.core.kernels import kernel
from kfuse.core.order import comes_before

ROWS_AT_A_TIME = 2**13


def tell_each_other(indices: NDArray[np.int32], distances: NDArray[np.float64], execution: Execution) -> None:
    """Put each sample among the neighbours of those that it has found, where it is nearer than what they have found.

    What is new is collected first, so that it does not depend on the order in which samples are told.
    """
    if indices.shape[1] == 0:
        return
    farthest = distances[:, -1].copy()

    def collect(start: int, stop: int) -> NDArray[np.intp]:
        is_new = np.zeros((stop - start, indices.shape[1]), dtype=np.bool_)
        note_news(indices, distances, farthest, start, is_new)
        row, rank = np.nonzero(is_new)
        return np.column_stack([row + start, indices[start:stop][is_new], rank])

    news = np.concatenate(execution.over_ranges(collect, len(indices), ROWS_AT_A_TIME))
    lengths = distances[news[:, 0], news[:, 2]]  # before anything is moved
    insert_news(news, lengths, indices, distances)


@kernel
def note_news(indices, distances, farthest, start, is_new):
    """Note which neighbours of some samples, from `start` on, do not have these among theirs but should."""
    for place in range(is_new.shape[0]):
        sample = start + place
        for rank in range(indices.shape[1]):
            other = indices[sample, rank]
            if distances[sample, rank] <= farthest[other]:
                is_new[place, rank] = not is_among(indices[other], sample)


@kernel
def is_among(samples, sample):
    """Return whether a sample is among others."""
    count = 0
    for place in range(samples.size):
        count += samples[place] == sample
    return count > 0


@kernel
def insert_news(news, lengths, indices, distances):
    """Insert each sample into the list of the other that it is news to, by (distance, index)."""
    for number in range(lengths.size):
        sample, told = news[number, 0], news[number, 1]
        place = indices.shape[1]
        while place > 0 and comes_before(lengths[number], sample, distances[told, place - 1], indices[told, place - 1]):
            if place < indices.shape[1]:
                distances[told, place], indices[told, place] = distances[told, place - 1], indices[told, place - 1]
            place -= 1
        if place < indices.shape[1]:
            distances[told, place], indices[told, place] = lengths[number], sample

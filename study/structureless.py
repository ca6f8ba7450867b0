"""Data without clusters: what the number of clusters is calibrated on."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
DIMENSIONS = (1, 2, 3, 5, 10, 20, 50)
LONG = 10.0  # times as long as wide, of strips and stretched normal distributions
TUBE = np.array([20.0, 1.0, 1.0, 1.0, 1.0])  # the sides of a long box


class Family(NamedTuple):
    """A distribution with one cluster, and the numbers of features that it is drawn with."""

    draw: Callable[[np.random.Generator, int, int], Points]  # of n samples with d features
    dimensions: tuple[int, ...] = DIMENSIONS


def student(rng: np.random.Generator, n: int, d: int) -> Points:
    """Draw from a t distribution with three degrees of freedom: heavy tails."""
    return np.asarray(rng.standard_normal((n, d)) / np.sqrt(rng.chisquare(3, (n, 1)) / 3))


def ring(rng: np.random.Generator, n: int, width: float) -> Points:
    """Draw a circle with Gaussian noise."""
    angle = rng.uniform(0, 2 * np.pi, n)
    return np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(scale=width, size=(n, 2))


def sphere(rng: np.random.Generator, n: int, d: int) -> Points:
    """Draw from the surface of a ball."""
    X = rng.standard_normal((n, d))
    return np.asarray(X / np.linalg.norm(X, axis=1, keepdims=True))


def lengthened(X: Points) -> Points:
    """Stretch the first feature."""
    return X * np.append(LONG, np.ones(X.shape[1] - 1))


def helix(rng: np.random.Generator, n: int, width: float, n_turns: float = 3.0) -> Points:
    """Draw a helix in three dimensions with Gaussian noise."""
    angle = rng.uniform(0, 2 * np.pi * n_turns, n)
    return np.column_stack([np.cos(angle), np.sin(angle), angle / 4]) + rng.normal(scale=width, size=(n, 3))


FAMILIES = {
    "uniform": Family(lambda rng, n, d: rng.random((n, d))),
    "normal": Family(lambda rng, n, d: rng.standard_normal((n, d))),
    "t3": Family(student),
    "exponential": Family(lambda rng, n, d: rng.exponential(size=(n, d))),
    "lognormal": Family(lambda rng, n, d: rng.lognormal(0, 0.8, size=(n, d))),
    "ring": Family(lambda rng, n, d: ring(rng, n, 0.05), (2,)),
    "strip": Family(lambda rng, n, d: lengthened(rng.random((n, d))), (2,)),
    "stretched normal": Family(lambda rng, n, d: lengthened(rng.standard_normal((n, d))), (2, 3, 5)),
    "sphere": Family(sphere, (3, 5, 10)),
    "decaying spectrum": Family(lambda rng, n, d: rng.standard_normal((n, d)) / np.arange(1, d + 1), (5, 10, 20, 50)),
}
TUBES = {  # known to raise false alarms, so not calibrated on
    "box, 20 : 1 : 1 : 1 : 1": Family(lambda rng, n, d: rng.random((n, d)) * TUBE, (5,)),
    "helix, noise 0.1": Family(lambda rng, n, d: helix(rng, n, 0.1), (3,)),
    "helix, noise 0.2": Family(lambda rng, n, d: helix(rng, n, 0.2), (3,)),
}

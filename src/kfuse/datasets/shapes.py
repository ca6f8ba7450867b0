"""Generators of clusters in the plane: spirals, rings, and a mix of shapes."""

from __future__ import annotations

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils import check_random_state

Points = NDArray[np.float64]
Labels = NDArray[np.intp]

INNER_END = 0.2  # the radius at which a spiral arm starts, so that the arms stay apart near the centre
TURNS = 0.9  # of a spiral arm between the centre and radius 1


def make_spirals(
    n_samples: int = 900,
    n_arms: int = 3,
    *,
    noise: float = 0.025,
    random_state: int | RandomState | None = 0,
) -> tuple[Points, Labels]:
    """Draw samples at random along interleaved spiral arms.

    Parameters
    ----------
    n_samples : int, default=900
        The number of samples, divided among the arms as evenly as possible.
    n_arms : int, default=3
        The number of arms.
    noise : float, default=0.025
        The standard deviation of the Gaussian noise added to each coordinate. The arms end at radius 1.
    random_state : int, RandomState or None, default=0
        The seed. The same seed returns the same data; None draws new data at each call.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The samples.
    y : ndarray of shape (n_samples,)
        The arm of each sample, from 0.

    Examples
    --------
    >>> from kfuse.datasets import make_spirals
    >>> X, y = make_spirals(n_samples=300)
    >>> X.shape, int(y.max()) + 1
    ((300, 2), 3)
    """
    check_counts("n_arms", n_arms, n_samples)
    rng = check_random_state(random_state)
    y = even_labels(n_samples, n_arms)
    # The square root spreads the samples evenly along the arm, because outer turns are longer.
    along = np.sqrt(rng.uniform(INNER_END**2, 1, n_samples))
    angle = 2 * np.pi * (along * TURNS + y / n_arms)
    return along[:, None] * directions(angle) + rng.normal(scale=noise, size=(n_samples, 2)), y


def make_rings(
    n_samples: int = 900,
    n_rings: int = 3,
    *,
    noise: float = 0.03,
    random_state: int | RandomState | None = 0,
) -> tuple[Points, Labels]:
    """Draw samples at random along concentric rings.

    Parameters
    ----------
    n_samples : int, default=900
        The number of samples, divided among the rings in proportion to their lengths, so that all are equally dense.
    n_rings : int, default=3
        The number of rings. Their radii are equally spaced up to 1.
    noise : float, default=0.03
        The standard deviation of the Gaussian noise added to each coordinate.
    random_state : int, RandomState or None, default=0
        The seed. The same seed returns the same data; None draws new data at each call.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The samples.
    y : ndarray of shape (n_samples,)
        The ring of each sample, from 0 for the innermost.

    Examples
    --------
    >>> from kfuse.datasets import make_rings
    >>> X, y = make_rings(n_samples=600, n_rings=2)
    >>> [int((y == ring).sum()) for ring in (0, 1)]
    [200, 400]
    """
    check_counts("n_rings", n_rings, n_samples)
    rng = check_random_state(random_state)
    radii = np.arange(1, n_rings + 1) / n_rings
    y = shared_labels(n_samples, radii)
    angle = rng.uniform(0, 2 * np.pi, n_samples)
    return radii[y][:, None] * directions(angle) + rng.normal(scale=noise, size=(n_samples, 2)), y


def make_shapes(
    n_samples: int = 1000, *, noise: float = 1.0, random_state: int | RandomState | None = 0
) -> tuple[Points, Labels]:
    """Draw a ring around a blob, two moons, and three blobs of different density.

    Parameters
    ----------
    n_samples : int, default=1000
        The number of samples, at least 7.
    noise : float, default=1
        The amount of noise: with 1 the shapes are separate, with 3 they overlap.
    random_state : int, RandomState or None, default=0
        The seed. The same seed returns the same data; None draws new data at each call.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The samples.
    y : ndarray of shape (n_samples,)
        The shape of each sample: 0 is the ring, 1 the blob inside it, 2 and 3 are the moons, and 4 to 6 the dense, the
        medium and the sparse blob.

    Examples
    --------
    >>> from kfuse.datasets import make_shapes
    >>> X, y = make_shapes()
    >>> X.shape, int(y.max()) + 1
    ((1000, 2), 7)
    """
    rng = check_random_state(random_state)
    shares = np.array([0.26, 0.10, 0.17, 0.17, 0.10, 0.10, 0.10])
    check_counts("n_shapes", shares.size, n_samples)
    y = shared_labels(n_samples, shares)
    ring, core, upper, lower, dense, medium, sparse = np.bincount(y, minlength=shares.size)
    X = np.concatenate(
        [
            arc(rng, ring, (0.0, 0.0), 1.0, (0.0, 2.0), 0.07 * noise),
            blob(rng, core, (0.0, 0.0), 0.15 * noise),
            arc(rng, upper, (2.4, -0.15), 0.8, (0.0, 1.0), 0.07 * noise),
            arc(rng, lower, (3.2, 0.2), 0.8, (1.0, 2.0), 0.07 * noise),
            blob(rng, dense, (0.2, -2.0), 0.09 * noise),
            blob(rng, medium, (1.5, -2.0), 0.17 * noise),
            blob(rng, sparse, (3.2, -2.0), 0.28 * noise),
        ]
    )
    return X, y


def arc(
    rng: RandomState,
    n: int,
    center: tuple[float, float],
    radius: float,
    between: tuple[float, float],
    noise: float,
) -> Points:
    """Draw samples at random along an arc, `between` two angles in half turns."""
    start, end = between
    angle = np.pi * rng.uniform(start, end, n)
    return center + radius * directions(angle) + rng.normal(scale=noise, size=(n, 2))


def blob(rng: RandomState, n: int, center: tuple[float, float], spread: float) -> Points:
    """Draw an isotropic Gaussian cluster."""
    return rng.normal(center, spread, size=(n, 2))


def directions(angle: Points) -> Points:
    """Return the unit vector of each angle."""
    return np.column_stack([np.cos(angle), np.sin(angle)])


def even_labels(n_samples: int, n_parts: int) -> Labels:
    """Divide the samples among parts as evenly as possible."""
    return shared_labels(n_samples, np.ones(n_parts))


def shared_labels(n_samples: int, shares: Points) -> Labels:
    """Divide the samples among parts in proportion to their shares, at least one for each."""
    ends = np.cumsum(shares) / shares.sum() * (n_samples - shares.size)
    counts = np.diff(np.round(ends).astype(np.intp), prepend=0) + 1
    return np.repeat(np.arange(shares.size), counts)


def check_counts(name: str, n_parts: int, n_samples: int) -> None:
    """Raise ValueError unless there is at least one part and a sample for each; `name` is that of the parameter."""
    if n_parts < 1:
        raise ValueError(f"{name} must be at least 1, got {n_parts}.")
    if n_samples < n_parts:
        raise ValueError(f"n_samples must be at least {n_parts}, got {n_samples}.")

"""Seeded drawings in the manner of known data sets: Pole and Away of the paper, Path-based, Waveform."""

from __future__ import annotations

import numpy as np
from numpy.random import RandomState
from sklearn.utils import check_random_state

from kfuse.datasets.shapes import Labels, Points, arc, blob, check_counts, directions, even_labels, shared_labels

WAVE_LENGTH = 21  # the number of features of the waveform data
WAVES = ((0, 1), (0, 2), (1, 2))  # the two waves that each class mixes


def make_pole(n_samples: int = 80, *, random_state: int | RandomState | None = 0) -> tuple[Points, Labels]:
    """Draw a dense cluster inside a sparse one: a look-alike of the paper's Pole.

    The authors' Pole is not public. This data set has the same numbers of samples and clusters and the difference in
    density that the paper describes, and was designed so that single linkage fails, as in the paper's table. It is an
    illustration, not evidence.

    Parameters
    ----------
    n_samples : int, default=80
        The number of samples, three eighths of them in the dense cluster.
    random_state : int, RandomState or None, default=0
        The seed. The same seed returns the same data; None draws new data at each call.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The samples.
    y : ndarray of shape (n_samples,)
        0 for the dense cluster, 1 for the sparse one around it.

    Examples
    --------
    >>> from kfuse.datasets import make_pole
    >>> X, y = make_pole()
    >>> [int((y == part).sum()) for part in (0, 1)]
    [30, 50]
    """
    check_counts("n_clusters", 2, n_samples)
    rng = check_random_state(random_state)
    y = shared_labels(n_samples, np.array([3.0, 5.0]))
    dense, sparse = np.bincount(y)
    inner = np.sqrt(rng.uniform(0, 0.16**2, dense))[:, None] * directions(rng.uniform(0, 2 * np.pi, dense))
    # Sparse samples are as close to the dense ones as to each other, so distance alone does not separate them.
    outer = rng.uniform(0.25, 0.8, sparse)[:, None] * directions(2 * np.pi * _stratified(rng, sparse))
    return np.concatenate([inner, outer]), y


def make_away(
    n_samples: int = 229, *, noise: float = 0.03, random_state: int | RandomState | None = 0
) -> tuple[Points, Labels]:
    """Draw three arcs, one behind the other: a look-alike of the paper's Away.

    The authors' Away is not public. This data set has the same numbers of samples and clusters, and was designed so
    that single linkage and kFuse separate the clusters and k-means has an adjusted Rand index near 0.3, as in the
    paper's table. It is an illustration, not evidence.

    Parameters
    ----------
    n_samples : int, default=229
        The number of samples, divided among the arcs in proportion to their lengths.
    noise : float, default=0.03
        The standard deviation of the Gaussian noise added to each coordinate. The outermost arc has radius 1.
    random_state : int, RandomState or None, default=0
        The seed. The same seed returns the same data; None draws new data at each call.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The samples.
    y : ndarray of shape (n_samples,)
        The arc of each sample, from 0 for the innermost.

    Examples
    --------
    >>> from kfuse.datasets import make_away
    >>> X, y = make_away()
    >>> X.shape, int(y.max()) + 1
    ((229, 2), 3)
    """
    check_counts("n_arcs", 3, n_samples)
    rng = check_random_state(random_state)
    radii = np.array([0.4, 0.7, 1.0])
    y = shared_labels(n_samples, radii)
    sizes = np.bincount(y)
    angle = np.pi * np.concatenate([0.5 * _stratified(rng, n) - 0.25 for n in sizes])
    return radii[y][:, None] * directions(angle) + rng.normal(scale=noise, size=(n_samples, 2)), y


def make_pathbased(
    n_samples: int = 300, *, noise: float = 0.035, random_state: int | RandomState | None = 0
) -> tuple[Points, Labels]:
    """Draw an open ring around two round clusters, as in the Path-based data of Chang and Yeung.

    Parameters
    ----------
    n_samples : int, default=300
        The number of samples; of 300, the ring has 110 and the clusters have 97 and 93.
    noise : float, default=0.035
        The standard deviation of the Gaussian noise added to each coordinate of the ring, which has radius 1.
    random_state : int, RandomState or None, default=0
        The seed. The same seed returns the same data; None draws new data at each call.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The samples.
    y : ndarray of shape (n_samples,)
        0 for the ring, 1 and 2 for the clusters inside it.

    Examples
    --------
    >>> from kfuse.datasets import make_pathbased
    >>> X, y = make_pathbased()
    >>> [int((y == part).sum()) for part in (0, 1, 2)]
    [110, 97, 93]
    """
    check_counts("n_clusters", 3, n_samples)
    rng = check_random_state(random_state)
    y = shared_labels(n_samples, np.array([110.0, 97.0, 93.0]))
    ring, left, right = np.bincount(y)
    parts = [
        arc(rng, ring, (0.0, 0.0), 1.0, (-0.3, 1.3), noise),
        blob(rng, left, (-0.42, 0.0), 0.14),
        blob(rng, right, (0.42, 0.0), 0.14),
    ]
    return np.concatenate(parts), y


def make_waveform(n_samples: int = 5000, *, random_state: int | RandomState | None = 0) -> tuple[Points, Labels]:
    """Draw the waveform data of Breiman et al.: each sample mixes two of three waves, with noise.

    Parameters
    ----------
    n_samples : int, default=5000
        The number of samples, divided among the three classes as evenly as possible.
    random_state : int, RandomState or None, default=0
        The seed. The same seed returns the same data; None draws new data at each call.

    Returns
    -------
    X : ndarray of shape (n_samples, 21)
        The samples.
    y : ndarray of shape (n_samples,)
        The class of each sample.

    References
    ----------
    L. Breiman, J. H. Friedman, R. A. Olshen and C. J. Stone, "Classification and Regression Trees", 1984.

    Examples
    --------
    >>> from kfuse.datasets import make_waveform
    >>> X, y = make_waveform(300)
    >>> X.shape, int(y.max()) + 1
    ((300, 21), 3)
    """
    check_counts("n_classes", 3, n_samples)
    rng = check_random_state(random_state)
    y = even_labels(n_samples, len(WAVES))
    position = np.arange(1, WAVE_LENGTH + 1)
    waves = np.array([np.maximum(6 - np.abs(position - top), 0) for top in (11, 15, 7)], dtype=float)
    first, second = np.array(WAVES)[y].T
    share = rng.uniform(size=(n_samples, 1))
    return share * waves[first] + (1 - share) * waves[second] + rng.normal(size=(n_samples, WAVE_LENGTH)), y


def _stratified(rng: RandomState, n: int) -> Points:
    """Draw a number from each of n equal parts of [0, 1]; independent draws would leave gaps that look like borders."""
    return (np.arange(n) + rng.uniform(0, 1, n)) / n

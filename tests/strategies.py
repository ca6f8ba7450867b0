"""Generated data: every shape of trouble, small enough for the oracle."""

import os

import numpy as np
from hypothesis import strategies as st

SEEDS = st.integers(0, 2**32 - 1)


def repeats(times):
    """How often to repeat a test; less often where kernels are not compiled, which takes a hundred times as long."""
    return times if os.environ.get("NUMBA_DISABLE_JIT", "0") == "0" else max(1, times // 20)


@st.composite
def samples(draw, max_samples=200, max_features=6):
    """Data with 1 to `max_samples` rows: grids with many ties and duplicates, rounded and smooth values."""
    n_samples = draw(st.integers(1, max_samples))
    n_features = draw(st.integers(1, max_features))
    rng = np.random.default_rng(draw(SEEDS))
    kind = draw(st.sampled_from(["grid", "fractions", "rounded", "smooth", "clusters"]))
    shape = (n_samples, n_features)
    if kind in ("grid", "fractions"):
        X = rng.integers(0, draw(st.integers(1, 12)), shape).astype(float)
        return X if kind == "grid" else X / draw(st.integers(2, 13))
    if kind == "clusters":
        centres = rng.integers(0, 20, (draw(st.integers(1, 6)), n_features))
        return centres[rng.integers(0, len(centres), n_samples)] + rng.standard_normal(shape)
    X = rng.random(shape)
    return X.round(draw(st.integers(1, 3))) if kind == "rounded" else X


def untied(seed, n_samples, n_features):
    """Three overlapping groups at whole numbers up to 2**22: hardly two distances are equal, and all are exact.

    A shift by a whole number and a turn by 90 degrees lose nothing, and float32 holds every value.
    """
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 3, (n_samples, 1)) * 5 + 2
    return np.clip(np.round((rng.standard_normal((n_samples, n_features)) + groups) * 2**18), 0, 2**22)


@st.composite
def untied_samples(draw, max_samples=150, max_features=5):
    """Data of `untied`, so that a result can be expected to be the same after moving, turning and scaling it."""
    n_samples, n_features = draw(st.integers(2, max_samples)), draw(st.integers(1, max_features))
    return untied(draw(SEEDS), n_samples, n_features)


@st.composite
def rounded_samples(draw, max_samples=150, max_features=4):
    """Overlapping groups that are rounded to steps, with masses of ties and duplicates, and at least 20 places."""
    n_samples, n_features = draw(st.integers(40, max_samples)), draw(st.integers(1, max_features))
    rng = np.random.default_rng(draw(SEEDS))
    groups = rng.standard_normal((n_samples, n_features)) * 6 + rng.integers(0, 3, (n_samples, 1)) * 20
    groups[:20] = np.arange(20)[:, None]  # each column has neighbouring values, which show its step
    return np.round(groups) * rng.choice([0.01, 0.1, 0.25, 1.0, 5.0], n_features)

"""Sample weights: numbers from zero on, one for each sample, and the errors for anything else."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array


def check_sample_weight(sample_weight: Any, n_samples: int, fusion: str) -> NDArray[np.float64] | None:
    """Return the weights of the samples as an array, or None if all weigh the same."""
    if sample_weight is None:
        return None
    weights: NDArray[np.float64] = check_array(
        sample_weight, dtype=np.float64, ensure_2d=False, allow_nd=True, input_name="sample_weight"
    )
    if weights.shape != (n_samples,):
        raise ValueError(
            f"sample_weight has the shape {weights.shape}, but X has {n_samples} samples: give one weight for each."
        )
    least = int(weights.argmin())
    if weights[least] < 0:
        raise ValueError(
            f"sample_weight[{least}] is {weights[least]:.3g}, but no weight can be negative: 0 leaves a sample out."
        )
    if weights.max() == 0:
        raise ValueError("sample_weight is zero for every sample: give at least one of them a positive weight.")
    if fusion == "paper" and (weights != np.rint(weights)).any():
        raise ValueError(
            "fusion='paper' counts samples, so sample_weight must be whole numbers: use fusion='adaptive' for others."
        )
    return None if (weights == weights[0]).all() else weights

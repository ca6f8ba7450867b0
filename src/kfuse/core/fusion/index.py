"""The fusion index of the adaptive fusion."""

from __future__ import annotations

import math

from kfuse.core.compiled import kernel


@kernel
def log_fusion_index(weight, level, size, other_size, log_density, other_log_density):
    """The logarithm of FI = W / (min(n_i, n_j) sqrt(max(n_i, n_j))) x rho_b / sqrt(rho_i rho_j).

    The first factor is boundary connectivity (Eq. 5), with the weight W of the links across for the adjacent samples.
    The second is density similarity (Eq. 6), with the density rho_b along these links: it is small if the boundary is
    sparser than the two sides, that is, if a valley lies between them.
    """
    smaller, larger = min(size, other_size), max(size, other_size)
    connectivity = math.log(weight) - math.log(smaller) - 0.5 * math.log(larger)
    return connectivity + level - (log_density + other_log_density) / 2.0

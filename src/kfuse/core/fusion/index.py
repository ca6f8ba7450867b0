"""The fusion index of the adaptive fusion, and the weight of the links that it adds up."""

from __future__ import annotations

from kfuse.core.compiled import inner_kernel


@inner_kernel
def link_weight(share, is_mutual):
    """The weight of a link by the share of neighbours that its ends have in common."""
    return share * share if is_mutual else share * share / 2.0


@inner_kernel
def log_fusion_index(log_weight, level, log_size, other_log_size, log_density, other_log_density):
    """The logarithm of FI = W / (min(n_i, n_j) sqrt(max(n_i, n_j))) x rho_b / sqrt(rho_i rho_j).

    The first factor is boundary connectivity (Eq. 5), with the weight W of the links across for the adjacent samples.
    The second is density similarity (Eq. 6), with the density rho_b along these links: it is small if the boundary is
    sparser than the two sides, that is, if a valley lies between them.
    """
    connectivity = log_weight - min(log_size, other_log_size) - 0.5 * max(log_size, other_log_size)
    return connectivity + level - (log_density + other_log_density) / 2.0

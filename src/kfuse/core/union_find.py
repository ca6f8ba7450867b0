"""Disjoint sets, with path halving; the caller says which root stays."""

from __future__ import annotations

from kfuse.core.compiled import kernel


@kernel
def find(parents, member):
    """Find the root of a member's set."""
    while parents[member] != member:
        parents[member] = parents[parents[member]]
        member = parents[member]
    return member

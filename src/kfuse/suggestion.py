"""A number of clusters and the evidence for it: what `tree_.suggest()` returns."""

from __future__ import annotations

from typing import NamedTuple


class Split(NamedTuple):
    """The cluster that one more cluster would split.

    Attributes
    ----------
    cluster : int
        Its label.
    sizes : (int, int)
        The numbers of samples of its two parts, the larger first.
    """

    cluster: int
    sizes: tuple[int, int]


class Suggestion(NamedTuple):
    """A number of clusters, and how clearly the data has it.

    Strengths are multiples of what is usual for a merge of that size: 1 is usual, 0 is no connection. One cluster has
    no border, so its contrast is that of the weakest merge with no connection, and compares with no other.

    Attributes
    ----------
    n_clusters : int
        The number of clusters.
    contrast : float
        From 0 to 1: the difference between the two strengths below, each as s / (1 + s). The larger, the clearer;
        0 if a merge that this number keeps is no stronger than one that it undoes.
    strongest_border : float
        The strength of the strongest merge that this number undoes.
    weakest_inside : float
        The strength of the weakest merge that this number keeps.
    p_value : float
        That of the weakest border that this number draws: at most about the chance that data without clusters, of as
        many samples and dimensions, has a border that `sign` sees at least as clearly. It tells whether the borders
        drawn are there, not whether others are missed: for that, look at the p-value of the next number. It never
        falls from one number to the next. One cluster draws no border, so it is nan.
    sign : {"step", "peaks", "islands", "none"}
        What supports that border best: merges that are weaker than chance makes them, a valley between two density
        peaks, or few nearest neighbours across; "none" if the p-value is 1.
    weakest_border : (int, int) or None
        The numbers of samples on either side of that border, the larger first; None for one cluster.
    next_split : Split or None
        What one more cluster would split; None if no merge is left to undo.
    """

    n_clusters: int
    contrast: float
    strongest_border: float
    weakest_inside: float
    p_value: float
    sign: str
    weakest_border: tuple[int, int] | None
    next_split: Split | None

    def __repr__(self) -> str:
        values = (f"{value:.3g}" if isinstance(value, float) else repr(value) for value in self)
        return f"Suggestion({', '.join(f'{name}={value}' for name, value in zip(self._fields, values, strict=True))})"

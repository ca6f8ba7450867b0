"""A number of clusters and the evidence for it: what `tree_.suggest()` returns."""

from __future__ import annotations

from typing import NamedTuple

SMALLEST = 1e-9  # p-value that is written out: smaller ones are extrapolated too far for their size to mean much


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


class Suggestions(list[Suggestion]):
    """Numbers of clusters, the best first: a list that ``print`` shows as a table.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kfuse import KFuse
    >>> X, _ = make_moons(300, noise=0.05, random_state=0)
    >>> print(KFuse().fit(X).tree_.suggest(1))
     clusters        p  sign  contrast  weakest border  next split
            2  0.00013  step     0.471       150 | 150  1: 82 | 68
    """

    def __str__(self) -> str:
        rows = [COLUMNS, *(_cells(one) for one in self)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(_line(row, widths) for row in rows)

    def __repr__(self) -> str:
        return f"[{f',{chr(10)} '.join(map(repr, self))}]"


COLUMNS = ("clusters", "p", "sign", "contrast", "weakest border", "next split")
LEFT = {"sign", "next split"}  # words are aligned on the left, numbers on the right


def _cells(one: Suggestion) -> tuple[str, ...]:
    p_value = "" if one.weakest_border is None else written(one.p_value).removeprefix("= ")
    border = "" if one.weakest_border is None else _sides(one.weakest_border)
    split = "" if one.next_split is None else f"{one.next_split.cluster}: {_sides(one.next_split.sizes)}"
    return f"{one.n_clusters:,}", p_value, one.sign, f"{one.contrast:.3f}", border, split


def _sides(sizes: tuple[int, int]) -> str:
    return " | ".join(f"{size:,}" for size in sizes)


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    aligned = (
        cell.ljust(width) if name in LEFT else cell.rjust(width)
        for name, cell, width in zip(COLUMNS, cells, widths, strict=True)
    )
    return f" {'  '.join(aligned)}".rstrip()


def written(p_value: float) -> str:
    """Write a p-value, with its sign of comparison: "= 0.03", "< 1e-09".

    Parameters
    ----------
    p_value : float
        The p-value.

    Returns
    -------
    str
        The text to follow "p".
    """
    return f"< {SMALLEST:.0e}" if p_value < SMALLEST else f"= {p_value:.2g}"

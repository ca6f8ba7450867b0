"""Why this number of clusters, and how sure: one sentence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kfuse.fitted import fitted_model
from kfuse.suggestion import written
from kfuse.wording import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.pipeline import Pipeline

    from kfuse import KFuse
    from kfuse.tree import FusionTree, Suggestion

CLEAR, FAIR = 0.001, 0.01  # the largest p-value of a result with that name; above both, it stands out little
NEARLY = 0.25  # the p-value up to which one cluster more is nearly as likely; the odds for its border are about even
SEEN_AS = {
    "step": "a connection much weaker than usual",
    "peaks": "a valley between density peaks",
    "islands": "few neighbours across",
}


def explain_number(model: KFuse | Pipeline, n_clusters: int | None = None) -> str:
    """Return in a sentence or two why there are that many clusters, and how clearly the data has them.

    Borders are called clear if the p-value of the weakest one is at most 0.001, fairly clear if it is at most 0.01, and
    faint above that; see :class:`kfuse.tree.Suggestion` for the p-value. It is said where another number is supported
    about as well, and where ``n_clusters=(least, most)`` kept the model from taking the number that the data suggests.

    Parameters
    ----------
    model : KFuse or sklearn.pipeline.Pipeline
        A fitted model, or a fitted pipeline whose last step is one.
    n_clusters : int or None, default=None
        The number to explain; None explains that of the model.

    Returns
    -------
    str
        The explanation.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kfuse import KFuse
    >>> from kfuse.description import explain_number
    >>> X, _ = make_moons(300, noise=0.05, random_state=0)
    >>> explain_number(KFuse().fit(X)).startswith("2 clusters with clear borders (p = ")
    True
    """
    fitted = fitted_model(model)
    number = fitted.n_clusters_ if n_clusters is None else n_clusters
    return explain_numbers(fitted, [number])[0]


def explain_numbers(model: KFuse | Pipeline, numbers: Iterable[int]) -> list[str]:
    """Explain several numbers of clusters, each as :func:`explain_number` does.

    Parameters
    ----------
    model : KFuse or sklearn.pipeline.Pipeline
        A fitted model.
    numbers : iterable of int
        The numbers of clusters.

    Returns
    -------
    list of str
        One explanation for each.
    """
    fitted = fitted_model(model)
    tree = fitted.tree_
    if tree.strength is None:
        why = "the printed algorithm does not judge numbers of clusters"
        return [f"{counted(number, 'cluster')}, as requested: {why}." for number in numbers]
    best, *others = tree.suggest(2)
    p_values = p_values_of(tree)
    return [
        _best(best, others, hedge(tree))
        if number == best.n_clusters
        else _another(number, best, float(p_values[min(number, p_values.size) - 1]), limit_of(fitted, number, best))
        for number in numbers
    ]


def limit_of(model: KFuse, number: int, best: Suggestion) -> str:
    """Return which limit made a model take this number instead of the suggested one: "the most that was allowed".

    Parameters
    ----------
    model : KFuse
        A fitted model.
    number : int
        The number of clusters.
    best : Suggestion
        What the tree suggests.

    Returns
    -------
    str
        The words; nothing if the model has no range of numbers, took another one, or took the suggested one.
    """
    if not isinstance(model.n_clusters, tuple | list) or number != model.n_clusters_ or number == best.n_clusters:
        return ""
    least, most = model.n_clusters
    if number == (most if best.n_clusters > number else least):
        return "the most that was allowed" if number < best.n_clusters else "the fewest that were allowed"
    return f"the best of the {least:,} to {most:,} that were allowed"


class Rival(NamedTuple):
    """Another number of clusters that the data supports about as well as the suggested one, and how."""

    n_clusters: int
    how: str
    is_finer: bool  # it only adds borders to those of the suggested number, which are clear


def rival_of(tree: FusionTree) -> Rival | None:
    """Find a number that is nearly as likely as the suggested one, or supported as well.

    Parameters
    ----------
    tree : FusionTree
        The tree of a fit with ``fusion="adaptive"``.

    Returns
    -------
    Rival or None
        If the suggested number has a weak border, the largest number without one. Otherwise the largest number whose
        borders are all significant, if it is larger than the suggested one, or the next number, if its p-value is at
        most 0.25.
    """
    from kfuse.core.adaptive.significance import LEVEL  # noqa: PLC0415 - numba is slow to import

    best, p_values = tree.suggest(1)[0], p_values_of(tree)
    n_sure, n_significant = (1 + int(np.count_nonzero(p_values <= most)) for most in (FAIR, LEVEL))
    if best.n_clusters > 1 and best.p_value > FAIR:
        weak = "at least as likely" if n_sure == 1 else "the largest number with clear borders"
        return Rival(n_sure, "nearly as likely" if best.p_value <= LEVEL else weak, is_finer=False)
    is_finer = best.n_clusters > 1
    if n_significant > best.n_clusters:
        how = f"supported as well (p {written(p_values[n_significant - 1])})"
        return Rival(n_significant, how, is_finer)
    if best.n_clusters < p_values.size and (following := p_values[best.n_clusters]) <= NEARLY:
        how = f"possible as well (p {written(following)})" if is_finer else "nearly as likely"
        return Rival(best.n_clusters + 1, how, is_finer)
    return None


def hedge(tree: FusionTree) -> str:
    """Return "2, but 1 is nearly as likely", or "8 is supported as well (p = 0.04)", where that is so.

    A larger number takes nothing from the clusters of the suggested one, it splits them further: there is no "but".

    Parameters
    ----------
    tree : FusionTree
        The tree of a fit with ``fusion="adaptive"``.

    Returns
    -------
    str
        The words, without a full stop; nothing if no other number is as good.
    """
    rival = rival_of(tree)
    if rival is None:
        return ""
    but = "" if rival.is_finer else f"{tree.suggest(1)[0].n_clusters:,}, but "
    return f"{but}{rival.n_clusters:,} is {rival.how}"


def p_values_of(tree: FusionTree) -> NDArray[np.float64]:
    """Return the p-value of the weakest border for 1, 2, ... clusters, nan for one.

    Parameters
    ----------
    tree : FusionTree
        The tree of a fit with ``fusion="adaptive"``.

    Returns
    -------
    ndarray of shape (n_leaves,)
        The p-values.
    """
    assert tree.p_value is not None
    return np.append(np.nan, np.maximum.accumulate(tree.p_value[::-1]))


def clarity(p_value: float) -> str:
    """Return what borders with this p-value are called: clear, fairly clear, or faint.

    Parameters
    ----------
    p_value : float
        The p-value of the weakest one.

    Returns
    -------
    str
        The word.
    """
    return "clear" if p_value <= CLEAR else "fairly clear" if p_value <= FAIR else "faint"


def _best(best: Suggestion, others: list[Suggestion], hedged: str) -> str:
    """Explain the suggested number."""
    doubt = f" {hedged}." if hedged else ""
    after = f" Next best: {counted(others[0].n_clusters, 'cluster')}{_how_sure(others[0].p_value)}." if others else ""
    if best.n_clusters == 1 or best.weakest_border is None:
        return f"1 cluster: no border in the data is clearer than chance would make it.{doubt}{after}"
    larger, smaller = best.weakest_border
    sign = SEEN_AS.get(best.sign, "nothing but chance")
    return (
        f"{counted(best.n_clusters, 'cluster')} with {clarity(best.p_value)} borders (p {written(best.p_value)}): the "
        f"weakest, between {larger:,} and {counted(smaller, 'sample')}, shows as {sign}.{doubt}{after}"
    )


def _another(number: int, best: Suggestion, p_value: float, limit: str) -> str:
    """Explain a number that is not the suggested one, by the p-value of its weakest border and its limit."""
    how = _how_sure(p_value) if number > 1 else ""
    what = counted(number, "cluster")
    suggested = f"{best.n_clusters:,}" + (f" (p {written(best.p_value)})" if best.n_clusters > 1 else "")
    if limit:
        return f"{what}{how}, {limit}: by itself, the data suggests {suggested}."
    if best.n_clusters == 1:
        return f"{what}{how}: one cluster is suggested, since no border is clear."
    return f"{what}{how}: by itself, the data suggests {suggested}."


def _how_sure(p_value: float) -> str:
    """Return the p-value of the weakest border in parentheses, or that nothing shows it."""
    return " (its weakest border is not significant)" if p_value == 1.0 else f" (p {written(p_value)})"

"""Why this number of clusters, and how sure: one sentence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kfuse.drawing import curve
from kfuse.fitted import fitted_model
from kfuse.wording import counted

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from kfuse import KFuse
    from kfuse.tree import Suggestion

CLEAR, FAIR = 0.2, 0.05  # the least contrast of a result with that name; below both, it stands out little
SMALLEST, LARGEST = 0.01, 100  # multiples of the usual strength that are written out


def explain_number(model: KFuse | Pipeline, n_clusters: int | None = None) -> str:
    """Return in a sentence or two why there are that many clusters, and how clearly the data has them.

    A result is called clear if its contrast is at least 0.2, fairly clear if it is at least 0.05, and faint below that;
    see :class:`kfuse.tree.Suggestion` for the contrast.

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
    >>> explain_number(KFuse().fit(X)).startswith("2 clusters, a clear result (contrast ")
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
    tree = fitted_model(model).tree_
    if tree.strength is None:
        why = "the printed algorithm does not judge numbers of clusters"
        return [f"{counted(number, 'cluster')}, as requested: {why}." for number in numbers]
    best, *others = tree.suggest(2)
    levels = curve.levels_of(tree)
    return [
        _best(best, others)
        if number == best.n_clusters
        else _another(number, best, curve.step_at(levels, min(number, tree.n_leaves)))
        for number in numbers
    ]


def _best(best: Suggestion, others: list[Suggestion]) -> str:
    """Explain the suggested number."""
    after = f" Next best: {counted(others[0].n_clusters, 'cluster')} ({others[0].contrast:.2f})." if others else ""
    if best.n_clusters == 1:
        return f"1 cluster: no border in the data is weaker than chance would make it.{after}"
    return (
        f"{counted(best.n_clusters, 'cluster')}, a {_clarity(best.contrast)} result (contrast {best.contrast:.2f} of "
        f"1): the strongest connection between two clusters is {_times(best.strongest_border)} what is usual for its "
        f"size, the weakest inside one {_times(best.weakest_inside)}.{after}"
    )


def _another(number: int, best: Suggestion, step: tuple[float, float]) -> str:
    """Explain a number that is not the suggested one, by the step of the fusion curve there."""
    how = f" (contrast {step[1] - step[0]:.2f} of 1)" if number > 1 else ""
    if best.n_clusters == 1:
        return f"{counted(number, 'cluster')}{how}: one cluster is suggested, since no border is clear."
    are = "is" if number == 1 else "are"
    return (
        f"{counted(number, 'cluster')} {are} not the clearest number{how}: that is {best.n_clusters:,} "
        f"({best.contrast:.2f})."
    )


def _clarity(contrast: float) -> str:
    return "clear" if contrast >= CLEAR else "fairly clear" if contrast >= FAIR else "faint"


def _times(strength: float) -> str:
    if strength < SMALLEST:
        return f"under {SMALLEST} times"
    return f"over {LARGEST} times" if strength > LARGEST else f"{strength:.2f} times"

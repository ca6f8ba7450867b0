"""The fitted KFuse inside of what users pass: the estimator itself, or a pipeline that ends with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from kfuse import KFuse


def fitted_model(model: Any) -> KFuse:
    """Return the fitted KFuse: `model` itself, or the last step of a pipeline.

    Parameters
    ----------
    model : KFuse or sklearn.pipeline.Pipeline
        A fitted model.

    Returns
    -------
    KFuse
        The fitted estimator.

    Raises
    ------
    TypeError
        If `model` is something else.
    sklearn.exceptions.NotFittedError
        If it is not fitted.
    """
    last = model
    while getattr(last, "steps", None):
        last = last.steps[-1][1]
    if not (hasattr(last, "cut") and hasattr(last, "fit")):
        raise TypeError(f"model must be a KFuse, or a Pipeline whose last step is one, got {_kind(model, last)}.")
    check_is_fitted(last, "tree_")
    return last


def _kind(model: Any, last: Any) -> str:
    name = type(model).__name__
    return name if last is model else f"a {name} whose last step is {type(last).__name__}"

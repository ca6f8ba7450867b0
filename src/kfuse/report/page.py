"""Render the report from its content and its template, and write it to a file."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from html import escape
from importlib import resources
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from kfuse import __version__
from kfuse.files import check_target, whole_file
from kfuse.report import content

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from kfuse import KFuse

MOST_COLUMNS = 20
SCRIPTS = ("data", "cut", "axes", "scatter", "hierarchy", "clusters", "page")  # one script, in this order
CURVE_HINT = (
    "The higher the step at a number of clusters, the clearer that number. Blue: suggested. Shaded: merges of typical "
    "strength or stronger."
)
NO_CURVE_HINT = "The paper's algorithm does not suggest a number of clusters."


def write(
    model: KFuse | Pipeline,
    X: Any,
    path: str | os.PathLike[str],
    *,
    names: Sequence[str] | None = None,
    ids: Sequence[Any] | None = None,
    title: str = "Clusters",
    most_clusters: int | None = None,
    most_columns: int = MOST_COLUMNS,
) -> Path:
    """Write an interactive report of a fitted model to one HTML file.

    The page says why there are that many clusters and what each one is, shows a scatter plot and the dendrogram, which
    are linked, a slider for the number of clusters, the fusion curve with the suggestions, and a table of the clusters,
    and offers the labels for download. It needs only a browser: data, tree and scripts are in the file. It holds all
    samples, however many there are.

    Parameters
    ----------
    model : KFuse or sklearn.pipeline.Pipeline
        A fitted model, or a fitted pipeline whose last step is one.
    X : pandas.DataFrame, polars.DataFrame, array-like of shape (n_samples, n_columns) or None
        The values to show, with rows in the order of the fit: the data of the fit, the same data before scaling, or
        other columns, with numbers, dates or categories, and with gaps. None uses the data of the fit.
    path : str or path-like
        The file to write. An existing file is replaced only once the report is complete.
    names : sequence of str or None, default=None
        The names of the columns; None uses those of a data frame, or numbers.
    ids : sequence of length n_samples or None, default=None
        The names of the rows; None numbers them from 0.
    title : str, default="Clusters"
        The title of the page.
    most_clusters : int or None, default=None
        The largest number of clusters on the slider; None leaves some margin above the model's number and the
        suggestions.
    most_columns : int, default=20
        The maximum number of columns to show: those in which the model's clusters differ most, the first one most of
        all. The page says what it leaves out.

    Returns
    -------
    pathlib.Path
        The path of the file.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from kfuse import KFuse, report
    >>> wine = load_wine(as_frame=True).data
    >>> model = KFuse().fit(scale(wine))
    >>> report.write(model, wine, "wine.html", title="Wine")  # doctest: +SKIP
    """
    target = Path(path)
    check_target(target)
    page = html(model, X, names=names, ids=ids, title=title, most_clusters=most_clusters, most_columns=most_columns)
    with whole_file(target) as handle:
        handle.write(page.encode())
    return target


def html(
    model: KFuse | Pipeline,
    X: Any = None,
    *,
    names: Sequence[str] | None = None,
    ids: Sequence[Any] | None = None,
    title: str = "Clusters",
    most_clusters: int | None = None,
    most_columns: int = MOST_COLUMNS,
) -> str:
    """Return the report as a string; see :func:`write` for the parameters.

    Returns
    -------
    str
        The HTML of the page.
    """
    shown = content.gather(model, X, names=names, ids=ids, most_clusters=most_clusters, most_columns=most_columns)
    folder = resources.files("kfuse.report") / "assets"
    template = Template((folder / "page.html").read_text("utf-8"))
    return template.substitute(
        title=escape(title),
        version=__version__,
        summary=escape(shown.summary),
        n_clusters=shown.n_clusters,
        most_clusters=shown.most_clusters,
        curve_hint=CURVE_HINT if shown.has_strengths else NO_CURVE_HINT,
        notes=escape(" ".join(shown.notes)),
        style=(folder / "page.css").read_text("utf-8"),
        script="".join((folder / f"{name}.js").read_text("utf-8") for name in SCRIPTS),
        data=_script_json(shown.payload),
    )


def _script_json(value: Any) -> str:
    """Serialise to JSON that is safe inside a script element: no string can close it."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")

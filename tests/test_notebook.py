"""How a model shows itself in a notebook."""

import re
import sys

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.metrics import pairwise_distances
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from kfuse import KFuse, notebook
from kfuse.datasets import make_shapes


@pytest.fixture(scope="module")
def model():
    return KFuse().fit(make_shapes(300)[0])


def shown(model):
    return model._repr_mimebundle_()["text/html"]


def test_a_fitted_model_says_what_it_found(model):
    html = shown(model)
    assert f">{model.n_clusters_} clusters<" in html
    assert f"suggested: {model.tree_.suggest(1)[0].n_clusters}" in html
    assert ", ".join(str(size) for size in np.bincount(model.labels_)[:6]) in html
    assert re.search(r'<img [^>]*src="data:image/png;base64,iVBOR', html)


def test_scikit_learns_diagram_is_still_there(model):
    diagram = shown(clone(model))
    assert "sk-top-container" in diagram
    assert "<img" not in diagram
    assert "sk-top-container" in shown(model)
    assert f">{model.n_clusters_} clusters<" in model._repr_html_()


def test_text_only_stays_text_only(model):
    with sklearn.config_context(display="text"):
        assert set(model._repr_mimebundle_()) == {"text/plain"}
        assert not hasattr(model, "_repr_html_")


def test_inside_a_pipeline(model):
    pipeline = make_pipeline(MinMaxScaler(), KFuse()).fit(make_shapes(100)[0])
    assert "KFuse" in shown(pipeline)


@pytest.mark.parametrize(
    "fitted",
    [
        lambda: KFuse(1).fit([[1.0, 2.0]]),
        lambda: KFuse(2).fit([[0.0], [0.0], [1.0]]),
        lambda: KFuse(3, fusion="paper").fit(make_shapes(100)[0]),
        lambda: KFuse(outliers="label").fit(make_shapes(100, noise=3)[0]),
        lambda: KFuse(metric="precomputed").fit(pairwise_distances(make_shapes(60)[0])),
    ],
    ids=["one sample", "one column", "printed", "outliers", "distances"],
)
def test_odd_models_show_themselves(fitted):
    assert re.search(r">\d+ clusters?<", shown(fitted()))


def test_no_picture_without_matplotlib_or_data(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert "<img" not in shown(model)
    assert "clusters<" in shown(model)


def test_showing_never_fails(model, monkeypatch):
    def fail(_):
        raise RuntimeError

    monkeypatch.setattr(notebook, "_lines", fail)
    assert "sk-top-container" in shown(model)

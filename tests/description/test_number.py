"""Why this number of clusters: the figures of the sentence are those of the tree."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kfuse import KFuse
from kfuse.datasets import make_shapes
from kfuse.description import explain_number
from kfuse.drawing import curve


@pytest.fixture(scope="module")
def shapes():
    return KFuse().fit(make_shapes(400)[0])


def test_the_suggested_number_has_its_evidence(shapes):
    best, other = shapes.tree_.suggest(2)
    words = explain_number(shapes)
    assert words.startswith(f"{best.n_clusters} clusters, a ")
    assert f"(contrast {best.contrast:.2f} of 1)" in words
    border = "under 0.01" if best.strongest_border < 0.01 else f"{best.strongest_border:.2f}"
    assert f"two clusters is {border} times what is usual" in words
    assert words.endswith(f" Next best: {other.n_clusters} clusters ({other.contrast:.2f}).")


@pytest.mark.parametrize("number", [1, 2, 3, 20, 300])
def test_any_other_number_has_its_contrast(shapes, number):
    words = explain_number(shapes, number)
    best = shapes.tree_.suggest(1)[0]
    below, above = curve.step_at(curve.levels_of(shapes.tree_), min(number, shapes.tree_.n_leaves))
    contrast = "" if number == 1 else f" (contrast {above - below:.2f} of 1)"
    noun, verb = ("cluster", "is") if number == 1 else ("clusters", "are")
    assert words == (
        f"{number} {noun} {verb} not the clearest number{contrast}: that is {best.n_clusters} ({best.contrast:.2f})."
    )


@pytest.mark.parametrize(("contrast", "word"), [(0.2, "clear"), (0.19, "fairly clear"), (0.04, "faint")])
def test_how_sure(shapes, monkeypatch, contrast, word):
    best = shapes.tree_.suggest(1)[0]._replace(contrast=contrast, strongest_border=0.0, weakest_inside=1e9)
    monkeypatch.setattr(type(shapes.tree_), "suggest", lambda *_: [best])
    assert f", a {word} result (contrast {contrast:.2f} of 1)" in explain_number(shapes)
    assert explain_number(shapes).endswith(
        "the strongest connection between two clusters is under 0.01 times what is usual for its size, the weakest "
        "inside one over 100 times."
    )


def test_one_cluster_has_no_border():
    model = make_pipeline(StandardScaler(), KFuse()).fit(np.random.default_rng(0).normal(size=(200, 2)))
    assert model[-1].n_clusters_ == 1
    assert explain_number(model).startswith("1 cluster: no border in the data is weaker than chance would make it.")
    assert ": one cluster is suggested, since no border is clear." in explain_number(model, 3)


def test_the_printed_algorithm_judges_nothing():
    X, _ = make_moons(100, noise=0.05, random_state=0)
    words = explain_number(KFuse(2, fusion="paper").fit(X))
    assert words == "2 clusters, as requested: the printed algorithm does not judge numbers of clusters."

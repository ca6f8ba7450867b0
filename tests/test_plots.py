"""The scatter plot: what is drawn, where, and how."""

import sys

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from kfuse.datasets import make_rings
from kfuse.plots import GREY, PALETTE, scatter


@pytest.fixture
def ax():
    return Figure().subplots()


def drawn(ax):
    """Every point on the axes with its colour, sorted."""
    return sorted(
        (*point, to_hex(colour).upper())
        for artist in ax.collections
        for point, colour in zip(
            artist.get_offsets().tolist(),
            np.resize(
                artist.get_facecolors() if len(artist.get_facecolors()) else artist.get_edgecolors(),
                (len(artist.get_offsets()), 4),
            ),
            strict=True,
        )
    )


def test_every_sample_is_drawn_once_in_its_colour(ax):
    X, y = make_rings(60)
    y[::7] = -1
    assert scatter(X, y, ax) is ax
    expected = [(*point, PALETTE[label] if label >= 0 else GREY) for point, label in zip(X.tolist(), y, strict=True)]
    assert drawn(ax) == sorted(expected)


def test_left_out_samples_are_smaller_crosses(ax):
    scatter([[0, 0], [1, 1]], [-1, 0], ax)
    crosses, dots = ax.collections
    assert crosses.get_sizes()[0] < dots.get_sizes()[0]
    assert len(crosses.get_paths()[0].vertices) == 4


def test_points_are_rasterized(ax):
    X, y = make_rings(30)
    assert all(artist.get_rasterized() for artist in scatter(X, y, ax).collections)


def test_after_the_palette_the_marker_changes(ax):
    labels = np.arange(2 * len(PALETTE))
    scatter(np.column_stack([labels, labels]), labels, ax)
    shapes = [artist for artist in ax.collections if len(artist.get_offsets())]
    assert len(shapes) == 2
    assert shapes[0].get_paths()[0] != shapes[1].get_paths()[0]


def test_many_clusters_take_few_artists(ax):
    labels = np.arange(1000)
    scatter(np.column_stack([labels, labels]), labels, ax)
    assert len(ax.collections) <= 5


def test_points_shrink_as_they_get_many():
    sizes = []
    for n in (10, 1000, 100_000):
        ax = scatter(np.zeros((n, 2)), np.zeros(n, dtype=int), Figure().subplots())
        sizes.append(ax.collections[-1].get_sizes()[0])
    assert sizes[0] > sizes[1] > sizes[2] > 0


def test_more_columns_become_two_principal_components(ax):
    X = np.random.default_rng(0).normal(size=(50, 4)) * [9, 5, 1, 1]
    scatter(X, np.zeros(50, dtype=int), ax)
    points = np.asarray(ax.collections[-1].get_offsets())
    assert abs(np.corrcoef(points[:, 0], X[:, 0])[0, 1]) > 0.9
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("principal component 1", "principal component 2")


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (4, 1), (4, 2), (4, 3), (2, 9)])
def test_small_and_constant_data_can_be_drawn(ax, shape):
    scatter(np.ones(shape), np.zeros(shape[0], dtype=int), ax)
    assert len(ax.collections[-1].get_offsets()) == shape[0]


def test_makes_a_figure_if_there_is_none():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    ax = scatter([[0, 1], [2, 3]], [0, 1])
    plt.close(ax.figure)


def test_input_is_not_changed(ax):
    X, y = make_rings(30)
    before = X.copy(), y.copy()
    scatter(X, y, ax)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])


def test_refuses_labels_of_another_length(ax):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        scatter([[0, 1], [2, 3]], [0], ax)


def test_says_what_to_install_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"^Plots need matplotlib: pip install 'kfuse\[plot\]'$"):
        scatter([[0, 1], [2, 3]], [0, 1])

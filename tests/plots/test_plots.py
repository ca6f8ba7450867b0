"""The plots: what is drawn, where, and how."""

import sys

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.metrics import pairwise_distances
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kfuse import KFuse
from kfuse.datasets import make_rings, make_shapes
from kfuse.drawing.palette import COLOURS
from kfuse.plots import (
    GREY,
    PALETTE,
    adjacent,
    dendrogram,
    density,
    fusion_curve,
    profiles,
    samples,
    scatter,
    subclusters,
)


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


@pytest.fixture(scope="module")
def shapes():
    return KFuse().fit(make_shapes(400)[0])


MODELS = {
    "adaptive": lambda: KFuse().fit(make_shapes(300, noise=2)[0]),
    "printed": lambda: KFuse(3, fusion="paper").fit(make_shapes(200)[0]),
    "outliers": lambda: KFuse(outliers="label").fit(make_shapes(300, noise=2)[0]),
    "duplicates": lambda: KFuse(9).fit(np.repeat(make_shapes(20)[0], 4, axis=0)),
    "grid": lambda: KFuse(4).fit(np.mgrid[:8, :8].reshape(2, -1).T.astype(float)),
    "one sample": lambda: KFuse(1).fit([[1.0, 2.0]]),
    "one column": lambda: KFuse(2).fit([[0.0], [0.1], [0.2], [5.0], [5.1]]),
    "five columns": lambda: KFuse(2).fit(np.random.default_rng(0).normal(size=(60, 5))),
}
PLOTS = (subclusters, density, dendrogram, fusion_curve, profiles)


@pytest.mark.parametrize("plot", PLOTS)
@pytest.mark.parametrize("name", MODELS)
def test_every_picture_of_every_kind_of_model_can_be_drawn(plot, name):
    figure = Figure(layout="constrained")
    ax = figure.subplots()
    assert plot(MODELS[name](), ax=ax) is ax
    figure.canvas.draw()


@pytest.mark.parametrize("plot", [*PLOTS, adjacent])
def test_pictures_make_a_figure_if_there_is_none(plot, shapes):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    plt.close(plot(shapes).figure)


@pytest.mark.parametrize("plot", [*PLOTS, adjacent])
def test_pictures_need_a_fitted_model(plot, ax):
    with pytest.raises(NotFittedError):
        plot(KFuse(), ax=ax)


def test_all_points_are_rasterized(shapes):
    for plot in (subclusters, density, adjacent):
        ax = plot(shapes, ax=Figure().subplots())
        assert all(artist.get_rasterized() for artist in ax.collections)


def test_subclusters_draw_every_sample_and_a_line_to_its_representative(ax):
    X = make_shapes(300, noise=2)[0]
    X[:2] = [[-90, 0], [0, 90]]
    model = KFuse().fit(X)
    lines, climbing, peaks, crosses = subclusters(model, ax=ax).collections
    climbs = (model.representatives_ != np.arange(300)) & ~model.outlier_mask_
    ends = np.array([path.vertices for path in lines.get_paths()])
    np.testing.assert_array_equal(ends[:, 0], model._fit_X[climbs])
    np.testing.assert_array_equal(ends[:, 1], model._fit_X[model.representatives_[climbs]])
    assert len(climbing.get_offsets()) + len(peaks.get_offsets()) + len(crosses.get_offsets()) == 300
    assert len(crosses.get_offsets()) == model.outlier_mask_.sum() > 0


def test_near_subclusters_differ_in_colour():
    centres = np.mgrid[:12, :12].reshape(2, -1).T.astype(float)
    colours = samples._distinct_colours(centres, np.arange(len(centres)))
    apart = np.abs(centres[:, None] - centres).sum(axis=2)
    assert not ((apart == 1) & (colours[:, None] == colours)).any()


def test_density_is_drawn_in_doublings_of_the_median(shapes, ax):
    points = density(shapes, ax=ax).collections[0]
    expected = np.sort(np.log2(shapes.density_ / np.median(shapes.density_)))
    np.testing.assert_allclose(points.get_array(), expected)


def test_adjacent_samples_are_those_of_both_augmented_subclusters(ax):
    model = KFuse(3, fusion="paper").fit(make_shapes(200)[0])
    X, inside = model._fit_X, model.subcluster_labels_
    nearest = np.linalg.norm(X[:, None] - X, axis=2)
    np.fill_diagonal(nearest, np.inf)
    nearest = np.argsort(nearest, axis=1, kind="stable")[:, : model.natural_value_]
    augmented = [set(np.flatnonzero(inside == s)) | set(nearest[inside == s].ravel()) for s in range(inside.max() + 1)]
    shared = {(a, b): augmented[a] & augmented[b] for a in range(len(augmented)) for b in range(a)}
    pair = max(shared, key=lambda both: len(shared[both]))
    rings = adjacent(model, pair, ax=ax).collections[-1].get_offsets()
    assert sorted(rings.tolist()) == sorted(X[sorted(shared[pair])].tolist())
    by_itself = adjacent(model, ax=Figure().subplots()).collections[-1].get_offsets()
    assert len(by_itself) == len(shared[pair])


@pytest.mark.parametrize("pair", [(0, 0), (0, 9999), (-1, 0)])
def test_adjacent_refuses_what_is_no_pair(shapes, ax, pair):
    with pytest.raises(ValueError, match="pair must be two different sub-clusters from 0 to"):
        adjacent(shapes, pair, ax=ax)


@pytest.mark.parametrize("n_clusters", [1, 3, 7, 12])
def test_the_dendrogram_has_a_stem_for_each_cluster_at_the_cut(shapes, ax, n_clusters):
    dendrogram(shapes, n_clusters, ax)
    height = ax.lines[0].get_ydata()[0]
    lines = ax.collections[0]
    crossing = [
        to_hex(colour).upper()
        for path, colour in zip(lines.get_paths(), lines.get_colors(), strict=True)
        if path.vertices[:, 1].min() < height < path.vertices[:, 1].max()
    ]
    expected = [] if n_clusters == 1 else [COLOURS[label % len(COLOURS)] for label in range(n_clusters)]
    assert sorted(crossing) == sorted(expected)


def test_the_dendrogram_is_folded_and_says_so(ax):
    model = KFuse().fit(make_shapes(3000)[0])
    dendrogram(model, ax=ax, most_leaves=12)
    sizes = [int(label.get_text().replace(",", "")) for label in ax.get_xticklabels()]
    assert len(sizes) == 12
    assert sum(sizes) == 3000
    assert ax.get_xlabel() == "samples per branch (12 branches)"


def test_the_curve_has_a_step_at_each_suggestion(shapes, ax):
    fusion_curve(shapes, ax=ax)
    marked = {int(line.get_xdata()[0]): line.get_ydata() for line in ax.lines}
    for suggestion in shapes.tree_.suggest(3):
        low, high = marked[suggestion.n_clusters]
        assert high - low >= suggestion.contrast - 1e-12  # the next merge, or a weaker one further down
        assert low == pytest.approx(suggestion.strongest_border / (1 + suggestion.strongest_border))


def test_the_curve_marks_a_number_that_was_not_suggested(ax):
    model = KFuse(17).fit(make_shapes(400)[0])
    assert 17 not in [s.n_clusters for s in model.tree_.suggest(3)]
    assert 17 in [line.get_xdata()[0] for line in fusion_curve(model, ax).lines]


def test_profiles_show_the_quantiles_of_each_cluster(ax):
    X = np.column_stack([np.r_[np.arange(50.0), np.arange(100.0, 150)], np.tile([0.0, 1.0], 50)])
    model = KFuse(2).fit(X[:, :1])
    profiles(model, X, ax, names=["height", "parity"])
    assert [label.get_text().split("\n")[0] for label in ax.get_yticklabels()] == ["height", "parity"]
    middles = [line.get_xdata()[0] for line in ax.lines if len(line.get_xdata()) == 1]
    np.testing.assert_allclose(middles, [0.25, 0.75, 0.5, 0.5])


def test_profiles_take_the_features_in_which_clusters_differ(ax):
    X = np.random.default_rng(0).normal(size=(200, 30))
    X[:100, 7] += 50
    profiles(KFuse(2).fit(X), ax=ax, most_features=1)
    assert [label.get_text().split("\n")[0] for label in ax.get_yticklabels()] == ["feature 7"]
    assert ax.get_title(loc="left") == "the 1 of 30 features with the largest differences between clusters"


def test_profiles_take_tables_with_gaps_and_words(ax):
    X = np.column_stack([np.r_[np.arange(50.0), np.arange(100.0, 150)], np.tile([0.0, 1.0], 50)])
    table = pd.DataFrame(X, columns=["height", "parity"]).assign(word="a", seen=X[:, 1] > 0, empty=np.nan)
    table.loc[:3, "height"] = np.nan
    profiles(KFuse(2).fit(X[:, :1]), table, ax)
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        "height\n4 to 149",
        "parity\n0 to 1",
        "seen\nFalse or True",
    ]


@pytest.fixture(scope="module")
def pipeline():
    X, _ = make_shapes(300)
    table = pd.DataFrame(X, columns=["x", "y"]).assign(word="a")
    scaled = ColumnTransformer([("all", StandardScaler(), ["x", "y"])])
    return make_pipeline(scaled, KFuse()).fit(table), table


@pytest.mark.parametrize("plot", [*PLOTS, adjacent])
def test_a_pipeline_is_drawn_as_its_last_step(plot, pipeline, ax):
    model, _ = pipeline
    whole, last = plot(model, ax=ax), plot(model[-1], ax=Figure().subplots())
    assert [len(a.get_paths()) for a in whole.collections] == [len(a.get_paths()) for a in last.collections]
    assert drawn(whole) == drawn(last)


@pytest.mark.parametrize("plot", [subclusters, density])
def test_columns_that_the_model_has_not_seen_are_not_drawn(plot, pipeline, ax):
    model, table = pipeline
    plot(model, table.assign(other=1.0), ax)
    points = {tuple(point) for artist in ax.collections for point in np.asarray(artist.get_offsets()).tolist()}
    assert points >= set(zip(table["x"], table["y"], strict=True))


def test_what_a_pipeline_made_of_gaps_and_words_is_drawn(ax):
    X, _ = make_shapes(100)
    table = pd.DataFrame(X, columns=["x", "y"])
    table.loc[3, "x"] = np.nan
    model = make_pipeline(SimpleImputer(), KFuse()).fit(table)
    density(model, table, ax)
    np.testing.assert_allclose(np.sort(ax.collections[0].get_offsets()[:, 0]), np.sort(model[-1]._fit_X[:, 0]))


def test_every_suggestion_is_written_on_the_curve(ax):
    model = KFuse().fit(make_shapes(400)[0])
    fusion_curve(model, ax)
    numbers = {text.get_text() for text in ax.texts} - {"typical or stronger"}
    assert numbers == {str(s.n_clusters) for s in model.tree_.suggest(3)}


def test_refuses_other_samples_than_those_of_the_fit(shapes, ax):
    with pytest.raises(ValueError, match="X has 3 samples, but the model was fitted to 400"):
        density(shapes, np.zeros((3, 2)), ax)


def test_distances_alone_cannot_be_drawn(ax):
    X, _ = make_shapes(60)
    model = KFuse(metric="precomputed").fit(pairwise_distances(X))
    density(model, X, ax)
    with pytest.raises(ValueError, match="keeps no samples: pass X"):
        density(model, ax=ax)
    with pytest.raises(ValueError, match="a metric other than 'precomputed'"):
        adjacent(model, X=X, ax=ax)

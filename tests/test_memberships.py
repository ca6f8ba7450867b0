"""What each sample is told: memberships, outlier scores, exemplars and densities, for every cut."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import kneighbors_graph

from kfuse import KFuse
from tests.strategies import repeats, samples


def two_gaussians(n_samples, n_dimensions, distance, seed=0):
    """Samples of two Gaussians, and the posterior of the second."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_dimensions))
    X[: n_samples // 2, 0] += distance
    return X, 1 / (1 + np.exp(-distance * (X[:, 0] - distance / 2)))


def assert_consistent(model, X):
    """Rows add up, and the largest entry, noise included where it is labelled, is the label."""
    shares = model.predict_proba(X)
    assert shares.shape == (len(X), model.n_clusters_)
    assert (shares >= 0).all()
    assert (shares.sum(axis=1) <= 1 + 1e-9).all()
    labels, predicted = model.labels_, model.predict(X)
    np.testing.assert_array_equal(predicted, labels)
    if model.outliers == "assign":
        np.testing.assert_array_equal(shares.argmax(axis=1), labels)
        np.testing.assert_allclose(shares.sum(axis=1), 1 - model.outlier_scores_, atol=1e-9)  # the rest to 1 is noise
    else:
        with_noise = np.column_stack([shares, 1 - shares.sum(axis=1)])
        np.testing.assert_array_equal(with_noise.argmax(axis=1), np.where(labels < 0, model.n_clusters_, labels))
    own = np.where(labels < 0, 0.0, shares[np.arange(len(X)), labels])
    np.testing.assert_allclose(model.probabilities_, own, atol=1e-12)
    scores = model.outlier_scores_
    assert ((scores >= 0) & (scores <= 1)).all()
    np.testing.assert_allclose(model.score_outliers(X), scores, atol=1e-12)
    if model.fusion == "adaptive":
        np.testing.assert_array_equal(model.outlier_mask_, scores > 0.5)
        np.testing.assert_allclose(model.score_samples(X), np.log(model.density_), rtol=1e-9, atol=1e-9)


@given(samples(), st.sampled_from(["assign", "label"]), st.integers(1, 6))
@settings(max_examples=repeats(60), deadline=None)
@pytest.mark.filterwarnings("ignore:Of .* clusters, .* all noise")
def test_the_largest_membership_is_the_label_for_every_cut(X, outliers, n_clusters):
    model = KFuse(outliers=outliers).fit(X)
    assert_consistent(model, X)
    if n_clusters <= model.tree_.most_clusters:
        assert_consistent(model.at(n_clusters), X)


@given(samples(max_samples=60), st.integers(1, 8))
@settings(max_examples=repeats(30), deadline=None)
def test_new_samples_are_told_the_same_as_predicted(X, seed):
    new = X[np.random.default_rng(seed).integers(0, len(X), 20)] + np.random.default_rng(seed).normal(size=(20, 1))
    for outliers in ("assign", "label"):
        model = KFuse(outliers=outliers).fit(X)
        shares, predicted = model.predict_proba(new), model.predict(new)
        if outliers == "label":
            shares = np.column_stack([shares, 1 - shares.sum(axis=1)])
        np.testing.assert_array_equal(shares.argmax(axis=1), np.where(predicted < 0, model.n_clusters_, predicted))


def moons_before_a_background():
    noise = np.random.default_rng(0).uniform(-2, 3, (100, 2))
    return np.vstack([make_moons(500, noise=0.08, random_state=0)[0], noise])


def test_clusters_that_are_all_noise_are_reported():
    with pytest.warns(UserWarning, match="Of 12 clusters, 1 is all noise, so that 11 remain: use outliers='assign'"):
        model = KFuse(12, outliers="label").fit(moons_before_a_background())
    assert model.n_clusters_ == 11
    KFuse(outliers="label").fit(moons_before_a_background())  # the number is found, so nothing is missing


@pytest.mark.filterwarnings("ignore:Of 12 clusters, 1 is all noise")
def test_memberships_that_are_negligible_do_not_count_as_noise():
    X = moons_before_a_background()
    model = KFuse(12, outliers="label").fit(X)
    np.testing.assert_allclose(model._memberships().of_nodes.sum(axis=1), 1, atol=1e-12)
    assert_consistent(model, X)


@pytest.mark.parametrize("metric", ["cosine", "manhattan", "mahalanobis", "canberra"])
@pytest.mark.parametrize("outliers", ["assign", "label"])
def test_all_metrics_have_memberships(metric, outliers):
    X, _ = make_blobs(120, centers=4, n_features=3, random_state=1)
    assert_consistent(KFuse(3, metric=metric, outliers=outliers).fit(X), X)


@pytest.mark.parametrize("outliers", ["assign", "label"])
def test_the_paper_has_memberships(outliers):
    X, _ = make_blobs(200, centers=3, random_state=0)
    assert_consistent(KFuse(3, fusion="paper", outliers=outliers).fit(X), X)


@pytest.mark.parametrize("fusion", ["adaptive", "paper"])
def test_distances_tell_the_same_as_features(fusion):
    X, _ = two_gaussians(200, 2, 4)
    distances = pairwise_distances(X)
    model, expected = KFuse(2, fusion=fusion, metric="precomputed").fit(distances), KFuse(2, fusion=fusion).fit(X)
    np.testing.assert_allclose(model.probabilities_, expected.probabilities_, atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(distances), expected.predict_proba(X), atol=1e-9)
    np.testing.assert_allclose(model.outlier_scores_, expected.outlier_scores_, atol=1e-9)
    graph = kneighbors_graph(X, 100, mode="distance")
    of_graph = KFuse(2, fusion=fusion, metric="precomputed").fit(graph)
    np.testing.assert_allclose(of_graph.probabilities_, expected.probabilities_, atol=1e-9)
    assert of_graph.predict_proba(graph).shape == (200, 2)
    assert_same_after_pickling(model, distances)


def assert_same_after_pickling(model, X):
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.probabilities_, model.probabilities_)
    np.testing.assert_array_equal(copy.outlier_scores_, model.outlier_scores_)
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))


def test_a_pickle_holds_no_neighbours():
    X, _ = make_blobs(2000, random_state=0)
    model = KFuse().fit(X)
    size = len(pickle.dumps(model))
    model.predict_proba(X)
    assert len(pickle.dumps(model)) < 1.02 * size
    assert_same_after_pickling(model, X)


def test_rows_may_come_in_any_order():
    X, _ = two_gaussians(500, 2, 4)
    order = np.random.default_rng(1).permutation(len(X))
    model, shuffled = KFuse(2).fit(X), KFuse(2).fit(X[order])
    np.testing.assert_allclose(shuffled.probabilities_, model.probabilities_[order], atol=1e-9)
    np.testing.assert_allclose(shuffled.outlier_scores_, model.outlier_scores_[order], atol=1e-9)


@pytest.mark.parametrize(("n_samples", "n_dimensions", "most"), [(3000, 2, 0.07), (3000, 5, 0.08), (20_000, 2, 0.09)])
@pytest.mark.large
def test_memberships_are_close_to_posteriors(n_samples, n_dimensions, most):
    X, posterior = two_gaussians(n_samples, n_dimensions, 4)
    model = KFuse(2).fit(X)
    shares = model.predict_proba(X)
    second = shares[:, model.labels_[X[:, 0].argmax()]] / shares.sum(axis=1)
    hard = (second > 0.5) - posterior
    error = np.sqrt(np.mean((second - posterior) ** 2))
    assert error < most
    assert error < 0.7 * np.sqrt(np.mean(hard**2))


def test_memberships_fall_from_the_core_to_the_saddle():
    X, _ = two_gaussians(4000, 2, 4)
    model = KFuse(2).fit(X)
    line = np.column_stack([np.linspace(0, 2, 9), np.zeros(9)])
    own = model.predict_proba(line)[:, model.predict(line[:1])[0]]
    assert own[0] > 0.99
    assert own[-1] < 0.75
    assert (np.diff(own) < 0.03).all()


def test_far_samples_belong_nowhere():
    X, _ = make_blobs(500, centers=3, random_state=0)
    far = np.array([[1e3, 1e3], [-1e4, 0.0], [1e200, 0.0]])
    for outliers in ("assign", "label"):
        model = KFuse(outliers=outliers).fit(X)
        assert (model.predict_proba(far) < 1e-3).all()
        assert (model.score_outliers(far) > 0.999).all()
        assert (np.diff(model.score_samples(far)) < 0).all()
    np.testing.assert_array_equal(model.predict(far), -1)


def test_noise_is_noise():
    X, _ = make_moons(1000, noise=0.05, random_state=0)
    noise = np.random.default_rng(0).uniform([-2, -1.5], [3, 2], (250, 2))
    model = KFuse(2, outliers="label").fit(np.vstack([X, noise]))
    is_noise = np.arange(1250) >= 1000
    assert is_noise[model.labels_ == -1].mean() > 0.95
    assert (model.labels_[is_noise] == -1).mean() > 0.5
    assert not (KFuse(2, outliers="label").fit(X).labels_ == -1).any()


def test_exemplars_are_typical():
    X, _ = make_blobs(600, centers=[[0, 0], [10, 0], [0, 10]], random_state=0)
    model = KFuse().fit(X)
    assert len(model.exemplars_) == 3
    for cluster, exemplars in enumerate(model.exemplars_):
        members = model.labels_ == cluster
        assert 1 <= exemplars.size <= 10
        assert members[exemplars].all()
        assert model.density_[exemplars[0]] == model.density_[members].max()
        assert np.linalg.norm(X[exemplars[0]] - X[members].mean(axis=0)) < 1
    assert all(indices.size for indices in model.at(200).exemplars_)


def test_every_cut_has_its_own():
    X, _ = make_blobs(300, centers=4, random_state=0)
    model = KFuse(2).fit(X)
    other = model.at(4)
    np.testing.assert_array_equal(other.labels_, model.cut(4))
    assert (other.n_clusters_, model.n_clusters_) == (4, 2)
    np.testing.assert_allclose(other.predict_proba(X), KFuse(4).fit(X).predict_proba(X), atol=1e-12)
    np.testing.assert_array_equal(model.labels_, KFuse(2).fit_predict(X))


def some_without_weight():
    """Samples, of which four have no weight: two are far away, and one is identical to another sample."""
    X = np.vstack([make_blobs(200, centers=2, random_state=0)[0], [[50.0, 50.0]]])
    X[3], X[50] = X[4], [1e3, 1e3]
    weights = np.ones(201)
    weights[[3, 50, 51, 200]] = 0
    return X, weights


@pytest.mark.parametrize("fusion", ["adaptive", "paper"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "precomputed"])
@pytest.mark.parametrize("outliers", ["assign", "label"])
def test_samples_without_weight_are_told_what_new_ones_are(outliers, metric, fusion):
    X, weights = some_without_weight()
    data = pairwise_distances(X) if metric == "precomputed" else X
    model = KFuse(2, outliers=outliers, metric=metric, fusion=fusion).fit(data, sample_weight=weights)
    assert_consistent(model, data)
    np.testing.assert_allclose(model.memberships_, model.predict_proba(data), atol=1e-12)
    assert all((weights[indices] > 0).all() for indices in model.exemplars_)
    assert (model.outlier_scores_[[50, 200]] > 0.9).all()
    if fusion == "adaptive":
        np.testing.assert_array_equal(model.labels_[[50, 200]] == -1, outliers == "label")
        assert (model.density_[[50, 200]] < 0.1).all()
    np.testing.assert_array_equal(model.at(3).labels_, model.at(3).predict(data))
    assert_same_after_pickling(model, data)


@pytest.mark.parametrize("outliers", ["assign", "label"])
def test_samples_of_a_graph_without_weight_are_told_what_new_ones_are(outliers):
    X, weights = some_without_weight()
    graph, without = kneighbors_graph(X, 100, mode="distance"), weights == 0
    model = KFuse(2, metric="precomputed", outliers=outliers).fit(graph, sample_weight=weights)
    np.testing.assert_array_equal(model.labels_[without], model.predict(graph[without]))
    np.testing.assert_array_equal(model.memberships_[without], model.predict_proba(graph[without]))
    np.testing.assert_array_equal(model.outlier_scores_[without], model.score_outliers(graph[without]))
    np.testing.assert_allclose(np.log(model.density_[without]), model.score_samples(graph[without]), atol=1e-12)


def test_samples_without_weight_are_no_exemplars():
    X = np.repeat(np.arange(10.0)[:, None] ** 2, 2, axis=0)
    exemplars = KFuse(10).fit(X, sample_weight=np.tile([0, 1], 10)).exemplars_
    assert sorted(np.concatenate(exemplars)) == list(range(1, 20, 2))


@pytest.mark.parametrize("name", ["probabilities_", "outlier_scores_", "outlier_mask_", "exemplars_"])
def test_before_a_fit_there_is_nothing(name):
    assert not hasattr(KFuse(), name)
    with pytest.raises(NotFittedError):
        getattr(KFuse(), name)
    with pytest.raises(NotFittedError):
        KFuse().predict_proba([[1.0]])


def test_single_precision_has_memberships():  # warnings are errors
    X = make_blobs(200, centers=3, random_state=0)[0].astype(np.float32)
    model = KFuse(3).fit(X)
    np.testing.assert_array_equal(model.predict_proba(X).argmax(axis=1), model.labels_)

"""The baselines as scikit-learn estimators: parameters, errors, warnings, and the table of methods."""

import pickle

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import minmax_scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from kfuse.baselines import LDPMST, WANNDPC, DensityPeaks, decision_graph
from kfuse.baselines.methods import METHODS, PRINTED_ONLY, Linkage, available
from kfuse.drawing.palette import PALETTE
from tests.checks import assert_valid_labels
from tests.forked import run_code

X_IRIS = load_iris().data
KINDS = [DensityPeaks, LDPMST, WANNDPC]
BLOBS, BLOB_LABELS = make_blobs([60, 50, 40], centers=[[0, 0], [10, 0], [0, 10]], random_state=0)
BLOBS = minmax_scale(BLOBS)


@parametrize_with_checks(
    [
        DensityPeaks(2),
        DensityPeaks(3, percent=10, kernel="cutoff", halo=True, n_jobs=2),
        LDPMST(2),
        LDPMST(3, ratio=0.1, n_jobs=2),
        WANNDPC(2),
        WANNDPC(3, correction=1, most_neighbors=5, n_jobs=2),
        Linkage(2),
        Linkage(3, method="ward"),
    ]
)
@pytest.mark.filterwarnings("ignore:.*so there (is 1 cluster|are . clusters) instead of")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kind", [*KINDS, Linkage])
def test_well_separated_blobs_are_found(kind):
    model = kind(3).fit(BLOBS)
    np.testing.assert_array_equal(model.labels_, BLOB_LABELS)
    assert_valid_labels(model.labels_, 3)


@pytest.mark.large
@pytest.mark.parametrize("kind", KINDS)
def test_result_is_the_same_in_every_way_of_running(kind):
    X = np.random.default_rng(0).integers(0, 60, (1500, 2)).astype(float)  # more than one block
    model = kind(4, n_jobs=1).fit(X)
    np.testing.assert_array_equal(kind(4, n_jobs=2).fit_predict(X), model.labels_)
    np.testing.assert_array_equal(clone(model).fit_predict(X), model.labels_)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).labels_, model.labels_)


@pytest.mark.parametrize("kind", KINDS)
def test_frames_and_float32(kind):
    frame = pd.DataFrame(X_IRIS, columns=list("abcd"))
    model = kind(3).fit(frame)
    assert list(model.feature_names_in_) == list("abcd")
    np.testing.assert_array_equal(kind(3).fit_predict(X_IRIS), model.labels_)
    assert kind(3).fit_predict(X_IRIS.astype(np.float32)).shape == (150,)


@pytest.mark.parametrize("kind", KINDS)
def test_input_is_never_changed(kind):
    frozen = X_IRIS.copy()
    frozen.flags.writeable = False
    kind(3).fit(frozen)
    np.testing.assert_array_equal(frozen, X_IRIS)


@pytest.mark.parametrize("scale", [1e200, 1e-200, 1e300, 1e-300])
def test_density_peaks_do_not_depend_on_the_unit(scale):
    usual, scaled = DensityPeaks(3).fit(X_IRIS), DensityPeaks(3).fit(X_IRIS * scale)
    assert adjusted_rand_score(usual.labels_, scaled.labels_) == 1
    np.testing.assert_allclose(scaled.density_, usual.density_, rtol=1e-9)
    np.testing.assert_allclose(scaled.delta_ / scale, usual.delta_, rtol=1e-9)


@pytest.mark.parametrize("kind", [LDPMST, WANNDPC])
@pytest.mark.parametrize("scale", [1e200, 1e-200, 1e307, 1e-300])
@pytest.mark.filterwarnings("ignore:.*so there (is 1 cluster|are . clusters) instead of")
def test_huge_and_tiny_values(kind, scale):
    model = kind(2).fit(X_IRIS * scale)
    assert np.isfinite(model.density_).all()
    assert_valid_labels(model.labels_, model.n_clusters_)


@pytest.mark.parametrize("kind", KINDS)
def test_two_samples(kind):
    np.testing.assert_array_equal(kind(1).fit_predict([[0.0], [1.0]]), [0, 0])


def test_as_many_clusters_as_samples():
    np.testing.assert_array_equal(np.sort(DensityPeaks(5).fit_predict(np.arange(5.0)[:, None])), np.arange(5))


def test_halo_gets_no_label():
    X = minmax_scale(make_blobs(300, centers=[[0, 0], [3, 0]], random_state=0)[0])
    plain, labelled = DensityPeaks(2).fit(X), DensityPeaks(2, halo=True).fit(X)
    assert 0 < plain.halo_mask_.sum() < 150
    np.testing.assert_array_equal(labelled.labels_, np.where(plain.halo_mask_, -1, plain.labels_))
    np.testing.assert_array_equal(plain.labels_[plain.centers_], [0, 1])


def test_density_peaks_of_duplicates_say_so():
    X = np.repeat([[0.0], [1.0]], 20, axis=0)
    with pytest.raises(ValueError, match=r"cutoff distance is 0, because at least 16 of the 780 pairs .* duplicates"):
        DensityPeaks(2).fit(X)


@pytest.mark.parametrize("kind", [LDPMST, WANNDPC])
def test_duplicates_are_no_trouble(kind):
    X = np.repeat(BLOBS, 3, axis=0)
    assert adjusted_rand_score(kind(3).fit_predict(X), np.repeat(BLOB_LABELS, 3)) == 1


def test_fewer_peaks_than_clusters_warns():
    with pytest.warns(UserWarning, match="data has 1 local density peak, so there is 1 cluster instead of 2"):
        assert LDPMST(2).fit([[0.0], [1.0], [2.0]]).n_clusters_ == 1


def test_too_large_a_ratio_warns():
    with pytest.warns(UserWarning, match=r"at least 60 samples \(ratio=0.4\), so there is 1 cluster instead of 3"):
        assert LDPMST(3, ratio=0.4).fit(BLOBS).n_clusters_ == 1


def test_centres_that_absorb_everything_warn():
    with pytest.warns(UserWarning, match="absorbed all samples, so there are 2 clusters instead of 5"):
        assert WANNDPC(5).fit(np.arange(20.0)[:, None]).n_clusters_ == 2


BAD_PARAMETERS = {
    "zero clusters": (DensityPeaks(0), "n_clusters must be an integer of at least 1, got 0"),
    "a word for clusters": (LDPMST("auto"), "n_clusters.*'auto'"),
    "too many clusters": (WANNDPC(151), "n_clusters=151 is more than the 150 samples"),
    "zero per cent": (DensityPeaks(percent=0), "percent must be a number above 0 and at most 100, got 0"),
    "two hundred per cent": (DensityPeaks(percent=200), "percent.*200"),
    "a word for percent": (DensityPeaks(percent="two"), "percent.*'two'"),
    "an unknown kernel": (DensityPeaks(kernel="box"), "kernel must be one of 'gaussian', 'cutoff', got 'box'"),
    "a negative ratio": (LDPMST(ratio=-1), "ratio must be a number above 0 and at most 1, got -1"),
    "a ratio of nan": (LDPMST(ratio=float("nan")), "ratio.*nan"),
    "no correction": (WANNDPC(correction=None), "correction.*None"),
    "one neighbour": (WANNDPC(most_neighbors=1), "most_neighbors must be an integer of at least 2, got 1"),
    "zero threads": (DensityPeaks(n_jobs=0), "n_jobs must be None, -1 for all cores, or a number of threads, got 0"),
    "half a thread": (LDPMST(n_jobs=0.5), "n_jobs.*0.5"),
}


@pytest.mark.parametrize("case", BAD_PARAMETERS)
def test_bad_parameters(case):
    model, message = BAD_PARAMETERS[case]
    with pytest.raises(ValueError, match=message):
        model.fit(X_IRIS)


@pytest.mark.parametrize("kind", KINDS)
def test_bad_data(kind):
    with pytest.raises(ValueError, match="only 1 sample: pass at least 2"):
        kind(1).fit([[1.0, 2.0]])
    with pytest.raises(ValueError, match=r"NaN \(row 1, column 0\)"):
        kind(1).fit([[1.0], [np.nan]])


@pytest.mark.parametrize("kind", [DensityPeaks, WANNDPC])
def test_decision_graph_marks_the_centres(kind):
    model = kind(3).fit(BLOBS)
    ax = Figure().subplots()
    assert decision_graph(model, ax) is ax
    others, *centres = ax.collections
    assert len(others.get_offsets()) == 147
    drawn = {(*artist.get_offsets()[0].tolist(), to_hex(artist.get_facecolors()[0]).upper()) for artist in centres}
    assert drawn == {(model.density_[c], model.delta_[c], PALETTE[label]) for label, c in enumerate(model.centers_)}
    assert centres[0].get_offsets()[0][0] == model.density_.max()
    assert centres[0].get_sizes()[0] > centres[1].get_sizes()[0]
    assert "rho" in ax.get_xlabel()
    assert "delta" in ax.get_ylabel()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["samples", "densest centre", "centres"]


def test_decision_graph_needs_a_fit():
    with pytest.raises(NotFittedError):
        decision_graph(DensityPeaks(2))


@pytest.mark.large
def test_8000_samples_within_half_a_gigabyte():
    code = """
import resource
import numpy as np
from kfuse.baselines import DensityPeaks, LDPMST, WANNDPC
rng = np.random.default_rng(0)
X = rng.random((8_000, 2)) * 0.2 + rng.integers(0, 3, (8_000, 1)) * 0.4
for kind in (DensityPeaks, LDPMST, WANNDPC):
    kind(3).fit(X[:1000])
cap = 2**29
resource.setrlimit(resource.RLIMIT_DATA, (cap, cap))
for kind in (DensityPeaks, LDPMST, WANNDPC):
    assert kind(3, n_jobs=2).fit(X).n_clusters_ == 3
"""
    done = run_code(code)
    assert done.returncode == 0, done.stderr


OF_THE_PAPER = {"kFuse", "LDP-MST", "Single linkage", "Ward", "DPC", "MSC", "AP", "K-means", "DBSCAN"}


def test_every_method_of_the_study_is_listed():
    names = {"kFuse (paper)", "kFuse (auto)", "WANN-DPC", "Spectral", "OPTICS", "HDBSCAN"}
    packaged = {"Genie", "Lumbermark", "PLSCAN"}
    assert set(METHODS) == OF_THE_PAPER | names | packaged
    assert set(PRINTED_ONLY) == {"ANN-DPC"}
    assert OF_THE_PAPER | names <= set(available())
    assert all(METHODS[name].name == name for name in METHODS)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore:Graph is not fully connected")
def test_methods_run_with_every_setting(name):
    method = METHODS[name]
    if name not in available():
        pytest.skip(f"{method.requires} is not installed")
    settings = method.settings(BLOBS)
    scores = []
    for parameters in settings:
        labels = method.make(3, 0, **parameters).fit_predict(BLOBS)
        assert labels.shape == (150,)
        assert not method.needs_number or len(np.unique(labels)) == 3
        scores.append(adjusted_rand_score(BLOB_LABELS, labels))
    assert max(scores) > 0.9
    assert pickle.loads(pickle.dumps(method)).name == name


def test_methods_that_miss_their_package_are_not_available(monkeypatch):
    monkeypatch.setitem(METHODS, "Genie", METHODS["Genie"]._replace(requires="no_such_package"))
    assert "Genie" not in available()

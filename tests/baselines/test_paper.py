"""Comparator values that the paper prints come out again, on data scaled to [0, 1].

The printed values have three digits, truncated as often as rounded: they count as met within 0.002. They are those of
FMI, ARI and NMI.
"""

from functools import partial

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, fowlkes_mallows_score, normalized_mutual_info_score

from kfuse.baselines.methods import METHODS

SCORES = {"FMI": fowlkes_mallows_score, "ARI": adjusted_rand_score, "NMI": normalized_mutual_info_score}
WITHIN = 0.002

DPC = {
    "flame": (1, 1, 1),
    "spiral": (1, 1, 1),
    "aggregation": (0.996, 0.995, 0.992),
    "r15": (0.993, 0.992, 0.994),
    "pathbased": (0.666, 0.471, 0.554),
    "d31": (0.938, 0.936, 0.957),
}
LDP_MST = {"zelnik1": (1, 1, 1), "spiral": (1, 1, 1), "jain": (1, 1, 1), "flame": (0.969, 0.933, 0.889)}
SINGLE = {
    "flame": (0.730, 0.012, 0.024),
    "pathbased": (0.573, 0.001, 0.013),
    "jain": (0.784, 0.009, 0.012),
    "r15": (0.637, 0.542, 0.877),
    "aggregation": (0.862, 0.805, 0.884),
    "d31": (0.349, 0.173, 0.637),
    "a3": (0.448, 0.315, 0.761),
    "zelnik1": (1, 1, 1),
    "spiral": (1, 1, 1),
    "unbalance": (1, 1, 1),
}
WARD = {
    "ecoli": (0.538, 0.399, 0.603),
    "libras": (0.371, 0.319, 0.615),
    "breast_cancer": (0.788, 0.538, 0.417),
    "yeast": (0.298, 0.144, 0.267),
    "waveform": (0.586, 0.379, 0.415),
}
K_MEANS = {
    "flame": (0.736, 0.453, 0.398),
    "zelnik1": (0.402, 0.050, 0.160),
    "pathbased": (0.661, 0.461, 0.545),
    "spiral": (0.327, -0.006, 0.001),
    "jain": (0.820, 0.576, 0.527),
    "r15": (0.993, 0.992, 0.994),
    "aggregation": (0.776, 0.715, 0.829),
    "d31": (0.956, 0.954, 0.968),
    "unbalance": (1, 1, 1),
}
PRINTED = {"DPC": DPC, "LDP-MST": LDP_MST, "Single linkage": SINGLE, "Ward": WARD, "K-means": K_MEANS}
CELLS = [(method, dataset) for method, column in PRINTED.items() for dataset in column]

# Twenty runs of K-means end in one of several minima of nearly the same inertia on these; the printed one is found for
# some random states, not for all: of the first ten, 7 and 8 on Aggregation, 0, 2 and 5 on Zelnik1.
RANDOM_STATES = {("K-means", "aggregation"): (7, 8, *range(7)), ("K-means", "zelnik1"): range(10)}

# LDP-MST puts as many samples of Flame into the wrong cluster as the printed values say, four, but three of one
# cluster and one of the other instead of four of one: FMI and ARI agree, NMI is 0.875.
NOT_MET = {("LDP-MST", "flame"): {"NMI"}}


@pytest.fixture
def load_labels(data_folder):
    def load(name):
        with np.load(data_folder / f"{name}.npz") as stored:
            return stored["y"]

    return load


def best_scores(method, X, y, random_state):
    """The scores at the setting with the best ARI."""
    make = partial(METHODS[method].make, len(np.unique(y)), random_state)
    fitted = [make(**setting).fit_predict(X) for setting in METHODS[method].settings(X)]
    labels = max(fitted, key=lambda labels: adjusted_rand_score(y, labels))
    return {name: score(y, labels) for name, score in SCORES.items()}


@pytest.mark.parametrize(("method", "dataset"), CELLS)
def test_printed_value_comes_out(method, dataset, load_scaled, load_labels):
    X, y = load_scaled(dataset), load_labels(dataset)
    printed = dict(zip(SCORES, PRINTED[method][dataset], strict=True))
    not_met = NOT_MET.get((method, dataset), set())
    tried = []
    for random_state in RANDOM_STATES.get((method, dataset), [0]):
        tried.append(best_scores(method, X, y, random_state))
        if {name for name in SCORES if abs(tried[-1][name] - printed[name]) > WITHIN} == not_met:
            return
    pytest.fail(f"printed {printed}, got {tried}")


def test_printed_k_means_on_a3_is_beyond_its_labels(load_scaled, load_labels):
    """The printed ARI on A3, 0.996, is that of labels by the nearest true centre; the known labels allow 0.974."""
    X, y = load_scaled("a3"), load_labels("a3")
    truth = np.array([X[y == cluster].mean(axis=0) for cluster in np.unique(y)])
    by_nearest_centre = ((X[:, None] - truth) ** 2).sum(axis=2).argmin(axis=1)
    labels = METHODS["K-means"].make(50, 1).fit_predict(X)
    assert adjusted_rand_score(y, labels) == pytest.approx(0.973, abs=WITHIN)
    assert adjusted_rand_score(by_nearest_centre, labels) == pytest.approx(0.996, abs=WITHIN)

"""UMAP followed by KFuse, in a pipeline."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline

from kfuse import KFuse

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    umap = pytest.importorskip("umap", reason="UMAP is not installed: pip install 'kfuse[test-clients]'")


@pytest.mark.filterwarnings("ignore")
def test_umap_and_kfuse_in_a_pipeline():
    X, y = load_digits(return_X_y=True)
    pipeline = make_pipeline(umap.UMAP(n_neighbors=15, min_dist=0.0, random_state=0), KFuse()).fit(X[:1500])
    assert adjusted_rand_score(y[:1500], pipeline[-1].labels_) > 0.7
    shares = pipeline.predict_proba(X[1500:])
    np.testing.assert_array_equal(shares.argmax(axis=1), pipeline.predict(X[1500:]))
    assert pipeline.score_samples(X[1500:]).shape == (297,)

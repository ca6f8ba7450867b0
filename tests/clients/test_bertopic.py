"""BERTopic with KFuse in place of HDBSCAN: probabilities, new documents, and every way to reduce outliers."""

import numpy as np
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from kfuse import KFuse

bertopic = pytest.importorskip("bertopic", reason="BERTopic is not installed: pip install 'kfuse[test-clients]'")
umap = pytest.importorskip("umap", reason="UMAP is not installed: pip install 'kfuse[test-clients]'")
pytestmark = pytest.mark.filterwarnings("ignore")

SUBJECTS = (
    "simmer garlic onion butter oven bake flour recipe sauce salt pepper stir",
    "rocket orbit launch satellite engine crew planet telescope mission fuel probe",
    "soil seed prune bloom compost rose tomato hedge root leaf shade frost bulb bee",
    "market share price bond interest bank profit tax budget loan rate trade debt",
)


class TopicKFuse(KFuse):
    """As the documentation shows it: BERTopic reads memberships in all topics from `probabilities_`."""

    probabilities_ = KFuse.memberships_


@pytest.fixture(scope="module")
def texts():
    rng = np.random.default_rng(0)
    documents = [" ".join(rng.choice(words.split(), 12)) for words in SUBJECTS for _ in range(60)]
    documents += [" ".join(rng.choice(" ".join(SUBJECTS).split(), 12)) for _ in range(20)]
    embeddings = TruncatedSVD(8, random_state=0).fit_transform(TfidfVectorizer().fit_transform(documents))
    return documents, embeddings


def topic_model(clusters):
    reducer = umap.UMAP(n_neighbors=5, n_components=3, min_dist=0.0, random_state=0)
    return bertopic.BERTopic(embedding_model=None, umap_model=reducer, hdbscan_model=clusters)


def test_topics_have_probabilities(texts):
    documents, embeddings = texts
    model = topic_model(KFuse(outliers="label", min_cluster_size=20))
    topics, probabilities = model.fit_transform(documents, embeddings=embeddings)
    assert probabilities.shape == (260,)
    np.testing.assert_array_equal(probabilities == 0, np.array(topics) == -1)
    assert len(set(topics) - {-1}) >= 4
    table = model.get_document_info(documents)
    np.testing.assert_allclose(table["Probability"], probabilities)
    found, _ = model.transform(documents[:20], embeddings=embeddings[:20])
    assert set(found) <= {*topics, -1}


def test_outliers_are_reduced_in_every_way(texts):
    documents, embeddings = texts
    model = topic_model(TopicKFuse(outliers="label", min_cluster_size=20))
    topics, probabilities = model.fit_transform(documents, embeddings=embeddings)
    assert probabilities.shape == (260, len(set(topics) - {-1}))
    topics = np.array(topics)
    assert (topics == -1).any()
    np.testing.assert_array_equal(probabilities.argmax(axis=1)[topics >= 0], topics[topics >= 0])
    for strategy, more in {
        "probabilities": {"probabilities": probabilities},
        "embeddings": {"embeddings": embeddings},
        "c-tf-idf": {},
        "distributions": {},
    }.items():
        reduced = np.array(model.reduce_outliers(documents, list(topics), strategy=strategy, **more))
        assert (reduced == -1).sum() < (topics == -1).sum(), strategy
        np.testing.assert_array_equal(reduced[topics >= 0], topics[topics >= 0])

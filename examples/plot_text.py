"""
Text: cosine distance
=====================

Texts differ in length, but length is not the topic. Cosine distance ignores it and compares
only directions: which words occur, in which proportion.
"""

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.metrics import adjusted_rand_score

from kfuse import KFuse

# %%
# Synthetic texts on four subjects, between 10 and 60 words long: a third of the words belong
# to the subject, the others are general. (Real texts are harder. Sentence embeddings can be
# used in the same way as the vectors below.)

SUBJECTS = {
    "kitchen": "simmer garlic onion butter oven bake flour recipe sauce salt pepper stir",
    "space": "rocket orbit launch satellite engine crew planet telescope mission fuel probe",
    "garden": "soil seed prune bloom compost rose tomato hedge root leaf shade frost bulb bee",
    "money": "market share price bond interest bank profit tax budget loan rate trade debt",
}
FILLING = "the a of and to in is for with on new first good day week people time make".split()

rng = np.random.default_rng(0)
texts, subjects = [], []
for subject, words in SUBJECTS.items():
    for length in rng.integers(10, 60, size=150):
        own = rng.random(length) < 1 / 3
        own_words, other_words = rng.choice(words.split(), length), rng.choice(FILLING, length)
        texts.append(" ".join(np.where(own, own_words, other_words)))
        subjects.append(subject)
texts[0]

# %%
# Word counts, compared with two metrics. With Euclidean distance, short texts are close to
# each other and long ones far from everything, so no subject stands out.

counts = CountVectorizer(stop_words=FILLING).fit_transform(texts).toarray()
for metric in ("euclidean", "cosine"):
    model = KFuse(metric=metric).fit(counts)
    score = adjusted_rand_score(subjects, model.labels_)
    print(f"{metric:9s} {model.n_clusters_} clusters, ARI {score:.2f}")

# %%
# Tf-idf vectors have length 1, so Euclidean and cosine distance order neighbours identically.
# ``KFuse`` accepts dense arrays; reduce a large vocabulary first:
# ``TruncatedSVD(100).fit_transform(vectors)``.

vectorizer = TfidfVectorizer(stop_words=FILLING)
vectors = vectorizer.fit_transform(texts).toarray()
model = KFuse(metric="cosine").fit(vectors)
print(f"{model.n_clusters_} clusters, ARI {adjusted_rand_score(subjects, model.labels_):.2f}")

# %%
# The most distinctive words of each cluster, its most typical text, and how sure its labels
# are. BERTopic does this for you, with ``KFuse`` as its clustering: :doc:`/clients`.

vocabulary = vectorizer.get_feature_names_out()
for cluster in range(model.n_clusters_):
    members = np.flatnonzero(model.labels_ == cluster)
    lift = vectors[members].mean(axis=0) - vectors.mean(axis=0)
    typical, sure = model.exemplars_[cluster][0], model.probabilities_[members].mean()
    words = ", ".join(vocabulary[np.argsort(-lift)[:6]])
    print(
        f"{cluster}: {words}; typical: text {typical}, on {subjects[typical]}; {sure:.2f} sure"
    )

# %%
# A text without any word of the vocabulary is a row of zeros, which has no direction. The
# error of ``KFuse`` names the row; drop such rows first.

vectors[7] = 0
try:
    KFuse(metric="cosine").fit(vectors)
except ValueError as error:
    print(error)

# %%
# The clusters in the first two principal components.

from kfuse.plots import scatter

ax = scatter(np.delete(vectors, 7, axis=0), np.delete(model.labels_, 7))

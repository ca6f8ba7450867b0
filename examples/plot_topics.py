"""
Topics of short texts
=====================

What do people write about? A language model turns each text into a vector, an embedding; texts
on the same topic have vectors in a similar direction. Clusters of embeddings are topics.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.manifold import TSNE
from sklearn.metrics import adjusted_rand_score

from kfuse import KFuse
from kfuse.plots import scatter

# %%
# 165 suggestions to a town hall, written for this page: twenty on each of eight topics, and
# five others. The topics are for checking the result only. Their embeddings were made with
# ``SentenceTransformer("all-MiniLM-L6-v2").encode(texts)``; the file has the first 64 singular
# directions of them. Both files are beside this script in the repository.

lines = Path("suggestions.txt").read_text("utf-8").splitlines()
topics, texts = zip(*(line.split(": ", 1) for line in lines), strict=True)
embeddings = np.load("suggestions.npy").astype(float)
print(embeddings.shape, "|", texts[0], "|", texts[-2])

# %%
# In hundreds of dimensions, all texts are about equally far from each other. Fewer dimensions
# keep what many of them share. Twenty texts on a topic are too few to be sure that it is one,
# so a range says what is known before: some, but not dozens.

reduced = TruncatedSVD(16, random_state=0).fit_transform(embeddings)
model = KFuse((4, 12), metric="cosine").fit(reduced)
print(f"{model.n_clusters_} topics; ARI {adjusted_rand_score(topics, model.labels_):.2f}")

# %%
# What a topic is about: the words that are more frequent in it than elsewhere, and its most
# typical text.

vectorizer = TfidfVectorizer(stop_words="english")
words = vectorizer.fit_transform(texts).toarray()
names = vectorizer.get_feature_names_out()
titles = []
for topic in range(model.n_clusters_):
    own = model.labels_ == topic
    lift = words[own].mean(axis=0) - words[~own].mean(axis=0)
    titles.append(", ".join(names[np.argsort(-lift)[:3]]))
    print(f"{own.sum():3d} texts: {titles[-1]}. {texts[model.exemplars_[topic][0]]}")

# %%
# Texts between two topics: those with the lowest membership in their own.

for text in np.argsort(model.probabilities_)[:5]:
    print(f"{model.probabilities_[text]:.2f} {titles[model.labels_[text]]}: {texts[text]}")

# %%
# A map of the topics. t-SNE only draws it; the clusters are those of the 16 dimensions.

place = TSNE(metric="cosine", perplexity=15, random_state=0).fit_transform(reduced)
fig, ax = plt.subplots(figsize=(8, 5), layout="constrained")
scatter(place, model.labels_, ax=ax)
for topic, title in enumerate(titles):
    middle = np.median(place[model.labels_ == topic], axis=0)
    ax.text(
        *middle, title, ha="center", fontsize=9, bbox={"fc": "white", "alpha": 0.8, "lw": 0}
    )
ax.set(xticks=[], yticks=[], xlabel="", ylabel="")

# %%
# With thousands of texts, leave out the range. BERTopic takes ``KFuse`` as its clustering:
# :doc:`/clients`. Word counts instead of embeddings: :doc:`/gallery/plot_text`.

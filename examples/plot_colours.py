"""
Images: the colours of a photo
==============================

Pixels are points in the space of red, green and blue. This example has two applications: one
suits kfuse, the other k-means.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_sample_image

from kfuse import KFuse


def pixels_of(picture):
    """Return the pixels of an image as rows of red, green and blue from 0 to 1."""
    return picture.reshape(-1, 3).astype(np.float32) / 255


def painted(pixels, labels, shape):
    """Paint each cluster in its mean colour."""
    means = np.array(
        [pixels[labels == cluster].mean(axis=0) for cluster in range(labels.max() + 1)]
    )
    return means[labels].reshape(shape)


# %%
# Segmenting an image
# -------------------
# Every second pixel in each direction: about 68,000 points, many of them of the same colour.
# Identical samples always stay together, so duplicates are no problem.

flower = load_sample_image("flower.jpg")[::2, ::2]
pixels = pixels_of(flower)
model = KFuse().fit(pixels)
model.n_clusters_

# %%
# Two clusters are found: the flower and the background. Their colours form separate clouds.

fig, axes = plt.subplots(1, 2, figsize=(9, 3.3), layout="constrained")
axes[0].imshow(flower)
axes[1].imshow(painted(pixels, model.labels_, flower.shape))
for ax, title in zip(
    axes, ("the photo", "two clusters, each in its mean colour"), strict=True
):
    ax.set_title(title, fontsize=10)
    ax.set_axis_off()

# %%
# Fewer colours
# -------------
# Here the colours blend into each other, and the number of clusters found means little. A
# number can be set, but the task is a different one: to minimise the error for a given number
# of colours. That is what k-means optimises, and it does it better.

china = load_sample_image("china.jpg")[::4, ::4]
pixels = pixels_of(china)
model = KFuse().fit(pixels)
print("found:", model.n_clusters_)

fig, axes = plt.subplots(1, 3, figsize=(9.5, 2.6), layout="constrained")
pictures = {
    "the photo": china / 255,
    "kfuse, 12 colours": painted(pixels, model.cut(12), china.shape),
    "k-means, 12 colours": painted(
        pixels, KMeans(12, n_init=3, random_state=0).fit_predict(pixels), china.shape
    ),
}
for ax, (title, picture) in zip(axes, pictures.items(), strict=True):
    error = np.sqrt(np.mean((picture - china / 255) ** 2))
    ax.imshow(picture)
    ax.set_title(title if error == 0 else f"{title}: error {error:.3f}", fontsize=9)
    ax.set_axis_off()

# %%
# Use k-means to compress, and kfuse to find what is separate.

# sphinx_gallery_thumbnail_number = 1

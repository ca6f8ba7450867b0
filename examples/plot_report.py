"""
The interactive report
======================

One call writes one HTML file with a scatter plot linked to the dendrogram, a slider for the
number of clusters, a table that describes each cluster, and the labels for download. It works
offline and contains every row.
"""

from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from kfuse import KFuse, report

wine = load_wine(as_frame=True).data
model = KFuse().fit(scale(wine))

# %%
# The model was fitted to scaled columns; the page shows the original values.

path = report.write(model, wine, "wine.html", title="Wine")
print(f"{path.name}, {path.stat().st_size / 1e6:.1f} MB")

# %%
# This is the page itself; open it separately for the full width:
#
# .. raw:: html
#
#     <p><a href="wine.html">wine.html</a></p>
#     <iframe src="wine.html" title="Report of the wine data" class="kfuse-report"></iframe>
#
# :doc:`/report` explains each part.

# sphinx_gallery_thumbnail_path = 'images/report.png'

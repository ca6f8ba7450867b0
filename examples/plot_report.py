"""
The interactive report
======================

One call writes one HTML file: the samples and the tree, linked, a slider for the number of
clusters, a table of what each cluster is, the labels for download. It works offline and holds
every row. Install it with ``pip install 'kfuse[report]'``.
"""

from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from kfuse import KFuse, report

wine = load_wine(as_frame=True).data
model = KFuse().fit(scale(wine))

# %%
# The model saw scaled columns; the page shows the values as they were.

path = report.write(model, wine, "wine.html", title="Wine")
print(f"{path.name}, {path.stat().st_size / 1e6:.1f} MB")

# %%
# This is the page itself; open it alone for the full width:
#
# .. raw:: html
#
#     <p><a href="wine.html">wine.html</a></p>
#     <iframe src="wine.html" title="The report of the data" class="kfuse-report"></iframe>
#
# :doc:`/report` says what each part shows.

# sphinx_gallery_thumbnail_path = 'images/report.png'

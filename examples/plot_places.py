"""
Places on the Earth
===================

Latitudes and longitudes are no coordinates in a plane: degrees of longitude are shorter near
the poles, and 180 degrees east is next to 180 degrees west. The haversine metric measures
along the surface.
"""

import matplotlib.pyplot as plt
import numpy as np

from kfuse import KFuse
from kfuse.plots import PALETTE

PLACES = """
Lisbon 38.7 -9.1; Madrid 40.4 -3.7; Paris 48.9 2.4; London 51.5 -0.1; Brussels 50.9 4.4;
Bern 46.9 7.4; Berlin 52.5 13.4; Rome 41.9 12.5; Vienna 48.2 16.4; Prague 50.1 14.4;
Warsaw 52.2 21.0; Budapest 47.5 19.0; Oslo 59.9 10.8; Stockholm 59.3 18.1;
Copenhagen 55.7 12.6; Dublin 53.3 -6.3; Zagreb 45.8 16.0; Sofia 42.7 23.3;
Suva -18.1 178.4; Apia -13.8 -171.8; Nukualofa -21.1 -175.2; Funafuti -8.5 179.2;
Alofi -19.1 -169.9; Pago_Pago -14.3 -170.7; Mata_Utu -13.3 -176.2; Labasa -16.4 179.4;
Neiafu -18.7 -174.0; Guatemala 14.6 -90.5; San_Salvador 13.7 -89.2;
Tegucigalpa 14.1 -87.2; Managua 12.1 -86.3; San_Jose 9.9 -84.1; Panama 9.0 -79.5;
Belmopan 17.3 -88.8; Belize 17.5 -88.2; Quetzaltenango 14.8 -91.5; Leon 12.4 -86.9;
Tokyo 35.7 139.7; Osaka 34.7 135.5; Nagoya 35.2 136.9; Seoul 37.6 127.0;
Busan 35.2 129.1; Fukuoka 33.6 130.4; Hiroshima 34.4 132.5; Sapporo 43.1 141.4;
Sendai 38.3 140.9; Daegu 35.9 128.6; Niigata 37.9 139.0
"""
rows = [place.split() for place in PLACES.replace("\n", " ").split(";")]
names = [name.replace("_", " ") for name, _, _ in rows]
degrees = np.array([[float(latitude), float(longitude)] for _, latitude, longitude in rows])

# %%
# scikit-learn's haversine metric takes latitude and longitude in radians, in this order.

model = KFuse(metric="haversine").fit(np.radians(degrees))
for cluster, exemplars in enumerate(model.exemplars_):
    members = [
        name for name, label in zip(names, model.labels_, strict=True) if label == cluster
    ]
    print(f"{len(members)} places around {names[exemplars[0]]}: {', '.join(members[:5])}, ...")

# %%
# Fiji and Tuvalu lie west of the date line, Samoa and Tonga east of it: on the map they are at
# opposite sides, in the model they are one cluster.

fig, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
ax.scatter(degrees[:, 1], degrees[:, 0], c=[PALETTE[label] for label in model.labels_], s=14)
ax.set(xlim=(-180, 180), ylim=(-60, 75), xlabel="longitude", ylabel="latitude")

# %%
# New places: the cluster of each, and its outlier score, which is highest for Cape Town.

new = np.radians([[52.4, 4.9], [-17.8, 177.4], [-33.9, 18.4]])  # Amsterdam, Nadi, Cape Town
print(model.predict(new), model.score_outliers(new).round(2))

# %%
# For tables with columns of latitudes and longitudes in degrees, ``kfuse.tables.features`` and
# ``kfuse cluster --metric haversine`` do all of this: :doc:`/tables`.

"""The calibration of the number of clusters; run ``python -m study.calibration``."""

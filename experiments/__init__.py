"""Measurements of the method: run from the project's root, for example ``python -m experiments.ablation``."""

"""Every figure of the paper, drawn anew: ``python -m experiments.figures``."""

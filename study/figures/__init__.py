"""Every figure of the paper, redrawn: ``python -m study.figures``."""

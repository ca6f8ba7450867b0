"""Speed and memory of kfuse beside its peers: ``python -m benchmarks``, ``.gates`` and ``.profile``."""

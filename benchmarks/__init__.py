"""Speed and memory of kfuse and comparable methods: ``python -m benchmarks``, ``.gates`` and ``.profile``."""

"""Speed and memory of kfuse and comparable methods: ``python -m benchmarks`` and the modules in its README."""

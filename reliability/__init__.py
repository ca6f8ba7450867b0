"""Large, repeatable runs that try to break kfuse: `python -m reliability.fuzz`, `.faults`, `.far` and `.long_run`."""

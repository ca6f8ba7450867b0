"""Hostile input and faults, in runs of any size: `python -m tests.hostile.fuzz`, `.faults`, `.far`, `.long_run`."""

"""Studies of the method; run them from the project's root, for example ``python -m study.ablation``."""

"""Run the command line as ``python -m kfuse.cli``."""

from kfuse.cli import main

main()

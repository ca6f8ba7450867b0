"""Run the command line as ``python -m kfuse``."""

from kfuse.cli import main

if __name__ == "__main__":
    main()

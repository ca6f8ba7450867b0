"""The implementation of each command, in a module of its name; `kfuse.cli.app` declares their options."""

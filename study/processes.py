"""How the studies start processes: forked, where the system can, from one that has imported what takes long."""

from __future__ import annotations

import multiprocessing
import sys
from multiprocessing.context import BaseContext

PRELOADED = ["study.cells", "sklearn.cluster", "sklearn.metrics", "kfuse.core.adaptive"]


def quick_start() -> BaseContext:
    """Return the context of multiprocessing whose processes start quickest without sharing threads."""
    context = multiprocessing.get_context("spawn" if sys.platform == "win32" else "forkserver")
    context.set_forkserver_preload(PRELOADED)
    return context

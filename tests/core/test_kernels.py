"""Compiled code on disk, and options of numba that may go."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.caching import FunctionCache

import kfuse
from kfuse.core import kernels
from kfuse.core.kernels import KernelCache


def test_a_cache_that_cannot_be_read_or_written_is_as_good_as_none(monkeypatch):
    done = []

    def fails(self, *_):
        done.append("tried")
        raise OSError

    monkeypatch.setattr(FunctionCache, "load_overload", fails)
    monkeypatch.setattr(FunctionCache, "save_overload", fails)
    monkeypatch.setattr(FunctionCache, "flush", lambda self: done.append("emptied"))
    cache = KernelCache(kernels.records)
    assert cache.load_overload(None, None) is None
    cache.save_overload(None, None)
    assert done == ["tried", "tried", "emptied", "tried"]


PROGRAM = """
import numpy as np
from kfuse.core.dendrogram import nodes_of_merges
print(nodes_of_merges(np.array([0, 0]), np.array([1, 2])).tolist())
"""


def test_an_edit_in_a_called_kernel_is_noticed(tmp_path):
    """numba itself stamps a cached kernel with its own file only."""
    shutil.copytree(Path(kfuse.__file__).parent, tmp_path / "kfuse", ignore=shutil.ignore_patterns("__pycache__"))

    def answer():
        return subprocess.run(
            [sys.executable, "-c", PROGRAM], capture_output=True, text=True, cwd=tmp_path, check=True
        ).stdout.strip()

    assert answer() == "[[0, 1], [2, 3]]"
    order = tmp_path / "kfuse" / "core" / "order.py"
    text = order.read_text()
    assert text.count("    return member\n") == 1
    order.write_text(text.replace("    return member\n", "    return 0 * member\n"))
    assert answer() == "[[0, 0], [0, 0]]"
    order.write_text(text)
    assert answer() == "[[0, 1], [2, 3]]"


@pytest.mark.parametrize("option", ["_nrt", "no_cfunc_wrapper"])
def test_options_that_numba_drops_are_left_out(option, monkeypatch):
    from numba.core.cpu import CPUTargetOptions  # noqa: PLC0415

    def unknown(flags, options):
        raise KeyError(options)

    assert kernels._accepted.__wrapped__(option, True) == {option: True}
    monkeypatch.setattr(CPUTargetOptions, "parse_as_flags", unknown)
    assert kernels._accepted.__wrapped__(option, True) == {}


def test_kernels_compile_without_the_options_of_their_own(monkeypatch):
    monkeypatch.setattr(kernels, "_accepted", lambda option, value: {})
    assert kernels.kernel(lambda x: x + 1)(1) == 2

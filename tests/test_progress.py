"""What a fit says while it runs, and that it can be stopped."""

import io
import time

import numpy as np
import pytest
from numba.core.caching import FunctionCache

from kfuse import KFuse
from kfuse.core.kernels import KernelCache
from kfuse.progress import ProgressBar, clock, leaving_no_lines


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_shows_stage_share_rate_and_time_left(monkeypatch):
    seconds = iter([100.0, 102.0, 102.01, 110.0])
    monkeypatch.setattr(time, "perf_counter", lambda: next(seconds))
    out = Terminal()
    bar = ProgressBar(out)
    with bar.stage("neighbours"):
        bar.advance(2000, 8000, "samples")
        bar.advance(2001, 8000, "samples")  # too soon after the last to be shown
    lines = out.getvalue().split("\r\x1b[2K")
    assert lines[2] == "[kfuse] neighbours         ######------------------  25%  1,000 samples/s  0:07 left"
    assert lines[3] == "[kfuse] neighbours: 10.00 s\n"
    assert len(lines) == 4


def test_a_pipe_gets_one_line_per_stage():
    out = io.StringIO()
    bar = ProgressBar(out)
    with bar.stage("fusion"):
        bar.advance(1, 2, "fusions")
    assert out.getvalue().startswith("[kfuse] fusion: ")
    assert out.getvalue().count("\n") == 1


def test_an_error_clears_the_bar():
    out = Terminal()
    with pytest.raises(KeyboardInterrupt), ProgressBar(out).stage("fusion"):
        raise KeyboardInterrupt
    assert out.getvalue().endswith("\r\x1b[2K")


@pytest.mark.parametrize(("seconds", "shown"), [(0.2, "0:01"), (59.5, "1:00"), (3725, "1:02:06")])
def test_clock(seconds, shown):
    assert clock(seconds) == shown


def test_every_stage_of_a_fit_is_named_once(capsys):
    KFuse(2, verbose=True).fit(np.random.default_rng(0).random((300, 2)))
    captured = capsys.readouterr()
    assert captured.out == ""
    stages = [line.split(":")[0].removeprefix("[kfuse] ") for line in captured.err.splitlines()]
    before = ["order", "neighbours", "natural neighbours", "density", "sub-clusters"]
    assert stages == [*before, "merging", "number of clusters"]


@pytest.mark.parametrize(("is_cached", "n_hints"), [(False, 1), (True, 0)])
def test_a_stage_says_that_it_compiles_only_if_it_does(monkeypatch, is_cached, n_hints):
    cached = object() if is_cached else None
    monkeypatch.setattr(FunctionCache, "load_overload", lambda *_: cached)
    out = Terminal()
    with leaving_no_lines():
        bar = ProgressBar(out)
    with bar.stage("neighbours"):
        assert KernelCache(clock).load_overload(None, None) is cached
    with bar.stage("density"):
        pass
    assert out.getvalue().count("compiles") == n_hints

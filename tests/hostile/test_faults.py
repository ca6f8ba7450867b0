"""Faults around kfuse: those of `python -m tests.hostile.faults`, once each, and what they rely on."""

import gzip
import io
import os
import pickle
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from kfuse import KFuse, memory
from kfuse.core.dendrogram import hand_down
from kfuse.core.kernels import KernelCache
from kfuse.datasets import load
from tests.hostile import faults, long_run

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="needs the resource limits and /proc of Linux")


@needs_linux
@pytest.mark.parametrize("name", [name for name in faults.FAULTS if name != "Ctrl-C"])
def test_fault(name):
    assert faults.FAULTS[name](1, 0)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send SIGINT to another process")
def test_ctrl_c_stops_a_fit_and_leaves_no_thread():
    assert "stopped" in faults.FAULTS["Ctrl-C"](3, 1)


# Memory


def failing(error):
    def fail(*_):
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError(), "Not enough memory to cluster 60 samples with 2 features: the fit may need 1 MB"),
        (MemoryError(), "Fit a random subset of about 30 samples and label the rest with predict."),
        (RuntimeError("can't start new thread"), "with predict. n_jobs=1 needs less memory."),
    ],
)
def test_memory_errors_say_how_many_samples_would_fit(error, message, monkeypatch):
    X = np.random.default_rng(0).random((60, 2))
    model = KFuse(2).fit(X)
    before = model.labels_
    monkeypatch.setattr(KFuse, "_fit_stages", failing(error))
    with pytest.raises(MemoryError) as raised:
        model.fit(X)
    assert message in str(raised.value)
    assert model.labels_ is before


def test_other_errors_are_not_reported_as_memory_errors(monkeypatch):
    monkeypatch.setattr(KFuse, "_fit_stages", failing(RuntimeError("something else")))
    with pytest.raises(RuntimeError, match="something else"):
        KFuse().fit(np.zeros((3, 2)))


@pytest.mark.parametrize(
    ("n_pages", "message"),
    [
        (2**30, "may need 155.0 GB in addition to the data. Fit a random subset of about 400,000 samples"),
        (2**60, "about 50,000,000 samples"),
        (1, "about 1 samples"),
    ],
)
def test_the_subset_that_fits_depends_on_the_memory_of_the_machine(n_pages, message, monkeypatch):
    monkeypatch.setattr(os, "sysconf", {"SC_PHYS_PAGES": n_pages, "SC_PAGE_SIZE": 1}.__getitem__, raising=False)
    with pytest.raises(MemoryError, match=message), memory.explained(100_000_000, 2):
        raise MemoryError


@pytest.mark.parametrize("error", [ValueError, OSError, AttributeError])
def test_half_of_the_samples_are_suggested_where_the_memory_is_unknown(error, monkeypatch):
    monkeypatch.setattr(os, "sysconf", failing(error()), raising=False)
    with pytest.raises(MemoryError, match="about 50,000,000 samples"), memory.explained(100_000_000, 2):
        raise MemoryError


# The cache of compiled code


def test_compiled_kernels_are_cached():
    assert isinstance(hand_down._cache, KernelCache)
    KFuse(2).fit(np.random.default_rng(0).random((60, 2)))
    stats = hand_down.stats
    assert sum(stats.cache_hits.values()) + sum(stats.cache_misses.values()) > 0
    assert list(Path(stats.cache_path).glob("dendrogram.hand_down-*.nbc"))


# Hostile files in place of data sets


class Payload:
    def __reduce__(self):
        return print, ("code was run",)


def npz_of(members):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return content.getvalue()


def npy_of(array, **options):
    content = io.BytesIO()
    np.save(content, array, **options)
    return content.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        npz_of({"../X.npy": npy_of(np.zeros((3, 2))), "/tmp/y.npy": npy_of(np.zeros(3))}),
        npz_of({"X.npy": npy_of(np.array([Payload()]), allow_pickle=True), "y.npy": npy_of(np.zeros(1))}),
        pickle.dumps(Payload()),
        gzip.compress(b"X"),
    ],
    ids=["path traversal", "pickle inside", "pickle", "gzip"],
)
def test_hostile_files_in_place_of_data_sets(content, tmp_path, capsys):
    folder = tmp_path / "deep" / "data"
    folder.mkdir(parents=True)
    (folder / "flame.npz").write_bytes(content)
    with pytest.raises(ValueError, match="is not an npz file with arrays X and y"):
        load("flame", folder=folder)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["flame.npz"]
    assert capsys.readouterr().out == ""


# A long run


@needs_linux
def test_a_long_run_has_no_drift_and_would_report_it():
    lines = long_run.run(0, 0, 3)
    assert len(lines) == 4
    assert len({line.digest for line in lines}) == 1
    steady = [lines[0]._replace(megabytes=100 + i % 2, n_threads=1, n_files=4) for i in range(40)]
    assert long_run.drift(steady) == ""
    assert "results changed" in long_run.drift([*steady, steady[0]._replace(digest="other")])
    assert "memory grew" in long_run.drift([line._replace(megabytes=100.0 + i) for i, line in enumerate(steady)])
    assert "n_threads grew" in long_run.drift([line._replace(n_threads=i) for i, line in enumerate(steady)])

"""What goes wrong around kfuse: the faults of `python -m reliability.faults`, each once, and what they rest on."""

import gzip
import io
import pickle
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from kfuse import KFuse, memory
from kfuse.core.compiled import ForgivingCache
from kfuse.core.tree import hand_down
from kfuse.datasets import load

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # the large runs are started from there, and are not installed
faults = pytest.importorskip("reliability.faults", reason="the large runs are only in the repository")
long_run = pytest.importorskip("reliability.long_run", reason="the large runs are only in the repository")

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="limits and /proc are those of Linux")


@needs_linux
@pytest.mark.parametrize("name", [name for name in faults.FAULTS if name != "Ctrl-C"])
def test_fault(name):
    assert faults.FAULTS[name](1, 0)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for another process")
def test_ctrl_c_stops_a_fit_and_leaves_no_thread():
    assert "stopped" in faults.FAULTS["Ctrl-C"](3, 1)


# Memory


def failing(error):
    def fail(*_):
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError(), "Not enough memory to cluster 60 samples with 2 features, which may take 1 MB"),
        (MemoryError(), "fit a random part of some 30 samples, and label the others with predict"),
        (RuntimeError("can't start new thread"), "with predict. Fewer threads, n_jobs=1, take less."),
    ],
)
def test_too_little_memory_says_what_would_fit(error, words, monkeypatch):
    X = np.random.default_rng(0).random((60, 2))
    model = KFuse(2).fit(X)
    before = model.labels_
    monkeypatch.setattr(KFuse, "_flow", failing(error))
    with pytest.raises(MemoryError) as raised:
        model.fit(X)
    assert words in str(raised.value)
    assert model.labels_ is before


def test_other_errors_are_not_taken_for_want_of_memory(monkeypatch):
    monkeypatch.setattr(KFuse, "_flow", failing(RuntimeError("something else")))
    with pytest.raises(RuntimeError, match="something else"):
        KFuse().fit(np.zeros((3, 2)))


@pytest.mark.parametrize(
    ("free", "words"),
    [
        (2**30, "may take 155.0 GB beside the data: fit a random part of some 400,000 samples"),
        (0, "next to none left"),
        (None, "some 50,000,000 samples"),
    ],
)
def test_the_part_that_fits_follows_from_what_is_free(free, words, monkeypatch):
    monkeypatch.setattr(memory, "left", lambda: free)
    with pytest.raises(MemoryError, match=words), memory.explained(100_000_000, 2):
        raise MemoryError


@needs_linux
def test_what_is_left_is_less_than_the_limit_of_the_process():
    import resource  # noqa: PLC0415 - not on Windows

    limits = resource.getrlimit(resource.RLIMIT_AS)
    without = memory.left()
    resource.setrlimit(resource.RLIMIT_AS, (2**50, limits[1]))
    try:
        assert 0 < memory.left() <= without * 1.5
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


def test_what_is_left_is_unknown_without_proc(monkeypatch):
    monkeypatch.setattr(memory, "_numbers", failing(FileNotFoundError()))
    assert memory.left() is None


# The cache of compiled code


def test_compiled_code_is_kept():
    assert isinstance(hand_down._cache, ForgivingCache)
    KFuse(2).fit(np.random.default_rng(0).random((60, 2)))
    stats = hand_down.stats
    assert sum(stats.cache_hits.values()) + sum(stats.cache_misses.values()) > 0
    assert list(Path(stats.cache_path).glob("tree.hand_down-*.nbc"))


# Files of data sets


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
def test_hostile_files_in_the_place_of_data_sets(content, tmp_path, capsys):
    folder = tmp_path / "deep" / "data"
    folder.mkdir(parents=True)
    (folder / "flame.npz").write_bytes(content)
    with pytest.raises(ValueError, match="is not a file with arrays X and y"):
        load("flame", folder=folder)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["flame.npz"]
    assert capsys.readouterr().out == ""


# Long runs


@needs_linux
def test_a_long_run_shows_no_drift_and_would_tell(capsys):
    lines = long_run.run(0, 0, 3)
    assert len(lines) == 4
    assert len({line.digest for line in lines}) == 1
    steady = [lines[0]._replace(megabytes=100 + i % 2, n_threads=1, n_files=4) for i in range(40)]
    assert long_run.drift(steady) == ""
    assert "results changed" in long_run.drift([*steady, steady[0]._replace(digest="other")])
    assert "memory grew" in long_run.drift([line._replace(megabytes=100.0 + i) for i, line in enumerate(steady)])
    assert "n_threads grew" in long_run.drift([line._replace(n_threads=i) for i, line in enumerate(steady)])

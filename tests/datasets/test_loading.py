"""`kfuse.datasets.load`: names, sources, file formats, and downloads that fail."""

import gzip
import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from kfuse import datasets
from kfuse.datasets import DownloadError, files, loading, registry
from kfuse.datasets.download import fetch

IN_THE_FOLDER = [entry.name for entry in registry.ENTRIES if entry.stem not in ("pole", "away", "breast_cancer")]


@pytest.fixture(autouse=True)
def nothing_here(monkeypatch, tmp_path, request):
    """No local data, an empty cache, and no way out but to this machine."""
    if "data_folder" not in request.fixturenames:
        monkeypatch.delenv("KFUSE_DATA", raising=False)
    monkeypatch.setenv("KFUSE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture
def server():
    """A web server with a table of answers; "broken" promises more bytes than it sends."""
    answers = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.server.asked.append(self.path)
            body = answers.get(self.path)
            if body is None:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(body) + (100 if "broken" in self.path else 0)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    web = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    web.asked, web.answers, web.url = [], answers, f"http://127.0.0.1:{web.server_port}"
    threading.Thread(target=web.serve_forever, daemon=True).start()
    yield web
    web.shutdown()
    web.server_close()


def little_entry(server, monkeypatch, *, path="/little.data", sha256=None, fingerprint=None):
    """Put a data set of four samples at the server and into the registry."""
    server.answers[path] = b"0,0,a\n0,1,a\n5,5,b\n5,6,b\n"
    source = registry.Source((registry.RemoteFile(server.url + path, sha256),), files.read_label_last)
    entry = registry.Entry("Little", "little", "synthetic", 4, 2, 2, "a test", source)
    monkeypatch.setattr(registry, "ENTRIES", (entry,))
    monkeypatch.setitem(registry.FINGERPRINTS, "little", fingerprint or files.fingerprint(LITTLE_X, LITTLE_Y))
    return entry


LITTLE_X = np.array([[0.0, 0.0], [0, 1], [5, 5], [5, 6]])
LITTLE_Y = np.array([0, 0, 1, 1])


# Names


def test_there_are_the_papers_22_data_sets():
    names = datasets.names()
    assert len(names) == len(set(names)) == 22
    assert [datasets.describe(name)["group"] for name in names].count("synthetic") == 12


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("path based", "Path-based"),
        ("PATHBASED", "Path-based"),
        ("breast_cancer", "BreastCancer"),
        ("wdbc", "BreastCancer"),
        ("Libras", "LibrasMovement"),
        ("olivetti-faces", "OlivettiFaces"),
        ("parkinsons", "Parkinson"),
    ],
)
def test_names_may_be_spelt_in_any_usual_way(spelling, name):
    assert datasets.describe(spelling)["name"] == name


def test_an_unknown_name_is_told_the_known_ones():
    with pytest.raises(
        ValueError, match=r"Unknown data set 'flam'. Did you mean 'Flame'\? Known data sets: Pole, Away, .*Olivetti"
    ):
        datasets.load("flam")


def test_every_data_set_can_be_had_from_somewhere():
    for entry in registry.ENTRIES:
        assert (entry.source is None) != (entry.make is None)
        assert all(url.startswith("https://") for url in datasets.describe(entry.name)["urls"])


# Places


def test_needs_no_download_for_what_is_bundled_or_generated():
    cancer = datasets.load("BreastCancer", download=False)
    assert cancer.X.shape == (569, 30)
    assert files.fingerprint(cancer.X, cancer.y) == registry.FINGERPRINTS["breast_cancer"]
    assert datasets.load("Pole", download=False).X.shape == (80, 2)
    away = datasets.load("Away", download=False)
    assert (away.X.shape, away.n_clusters) == ((229, 2), 3)
    assert "look-alike" in away.origin


def test_scales_to_the_unit_interval():
    raw, scaled = datasets.load("BreastCancer"), datasets.load("BreastCancer", scaled=True)
    np.testing.assert_array_equal(scaled.X.min(axis=0), 0)
    np.testing.assert_allclose(scaled.X.max(axis=0), 1, rtol=1e-12)
    np.testing.assert_allclose(scaled.X, (raw.X - raw.X.min(axis=0)) / np.ptp(raw.X, axis=0), rtol=1e-9, atol=1e-12)


def test_a_local_folder_comes_first(tmp_path, monkeypatch):
    X, y = np.random.default_rng(0).random((80, 2)), np.arange(80) % 2
    np.savez(tmp_path / "pole.npz", X=X, y=y)
    for given in ({"folder": tmp_path}, {}):
        if not given:
            monkeypatch.setenv("KFUSE_DATA", str(tmp_path))
        pole = datasets.load("Pole", **given)
        np.testing.assert_array_equal(pole.X, X)
        assert pole.origin == "local folder"


def test_a_folder_that_is_none_is_named(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"folder is set to .*absent, which is not a folder"):
        datasets.load("Flame", folder=tmp_path / "absent")
    monkeypatch.setenv("KFUSE_DATA", str(tmp_path / "absent"))
    with pytest.raises(ValueError, match=r"KFUSE_DATA is set to .*absent, which is not a folder"):
        datasets.load("Flame")


def test_a_wrong_local_file_is_refused(tmp_path):
    np.savez(tmp_path / "flame.npz", X=np.zeros((3, 2)), y=[0, 1, 1])
    with pytest.raises(ValueError, match=r"flame.npz has 3 samples and 2 clusters, but Flame has 240 and 2"):
        datasets.load("Flame", folder=tmp_path)
    (tmp_path / "flame.npz").write_bytes(b"not a zip")
    with pytest.raises(ValueError, match=r"flame.npz is not an npz file with arrays X and y"):
        datasets.load("Flame", folder=tmp_path)


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "/x"}, "/x/kfuse"),
        ("darwin", {"HOME": "/h"}, "/h/Library/Caches/kfuse"),
        ("win32", {"LOCALAPPDATA": "/l"}, "/l/kfuse/Cache"),
    ],
)
def test_the_cache_is_where_the_system_has_it(platform, variables, expected, monkeypatch):
    monkeypatch.delenv("KFUSE_CACHE")
    monkeypatch.setattr(loading.sys, "platform", platform)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert datasets.cache_folder().as_posix() == expected


# Downloads


def test_downloads_once_and_then_reads_the_cache(server, monkeypatch):
    little_entry(server, monkeypatch)
    for _ in range(2):
        little = datasets.load("little")
        np.testing.assert_array_equal(little.X, LITTLE_X)
        np.testing.assert_array_equal(little.y, LITTLE_Y)
    assert server.asked == ["/little.data"]
    assert [path.name for path in datasets.cache_folder().iterdir()] == ["little.npz"]


def test_shows_progress_only_if_wanted(server, monkeypatch, capsys):
    little_entry(server, monkeypatch)
    datasets.load("little", progress=False)
    assert capsys.readouterr() == ("", "")
    (datasets.cache_folder() / "little.npz").unlink()
    datasets.load("little")
    out, err = capsys.readouterr()
    assert not out
    assert "little.data" in err


def test_checks_the_file(server, monkeypatch):
    right = hashlib.sha256(b"0,0,a\n0,1,a\n5,5,b\n5,6,b\n").hexdigest()
    little_entry(server, monkeypatch, sha256=right)
    assert datasets.load("little").n_clusters == 2
    (datasets.cache_folder() / "little.npz").unlink()
    little_entry(server, monkeypatch, sha256="0" * 64)
    with pytest.raises(DownloadError, match=f"has the SHA-256 {right}, expected 0000"):
        datasets.load("little")
    assert not list(datasets.cache_folder().iterdir())


def test_checks_the_arrays(server, monkeypatch):
    little_entry(server, monkeypatch, fingerprint="1" * 64)
    with pytest.raises(DownloadError, match=r"expected 1111.*this is not the data of the study"):
        datasets.load("little")
    assert not list(datasets.cache_folder().iterdir())


def test_checks_the_shape_and_the_format(server, monkeypatch):
    entry = little_entry(server, monkeypatch)
    monkeypatch.setattr(registry, "ENTRIES", (entry._replace(n_features=3),))
    with pytest.raises(DownloadError, match=r"has \(4, 2, 2\) samples, features and clusters, expected \(4, 3, 2\)"):
        datasets.load("little")
    server.answers["/little.data"] = b"<html>moved</html>,x\n"
    with pytest.raises(DownloadError, match="not in the expected format"):
        datasets.load("little")


def test_an_interrupted_download_leaves_nothing(server, monkeypatch):
    little_entry(server, monkeypatch, path="/broken.data")
    with pytest.raises(DownloadError, match="ended after 24 of 124 bytes"):
        datasets.load("little")
    assert not list(datasets.cache_folder().iterdir())


def test_says_what_to_do_without_a_network(server, monkeypatch):
    little_entry(server, monkeypatch)
    server.shutdown()
    server.server_close()
    with pytest.raises(
        DownloadError, match=r"Could not download .*: .*Save Little as little.npz .*KFUSE_DATA .*try again online"
    ):
        datasets.load("little")
    with pytest.raises(DownloadError, match="neither in a local folder nor in the cache"):
        datasets.load("little", download=False)


def test_a_missing_file_is_named(server, tmp_path):
    with pytest.raises(DownloadError, match=r"Could not download .*/gone: Not Found"):
        fetch(f"{server.url}/gone", tmp_path / "gone")


# Formats


def write(folder, name, text):
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def test_reads_data_and_labels(tmp_path):
    X, y = files.read_data_and_labels(
        [write(tmp_path, "a.data.gz", "1.5 2\n3 4\n"), write(tmp_path, "a.labels0.gz", "2\n1\n")]
    )
    np.testing.assert_array_equal(X, [[1.5, 2], [3, 4]])
    np.testing.assert_array_equal(y, [1, 0])


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (files.read_arff, "% words\n@RELATION r\n@ATTRIBUTE x REAL\n@DATA\n1,2,0\n3,4,1\n"),
        (files.read_label_last, "1,2,7\n3,4,12\n"),
        (files.read_label_first, "BRICKFACE\n\nREGION,A,B\n;;;\n\nSKY,1,2\nWINDOW,3,4\n"),
        (files.read_named_rows, "AAT_ECOLI   1  2   cp\nACEA  3 4  im\n"),
        (files.read_parkinsons, "name,a,status,b\ns1,1,0,2\ns2,3,1,4\n"),
        (files.read_headed_table, "molecule_name,f1,f2,class\nm-1,1,2,0\nm-2,3,4,1\n"),
    ],
)
def test_reads_each_text_format(tmp_path, read, text):
    X, y = read([write(tmp_path, "file", text)])
    np.testing.assert_array_equal(X, [[1, 2], [3, 4]])
    np.testing.assert_array_equal(y, [0, 1])


def test_reads_segmentation_from_two_files(tmp_path):
    paths = [write(tmp_path, name, f"H\n\nREGION,A\n\n{row}\n") for name, row in (("d", "SKY,1"), ("t", "PATH,2"))]
    X, y = files.read_label_first(paths)
    np.testing.assert_array_equal(X, [[1], [2]])
    np.testing.assert_array_equal(y, [1, 0])


def test_reads_idx(tmp_path):
    images = tmp_path / "images.gz"
    images.write_bytes(gzip.compress(bytes(16) + bytes([0, 255, 3, 4])))
    labels = tmp_path / "labels.gz"
    labels.write_bytes(gzip.compress(bytes(8) + bytes([7, 1])))
    X, y = files.read_idx([images, labels])
    np.testing.assert_array_equal(X, [[0, 255], [3, 4]])
    np.testing.assert_array_equal(y, [7, 1])


# The fingerprint


def test_the_fingerprint_sees_the_data_and_nothing_else():
    rng = np.random.default_rng(0)
    X, y = rng.random((50, 3)).round(3), rng.integers(0, 4, 50)
    known = files.fingerprint(X, y)
    order = rng.permutation(50)
    assert files.fingerprint(X[order], y[order]) == known
    assert files.fingerprint(np.asfortranarray(X), np.array([2, 0, 3, 1])[y]) == known
    assert files.fingerprint(X + 1e-13, y) == known
    moved = X.copy()
    moved[7, 1] += 1e-3
    assert files.fingerprint(moved, y) != known
    swapped = y.copy()
    swapped[3] = (y[3] + 1) % 4
    assert files.fingerprint(X, swapped) != known
    assert files.fingerprint(X.reshape(25, 6), y[:25]) != known


@pytest.mark.parametrize("name", IN_THE_FOLDER)
def test_the_fingerprints_are_those_of_the_data(data_folder, name):
    if not (data_folder / f"{registry.find(name).stem}.npz").is_file():
        pytest.skip(f"the data folder has no {name}")
    data = datasets.load(name)
    entry = registry.find(name)
    assert files.fingerprint(data.X, data.y) == entry.fingerprint
    assert (*data.X.shape, data.n_clusters) == (entry.n_samples, entry.n_features, entry.n_clusters)

"""The commands: what each writes and tells, what --json says, and targets that cannot be written."""

import errno
import json
import os
import re
import subprocess
import sys
import warnings
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import polars as pl
import pytest
from command_line import DATA, TWO, call, fails, run
from sklearn import metrics
from sklearn.datasets import load_iris
from sklearn.preprocessing import minmax_scale

from kfuse import KFuse, __version__, datasets, files
from kfuse.baselines import methods
from kfuse.cli import comparing, display, reading
from kfuse.datasets import make_shapes

needs_posix = pytest.mark.skipif(os.name == "nt", reason="needs POSIX")


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(DATA)
    return path


@pytest.fixture
def iris(tmp_path):
    path = tmp_path / "iris.csv"
    frame = load_iris(as_frame=True).frame
    pl.DataFrame({name: frame[name].to_numpy() for name in frame}).write_csv(path)
    return path


HOLES = "x,y\n0,0\n0.1,\n0,0.1\nNA,0.1\n9,9\n9.1,9\n9, n/a\n9.1,9.1\n"


class TestMissing:
    def test_refuse_is_the_default_and_counts(self):
        fails(call("cluster", "-", stdin=HOLES), "'x' has 'NA' in data row 4", "--missing drop or --missing median")
        fails(call("cluster", "-", "--columns", "y", stdin=HOLES), "'y' has no value in data row 2 and 1 other:")

    def test_drop_leaves_the_label_empty(self, tmp_path):
        out = tmp_path / "labels.csv"
        result = call("cluster", "-", "-k", 2, "--missing", "drop", "-o", out, stdin=HOLES)
        assert out.read_text() == 'label\n1\n""\n1\n""\n0\n0\n""\n0\n'
        assert "kfuse: 3 missing values in 3 rows: these rows get no label\n" in result.stderr
        found = pd.read_csv(out)["label"].astype("Int64")  # a reader that skips empty lines
        assert [None if one is pd.NA else one for one in found] == [1, None, 1, None, 0, 0, None, 0]

    def test_drop_beside_other_columns(self):
        result = call("cluster", "-", "-k", 1, "--missing", "drop", "--keep", stdin="x,y\n1,2\n,3\n")
        assert result.stdout == "x,y,label\n1,2,0\n,3,\n"

    def test_median_fills_them_in(self):
        result = call("cluster", "-", "-k", 2, "--missing", "median", "--no-scale", stdin=HOLES)
        x, y = [0, 0.1, 0, 9, 9, 9.1, 9, 9.1], [0, 4.55, 0.1, 0.1, 9, 9, 4.55, 9.1]
        found = pl.read_csv(result.stdout.encode())["label"].to_list()
        assert found == KFuse(2).fit_predict(np.column_stack([x, y])).tolist()

    @pytest.mark.parametrize("mode", ["drop", "median"])
    def test_json_says_what_was_done(self, mode):
        found = json.loads(call("cluster", "-", "--missing", mode, "--json", stdin=HOLES).stdout)
        assert found["missing"] == {"mode": mode, "values": 3, "rows": 3}
        assert found["rows"] == 8
        assert sum(found["sizes"]) == (5 if mode == "drop" else 8)

    def test_a_pipe_is_told_too(self):
        result = call("cluster", "-", "-k", 2, "--missing", "drop", stdin=HOLES)
        assert result.stderr == "kfuse: 3 missing values in 3 rows: these rows get no label\n"

    def test_other_columns_may_have_holes(self):
        text = "id,x\n,1\nb,2\n"
        assert call("cluster", "-", "-k", 1, "--id", "id", stdin=text).stdout == "id,label\n,0\nb,0\n"

    def test_nothing_left(self):
        fails(call("cluster", "-", "--missing", "drop", stdin="x,y\n1,\n,2\n"), "every row", "--missing median")
        fails(
            call("cluster", "-", "--missing", "median", stdin="x,y\n1,\n2,\n"), "'y' has no value at all", "--exclude y"
        )
        assert call("cluster", "-", "-k", 1, "--missing", "median", stdin="x,y\n1,\n,2\n").exit_code == 0

    def test_infinity_is_not_missing(self):
        fails(call("cluster", "-", "--missing", "drop", stdin="x\n1\ninf\n"), "'x' has infinity in data row 2")

    def test_values_too_large_to_scale(self):
        fails(call("cluster", "-", stdin="x,y\n1,1\n2,1e308\n3,-1e308\n"), "'y' has values too large")


class TestCluster:
    def test_json_is_the_summary(self, data):
        out = data.with_name("labels.csv")
        result = call("cluster", data, "-k", 2, "--json", "-o", out)
        found = json.loads(result.stdout)
        assert found.pop("seconds") > 0
        suggested = found.pop("suggested")
        assert suggested[0] == KFuse().fit(load(data)).n_clusters_
        assert found == {
            "kfuse": __version__,
            "data": str(data),
            "rows": 8,
            "columns": ["x", "y"],
            "scaled": True,
            "missing": {"mode": "refuse", "values": 0, "rows": 0},
            "n_clusters": 2,
            "number_found": False,
            "sizes": [4, 4],
            "outliers": 0,
            "labels": str(out),
        }
        assert out.read_text() == TWO

    def test_json_and_labels_do_not_mix(self, data):
        fails(call("cluster", data, "--json", "-o", "-"), "--json", "-o FILE")
        assert json.loads(call("cluster", data, "--json").stdout)["labels"] is None

    def test_id_stands_beside_the_labels(self):
        text = "name,x\n" + "".join(f"n{i},{x}\n" for i, x in enumerate([0, 0.1, 0.2, 9, 9.1, 9.2]))
        result = call("cluster", "-", "-k", 2, "--id", "name", stdin=text)
        assert result.stdout == "name,label\nn0,0\nn1,0\nn2,0\nn3,1\nn4,1\nn5,1\n"
        assert json.loads(call("cluster", "-", "--id", "name", "--json", stdin=text).stdout)["columns"] == ["x"]
        fails(call("cluster", "-", "--id", "nam", stdin=text), "no column 'nam'", "'name'")

    def test_label_names_the_column(self, data):
        assert call("cluster", data, "-k", 1, "--label", "group").stdout.startswith("group\n0\n")
        fails(call("cluster", data, "--id", "x", "--label", "x"), "column 'x' already", "--label NAME")

    def test_outliers_can_be_labelled(self):
        X = np.vstack([np.random.RandomState(0).normal(size=(60, 2)), [[40, 40]]])
        text = pl.DataFrame(X, schema=["x", "y"]).write_csv()
        found = json.loads(call("cluster", "-", "--no-scale", "--outliers", "label", "--json", stdin=text).stdout)
        expected = KFuse(outliers="label").fit(X)
        assert found["outliers"] == expected.outlier_mask_.sum() > 0
        assert found["sizes"] == np.bincount(expected.labels_[expected.labels_ >= 0]).tolist()

    @pytest.mark.parametrize(
        ("options", "parameters"),
        [
            (["--metric", "manhattan"], {"metric": "manhattan"}),
            (["--neighbors", "brute", "-j", "1"], {"neighbors": "brute"}),
        ],
    )
    def test_options_reach_the_estimator(self, iris, options, parameters):
        result = call("cluster", iris, "--exclude", "target", "--no-scale", *options)
        found = pl.read_csv(result.stdout.encode())["label"].to_list()
        assert found == KFuse(**parameters).fit_predict(load_iris().data).tolist()

    def test_approximate_neighbours_take_the_seed(self):
        pytest.importorskip("pynndescent")
        X, _ = make_shapes(400)
        text = pl.DataFrame(X, schema=["x", "y"]).write_csv()
        options = ["--neighbors", "approximate", "--seed", "3", "--no-scale"]
        found = pl.read_csv(call("cluster", "-", *options, stdin=text).stdout.encode())["label"].to_list()
        assert found == KFuse(neighbors="approximate", random_state=3).fit_predict(X).tolist()

    def test_what_the_estimator_refuses_names_the_data(self, data):
        fails(call("cluster", data, "--metric", "cosine", "--no-scale"), f"{data} cannot be clustered: Row 0 of X")
        fails(call("cluster", data, "--neighbors", "kd_tree", "--metric", "hamming"), "neighbors='kd_tree'")

    def test_quiet_says_nothing(self, data):
        result = call("cluster", data, "-k", 1, "-q", "-o", data.with_name("labels.csv"))
        assert (result.exit_code, result.output) == (0, "")

    def test_quiet_keeps_warnings_back_but_not_errors(self):
        text = "x\n1\n1\n1\n"
        assert "warning" in call("cluster", "-", "-k", 2, stdin=text).stderr
        assert call("cluster", "-", "-k", 2, "-q", stdin=text).stderr == ""
        fails(call("cluster", "-", "-k", 9, "-q", stdin=text), "-k 9")

    def test_many_columns_are_not_all_listed(self):
        text = ",".join(f"c{i}" for i in range(50)) + "\n" + ",".join("1" * 50) + "\n"
        fails(call("cluster", "-", "--columns", "z", stdin=text), "'c19' and 30 more")

    def test_doubled_quotes_in_names(self):
        text = '"a ""b""",y\n1,2\n'
        assert call("cluster", "-", "--keep", stdin=text).stdout == '"a ""b""",y,label\n1,2,0\n'
        assert json.loads(call("cluster", "-", "--json", stdin=text).stdout)["columns"] == ['a "b"', "y"]


def load(path):
    return minmax_scale(pl.read_csv(path).to_numpy())


class TestSuggest:
    def test_ranks_as_the_estimator_does(self, iris):
        expected = KFuse().fit(load(iris)[:, :4]).tree_.suggest(3)
        found = json.loads(call("suggest", iris, "--exclude", "target", "-n", 3, "--json").stdout)["suggestions"]
        assert [one["n_clusters"] for one in found] == [one.n_clusters for one in expected]
        assert [one["contrast"] for one in found] == pytest.approx([one.contrast for one in expected], abs=1e-4)
        assert all(len(one["sizes"]) == one["n_clusters"] and sum(one["sizes"]) == 150 for one in found)

    def test_tells_people(self, iris):
        result = call("suggest", iris, "--exclude", "target")
        assert f"{iris}: 150 rows, 4 columns" in result.stdout
        assert re.search(r"1 +2 +0\.\d{3} +[█#]+ +100, 50 *\n", result.stdout)
        assert result.stderr == ""

    def test_one_cluster_is_explained(self):
        text = pl.DataFrame({"x": np.zeros(5)}).write_csv()
        result = call("suggest", "-", stdin=text)
        assert "counts as one cluster" in result.stdout
        found = json.loads(call("suggest", "-", "--json", stdin=text).stdout)["suggestions"]
        assert found[0]["weakest_inside"] is None

    def test_says_what_became_of_missing_values(self):
        result = call("suggest", "-", "--missing", "median", stdin=HOLES)
        assert result.stderr == "kfuse: 3 missing values in 3 rows: filled with the median of the column\n"
        assert call("suggest", "-", "--missing", "median", "-q", stdin=HOLES).stderr == ""


class TestPlot:
    @pytest.mark.parametrize("kind", ["scatter", "dendrogram", "curve", "profiles", "subclusters", "density"])
    def test_every_kind(self, iris, kind):
        out = iris.with_name("picture.svg")
        result = call("plot", iris, "--exclude", "target", "--kind", kind, "-o", out)
        assert result.exit_code == 0
        assert result.stderr.startswith("kfuse: 150 rows, found 2 clusters, ")
        assert result.stderr.endswith(f"-> {out}\n")
        assert ET.parse(out).getroot().tag.endswith("svg")

    @pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("PDF", b"%PDF")])
    def test_formats(self, data, ending, start):
        out = data.with_name(f"picture.{ending}")
        assert call("plot", data, "-o", out, "-q").output == ""
        assert out.read_bytes().startswith(start)

    @pytest.mark.parametrize(("columns", "names"), [("x,y", {"x", "y"}), ("y", {"y"})])
    def test_axes_have_the_names_of_the_columns(self, data, columns, names):
        out = data.with_name("picture.svg")
        call("plot", data, "--columns", columns, "-o", out)
        assert names <= set(re.findall(r"<!-- (.*?) -->", out.read_text()))

    def test_what_cannot_be(self, data, monkeypatch):
        fails(call("plot", data, "-o", data.with_name("picture.bmp")), "picture.bmp", ".png, .svg, .pdf")
        fails(call("plot", data, "-o", data.with_name("no") / "p.png"), "no such folder")
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        fails(call("plot", data, "-o", data.with_name("p.png")), "pip install 'kfuse[plot]'")
        assert list(data.parent.iterdir()) == [data]


class TestReport:
    def test_writes_the_page(self, iris):
        out = iris.with_name("page.html")
        result = call("report", iris, "--exclude", "target", "-o", out, "--title", "Irises & <more>")
        assert result.exit_code == 0
        assert result.stderr.endswith(f"-> {out}\n")
        page = out.read_text(encoding="utf-8")
        assert "<title>Irises &amp; &lt;more&gt;</title>" in page
        assert "sepal length (cm)" in page

    @pytest.mark.parametrize(("options", "ids"), [(["--id", "n"], ["a", "c", "d"]), ([], ["0", "2", "3"])])
    def test_rows_keep_their_names(self, tmp_path, options, ids):
        out = tmp_path / "report.html"
        text = "n,x\na,1\nb,\nc,2\nd,3\n"
        call("report", "-", "--columns", "x", "--missing", "drop", "-o", out, "-q", *options, stdin=text)
        assert f'"ids":{json.dumps(ids, separators=(",", ":"))}' in out.read_text(encoding="utf-8")

    def test_needs_bokeh(self, data, monkeypatch):
        monkeypatch.setitem(sys.modules, "bokeh.resources", None)
        fails(call("report", data, "-o", data.with_name("r.html")), "pip install 'kfuse[report]'")
        assert list(data.parent.iterdir()) == [data]


class TestCompare:
    FAST = "K-means,DBSCAN,single linkage"

    def test_scores_agree_with_scikit_learn(self, iris):
        result = call("compare", iris, "--truth", "target", "--methods", "K-means,DBSCAN,kFuse", "--json")
        found = json.loads(result.stdout)
        X, truth = load(iris)[:, :4], load_iris().target
        assert found["columns"] == load_iris().feature_names
        assert [row["method"] for row in found["methods"]] == ["kFuse", "K-means", "DBSCAN"]
        ours, theirs, noisy = found["methods"]
        labels = KFuse().fit_predict(X)
        assert ours["truth"] == round(metrics.adjusted_rand_score(truth, labels), 4)
        assert (ours["agreement"], ours["n_clusters"], ours["noise"]) == (1, 2, 0)
        k_means = methods.METHODS["K-means"].make(2, 0).fit_predict(X)
        assert theirs["n_clusters"] == 2
        assert theirs["silhouette"] == round(metrics.silhouette_score(X, k_means), 4)
        assert theirs["calinski_harabasz"] == round(metrics.calinski_harabasz_score(X, k_means), 4)
        assert theirs["agreement"] == round(metrics.adjusted_rand_score(labels, k_means), 4)
        parameters = noisy["parameters"]
        dbscan = methods.METHODS["DBSCAN"].make(None, 0, **parameters).fit_predict(X)
        inside = dbscan >= 0
        assert noisy["noise"] == (~inside).sum() > 0
        assert noisy["davies_bouldin"] == round(metrics.davies_bouldin_score(X[inside], dbscan[inside]), 4)
        assert noisy["truth"] == round(metrics.adjusted_rand_score(truth, dbscan), 4)

    def test_tells_people(self, iris):
        result = call("compare", iris, "--truth", "target", "--methods", self.FAST)
        assert result.exit_code == 0
        for words in ("kFuse  ", "K-means", "DBSCAN", "Single linkage", "= truth", "got kFuse's, 2."):
            assert words in result.stdout
        assert "= truth" not in call("compare", iris, "--methods", "K-means").stdout.split("\n\n")[1]

    def test_every_method_runs_on_a_small_table(self, iris):
        found = json.loads(call("compare", iris, "--exclude", "target", "--json").stdout)
        ran = {row["method"] for row in found["methods"] if "failed" not in row}
        assert ran == {"kFuse", *methods.available()} - {"kFuse (auto)"}
        assert found["left_out"].keys() | ran == methods.METHODS.keys() - {"kFuse (auto)"}

    def test_large_tables_leave_out_slow_methods(self, iris, monkeypatch):
        monkeypatch.setattr(comparing, "LARGEST", dict.fromkeys(methods.METHODS, 100) | {"K-means": 150})
        monkeypatch.setattr(comparing, "SAMPLED", 50)
        found = json.loads(call("compare", iris, "--exclude", "target", "--json").stdout)
        assert [row["method"] for row in found["methods"]] == ["kFuse", "K-means"]
        assert found["left_out"]["AP"] == "too slow or large above 100 rows"
        assert found["silhouette_rows"] == 50
        told = call("compare", iris, "--exclude", "target").stdout
        assert "silhouette of 50 rows drawn at random" in told
        assert "Ward" in told.split("Left out: ")[1]
        named = json.loads(call("compare", iris, "--exclude", "target", "--methods", "ward", "--json").stdout)
        assert [row["method"] for row in named["methods"]] == ["kFuse", "Ward"]

    def test_truth_may_be_words_and_have_holes(self):
        rows = [(0, "a"), (0.1, "a"), (0.2, ""), (9, "b"), (9.1, "b"), (9.2, "a")]
        text = "x,t\n" + "".join(f"{x},{t}\n" for x, t in rows)
        found = json.loads(
            call("compare", "-", "-k", 2, "--truth", "t", "--methods", "K-means", "--json", stdin=text).stdout
        )
        expected = metrics.adjusted_rand_score([0, 0, 1, 1, 0], [0, 0, 1, 1, 1])
        assert [row["truth"] for row in found["methods"]] == [round(expected, 4)] * 2

    def test_a_method_that_fails_or_warns_does_not_end_the_others(self, iris, monkeypatch):
        def make(*_, **__):
            raise RuntimeError("out of\norder")

        monkeypatch.setitem(methods.METHODS, "Ward", methods.Method("Ward", make))
        options = ("compare", iris, "--exclude", "target", "--methods", "Ward,K-means,AP")
        found = json.loads(call(*options, "--json").stdout)["methods"]
        assert found[1] == {"method": "Ward", "failed": "out of order"}
        assert "seconds" in found[2]
        assert "Ward failed: out of order" in call(*options).stdout

    def test_warnings_are_remarks(self, iris, monkeypatch):
        class Warns(KFuse):
            def fit(self, X, y=None):
                warnings.warn("not quite\nright", stacklevel=2)
                return super().fit(X, y)

        monkeypatch.setitem(methods.METHODS, "Ward", methods.Method("Ward", lambda *_: Warns()))
        assert "Ward: not quite right\n" in call("compare", iris, "--exclude", "target", "--methods", "Ward").stdout

    def test_one_cluster_has_no_scores(self):
        result = call("compare", "-", "-k", 1, "--methods", "K-means", stdin="x\n1\n2\n3\n")
        assert re.search(r"K-means +\d\.\d\d +1 +0 +- +- +- +1\.000", result.stdout)

    def test_missing_values_are_told(self):
        options = ("compare", "-", "--missing", "drop", "--methods", "K-means")
        assert "3 missing values" in call(*options, stdin=HOLES).stderr
        assert call(*options, "-q", stdin=HOLES).stderr == ""

    def test_what_cannot_be(self, iris, monkeypatch):
        fails(call("compare", iris, "--methods", "magic"), "no method 'magic'", "K-means")
        fails(call("compare", iris, "--truth", "no"), "no column 'no'")
        monkeypatch.setitem(methods.METHODS, "Ward", methods.Method("Ward", None, requires="not_installed"))
        fails(call("compare", iris, "--methods", "Ward"), "Ward needs not_installed: pip install not_installed")


class TestDatasets:
    @pytest.fixture(autouse=True)
    def _nowhere(self, monkeypatch, tmp_path):
        monkeypatch.delenv("KFUSE_DATA", raising=False)
        monkeypatch.setenv("KFUSE_CACHE", str(tmp_path / "cache"))

    def test_lists_all_and_says_where_they_are(self, monkeypatch, tmp_path):
        (tmp_path / "cache").mkdir()
        (tmp_path / "cache" / "jain.npz").touch()
        (tmp_path / "flame.npz").touch()
        monkeypatch.setenv("KFUSE_DATA", str(tmp_path))
        listed = {one["name"]: one for one in json.loads(call("datasets", "--json").stdout)["datasets"]}
        assert set(datasets.names()) < set(listed)
        places = {name: listed[name]["place"] for name in ("Flame", "Jain", "R15", "BreastCancer", "make_rings")}
        assert list(places.values()) == ["KFUSE_DATA", "cache", "download", "built in", "built in"]
        told = call("datasets").stdout
        assert all(name in told for name in listed)

    def test_describes_one(self):
        told = call("datasets", "breast cancer").stdout
        assert "BreastCancer: 569 rows, 30 columns, 2 clusters" in told
        assert "github.com" in call("datasets", "flame").stdout
        assert json.loads(call("datasets", "flame", "--json").stdout)["n_samples"] == 240

    @pytest.mark.parametrize("name", ["BreastCancer", "make_shapes"])
    def test_writes_one(self, name, tmp_path):
        out = tmp_path / "data.parquet"
        result = call("datasets", name, "-o", out)
        assert (result.exit_code, result.stdout) == (0, "")
        assert "true clusters in column 'class'" in result.stderr
        X, y = datasets.load(name)[:2] if name == "BreastCancer" else make_shapes()
        found = pl.read_parquet(out)
        np.testing.assert_array_equal(found.drop("class").to_numpy(), X)
        assert found["class"].to_list() == y.tolist()

    def test_to_standard_output_and_json(self, tmp_path):
        assert call("datasets", "make_moons", "--to", "csv").stdout.startswith("x1,x2,class\n")
        result = call("datasets", "make_moons", "-o", tmp_path / "m.csv", "--json", "-q")
        assert json.loads(result.stdout)["n_clusters"] == 2
        assert result.stderr == ""

    def test_what_cannot_be(self, tmp_path, monkeypatch):
        fails(call("datasets", "-o", tmp_path / "x.csv"), "name one")
        fails(call("datasets", "flam"), "Did you mean 'Flame'?", "make_rings")

        def offline(*_, **__):
            raise datasets.DownloadError("no network.")

        monkeypatch.setattr(datasets, "load", offline)
        fails(call("datasets", "Flame", "-o", tmp_path / "x.csv"), "no network")


class TestTargets:
    @needs_posix
    def test_a_device_that_is_full(self, data):
        if not os.path.exists("/dev/full"):
            pytest.skip("this system has no /dev/full")
        fails(call("cluster", data, "-k", 2, "-o", "/dev/full"), "/dev/full: no space left on device: choose another")
        with open("/dev/full", "wb") as full:
            command = [sys.executable, "-m", "kfuse.cli", "cluster", str(data), "-k", "2"]
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
        assert done.returncode == 1
        assert done.stderr == b"kfuse: standard output: no space left on device: choose another path\n"

    @needs_posix
    @pytest.mark.parametrize("name", ["labels.csv", "labels.parquet", "labels.jsonl"])
    def test_a_file_that_cannot_grow(self, data, name):
        out = data.with_name(name)
        out.write_text("old")
        code = (
            "import resource, kfuse.cli, kfuse.cli.writing as writing\n"
            "inner = writing.write_file\n"
            "def limited(*arguments):\n"
            "    resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))\n"
            "    inner(*arguments)\n"
            "writing.write_file = limited\n"
            "kfuse.cli.main()"
        )
        done = run("cluster", data, "-k", 2, "-o", out, code=code)
        assert done.returncode == 1
        assert done.stderr.decode() == f"kfuse: {out}: file too large: choose another path\n"
        assert out.read_text() == "old"
        assert sorted(data.parent.iterdir()) == sorted([data, out])

    @pytest.mark.parametrize("command", ["cluster", "plot", "report"])
    def test_a_target_that_is_read_only_after_all(self, data, command, monkeypatch):
        def refuse(*_):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))

        out = data.with_name({"cluster": "out.csv", "plot": "out.png", "report": "out.html"}[command])
        out.write_text("old")
        monkeypatch.setattr(files.os, "replace", refuse)
        fails(call(command, data, "-o", out), str(out), "read-only file system", "choose another path")
        assert out.read_text() == "old"
        assert sorted(data.parent.iterdir()) == sorted([data, out])

    @pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="nothing is read-only for the root user")
    def test_a_folder_without_permission(self, data):
        data.parent.chmod(0o500)
        try:
            fails(call("cluster", data, "-o", data.with_name("labels.csv")), "permission denied")
        finally:
            data.parent.chmod(0o700)
        assert list(data.parent.iterdir()) == [data]

    @needs_posix
    def test_a_closed_pipe_ends_quietly(self, data):
        reader, writer = os.pipe()
        os.close(reader)
        command = [sys.executable, "-m", "kfuse.cli", "cluster", str(data), "-k", "2"]
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
        os.close(writer)
        assert (done.returncode, done.stderr) == (1, b"")

    @pytest.mark.parametrize("command", [["plot"], ["report"], ["cluster", "-k", "2"]])
    def test_the_input_is_not_overwritten(self, tmp_path, command):
        data = tmp_path / "data.png"
        data.write_text(DATA)
        fails(call(*command, data, "--from", "csv", "-o", data), "is the input")


def test_too_little_memory_is_told(data, monkeypatch):
    def fail(*_):
        raise MemoryError

    monkeypatch.setattr(reading, "read", fail)
    fails(call("cluster", data), "not enough memory: use fewer rows or columns")


class TestTerminal:
    def test_without_unicode(self, monkeypatch):
        monkeypatch.setattr(display.Console, "encoding", "ascii")
        assert "█" not in call("suggest", "-", stdin=DATA).stdout

    @needs_posix
    def test_progress_and_summary(self, iris):
        ours, theirs = os.openpty()
        command = [
            sys.executable,
            "-m",
            "kfuse.cli",
            "compare",
            str(iris),
            "--exclude",
            "target",
            "--methods",
            "K-means",
        ]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs, check=True)
        os.close(theirs)
        told = os.read(ours, 100_000).decode()
        os.close(ours)
        assert "[kfuse] neighbours (the first time on a machine" in told
        assert "K-means, 1 of 1" in told
        assert b"K-means" in done.stdout


class TestHelp:
    def test_every_command_explains_itself(self):
        told = call("--help").stdout
        for command in ("cluster", "suggest", "plot", "report", "compare", "demo", "datasets"):
            assert command in told
            assert call(command, "--help").exit_code == 0

    def test_help_imports_nothing_heavy(self):
        code = (
            "import sys, kfuse.cli\n"
            "try: kfuse.cli.main()\n"
            "except SystemExit: pass\n"
            "heavy = {'numpy', 'scipy', 'sklearn', 'numba', 'polars', 'matplotlib', 'pandas', 'bokeh'}\n"
            "sys.exit(str(heavy & set(sys.modules) or 0))"
        )
        assert run("cluster", "--help", code=code).stderr == b"0\n"


def test_compare_of_one_row_says_what_fails():
    result = call("compare", "-", "--json", stdin="x,y\n1,2\n")
    rows = {row["method"]: row for row in json.loads(result.stdout)["methods"]}
    assert rows["kFuse"]["n_clusters"] == 1
    assert rows["DBSCAN"]["failed"]

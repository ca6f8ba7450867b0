"""The other commands: what each writes and prints, and what --json reports."""

import json
import re
import sys
import warnings
import xml.etree.ElementTree as ET

import numpy as np
import polars as pl
import pytest
from sklearn import metrics
from sklearn.datasets import load_iris

from kfuse import KFuse, datasets
from kfuse.baselines import methods
from kfuse.cli.commands import compare
from kfuse.datasets import make_shapes
from tests.cli.command_line import DATA, HOLES, call, fails, load


class TestSuggest:
    def test_ranks_as_the_estimator_does(self, iris):
        expected = KFuse().fit(load(iris)[:, :4]).tree_.suggest(3)
        found = json.loads(call("suggest", iris, "--exclude", "target", "-n", 3, "--json").stdout)["suggestions"]
        assert [one["n_clusters"] for one in found] == [one.n_clusters for one in expected]
        assert [one["contrast"] for one in found] == pytest.approx([one.contrast for one in expected], abs=1e-4)
        for one, wanted in zip(found, expected, strict=True):
            assert one["p_value"] == pytest.approx(wanted.p_value, rel=1e-3)
            assert (one["sign"], one["weakest_border"]) == (wanted.sign, list(wanted.weakest_border))
            assert (one["next_split"]["cluster"], one["next_split"]["sizes"]) == (
                wanted.next_split.cluster,
                list(wanted.next_split.sizes),
            )
        assert all(len(one["sizes"]) == one["n_clusters"] and sum(one["sizes"]) == 150 for one in found)

    def test_tells_people(self, iris):
        result = call("suggest", iris, "--exclude", "target")
        assert f"{iris}: 150 rows, 4 columns" in result.stdout
        assert re.search(r"1 +2 +< 1e-09 +peaks +0\.\d{3} +100, 50 *\n", result.stdout)
        assert result.stderr == ""

    def test_one_cluster_is_explained(self):
        text = pl.DataFrame({"x": np.zeros(5)}).write_csv()
        result = call("suggest", "-", stdin=text)
        assert "counts as one cluster" in result.stdout
        found = json.loads(call("suggest", "-", "--json", stdin=text).stdout)["suggestions"]
        assert found[0]["weakest_inside"] is None
        assert (found[0]["p_value"], found[0]["next_split"]) == (None, None)

    def test_says_what_became_of_missing_values(self):
        result = call("suggest", "-", stdin=HOLES)
        assert re.search(r"x +number +min-max +1 missing value: the median *\n", result.stderr)
        assert re.search(r"y +number +min-max +2 missing values: the median *\n", result.stderr)
        assert call("suggest", "-", "-q", stdin=HOLES).stderr == ""

    def test_a_least_size_is_refused(self, data):
        fails(call("suggest", data, "--min-cluster-size", 3), "any size: leave out --min-cluster-size")


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

    @pytest.mark.parametrize(("options", "ids"), [(["--id", "n"], ["a", "c", "d"]), ([], ["1", "3", "4"])])
    def test_rows_keep_their_names(self, tmp_path, options, ids):
        out = tmp_path / "report.html"
        text = "n,x\na,1\nb,\nc,2\nd,3\n"
        call("report", "-", "--columns", "x", "--missing", "drop", "-o", out, "-q", *options, stdin=text)
        assert f'"ids":{json.dumps(ids, separators=(",", ":"))}' in out.read_text(encoding="utf-8")


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

    def test_each_method_that_has_finished_is_a_line_of_the_log(self, iris, monkeypatch):
        def refuse(*_, **__):
            raise ValueError("no")

        monkeypatch.setitem(methods.METHODS, "Ward", methods.METHODS["Ward"]._replace(make=refuse))
        options = ("compare", iris, "--exclude", "target", "--methods", "K-means,Ward")
        lines = r"^kfuse: K-means, 1 of 2: 2 clusters, \d+\.\d\d s\nkfuse: Ward, 2 of 2: failed$"
        assert re.search(lines, call(*options).stderr, re.MULTILINE)
        assert call(*options, "-q").stderr == ""

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
        monkeypatch.setattr(compare, "LARGEST", dict.fromkeys(methods.METHODS, 100) | {"K-means": 150})
        monkeypatch.setattr(compare, "SAMPLED", 50)
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

    def test_one_row_says_what_fails(self):
        result = call("compare", "-", "--json", stdin="x,y\n1,2\n")
        rows = {row["method"]: row for row in json.loads(result.stdout)["methods"]}
        assert rows["kFuse"]["n_clusters"] == 1
        assert rows["DBSCAN"]["failed"]


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


class TestDemo:
    def test_writes_data_labels_and_picture(self, tmp_path):
        folder = tmp_path / "a" / "b"
        result = call("demo", "--out", folder)
        assert result.exit_code == 0
        assert sorted(path.name for path in folder.iterdir()) == ["clusters.png", "data.csv", "labels.csv"]
        assert (folder / "clusters.png").read_bytes().startswith(b"\x89PNG")
        assert "1,000 rows, found 7 clusters" in result.stdout
        for name in ("data.csv", "labels.csv", "clusters.png"):
            assert str(folder / name) in result.stdout
        assert "data.csv -o labels.csv\n" in result.stdout
        again = call("cluster", folder / "data.csv")
        assert again.stdout == (folder / "labels.csv").read_text()

    def test_works_without_matplotlib(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
        result = call("demo", "--out", tmp_path)
        assert result.exit_code == 0
        assert sorted(path.name for path in tmp_path.iterdir()) == ["data.csv", "labels.csv"]
        assert "pip install 'kfuse[plot]'" in result.stdout

    def test_a_file_in_place_of_the_folder(self, data):
        fails(call("demo", "--out", data), str(data), "choose another path")
        assert data.read_text() == DATA

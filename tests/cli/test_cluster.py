"""`kfuse cluster`: labels, options, missing values, and one-line errors for bad input."""

import csv
import gzip
import io
import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.preprocessing import minmax_scale

from kfuse import KFuse, __version__
from kfuse.cli import fitting
from kfuse.cli.options import Method
from kfuse.datasets import make_shapes
from tests.cli.command_line import DATA, HOLES, TWO, call, fails, load


class TestLabels:
    def test_writes_one_label_per_row(self, data):
        out = data.with_name("labels.csv")
        result = call("cluster", data, "-k", 2, "-o", out)
        assert (result.exit_code, result.stdout) == (0, "")
        assert result.stderr.startswith("kfuse: 8 rows, 2 clusters, ")
        assert result.stderr.endswith(f" s -> {out}\n")
        assert out.read_text() == TWO
        assert sorted(data.parent.iterdir()) == [data, out]

    def test_agrees_with_the_estimator_on_scaled_data(self):
        X, _ = make_shapes(300)
        X *= [1, 1000]
        text = "x,y\n" + "".join(f"{x!r},{y!r}\n" for x, y in X.tolist())
        for option, Z in (("--scale=auto", minmax_scale(X)), ("--scale=none", X), ("--no-scale", X)):
            result = call("cluster", "-", "-k", 7, option, stdin=text)
            found = pl.read_csv(io.StringIO(result.stdout))["label"].to_numpy()
            np.testing.assert_array_equal(found, KFuse(n_clusters=7).fit_predict(Z))

    def test_keep_hands_the_input_on_as_written(self, tmp_path):
        path = tmp_path / "data.csv"
        path.write_text('id,"größe, cm",y\n007,1.50,1e0\n"a, b",1.0,1\n,9,8\n"q""q",9.10,8\n', encoding="utf-8")
        result = call("cluster", path, "-k", 1, "--keep", "--exclude", "id")
        assert result.stdout == ('id,"größe, cm",y,label\n007,1.50,1e0,0\n"a, b",1.0,1,0\n,9,8,0\n"q""q",9.10,8,0\n')

    @pytest.mark.parametrize("names", ['x,"a, b"', '"a, b", x'])
    def test_columns_takes_quoted_names(self, names):
        text = 'name,x,"a, b"\n' + "".join(f"n,{row}\n" for row in DATA.splitlines()[1:])
        assert call("cluster", "-", "-k", 2, "--columns", names, stdin=text).stdout == TWO

    @pytest.mark.parametrize(
        "text",
        [
            DATA.replace("\n", "\r\n"),
            DATA + "\n\r\n",
            "\ufeff" + DATA,
            DATA.rstrip(),
            DATA.replace(",", " , "),
            DATA.replace("x,y", "ä,日本"),
        ],
        ids=["windows", "empty last lines", "byte order mark", "no last newline", "spaces", "unicode header"],
    )
    def test_reads_what_programs_write(self, text):
        assert call("cluster", "-", "-k", 2, stdin=text.encode()).stdout == TWO

    def test_constant_columns_are_fine(self):
        text = "c," + DATA.replace("\n", "\n5,").removesuffix("5,")
        assert call("cluster", "-", "-k", 2, stdin=text).stdout == TWO

    def test_dash_is_standard_output(self, data):
        assert call("cluster", data, "-k", 2, "-o", "-").stdout == TWO

    def test_warnings_are_one_line_each(self, monkeypatch):
        class Warns(KFuse):
            def fit(self, X, y=None):
                warnings.warn("first\nand second line", stacklevel=2)
                warnings.warn("another", stacklevel=2)
                warnings.warn("not for users", DeprecationWarning, stacklevel=2)
                return super().fit(X, y)

        monkeypatch.setattr(fitting, "KFuse", Warns)
        result = call("cluster", "-", "-k", 2, stdin=DATA)
        assert (result.exit_code, result.stdout) == (0, TWO)
        assert result.stderr == "kfuse: warning: first and second line\nkfuse: warning: another\n"

    def test_finds_the_number(self):
        X, y = make_shapes()
        text = "x,y\n" + "".join(f"{x!r},{y!r}\n" for x, y in X.tolist())
        found = pl.read_csv(io.StringIO(call("cluster", "-", stdin=text).stdout))["label"].to_numpy()
        np.testing.assert_array_equal(found, KFuse().fit_predict(minmax_scale(X)))
        assert found.max() == y.max()

    @pytest.mark.parametrize(
        ("n_clusters", "words"), [(None, "40 rows, found 2 clusters, "), (2, "40 rows, 2 clusters, ")]
    )
    def test_summary_says_if_the_number_was_found(self, n_clusters, words):
        X = np.random.RandomState(0).normal(size=(40, 2)) + 50 * (np.arange(40) % 2)[:, None]
        assert fitting.fit(X, Method(n_clusters), "data").summary.startswith(words)

    def test_one_row_or_one_value(self):
        assert call("cluster", "-", stdin="x\n1\n").stdout == "label\n0\n"
        assert call("cluster", "-", stdin="x\n1\n1\n1\n").stdout == "label\n0\n0\n0\n"

    def test_no_header_names_the_columns(self):
        text = DATA.removeprefix("x,y\n")
        assert call("cluster", "-", "-k", 2, "--no-header", stdin="\n" + text).stdout == TWO
        kept = call("cluster", "-", "-k", 2, "--no-header", "--keep", "--columns", "column_2", stdin=text).stdout
        assert kept.startswith("column_1,column_2,label\n0,0,0\n0.1,0,0\n")
        assert kept.count("\n") == 9

    def test_header_lets_numbers_be_names(self):
        assert call("cluster", "-", "-k", 2, "--header", stdin=DATA.replace("x,y", "0,1")).stdout == TWO

    @pytest.mark.parametrize(("name", "character"), [(";", ";"), ("tab", "\t"), ("\\t", "\t"), ("|", "|"), (",", ",")])
    def test_separator_is_that_of_input_and_output(self, name, character):
        text = DATA.replace(",", character)
        assert call("cluster", "-", "-k", 2, "--separator", name, stdin=text).stdout == TWO
        kept = call("cluster", "-", "-k", 1, "--separator", name, "--keep", stdin=text).stdout
        assert kept.splitlines()[:2] == [character.join(["x", "y", "label"]), character.join("000")]

    @pytest.mark.parametrize(("character", "name"), [(";", "';'"), ("\t", "a tab"), ("|", "'|'")])
    @pytest.mark.parametrize("value", ["0.1", "0,1"])
    def test_a_separator_is_found(self, character, name, value):
        text = DATA.replace(",", character).replace("0.1", value)
        result = call("cluster", "-", "-k", 2, stdin=text)
        assert (result.stdout, result.stderr) == (TWO, f"kfuse: standard input has {name} between its columns\n")
        assert call("cluster", "-", "-k", 2, "--quiet", stdin=text).stderr == ""

    def test_a_separator_that_was_found_is_written_again(self):
        kept = call("cluster", "-", "-k", 1, "--keep", stdin=DATA.replace(",", ";")).stdout
        assert kept.startswith("x;y;label\n0;0;0\n")

    def test_a_character_of_the_header_alone_separates_nothing(self):
        assert call("cluster", "-", "-k", 1, stdin="a|b\n1\n2\n").stdout == "label\n0\n0\n"

    def test_blank_lines_are_no_rows(self):
        text = 'x,note\n\n1,"a\n\nb"\n  \n2,c\r\n\r\n,d\n'
        assert call("cluster", "-", "-k", 1, "--keep", "-q", stdin=text).stdout == (
            'x,note,label\n1,"a\n\nb",0\n2,c,0\n,d,\n'
        )
        fails(call("cluster", "-", "--missing", "refuse", "--columns", "x", stdin=text), "no value in data row 3")

    def test_a_first_line_that_may_be_a_comment_is_told(self):
        told = call("cluster", "-", stdin="# x,y\n1,2\n2,3\n4,4\n").stderr
        assert "begins with '#': if it is a comment, remove such lines" in told
        assert "'#'" not in call("cluster", "-", stdin="#x,y\n1,2\n2,3\n4,4\n").stderr

    def test_a_given_separator_is_believed(self):
        assert call("cluster", "-", "--separator", ",", stdin="a|b\n1\n").stdout == "label\n0\n"

    @pytest.mark.parametrize(("header", "exclude"), [("x,y,", ""), ("x,y, z", "z"), ('x,y,"z\nz"', '"z\nz"')])
    def test_odd_names_can_be_left_out(self, header, exclude):
        text = header + "\n" + "".join(f"{row},\n" for row in DATA.splitlines()[1:])
        assert call("cluster", "-", "-k", 2, stdin=text).stdout == TWO  # nothing in it, so it is left out anyway
        assert call("cluster", "-", "-k", 2, "--exclude", exclude, stdin=text).stdout == TWO

    def test_reads_gzip(self):
        packed = gzip.compress(DATA.encode())
        assert call("cluster", "-", "-k", 2, stdin=packed).stdout == TWO
        fails(call("cluster", "-", stdin=packed[:-9]), "corrupt gzip file")


class TestOptions:
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
            "decisions": [
                {"column": name, "role": "number", "used": True, "reason": "", "scaling": "min-max", "imputed": 0}
                for name in ("x", "y")
            ],
            "scale": "auto",
            "missing": {"mode": "impute", "values": 0, "rows": 0, "dropped": 0},
            "n_clusters": 2,
            "number_found": False,
            "warnings": [],
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
        fails(call("cluster", data, "--id", "x", "--label", "x"), "already has a column 'x'", "--label NAME")

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
            (["-k", "auto"], {}),
            (["-k", "3:4"], {"n_clusters": (3, 4)}),
            (["--min-cluster-size", "60"], {"min_cluster_size": 60}),
            (["-k", "6", "--min-cluster-size", "10"], {"n_clusters": 6, "min_cluster_size": 10}),
        ],
    )
    def test_options_reach_the_estimator(self, iris, options, parameters):
        result = call("cluster", iris, "--exclude", "target", "--no-scale", *options)
        found = pl.read_csv(result.stdout.encode())["label"].to_list()
        assert found == KFuse(**parameters).fit_predict(load_iris().data).tolist()

    def test_approximate_neighbours_take_the_seed(self):
        X, _ = make_shapes(400)
        text = pl.DataFrame(X, schema=["x", "y"]).write_csv()
        options = ["--neighbors", "approximate", "--seed", "3", "--no-scale"]
        found = pl.read_csv(call("cluster", "-", *options, stdin=text).stdout.encode())["label"].to_list()
        assert found == KFuse(neighbors="approximate", random_state=3).fit_predict(X).tolist()

    def test_what_the_estimator_refuses_names_the_data(self, data):
        fails(call("cluster", data, "--metric", "cosine", "--no-scale"), f"{data} cannot be clustered: data row 1 is")
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


class TestMissing:
    def test_refuse_counts(self):
        refuse = ("cluster", "-", "--missing", "refuse")
        fails(call(*refuse, stdin=HOLES), "'x' has 'NA' in data row 4", "use --missing impute or --missing drop")
        fails(call(*refuse, "--columns", "y", stdin=HOLES), "'y' has no value in data row 2 and 1 other:")
        fails(call(*refuse, stdin="x,c\n1,a\n2,b\n3,\n4,b\n6,a\n"), "'c' has no value in data row 3")

    def test_drop_leaves_the_label_empty(self, tmp_path):
        out = tmp_path / "labels.csv"
        result = call("cluster", "-", "-k", 2, "--missing", "drop", "-o", out, stdin=HOLES)
        assert out.read_text() == 'label\n1\n""\n1\n""\n0\n0\n""\n0\n'
        assert "kfuse: 3 missing values in 3 rows: these rows get no label\n" in result.stderr
        found = pd.read_csv(out)["label"].astype("Int64")  # a reader that skips empty lines
        assert [None if one is pd.NA else one for one in found] == [1, None, 1, None, 0, 0, None, 0]

    def test_drop_beside_other_columns(self):
        result = call("cluster", "-", "-k", 1, "--missing", "drop", "--keep", stdin="x,y\n1,2\n,3\n5,4\n")
        assert result.stdout == "x,y,label\n1,2,0\n,3,\n5,4,0\n"

    def test_the_median_is_filled_in(self):
        result = call("cluster", "-", "-k", 2, "--no-scale", stdin=HOLES)
        x, y = [0, 0.1, 0, 9, 9, 9.1, 9, 9.1], [0, 4.55, 0.1, 0.1, 9, 9, 4.55, 9.1]
        found = pl.read_csv(result.stdout.encode())["label"].to_list()
        assert found == KFuse(2).fit_predict(np.column_stack([x, y])).tolist()

    def test_rows_with_too_many_missing_values_get_no_label(self):
        text = "x,y,z\n" + "".join(f"{row},{row[:1]}\n" for row in DATA.splitlines()[1:]) + "1,,\n,2,0\n"
        result = call("cluster", "-", "-k", 2, stdin=text)
        assert result.stdout.splitlines()[-2:] == ['""', "0"]
        assert "kfuse: 1 row with too many missing values: no label\n" in result.stderr

    @pytest.mark.parametrize("mode", ["drop", "impute"])
    def test_json_says_what_was_done(self, mode):
        found = json.loads(call("cluster", "-", "--missing", mode, "--json", stdin=HOLES).stdout)
        assert found["missing"] == {"mode": mode, "values": 3, "rows": 3, "dropped": 3 if mode == "drop" else 0}
        assert [one["imputed"] for one in found["decisions"]] == ([0, 0] if mode == "drop" else [1, 2])
        assert found["rows"] == 8
        assert sum(found["sizes"]) == (5 if mode == "drop" else 8)

    def test_a_pipe_is_told_too(self):
        result = call("cluster", "-", "-k", 2, "--missing", "drop", stdin=HOLES)
        assert result.stderr == "kfuse: 3 missing values in 3 rows: these rows get no label\n"

    def test_other_columns_may_have_holes(self):
        text = "id,x\n,1\nb,2\n"
        assert call("cluster", "-", "-k", 1, "--id", "id", stdin=text).stdout == "id,label\n,0\nb,0\n"

    def test_nothing_left(self):
        fails(call("cluster", "-", "--missing", "drop", stdin="x,y\n1,\n,2\n"), "every row", "--missing impute")
        assert call("cluster", "-", "-k", 1, stdin="x,y\n1,\n,2\n").exit_code == 0
        fails(call("cluster", "-", stdin="name\nAda\nBo\n"), "no column", "'name' is an identifier (names the rows)")

    def test_what_cannot_be_computed_with_is_left_out(self):
        rows = DATA.splitlines()
        text = "\n".join([rows[0] + ",z", *(f"{row},{i}" for i, row in enumerate(rows[1:]))])
        text = text.replace(",1\n", ",1e308\n").replace(",2\n", ",-1e308\n")
        result = call("cluster", "-", "-k", 2, stdin=text)
        assert result.stdout == TWO
        assert "values too large to compute with" in result.stderr
        fails(call("cluster", "-", "--columns", "z", stdin=text), "no column", "values too large to compute with")

    def test_one_infinite_value_costs_no_column(self):
        rows = "\n".join(f"{i % 2 * 100 + i},{i}" for i in range(20))
        result = call("cluster", "-", "-k", 2, stdin=f"x,y\n{rows}\ninf,7.5\n")
        assert result.stdout == call("cluster", "-", "-k", 2, stdin=f"x,y\n{rows}\n,7.5\n").stdout
        assert "1 infinite value taken as missing" in result.stderr


class TestBadInput:
    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("", ["standard input is empty"]),
            (" \n\n", ["standard input is empty"]),
            ("\ufeff", ["standard input is empty"]),
            ("x,y\n", ["header but no rows"]),
            ("a\np\nq\n", ["no column of standard input is left", "'a' is an identifier", "--columns NAME,NAME"]),
            (
                "a\n" + "".join(f"the text of row {i}\n" for i in range(30)),
                ["'a' is text (free text)", "such as embeddings"],
            ),
            ("a\n2001-01-01\n2002-02-02\n", ["'a' is a date (--number a clusters by its time)"]),
            ("x\ninf\n1\n", ["-k 2 is more than the 1 row of standard input"]),
            ("x y\n1 2\n3 4\n", ["spaces seem to separate its columns: use --separator ' '"]),
            ("x   y\n1   2\n30  4\n", ["spaces seem to separate its columns: put one comma in their place"]),
            ("# by me\nx,y\n1,2\n3,4\n", ["the first line begins with '#': if it is a comment, remove such lines"]),
            ("# by me, too\nx,y\n1,2\n3,4\n", ["first line begins with '#'"]),
            ("# by me\nx\n1\n3\n", ["first line begins with '#'"]),
            ("x,y\n1,2\n3,4,5\n", ["row 2", "3 values", "double quotes"]),
            ("x,y\n1,2\n", ["-k 2", "1 row of", "at most 1"]),
            ('x,y\n1,"2\n', ["standard input", "closed quotes"]),
            (b"x,y\n1,\x81\n", ["line 2", "not UTF-8", "convert the file to UTF-8"]),
            (b"x,\xe4\n1,\x02\n", ["line 1", "not UTF-8", "convert the file to UTF-8"]),
            (b"\xff\xfex,y\n1,2\n2", ["damaged UTF-16", "convert it to UTF-8"]),
            ("x,y\n1,2\n".encode("utf-16-be"), ["zero bytes", "UTF-16", "convert"]),
            ("x,y\n1,2\n1," + "9" * 200_000 + ",3\n", ["data row 2", "3 values, the header 2", "double quotes"]),
            ("5.1,3.5,5.1\n4.9,3,1\n", ["every column name", "a number", "--no-header"]),
            ("1,2\n", ["every column name", "--no-header"]),
        ],
    )
    def test_is_told_in_one_line(self, text, words):
        fails(call("cluster", "-", "-k", 2, stdin=text), *words)

    def test_names_the_column_that_was_asked_for(self):
        text = "x,y,z,w,note\n" + "".join(f"{i},{i % 7},{i % 5},{i % 3},the text of row {i}\n" for i in range(30))
        result = call("cluster", "-", "--columns", "note", stdin=text)
        fails(result, "'note' is text (free text); turn texts into columns of numbers first")
        assert "'x'" not in result.stderr

    def test_overlong_rows_leave_the_limit_of_csv(self):
        before = csv.field_size_limit()
        fails(call("cluster", "-", stdin="x\n1,2\n"), "data row 1")
        assert csv.field_size_limit() == before

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("1,2\n3,4,5\n", ["data row 2 has 3 values, the first row 2"]),
            ("a,b\nc,d\n", ["'column_1' is an identifier", "'column_2' is an identifier"]),
            ("\n", ["is empty"]),
        ],
    )
    def test_without_a_header(self, text, words):
        fails(call("cluster", "-", "--no-header", stdin=text), *words)

    @pytest.mark.parametrize("separator", ["", "ab", '"', "\n", "ä"])
    def test_separators_that_cannot_be(self, data, separator):
        fails(call("cluster", data, "--separator", separator), "--separator ';' or --separator tab")

    @pytest.mark.parametrize("option", ["--columns", "--exclude"])
    def test_line_breaks_between_names(self, data, option):
        fails(call("cluster", data, option, "a\nb"), rf"{option} 'a\nb'", "line break", "commas", "double quotes")

    def test_folder_or_missing_file(self, tmp_path):
        fails(call("cluster", tmp_path, "-k", 2), str(tmp_path), "directory", "name a file")
        fails(call("cluster", tmp_path / "no.csv", "-k", 2), "no.csv", "no such file", "check the path")

    def test_unknown_columns(self, data):
        fails(call("cluster", data, "-k", 2, "--columns", "x,z"), "'z'", "choose from 'x', 'y'")
        fails(call("cluster", data, "-k", 2, "--exclude", "z"), "'z'")
        fails(call("cluster", data, "-k", 2, "--exclude", "x,y"), "no column of", "is left")

    def test_keep_with_a_label_column(self):
        fails(call("cluster", "-", "-k", 1, "--keep", stdin="x,label\n1,2\n"), "'label'", "--label NAME")

    @pytest.mark.parametrize("number", ["0", "two", "6:2", "0:3", "2:", ":", "1:2:3", "2.5", "-1", "²"])
    def test_numbers_of_clusters_that_cannot_be(self, data, number):
        result = call("cluster", data, f"-k{number}")
        assert (result.exit_code, result.stdout) == (2, "")
        told = " ".join(result.stderr.replace("│", "").split())
        assert f"'{number}' is neither a number from 1 on, nor a range such as 2:6, nor auto." in told

    def test_more_clusters_or_larger_ones_than_rows(self, data):
        fails(call("cluster", data, "-k", "9:12"), "-k 9:12 is more than the 8 rows")
        fails(call("cluster", data, "--min-cluster-size", 9), "--min-cluster-size 9 is more than the 8 rows")

    def test_a_number_from_a_range_was_found(self, data):
        found = json.loads(call("cluster", data, "-k", "2:3", "--json").stdout)
        assert (found["n_clusters"], found["number_found"]) == (2, True)

    @pytest.mark.parametrize("arguments", [["--min-cluster-size", "0"], ["-k", "2", "--what"]])
    def test_usage_errors(self, data, arguments):
        result = call("cluster", data, *arguments)
        assert (result.exit_code, result.stdout) == (2, "")

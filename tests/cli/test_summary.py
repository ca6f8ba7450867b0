"""What people see: the summary on a terminal, what became of the columns, shell completion, and odd files."""

import json
import os
import pickle
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from kfuse import KFuse, tables
from kfuse.cli import decisions, fitting, summary
from kfuse.cli.errors import in_options
from kfuse.cli.options import Choice, Method, Source
from kfuse.description import describe_labels
from kfuse.description.columns import read
from kfuse.tables.errors import Setting
from tests.cli.command_line import DATA, ONE_BY_ONE, TWO, call, fails, needs_posix
from tests.forked import run_code
from tests.tables.lookalikes import TABLES, airports, penguins


def on_a_terminal(*commands):
    """Run commands one after the other with standard output and standard error on one pseudo-terminal."""
    ours, theirs = os.openpty()
    environment = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "xterm"}
    given = [str(part) for each in commands for part in (*each, ";")]
    shown, terminal = [], os.ttyname(theirs)
    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(run_code, ONE_BY_ONE, *given, stdout=terminal, stderr=terminal, **environment)
        ended.add_done_callback(lambda _: os.close(theirs))
        with suppress(OSError):  # raised by Linux when the other end is closed
            while part := os.read(ours, 1 << 16):
                shown.append(part)
    assert ended.result().returncode == 0
    os.close(ours)
    text = re.sub(r"\x1b\[[\d;]*[A-Za-z]|\r", "", b"".join(shown).decode())
    *screens, codes = text.split("\x1e\x1e")
    return json.loads(codes), screens


def shown(frame, capsys, method=None, choice=None):
    method, choice = method or Method(), choice or Choice()
    table = tables.Table(frame, frame.columns, is_text=False, name="data.csv")
    work = fitting.from_table(table, choice, method, quiet=True)
    summary.show(work, Source(Path("my data.csv")), choice)
    return " ".join(capsys.readouterr().out.split())


class TestTerminal:
    @needs_posix
    def test_shows_a_summary_instead_of_labels(self, tmp_path):
        path = tmp_path / "penguins.csv"
        penguins().write_csv(path)
        codes, (text,) = on_a_terminal(["cluster", path, "-k", "3"])
        assert codes == [0]
        words = (
            "species",
            "one-hot",
            "clustered by",
            "239 rows, 3 clusters",
            "cluster",
            "share",
            "Next",
            "-o labels.csv",
        )
        flowing = " ".join(text.split())  # a long path breaks lines
        for word in words:
            assert word in flowing
        assert "1 row with too many missing values: no label" in text
        assert not re.search(r"^label$", text, re.MULTILINE)

    @needs_posix
    def test_shows_labels_if_asked_to(self, data):
        options = [["-o", "-"], ["--to", "csv"], ["--keep"]]
        codes, screens = on_a_terminal(*(["cluster", data, "-k", "2", *option] for option in options))
        assert codes == [0, 0, 0]
        for text in screens:
            assert "label\n" in text
            assert "Next" not in text


class TestSummary:
    def test_every_cluster_has_a_sentence(self, capsys):
        said = shown(penguins(), capsys, Method(n_clusters=3))
        assert said.count(" rows: ") == 3
        assert "species = Gentoo" in said
        assert "The number of clusters was given; by itself, the data suggests" in said

    def test_next_commands_keep_the_choice(self, capsys):
        said = shown(penguins(), capsys, choice=Choice(exclude="species", number="year"))
        assert "kfuse cluster 'my data.csv' --exclude species --number year -o labels.csv" in said
        assert "kfuse report 'my data.csv' --exclude species --number year" in said

    def test_next_commands_keep_how_the_table_is_read_scaled_and_clustered(self, capsys):
        frame = penguins()
        work = fitting.from_table(
            tables.Table(frame, frame.columns, is_text=False, name="data.csv"),
            choice := Choice(missing="drop", scale="minmax"),
            Method(n_clusters=2, outliers="label", metric="manhattan", neighbors="brute"),
            quiet=True,
        )
        summary.show(work, Source(Path("d.txt"), form="csv", separator=";", header=True), choice)
        read, prepared = "--header", "--missing drop --scale minmax --from csv --separator ';'"
        clustered = "--outliers label --metric manhattan --neighbors brute -k 2"
        said = " ".join(capsys.readouterr().out.split())
        assert f"kfuse cluster d.txt {read} {prepared} {clustered} -o labels.csv" in said
        no_header = Source(Path("d.txt"), header=False)
        assert summary._spelled(no_header, Choice(no_scale=True), KFuse()) == ["--no-header", "--scale none"]

    def test_next_commands_keep_the_number_and_offer_another(self, capsys):
        said = shown(penguins(), capsys, Method(n_clusters=3))
        assert "kfuse cluster 'my data.csv' -k 3 -o labels.csv" in said
        assert "kfuse report 'my data.csv' -k 3" in said
        other = re.search(r"-k (\d+) # another number", said)
        assert other[1] not in ("1", "3")

    @pytest.mark.parametrize(
        ("method", "options", "words"),
        [
            (Method(n_clusters=(2, 3)), "-k 2:3", "2 clusters, the best of the 2 to 3 that were allowed"),
            (Method(min_cluster_size=20), "--min-cluster-size 20", "5 clusters of at least 20 rows"),
        ],
    )
    def test_options_that_limit_the_number_are_named_and_kept(self, capsys, method, options, words):
        X = np.random.default_rng(0).normal(size=(140, 2)) / 9
        X[:90] += (np.arange(90) % 3)[:, None] * [3, 1]
        X[90:] += np.array([[0, 9], [0, 12], [0, 15], [0, 18]])[np.arange(50) % 4]
        said = shown(pl.DataFrame(X), capsys, method)
        assert f"{words}: by itself, the data suggests 7." in said
        assert f"kfuse cluster 'my data.csv' {options} -o labels.csv" in said
        assert f"kfuse report 'my data.csv' {options}" in said

    def test_how_clearly_the_number_stands_out(self, capsys, monkeypatch):
        frame = pl.DataFrame(np.random.default_rng(0).normal(size=(90, 2)) + 9 * (np.arange(90) % 3)[:, None])
        for p_value, word in (
            (1e-4, "clearly (p = 0.0001)"),
            (0.005, "somewhat (p = 0.005)"),
            (0.04, "little (p = 0.04)"),
        ):
            suggest = KFuse().fit(frame).tree_.suggest

            def ranked(_, n=5, p_value=p_value, suggest=suggest):
                return [one._replace(p_value=p_value) for one in suggest(n)]

            monkeypatch.setattr("kfuse.tree.FusionTree.suggest", ranked)
            said = shown(frame, capsys)
            assert f"The 3 clusters stand out {word}." in said
            assert said.count("nearly as likely") == (p_value == 0.04)  # said once is enough

    def test_another_number_is_spelled_as_an_option(self):
        remark = tables.Advice("number", ("try ", Setting("n_clusters", 23), " or ", Setting("n_clusters", 8)))
        assert in_options(remark) == "try -k 23 or -k 8"

    def test_one_cluster(self, capsys):
        said = shown(pl.DataFrame({"x": [1.0] * 30}), capsys)
        assert "No number of clusters stands out, so the data counts as one." in said

    def test_noise_and_warnings(self, capsys):
        X = np.vstack([np.random.default_rng(0).normal(size=(60, 2)), [[40, 40]]])
        frame = pl.DataFrame(X, schema=["x", "y"]).with_columns(row=pl.Series(range(61)))
        said = shown(frame, capsys, Method(outliers="label"), Choice(columns="row,x,y"))
        assert "are noise." in said
        assert "Beware: column 'row' counts the rows: leave it out with --exclude row." in said

    def test_many_clusters_are_not_all_shown(self, capsys):
        X = np.repeat(np.arange(25.0), 8)[:, None] * 50 + np.random.default_rng(0).normal(size=(200, 2))
        said = shown(pl.DataFrame(X), capsys, Method(n_clusters=25))
        assert re.search(r" 20 to 24 \d+ \d+\.\d% ", said)
        assert said.count(" rows: ") == 20
        assert "These are the 10 largest, and the 10 others that a column sets apart most clearly." in said

    def test_of_many_clusters_the_clearest_are_described(self):
        labels = np.concatenate([np.repeat(np.arange(29), 20), np.full(5, 29)])
        overlapping = labels + np.random.default_rng(0).normal(size=labels.size)
        columns = read(pl.DataFrame({"x": np.where(labels == 29, 90, overlapping)}))
        told = [one.label for one in summary.worth_telling(describe_labels(columns, labels))]
        assert told[:10] == list(range(10))
        assert told[-1] == 29
        assert len(told) == 20

    def test_of_many_clusters_one_without_a_sentence_is_not_described(self):
        """A single row differs from all others, but by no more than chance."""
        labels = np.append(np.repeat(np.arange(29), 20), 29)
        values = labels + np.random.default_rng(0).normal(size=labels.size)
        values[-1] = 40.0
        found = describe_labels(read(pl.DataFrame({"x": values})), labels)
        assert found[29].sentence == "1 row: no single column sets it apart."
        assert 29 not in [one.label for one in summary.worth_telling(found)]

    def test_no_number_is_offered_that_the_data_does_not_have(self, capsys):
        same = pl.DataFrame({"x": [1.0] * 9})
        assert "another number" not in shown(same, capsys)
        assert "another number" in shown(pl.DataFrame({"x": [1.0, 2.0]}), capsys)


class TestColumns:
    @pytest.mark.parametrize("name", sorted(TABLES))
    def test_tables_cluster_at_the_first_try(self, name, tmp_path):
        path = tmp_path / f"{name}.csv"
        frame = TABLES[name]()
        frame.write_csv(path)
        result = call("cluster", path)
        assert result.exit_code == 0
        assert len(result.stdout.splitlines()) == frame.height + 1
        found = tables.features(tables.read(path))
        for one in found.decisions:
            assert re.search(rf"^ {re.escape(one.column or '(no name)')} +{one.role} ", result.stderr, re.MULTILINE)
        listed = json.loads(call("cluster", path, "--json", "-q").stdout)["decisions"]
        assert [one["column"] for one in listed] == frame.columns
        assert [one["used"] for one in listed] == [one.used for one in found.decisions]

    def test_an_index_is_not_clustered_by(self):
        """The table that had three clusters because of its row numbers."""
        rng = np.random.default_rng(0)
        frame = pl.DataFrame({"x": rng.normal(size=120) + 9 * (np.arange(120) % 2), "y": rng.normal(size=120)})
        plain = call("cluster", "-", stdin=frame.write_csv()).stdout
        for name in ("", "Unnamed: 0", "n"):
            indexed = frame.select(pl.Series(name, range(120)), "x", "y").write_csv()
            assert call("cluster", "-", stdin=indexed).stdout == plain

    def test_quiet_and_ordinary_tables_say_nothing(self, data):
        assert call("cluster", data, "-k", 2).stderr == ""
        assert call("cluster", "-", "-k", 2, "-q", stdin=penguins().write_csv()).stderr == ""

    def test_columns_that_the_user_leaves_out_are_no_news(self):
        text = "name," + DATA.replace("\n", "\nn,").removesuffix("n,")
        for options in (["--columns", "x,y"], ["--exclude", "name"]):
            result = call("cluster", "-", "-k", 2, *options, stdin=text)
            assert (result.stdout, result.stderr) == (TWO, "")

    @pytest.mark.parametrize("text", ["a,b\n1,2\n1,2\n", "a,b\n1,2\n"])
    def test_constants_are_called_so_where_the_reason_belongs(self, text):
        rows = [line.split() for line in call("cluster", "-", stdin=text).stderr.splitlines()[3:5]]
        assert rows == [[name, "constant", "min-max", "one", "value"] for name in "ab"]

    def test_options_overrule(self):
        text = penguins().write_csv()
        options = ["--exclude", "species", "--category", "year", "--number", "sex", "--json"]
        fails(call("cluster", "-", *options, stdin=text), "column 'sex' has no numbers", "--category sex")
        found = json.loads(call("cluster", "-", *options[:4], "--json", stdin=text).stdout)
        roles = {one["column"]: one["role"] for one in found["decisions"]}
        assert roles["year"] == "category"
        assert "species" not in found["columns"]

    def test_wide_tables_are_short(self):
        frame = pl.DataFrame(np.random.default_rng(0).normal(size=(30, 60))).with_columns(c=pl.lit("x"))
        rows = list(decisions.rows(tables.features(frame).decisions))
        assert len(rows) == 2
        assert rows[0][1].endswith(" and 54 more")

    @pytest.mark.parametrize("how", ["auto", "minmax", "standard", "robust", "log", "none"])
    def test_every_scale(self, how):
        found = json.loads(call("cluster", "-", "--scale", how, "--json", stdin=TABLES["movies"]().write_csv()).stdout)
        assert found["scale"] == how
        titles = {one["column"]: one["scaling"] for one in found["decisions"]}
        expected = {"auto": "log", "minmax": "min-max", "none": "as it is"}.get(how, how)
        assert titles["votes"] == expected

    def test_warnings_are_told_in_pipes_and_in_json(self):
        frame = pl.DataFrame({"n": range(50), "x": np.random.default_rng(0).random(50)})
        options = ("cluster", "-", "--columns", "n,x")
        warning = "column 'n' counts the rows: leave it out with --exclude n"
        assert f"kfuse: warning: {warning}\n" in call(*options, stdin=frame.write_csv()).stderr
        assert warning in json.loads(call(*options, "--json", stdin=frame.write_csv()).stdout)["warnings"]


class TestPlaces:
    def test_haversine_by_name(self):
        frame = airports()
        expected = KFuse(2, metric="haversine").fit_predict(np.radians(frame.select("lat", "lon").to_numpy()))
        result = call("cluster", "-", "-k", 2, "--metric", "haversine", stdin=frame.write_csv())
        assert pl.read_csv(result.stdout.encode())["label"].to_list() == expected.tolist()
        assert "the haversine distance is of places alone" in result.stderr

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            (
                "lat,lon\n10,20\n95.5,30\n11,21\n",
                "column 'lat' has 95.5 in data row 2, but latitudes are from -90 to 90",
            ),
            (
                "lat,lon\n10,20\n9,30\n11,-181\n",
                "column 'lon' has -181 in data row 3, but longitudes are from -180 to 360",
            ),
        ],
    )
    def test_haversine_names_what_is_no_degree(self, text, words):
        fails(call("cluster", "-", "--metric", "haversine", stdin=text), words)

    def test_haversine_without_places(self, data):
        assert call("cluster", data, "-k", 2, "--metric", "haversine").exit_code == 0  # two columns of degrees
        fails(call("cluster", data, "--columns", "x", "--metric", "haversine"), "latitude and longitude", "--columns")

    def test_other_metrics_see_numbers(self):
        found = json.loads(call("cluster", "-", "--metric", "manhattan", "--json", stdin=airports().write_csv()).stdout)
        assert {one["scaling"] for one in found["decisions"] if one["column"] in {"lat", "lon"}} == {"min-max"}


class TestFiles:
    @pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
    def test_pickles_are_told_what_they_are(self, tmp_path, protocol):
        path = tmp_path / "data.pkl"
        path.write_bytes(pickle.dumps({"x": [1, 2]}, protocol=protocol))
        fails(call("cluster", path), "data.pkl is a Python pickle", "run code", "to_parquet")
        if protocol >= 2:
            path.rename(tmp_path / "data.csv")
            fails(call("cluster", tmp_path / "data.csv"), "is a Python pickle")

    @pytest.mark.parametrize(
        ("content", "words"), [(b"SQLite format 3\0abc", "SQLite"), (b"\x89HDF\r\n", "HDF5"), (b"%PDF-1.4", "PDF")]
    )
    def test_other_files(self, content, words):
        fails(call("cluster", "-", stdin=content), words, "CSV")

    def test_decimal_commas(self):
        text = DATA.replace(",", ";").replace(".", ",")
        assert call("cluster", "-", "-k", 2, "--separator", ";", stdin=text).stdout == TWO
        kept = call("cluster", "-", "-k", 2, "--separator", ";", "--keep", "--to", "jsonl", stdin=text).stdout
        assert kept.splitlines()[1] == '{"x":0.1,"y":0.0,"label":0}'

    def test_rows_count_from_one_with_those_that_were_dropped(self):
        text = "x,y\n1,2\n,1\n0,0\n3,1\n"
        options = ("cluster", "-", "--metric", "cosine", "--missing", "drop", "--scale", "none")
        fails(call(*options, stdin=text), "cannot be clustered: data row 3 is all zeros")


class TestCompletion:
    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_script(self, shell):
        environment = {**os.environ, "_KFUSE_COMPLETE": f"source_{shell}"}
        command = [sys.executable, "-c", "from kfuse.cli import main; main()"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
        assert "_KFUSE_COMPLETE" in done.stdout

    def test_options_and_commands(self):
        environment = {**os.environ, "_KFUSE_COMPLETE": "complete_bash", "COMP_WORDS": "kfuse clu", "COMP_CWORD": "1"}
        command = [sys.executable, "-c", "from kfuse.cli import main; main()"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
        assert "cluster" in done.stdout

    def test_flags_take_no_value(self):
        told = call("cluster", "--help").output
        assert "found among" in told
        assert told.count("<bool>") <= 1  # typer's own --help

    def test_help_offers_it(self):
        assert "--install-completion" in call("--help").stdout

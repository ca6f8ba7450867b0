"""The study: the paper's statistics from its printed table, the outcomes of cells, and a killed run."""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans

from kfuse.datasets import load
from study import cells, run, scores, statistics, tables
from study.figures import __main__ as figures
from study.figures import stages
from study.store import Store, read_table, write_table

ROOT = Path(__file__).parents[2]
NAMES = ["Pole", "Away"]
METHODS = ["Single linkage", "Ward", "DBSCAN", "K-means", "MSC"]


# Statistics


@pytest.mark.parametrize(
    ("metric", "chi_squared", "p", "rank"),
    [
        ("FMI", 36.804, 1.2506e-05, 2.682),
        ("ARI", 26.188, 9.7521e-04, 3.091),
        ("NMI", 17.685, 2.3713e-02, 3.227),
    ],
)
def test_the_printed_table_gives_the_printed_statistics(metric, chi_squared, p, rank):
    table = scores.printed(metric)
    assert table.shape == (22, 9)
    found = statistics.friedman(table)
    assert found == (pytest.approx(chi_squared, abs=5e-4), pytest.approx(p, rel=5e-5))
    ranks = statistics.average_ranks(table)
    assert ranks.index[0] == "kFuse"
    assert ranks["kFuse"] == pytest.approx(rank, abs=5e-4)


def test_the_critical_difference_is_the_printed_one():
    assert statistics.critical_difference(9, 22) == pytest.approx(2.5614, abs=5e-5)


@pytest.mark.parametrize(
    ("metric", "differ"), [("FMI", {"SLINK", "AP"}), ("ARI", {"SLINK", "DPC", "AP"}), ("NMI", {"SLINK", "DPC", "AP"})]
)
def test_nemenyi_finds_the_differences_that_the_paper_names(metric, differ):
    pytest.importorskip("scikit_posthocs")
    comparison = statistics.compare(scores.printed(metric))
    assert set(comparison.differ_from("kFuse")) == differ
    apart = comparison.ranks - comparison.ranks["kFuse"] > comparison.critical_difference
    assert set(apart.index[apart]) == differ


def test_the_printed_averages_are_those_of_the_rows_but_for_one_slip():
    for metric in scores.METRICS:
        table = scores.printed(metric)
        for group, names in (("synthetic", table.index[:12]), ("real", table.index[12:])):
            known = scores.printed_average(metric, group)
            slips = {name for name in known.index if abs(table.loc[names, name].mean() - known[name]) > 0.00101}
            assert slips <= ({"SLINK"} if (group, metric) == ("synthetic", "ARI") else set())


def test_first_places_are_shared_by_scores_that_print_alike():
    table = pd.DataFrame({"a": [1.0, 0.5], "b": [0.9996, 0.6], "c": [0.99, 0.1]})
    assert statistics.firsts(table).to_dict() == {"a": 1, "b": 2, "c": 0}


# Cells


def test_a_cell_keeps_the_best_setting():
    sent = []
    cells.work(cells.Cell("Pole", "DBSCAN"), None, lambda record: sent.append(dict(record)))
    last = sent[-1]
    assert last["tried"] == last["to_try"] == len(sent) - 1 > 10
    assert last["ARI"] == max(record.get("ARI", -1) for record in sent)
    assert set(last["parameters"]) == {"eps", "min_samples"}
    assert {"kfuse", "numpy", "scikit-learn"} <= set(last["versions"])
    assert (last["n_true"], last["n_samples"]) == (2, 80)
    json.dumps(last)


def test_k_means_is_the_run_of_20_with_the_lowest_inertia():
    sent = []
    cells.work(cells.Cell("Away", "K-means"), None, lambda record: sent.append(dict(record)))
    data = load("Away", scaled=True)
    best = KMeans(3, n_init=20, random_state=0).fit(data.X)
    assert sent[-1]["ARI"] == pytest.approx(cells.scores(data.y, best.labels_)["ARI"])


@pytest.mark.parametrize(("n_features", "starts"), [(2, [True]), (8, [True, False])])
def test_mean_shift_starts_from_every_sample_too_where_bins_may_hold_none(n_features, starts):
    X = np.random.default_rng(0).random((60, n_features))
    runs = cells._runs(cells.METHODS["MSC"], X)
    made = [cells.METHODS["MSC"].make(n_clusters=2, random_state=0, **parameters) for parameters, _ in runs]
    assert {(model.bandwidth, model.bin_seeding) for model in made} == {
        (model.bandwidth, start) for model in made for start in starts
    }
    assert len(made) >= 8 * len(starts)


def test_a_cell_without_time_is_not_feasible():
    (nothing,) = run.run_cells([cells.Cell("Away", "DBSCAN")], None, 1, 0.0)
    assert (nothing["status"], nothing["reason"]) == ("not feasible", "time limit: no fit was finished")


@pytest.mark.parametrize(
    ("latest", "late", "status", "reason"),
    [
        ({"tried": 9, "to_try": 9, "ARI": 0.5}, False, "ok", None),
        ({"tried": 3, "to_try": 9, "ARI": 0.5}, True, "partial", "time limit: 3 of 9 fits were finished"),
        ({"tried": 9, "to_try": 9, "reason": "ValueError: no"}, False, "not feasible", "ValueError: no"),
        (
            {"tried": 3, "to_try": 9, "ARI": 0.5},
            False,
            "failed",
            "the process ended with code -9, perhaps out of memory",
        ),
        ({"failed": "KeyError: 'X'"}, False, "failed", "KeyError: 'X'"),
    ],
)
def test_what_became_of_a_cell(latest, late, status, reason):
    verdict = run._verdict(latest, late, -9)
    assert verdict["status"] == status
    assert verdict["reason"] == reason or verdict["reason"].startswith(reason)


def test_a_cell_that_fails_says_why_and_is_tried_again(tmp_path):
    (failed,) = run.run_cells([cells.Cell("Flame", "Ward")], tmp_path / "absent", 1, 60)
    assert failed["status"] == "failed"
    assert "which is not a folder" in failed["reason"]
    done = {("Flame", "Ward"): failed}
    assert run.to_do(["Flame"], ["Ward"], done, 60) == [("Flame", "Ward")]


def test_cells_out_of_time_are_taken_up_with_a_longer_limit():
    records = {
        ("Pole", "AP"): {"status": "partial", "reason": "time limit: 2 of 9 fits were finished", "limit": 60},
        ("Pole", "Ward"): {"status": "ok", "reason": None, "limit": 60},
        ("Pole", "DPC"): {"status": "not feasible", "reason": "ValueError: no", "limit": 60},
    }
    methods = ["AP", "Ward", "DPC", "MSC"]
    assert [cell.method for cell in run.to_do(["Pole"], methods, records, 60)] == ["MSC"]
    assert [cell.method for cell in run.to_do(["Pole"], methods, records, 61)] == ["AP", "MSC"]


def test_a_repetition_that_gets_less_far_replaces_nothing(tmp_path, monkeypatch):
    pole = {"dataset": "Pole", "method": "AP", "group": "synthetic"}
    earlier = pole | {"status": "partial", "reason": "time limit: 2 of 9 fits were finished", "limit": 1, "ARI": 0.5}
    Store(tmp_path / "results.jsonl").add(earlier)
    ended = pole | {"status": "not feasible", "reason": "time limit: no fit was finished", "limit": 2}
    monkeypatch.setattr(run, "run_cells", lambda *_: [ended])
    options = {"out": tmp_path, "datasets": ["Pole"], "methods": ["AP"], "redo": [], "data": None, "jobs": 1}
    (record,) = run.study(argparse.Namespace(**options, limit=2, quiet=True))
    assert record == earlier


# The store


def test_a_torn_line_costs_only_its_own_cell(tmp_path):
    store = Store(tmp_path / "results.jsonl")
    store.add({"dataset": "Pole", "method": "Ward", "ARI": 0.5})
    with store.path.open("ab") as file:
        file.write(b'{"dataset": "Pole", "met')
    assert list(store.records()) == [("Pole", "Ward")]
    store.add({"dataset": "Pole", "method": "DPC", "ARI": 0.25})
    store.add({"dataset": "Pole", "method": "Ward", "ARI": 0.75})
    assert {key: record["ARI"] for key, record in store.records().items()} == {
        ("Pole", "Ward"): 0.75,
        ("Pole", "DPC"): 0.25,
    }


def test_the_table_is_read_as_it_was_written(tmp_path):
    rows = [
        {
            "dataset": "Pole",
            "method": "DPC",
            "status": "ok",
            "FMI": 0.5,
            "ARI": -0.25,
            "NMI": 1.0,
            "parameters": {"a": 1},
        },
        {"dataset": "Pole", "method": "AP", "status": "not feasible", "reason": "time limit"},
    ]
    write_table(rows, tmp_path / "results.csv")
    first, second = read_table(tmp_path / "results.csv")
    assert (first["FMI"], first["ARI"], first["NMI"]) == (0.5, -0.25, 1.0)
    assert json.loads(first["parameters"]) == {"a": 1}
    assert second["ARI"] is None


# A run that is killed


def start(out):
    command = [sys.executable, "-m", "study.run", "--jobs", "2", "--quiet", "--out", str(out)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    environment.pop("KFUSE_DATA", None)
    return subprocess.Popen(
        [*command, "--datasets", *NAMES, "--methods", *METHODS], cwd=ROOT, env=environment, stdout=subprocess.PIPE
    )


def lines_of(path):
    return path.read_text().splitlines() if path.is_file() else []


@pytest.mark.skipif(sys.platform == "win32", reason="needs a signal that cannot be caught")
def test_a_killed_run_loses_only_the_cells_under_work(tmp_path):
    log = tmp_path / "results.jsonl"
    first = start(tmp_path)
    while len(lines_of(log)) < 3:
        assert first.poll() is None, "the run ended before it could be killed"
        time.sleep(0.02)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    finished = lines_of(log)
    assert 3 <= len(finished) < len(NAMES) * len(METHODS)

    second = start(tmp_path)
    said, _ = second.communicate(timeout=300)
    assert second.returncode == 0
    assert b"10 of 10 cells are complete" in said
    lines = lines_of(log)
    assert lines[: len(finished)] == finished
    keys = [(record["dataset"], record["method"]) for record in map(json.loads, lines)]
    assert sorted(keys) == sorted((name, method) for name in NAMES for method in METHODS)  # none twice

    table = read_table(tmp_path / "results.csv")
    assert [row["dataset"] for row in table] == ["Pole"] * 5 + ["Away"] * 5
    assert all(row["status"] == "ok" for row in table)
    third = start(tmp_path)
    third.communicate(timeout=300)
    assert lines_of(log) == lines


def test_a_run_goes_on_from_the_table(tmp_path):
    """As in a clone, which has the table and no lines."""
    rows = [
        {"dataset": name, "method": method, "group": "synthetic", "status": "ok", "ARI": 0.5, "limit": 60.0}
        for name in NAMES
        for method in METHODS
    ]
    rows[1] |= {"status": "partial", "reason": "time limit: 2 of 9 fits were finished"}
    write_table(rows, tmp_path / "results.csv")
    before = {(row["dataset"], row["method"]): row for row in read_table(tmp_path / "results.csv")}

    def changed(*options):
        run.main(["--out", str(tmp_path), "--datasets", "Pole", "--methods", *METHODS, "--quiet", *options])
        after = {(row["dataset"], row["method"]): row for row in read_table(tmp_path / "results.csv")}
        assert after.keys() == before.keys()
        return {key for key in before if before[key] != after[key]}

    assert changed("--limit", "60") == set()
    assert changed("--limit", "61", "--redo", "DBSCAN") == {("Pole", "Ward"), ("Pole", "DBSCAN")}


# Tables and figures


@pytest.fixture
def some_results(tmp_path):
    rows = [
        {"dataset": "Flame", "method": "kFuse", "status": "ok", "FMI": 1.0, "ARI": 0.98765, "NMI": 0.5},
        {"dataset": "Flame", "method": "Ward", "status": "ok", "FMI": 0.5, "ARI": 0.5, "NMI": 0.5004},
        {"dataset": "Flame", "method": "AP", "status": "partial", "FMI": 0.5, "ARI": 0.5, "NMI": 0.4},
        {"dataset": "Flame", "method": "MSC", "status": "not feasible"},
        {"dataset": "Jain", "method": "kFuse", "status": "ok", "FMI": 0.0, "ARI": 0.0, "NMI": 0.0},
        {"dataset": "Ecoli", "method": "Ward", "status": "ok", "FMI": 0.5, "ARI": 0.399, "NMI": 0.5},
    ]
    write_table(rows, tmp_path / "results.csv")
    return tmp_path / "results.csv"


def test_tables_show_ours_the_printed_the_best_and_the_averages(some_results):
    tables.write(some_results, some_results.parent)
    text = (some_results.parent / "tables.md").read_text()
    assert "| data set | | " + " | ".join(tables.COLUMNS) + " |" in text
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("|")]

    def cell(name, metric, method):
        start = next(i for i, row in enumerate(rows) if row[0] == f"| {name}" and row[1] == "FMI")
        return rows[start + scores.METRICS.index(metric)][2 + tables.COLUMNS.index(method)].removesuffix(" |")

    assert cell("Flame", "ARI", "kFuse") == "**0.988** (1.000)"
    assert cell("Flame", "NMI", "Ward") == "**0.500**"  # as good as it prints
    assert cell("Flame", "NMI", "kFuse") == "**0.500** (1.000)"
    assert cell("Flame", "ARI", "AP") == r"0.500\* (0.204)"
    assert cell("Flame", "ARI", "MSC") == "n.f. (0.511)"
    assert cell("Flame", "ARI", "ANN-DPC") == "- (0.966)"
    assert cell("Flame", "ARI", "Single linkage") == "- (0.012)"
    assert cell("Ecoli", "ARI", "Ward") == "**0.399** (0.399)"
    assert cell("Average", "ARI", "kFuse") == "0.494 (0.965)"
    assert cell("Average", "ARI", "Ward") == "**0.500 (1 of 2)**"
    latex = (some_results.parent / "tables.tex").read_text()
    assert r"Flame & FMI & \textbf{1.000} (1.000)" in latex
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 4


def test_what_has_too_few_results_is_not_tested(some_results):
    text = statistics.report(some_results)
    assert text.count("## ") == 5
    assert text.count(statistics.TOO_FEW) == 4
    assert "36.804" in text


def test_figures_that_need_what_is_missing_are_left_out(some_results, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "umap", None)
    monkeypatch.setenv("KFUSE_CACHE", str(some_results.parent / "cache"))
    out = some_results.parent / "figures"
    names = ["mnist", "nemenyi_all", "workflow"]
    monkeypatch.setattr(sys, "argv", ["figures", *names, "--results", str(some_results), "--out", str(out)])
    figures.main()
    said = capsys.readouterr()
    assert [path.name for path in out.iterdir()] == ["workflow.png"]
    assert "mnist is skipped: it needs " in said.err
    assert "nemenyi_all is skipped: it needs results of all methods" in said.err


def test_the_stages_in_the_figures_follow_the_definitions():
    X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1], [3, 0], [3, 1], [4, 0], [4, 1.0]])
    labels = np.repeat([0, 1], 4)
    found = stages.Stages(X, 2, labels)
    reach = found.model.natural_value_
    nearest = np.argsort(np.linalg.norm(X[:, None] - X[None], axis=2) + 100 * np.eye(8), axis=1, kind="stable")
    for part in (0, 1):
        members = np.flatnonzero(labels == part)
        assert set(found.augmented(part)) == set(members) | set(nearest[members, :reach].ravel())
    touch = found.boundary(0, 1)
    assert touch.distance == 2
    assert set(labels[list(touch.ends)]) == {0, 1}
    assert set(touch.adjacent) == set(found.augmented(0)) & set(found.augmented(1))
    assert touch.connectivity == pytest.approx((len(touch.adjacent) + 1) * np.exp(-2) / 4)


def test_figures_of_the_stages_are_drawn(tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monkeypatch.delenv("KFUSE_DATA", raising=False)
    for draw, n_panels in (
        (stages.process, 5),
        (stages.adjacent, 4),
        (stages.density_contrast, 3),
        (stages.workflow, 1),
    ):
        figure = draw(None)
        assert len(figure.axes) == n_panels
        figure.savefig(tmp_path / "figure.png")
        matplotlib.pyplot.close(figure)


def test_a_run_leaves_the_environment_as_it_was(tmp_path, monkeypatch):
    """numba refuses to compile if its number of threads changes later."""
    before = dict(os.environ)
    monkeypatch.setattr(run, "study", lambda args: [])
    run.main(["--out", str(tmp_path), "--datasets", "Pole", "--methods", "K-means", "--jobs", "2", "--quiet"])
    assert dict(os.environ) == before

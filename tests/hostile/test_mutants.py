"""The sample of mutants, the order in which tests judge them, and the share that was killed."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.hostile import mutants

TIMES = {
    "tests/core/test_noise.py::test_a[1]": 0.5,
    "tests/core/test_noise.py::test_b": 0.25,
    "tests/core/adaptive/test_cells.py::test_a": 2.0,
    "tests/core/adaptive/test_fit.py::test_a": 1.0,
    "tests/test_tree.py::test_a": 0.125,
}


@pytest.fixture
def judges(tmp_path, monkeypatch):
    """Files with the tests of TIMES, one of which names the module `density`."""
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    for test in TIMES:
        file = tmp_path / test.partition("::")[0]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("from kfuse.core.paper import density" if file.name == "test_tree.py" else "")
    return list(TIMES)


@pytest.mark.parametrize(
    ("module", "order"),
    [
        ("src/kfuse/core/adaptive/cells.py", [2, 3, 4, 1, 0]),
        ("src/kfuse/core/adaptive/links.py", [3, 2, 4, 1, 0]),  # no file names it
        ("src/kfuse/core/adaptive/density.py", [4, 3, 2, 1, 0]),
        ("src/kfuse/core/noise.py", [1, 0, 4, 3, 2]),
        (None, [4, 1, 0, 3, 2]),
    ],
)
def test_what_names_the_changed_module_comes_first_then_its_folder_and_none_is_lost(module, order, judges):
    assert mutants.in_order(module, TIMES, seconds=10) == [judges[i] for i in order]


def test_tests_beyond_the_given_seconds_are_left_out(judges):
    assert mutants.in_order("src/kfuse/core/adaptive/cells.py", TIMES, seconds=2.375) == [judges[i] for i in (2, 4, 1)]


JUDGED = """
def test_passes():
    pass

def test_fails():
    assert False

def test_hangs():
    while True:
        pass
"""
SERVER = """
import sys
from pathlib import Path
from tests.hostile import mutant_tests
mutant_tests.PRELOADED, mutant_tests.HANGS = (), 0.2
mutant_tests.serve(Path(sys.argv[1]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs signals, and sockets at long paths")
def test_a_server_runs_tests_until_one_fails_and_ends_those_that_hang(tmp_path, monkeypatch, capsys):
    path = tmp_path / "socket"
    (tmp_path / "test_judged.py").write_text(JUDGED)
    names = [f"{tmp_path}/test_judged.py::test_{name}" for name in ("passes", "fails", "hangs")]
    monkeypatch.setattr(mutants, "SOCKET", path)
    with subprocess.Popen([sys.executable, "-c", SERVER, path], cwd=mutants.ROOT) as server:
        while not path.exists() and server.poll() is None:
            time.sleep(0.05)
        assert mutants.run_in_server(names[:1]) == 0
        assert "1 passed" in capsys.readouterr().out
        assert mutants.run_in_server(names) == 1
        assert "1 failed, 1 passed" in capsys.readouterr().out
        assert mutants.run_in_server(names[2:]) == 1
        assert capsys.readouterr().out.endswith("timeout")
        server.terminate()


def session(path, n_changes):
    """Write a session of cosmic-ray, and return it."""
    work_db = pytest.importorskip("cosmic_ray.work_db", reason="needs cosmic-ray: pip install -e '.[hostile]'")
    work_item = pytest.importorskip("cosmic_ray.work_item")
    database = work_db.WorkDB(path, work_db.WorkDB.Mode.create)
    database.add_work_items(
        work_item.WorkItem.single(
            f"job {i}", work_item.MutationSpec(Path("m.py"), "core/NumberReplacer", i, (i + 1, 0), (i + 1, 1))
        )
        for i in range(n_changes)
    )
    return database, work_item


def test_a_sample_depends_on_its_seed_alone_and_replaces_the_session(tmp_path):
    kept = []
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        path = tmp_path / name
        database, _ = session(path, 50)
        mutants.sample(str(path), 10, seed)
        kept.append({item.job_id for item in database.work_items})
        database.close()
    assert [len(jobs) for jobs in kept] == [10, 10, 10]
    assert kept[0] == kept[1] != kept[2]


def test_the_rate_counts_what_was_tried(tmp_path, capsys):
    path = tmp_path / "session"
    database, work_item = session(path, 12)
    killed, survived = work_item.TestOutcome.KILLED, work_item.TestOutcome.SURVIVED
    for i, outcome in enumerate([killed] * 8 + [survived] * 2):
        result = work_item.WorkResult(work_item.WorkerOutcome.NORMAL, "timeout" if i == 0 else "", outcome, "")
        database.set_result(f"job {i}", result)
    database.set_result("job 11", work_item.WorkResult(work_item.WorkerOutcome.SKIPPED))
    database.close()
    mutants.rate(str(path))
    assert capsys.readouterr().out.splitlines() == [
        "8 of 10 killed (1 by a timeout): 80.0%",
        "95 % interval: 49.0% to 94.3%",
    ]

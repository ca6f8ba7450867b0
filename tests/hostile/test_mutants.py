"""The sample of mutants, the order in which tests judge them, and the share that was killed."""

from pathlib import Path

import pytest

from tests.hostile import mutants

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("module", "first"),
    [
        ("src/kfuse/core/adaptive/cells.py", "tests/core/adaptive/test_cells.py"),
        ("src/kfuse/core/adaptive/density.py", "tests/core/adaptive/test_borders.py"),  # it has no tests of its own
        ("src/kfuse/core/noise.py", "tests/core/test_noise.py"),
    ],
)
def test_the_tests_of_the_changed_module_come_first_and_none_is_lost(module, first):
    files = mutants.in_order(module, ROOT)
    assert files[0] == first
    assert sorted(files) == sorted(mutants.in_order(None, ROOT))
    near = mutants.in_order(module, ROOT, near=True)
    assert near == files[: len(near)]
    assert {Path(file).parent for file in near} == {Path(first).parent}


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

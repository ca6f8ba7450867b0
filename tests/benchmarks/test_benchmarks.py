"""The parts of the benchmarks whose errors would go unnoticed."""

import json
import subprocess

import numpy as np
import pytest

from benchmarks import data, gates, growth, many_dimensions, measure, records, report


def test_gaussians_are_seeded_and_have_their_share_of_noise():
    X, y = data.gaussians(20_000, 2)
    again, _ = data.gaussians(20_000, 2)
    assert np.array_equal(X, again)
    assert set(y) == {data.NOISE, *range(data.N_GAUSSIANS)}
    assert np.mean(y == data.NOISE) == pytest.approx(data.NOISE_SHARE, abs=0.005)


def test_one_fit_is_timed_and_scored(tmp_path):
    data.write("8-D", 3000, tmp_path)
    outcome = measure.fit_once("KMeans", tmp_path, seconds=60.0)
    assert outcome["seconds"] > 0
    assert outcome["clusters"] == data.N_GAUSSIANS
    assert outcome["ari"] > 0.5
    assert outcome["peak_mb"] >= outcome["added_mb"] >= 0


def test_workers_end_with_the_process_that_started_them():
    command = ["sh", "-c", "sleep 60 & echo started; wait"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout.readline() == "started\n"
        process.kill()
        process.wait()
        measure._end_group(process)
        assert process.communicate(timeout=20)[0] == ""  # ends only when no process can write to it


def test_growth_and_what_is_expected_of_larger_sizes():
    assert growth.exponent(100, 1.0, 1000, 10.0) == pytest.approx(1.0)
    assert growth.expected_seconds(1000, []) == 0
    assert growth.expected_seconds(1000, [(100, 2.0)]) == 0  # one size says nothing about growth
    assert growth.expected_seconds(1000, [(1, 9.0), (10, 2.0), (100, 20.0)]) == pytest.approx(200.0)


def test_contestants_take_turns_until_enough_time_is_spent():
    turns = []
    both = {name: lambda name=name: turns.append(name) for name in "ab"}
    times = gates.interleave(both, rounds=3)
    assert turns == list("ababab")
    assert [len(seconds) for seconds in times.values()] == [3, 3]
    assert len(gates.interleave(both, rounds=3, enough=-1.0)["a"]) == 1


def test_a_ratio_is_that_of_the_medians():
    times = {"a": [1.0, 9.0, 2.0], "b": [1.0, 1.0, 1.0]}
    assert gates.ratio_row("gate", times, ("a", "b"), 2.0)[1:4] == ("at most 2 x", "2.00 x", True)
    assert gates.ratio_row("gate", times, ("a", "b"), 1.9).ok is False
    assert gates.ratio_row("gate", times, ("a", "b"), None).ok is None


@pytest.fixture
def header(monkeypatch):
    here = {"processor": "p", "cores": 2, "memory_gb": 4, "system": "s", "python": "3", "versions": {}, "source": "c"}
    monkeypatch.setattr(records.machine, "describe", lambda: dict(here))
    return {"seconds": 120.0, "seconds_large": 400.0, "memory_gb": 16.0}


def _done(seconds, ari=1.0):
    return {"status": measure.OK, "seconds": seconds, "added_mb": 10.0, "peak_mb": 20.0, "ari": ari, "clusters": 2}


def test_records_are_read_again_and_not_mixed_with_another_machine(tmp_path, header, monkeypatch):
    path = tmp_path / "measurements.jsonl"
    cell = records.Cell("2-D", 1000, "kfuse")
    first = records.Records(path, header)
    for seconds in (1.0, 5.0, 2.0):
        first.add(cell, _done(seconds))
    again = records.Records(path, header)
    assert again.rows == first.rows
    assert again.summary(cell).seconds == 2.0
    assert again.summary(cell).rounds == 3
    assert again.summary(cell._replace(n_samples=5)) is None
    monkeypatch.setattr(records.machine, "describe", lambda: {"processor": "another"})
    with pytest.raises(records.DifferentRunError, match="--fresh"):
        records.Records(path, header)
    assert records.Records(path, header, fresh=True).rows == []


def test_the_report_shows_what_finished_and_why_the_rest_did_not(tmp_path, header):
    run = records.Records(tmp_path / "measurements.jsonl", header)
    for n_samples, seconds in ((100_000, 1.0), (1_000_000, 10.0)):
        run.add(records.Cell("2-D", n_samples, "kfuse"), _done(seconds, ari=0.875))
    slow = {"status": measure.OUT_OF_TIME, "reason": "more than 120 s"}
    given_up = {"status": measure.NOT_RUN, "reason": "out of time at 100,000 samples"}
    guessed = {"status": measure.NOT_RUN, "reason": "about 900 s expected at 1,000,000 samples"}
    run.add(records.Cell("2-D", 100_000, "hdbscan"), slow)
    run.add(records.Cell("2-D", 1_000_000, "hdbscan"), given_up)
    run.add(records.Cell("2-D", 100_000, "spectral"), _done(50.0))
    run.add(records.Cell("2-D", 1_000_000, "spectral"), guessed)
    report.write(run, tmp_path)
    text = (tmp_path / report.TABLE).read_text()
    assert "| **kfuse** | 1.00 s | 10.0 s | 1.00 |" in text
    assert "| **kfuse** | 0.875 | 0.875 |" in text
    assert "| hdbscan | > 120 s | not run |  |" in text
    assert "| spectral | 50.0 s | about 900 s |  |" in text
    assert (tmp_path / report.PLOT).read_bytes().startswith(b"\x89PNG")


def test_every_method_has_a_style_of_its_own():
    styles = [json.dumps(report.STYLES[method], sort_keys=True) for method in report.ALL_METHODS]
    assert len(set(styles)) == len(styles)


def test_principal_components_are_those_of_the_singular_value_decomposition():
    X = np.random.default_rng(0).random((200, 6)).astype(np.float32) * np.arange(1, 7, dtype=np.float32)
    found = data.principal(X, 3)
    assert (found.shape, found.dtype) == ((200, 3), np.float32)
    _, lengths, _ = np.linalg.svd(X - X.mean(axis=0))
    np.testing.assert_allclose(np.linalg.norm(found, axis=0), lengths[:3], rtol=1e-3)


def test_searches_and_fits_in_many_dimensions_are_compared(monkeypatch):
    X = data.gaussians(2500, 10)[0].astype(np.float32)
    monkeypatch.setattr(many_dimensions, "N_NEIGHBORS", 9)
    monkeypatch.delitem(many_dimensions.SEARCHES, "pynndescent")
    outcomes = many_dimensions.compare_searches(X)
    assert outcomes["kfuse, exact"].quality == 1
    assert outcomes["kfuse, approximate"].quality > 0.95
    outcomes = many_dimensions.compare_fits(X, 5, ("kfuse", "kfuse approximate"))
    lines = many_dimensions.table(outcomes, "kfuse", "ARI")
    assert lines[2].startswith("| kfuse | ")
    assert lines[2].endswith(" | 1.00 x, 1.00 x | 1.000 |")
    assert outcomes["kfuse approximate"].quality > 0.95

"""Stability: the changes are what they say, changes that matter are seen, and kfuse is stable on clear data."""

import numpy as np
import pytest

from kfuse.baselines.methods import METHODS
from study import stability

CLEAR = ["moons", "3 groups", "5 features"]
HARMLESS = ["rows shuffled", "jitter of 1e-12 of the range", "a constant column"]


def trial_of(method, change="one far row", ari=1.0, n_after=2):
    return stability.Trial(method, change, "moons", 0, ari, 2, n_after)


@pytest.mark.parametrize("name", stability.SETS)
def test_data_sets_are_finite_and_always_the_same(name):
    X, y = stability.SETS[name]()
    assert len(X) == len(y) >= 60
    assert np.isfinite(X).all()
    np.testing.assert_array_equal(X, stability.SETS[name]()[0])


@pytest.mark.parametrize("name", stability.CHANGES)
def test_changes_are_what_they_say(name):
    X = np.random.default_rng(0).random((300, 3))
    changed = stability.CHANGES[name](np.random.default_rng(1), X)
    old = changed.rows >= 0
    kept = changed.X[old][:, :3]
    size = float(name.split()[2]) if name.startswith("jitter") else 0.0
    np.testing.assert_allclose(kept, X[changed.rows[old]], rtol=0, atol=6 * size)
    assert np.unique(changed.rows[old]).size == old.sum()
    n_new = {"1 % of the rows duplicated": 3, "1 % uniform noise": 3, "one far row": 1}.get(name, 0)
    assert len(changed.X) - old.sum() == n_new
    assert old.sum() == (297 if "dropped" in name else 300)
    assert not np.array_equal(changed.X[: len(X)], X) or n_new


def test_kfuse_is_stable_on_clear_data():
    methods = [METHODS[name] for name in ("kFuse", "kFuse (auto)")]
    found = list(stability.trials(methods, CLEAR, [0]))
    assert len(found) == len(methods) * len(CLEAR) * len(stability.CHANGES)
    for trial in found:
        assert trial.ari > 0.98, trial
        assert trial.ari == 1.0 or trial.change not in HARMLESS, trial


class ByPosition:
    """A clustering that depends on the order of the rows."""

    def fit_predict(self, X):
        return np.arange(len(X)) % 2


def test_an_unstable_method_is_seen():
    method = METHODS["HDBSCAN"]._replace(make=lambda *_: ByPosition())
    found = {trial.change: trial for trial in stability.trials([method], ["pole"], [0])}
    assert found["rows shuffled"].ari < 0.1
    assert found["a constant column"].ari == 1.0


def test_tables_have_means_and_shares():
    trials = [trial_of("HDBSCAN", change) for change in stability.CHANGES]
    trials += [trial_of("HDBSCAN", "one far row", ari=0.5, n_after=3)]
    found, numbers, given = stability.page(trials).split("\n\n")
    assert "| one far row | 0.750, 50.0% |" in found
    assert "| rows shuffled | 1.000, 0.0% |" in found
    assert f"| {stability.ALL} | 0.955, 9.1% |" in found
    assert "| one far row | 50.0% |" in numbers
    assert "HDBSCAN" not in given


def test_the_script_writes_what_it_measured(tmp_path, capsys):
    stability.main(["--sets", "pole", "--methods", "HDBSCAN", "--kept", str(tmp_path / "trials.csv")])
    assert "number found" in capsys.readouterr().out
    lines = (tmp_path / "trials.csv").read_text().splitlines()
    assert lines[0] == ",".join(stability.Trial._fields)
    assert len(lines) == 1 + len(stability.CHANGES)

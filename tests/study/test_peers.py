"""Peers: methods run in a process of their own, failures count 0, and the table has the averages."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import homogeneity_score

from study import peers
from study.labelled import ALSO_IN_THE_PAPER, PAPER_15

X, Y = make_blobs(150, 2, centers=3, cluster_std=0.3, random_state=10)
BLOBS = peers.Labelled("blobs", "paper", X, [Y + 1, np.minimum(Y, 1) + 1])


@pytest.mark.parametrize("name", [name for name in peers.PEERS if name not in peers.FOR_EMBEDDINGS])
def test_clear_clusters_are_found_by_every_peer(name):
    method = peers.PEERS[name]
    if not method.is_available():
        pytest.skip(f"{method.requires} is not installed")
    labels = peers.cluster(method, X, 3)
    kept = labels >= 0
    assert kept.mean() > 0.9
    assert homogeneity_score(Y[kept], labels[kept]) == pytest.approx(1)
    assert peers.n_clusters(labels) == 3 or name == "Leiden"  # which splits groups that are larger than neighbourhoods


def test_scores_are_those_of_the_best_labelling_and_noise_is_left_out():
    with_noise = np.where(np.arange(len(Y)) % 10 == 0, 0, Y + 1)
    other = peers.Labelled("noise", "further", X, [with_noise])
    first, second = peers.trials(peers.PEERS["Ward"], [BLOBS, other])
    assert first == peers.Trial("Ward", "blobs", "paper", 1.0, True, 3)
    assert (second.ari, second.group) == (1.0, "further")


def test_the_number_of_a_method_that_finds_it_is_compared():
    one_cluster = peers.Labelled("blobs", "real", X, [np.minimum(Y, 1) + 1])
    (trial,) = peers.trials(peers.PEERS["HDBSCAN"], [one_cluster])
    assert (trial.found, trial.right) == (3, False)
    assert 0 < trial.ari < 1


def test_a_failed_fit_counts_zero_and_the_next_one_runs():
    bad = peers.Labelled("bad", "paper", np.full((20, 2), np.nan), [np.ones(20, dtype=int)])
    failed, done = peers.trials(peers.PEERS["K-means"], [bad, BLOBS])
    assert (failed.ari, failed.right) == (0.0, False)
    assert "NaN" in failed.failure
    assert (done.ari, done.failure) == (1.0, "")


def test_a_fit_beyond_the_limit_counts_zero():
    large = peers.Labelled("large", "real", np.random.default_rng(0).random((6000, 2)), [np.arange(6000) % 3 + 1])
    (trial,) = peers.trials(peers.PEERS["Ward"], [large], limit=0.01)
    assert trial.ari == 0.0
    assert trial.failure == "not done in 0.01 s"


def test_the_table_has_averages_shares_and_failures():
    def trial(method, group, ari, right=False, failure=""):
        return peers.Trial(method, f"{group} {ari}", group, ari, right, 2, failure)

    found = [trial("Ward", "paper", 0.5), trial("Ward", "further", 1.0), trial("Ward", "real", 0.0, failure="too slow")]
    found += [trial("HDBSCAN", "paper", 0.5, True), trial("HDBSCAN", "further", 1.0), trial("HDBSCAN", "real", 0.0)]
    lines = peers.table(found).splitlines()
    assert lines[0].startswith("| method | number | paper 1 | all 2 | real 1 | right number, all 2 |")
    assert lines[2] == "| Ward | given | 0.500 | 0.750 | 0.000 |  |  |"
    assert lines[3] == "| HDBSCAN | found | 0.500 | 0.750 | 0.000 | 0.50 | 0.00 |"
    assert lines[-1] == "Ward on real 0.0 counts 0: too slow."


def test_the_script_reads_the_folder_and_prints_every_score(tmp_path, capsys):
    for name in PAPER_15 + ALSO_IN_THE_PAPER:
        np.savez(tmp_path / f"{name}.npz", X=X, y=Y)
    (tmp_path / "real").mkdir()
    np.savez(tmp_path / "real" / "cells.npz", X=X.astype("float16"), y=Y)
    peers.main(["--data", str(tmp_path), "--methods", "Ward"])
    printed = capsys.readouterr()
    assert "| Ward | given | 1.000 | 1.000 | 1.000 |" in printed.out
    lines = printed.err.splitlines()
    assert len(lines) == 19 + 1
    assert lines[-1].startswith("Ward,cells,real,")

"""Workers that are killed or run out of memory: the result of one machine, or one clear sentence."""

import logging
import os
import signal
import warnings

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import make_blobs

from kfuse import KFuse
from tests.checks import assert_same_model
from tests.cli.command_line import call, fails

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
from kfuse.cli.commands import cluster_on_dask  # noqa: E402
from kfuse.dask import KFuse as KFuseOnDask  # noqa: E402
from tests.dask.test_fit import in_chunks  # noqa: E402

X = make_blobs(2_000, centers=5, random_state=0)[0].round(2)
STAGES = {  # and a task of each
    "order": "settle",
    "neighbours": "answer",
    "density": "find_ends",
    "sub-clusters": "follow_inside",
    "merging": "add_up",
    "labels": "columns",
}
pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals differ")


class Killer(distributed.SchedulerPlugin):
    """Kills the worker that is the first to have a task of some name done, with all that it holds."""

    name = "killer"

    def __init__(self, scheduler, function, pids):
        self.scheduler, self.function, self.pids, self.killed = scheduler, function, pids, None

    def transition(self, key, start, finish, *args, **kwargs):
        if self.killed is None and finish == "memory" and str(key).startswith(f"{self.function}-"):
            self.killed = next(iter(self.scheduler.tasks[key].who_has)).address
            os.kill(self.pids[self.killed], signal.SIGKILL)


@pytest.fixture(scope="module")
def expected():
    return KFuse().fit(X)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("stage", STAGES)
def test_a_worker_killed_in_a_stage_does_not_change_the_result(client, cluster, expected, stage):
    client.wait_for_workers(2)
    killer = Killer(cluster.scheduler, STAGES[stage], client.run(os.getpid))
    client.sync(add, cluster.scheduler, killer)
    try:
        model = KFuseOnDask(rows_per_box=600).fit(in_chunks(X, 3))
        assert_same_model(model, expected)
    finally:
        cluster.scheduler.remove_plugin(killer.name)
    assert killer.killed is not None


async def add(scheduler, plugin):
    scheduler.add_plugin(plugin)


@pytest.fixture(scope="module")
def small():
    """A cluster of one worker that has room for kfuse and little else; a task that kills it is not tried again."""
    settings = {"distributed.scheduler.allowed-failures": 0}
    with warnings.catch_warnings(), dask.config.set(settings):
        warnings.filterwarnings("ignore", "Creating scratch directories")
        started = distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            dashboard_address=":0",
            memory_limit="500MB",
            silence_logs=logging.CRITICAL,
        )
    with started as cluster:
        yield cluster


@pytest.mark.filterwarnings("ignore")
def test_too_little_memory_is_one_sentence(small):
    with distributed.Client(small):
        model = KFuseOnDask()
        with pytest.raises(MemoryError, match=r"^Workers died [^.]*: give them more, or halve rows_per_box[^.]*\.$"):
            model.fit(da.ones((2**26, 2), chunks=(2**26, 2)))
        assert not hasattr(model, "tree_")
        np.testing.assert_array_equal(model.fit(X[:200]).labels_, KFuse().fit_predict(X[:200]))


@pytest.mark.filterwarnings("ignore")
def test_too_little_memory_leaves_nothing_written(small, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster_on_dask, "ROWS_PER_PART", 2**25)  # read by one task
    file = tmp_path / "zeros.parquet"
    pl.select(x=pl.repeat(0.0, 2**25), y=pl.repeat(1.0, 2**25)).write_parquet(file)
    where = ("--dask", small.scheduler_address, "--scale", "none", "-o", tmp_path / "labels", "-q")
    fails(call("cluster", file, *where), "ran out of memory, and nothing was written", "--memory-limit")
    assert list(tmp_path.iterdir()) == [file]

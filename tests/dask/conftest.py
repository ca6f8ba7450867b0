import logging
import warnings

import pytest

from tests.forked import CAN_FORK, start_server


@pytest.fixture(scope="session", autouse=True)
def quick_workers():
    """Fork workers from a process that has imported kfuse, also those that replace a killed one."""
    dask = pytest.importorskip("dask")
    start_server()
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver" if CAN_FORK else "spawn"}):
        yield


@pytest.fixture(scope="session")
def cluster():
    """Two workers, each a process with one thread."""
    distributed = pytest.importorskip("distributed")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Creating scratch directories")  # a busy disk is no fault of the tests
        started = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0, silence_logs=logging.ERROR
        )
    with started as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    distributed = pytest.importorskip("distributed")
    with distributed.Client(cluster) as client:
        yield client

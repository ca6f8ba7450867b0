"""kfuse.dask on a real cluster of processes: the same result, and nothing left behind."""

import gc
import os
import signal
import threading
import time

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from kfuse import KFuse
from tests.checks import assert_same_model

pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
from kfuse.dask import KFuse as KFuseOnDask  # noqa: E402
from tests.dask.test_fit import SETS, in_chunks  # noqa: E402


@pytest.mark.parametrize(("name", "n_partitions"), [("far blobs", 7), ("duplicates", 7), ("three features", 2)])
def test_equals_one_machine(client, name, n_partitions):
    X = SETS[name]
    model = KFuseOnDask(rows_per_box=len(X) // n_partitions).fit(in_chunks(X, n_partitions))
    assert_same_model(model, KFuse().fit(X))
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_takes_the_client_that_it_is_given(cluster):
    X = SETS["moons"]
    with distributed.Client(cluster, set_as_default=False) as client:
        model = KFuseOnDask(rows_per_box=400).fit(X, client=client)
        with client.as_current():
            np.testing.assert_array_equal(model.labels_.compute(scheduler=client), KFuse().fit_predict(X))


@pytest.mark.parametrize("waits", [False, True])
def test_takes_arrays_that_are_persisted_on_the_cluster_or_derived_from_such(client, waits):
    X = SETS["moons"]
    persisted = in_chunks(X, 3).persist()
    if waits:
        distributed.wait(persisted)
    expected = KFuse().fit(X)
    for array in (persisted, persisted.rechunk({1: 1}), 1.0 * persisted):
        assert_same_model(KFuseOnDask(rows_per_box=400).fit(array), expected)


def test_nothing_stays_on_the_cluster(client):
    model = KFuseOnDask(rows_per_box=400).fit(in_chunks(SETS["moons"], 3))
    assert sum(map(len, client.has_what().values()))
    del model
    gc.collect()
    deadline = time.monotonic() + 10
    while any(client.has_what().values()) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(client.has_what().values())


def fit_again_and_again(X):
    for _ in range(50):
        KFuseOnDask(rows_per_box=2_000).fit(in_chunks(X, 5))


@pytest.mark.skipif(os.name == "nt", reason="signals differ")
def test_an_interrupt_frees_the_cluster(client):
    """An interrupt is repeated after a while: Python drops one that arrives while an object is finalised."""
    X, is_over = make_blobs(20_000, centers=9, random_state=0)[0], threading.Event()

    def interrupt():
        pause = 1.5
        while not is_over.wait(pause):
            os.kill(os.getpid(), signal.SIGINT)
            pause = 6.0

    interrupter = threading.Thread(target=interrupt)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # workers of xdist ignore interrupts
    interrupter.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            fit_again_and_again(X)
    finally:
        is_over.set()
        interrupter.join()
        signal.signal(signal.SIGINT, before)
    assert client.submit(sum, [1, 2]).result() == 3

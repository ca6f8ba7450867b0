"""Running tasks on whatever scheduler Dask has: threads, processes, or a cluster.

A stage is a list of tasks, one per chunk or box. What the next stage builds on is started and stays where it is
computed; only what the fit decides by, such as the number of neighbours, comes back. What a task does is a function
in the file of its stage.

A fit has thousands of small tasks, so they are described by plain dictionaries, as Dask's specification of graphs has
them: `dask.delayed` takes about a millisecond for each.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import count, islice
from operator import getitem
from typing import Any
from uuid import uuid4

import dask
import dask.array as da
import dask.threaded

RESULTS_AT_A_TIME = 16  # that come from a cluster

_numbers = count()
_prefix = uuid4().hex


class Task:
    """A call to be made, a result that is on its way, or a value."""

    def __init__(self, key: Hashable, graph: Mapping[Any, Any], needs: Iterable[Task] = ()):
        self.key = key
        self.graph = graph  # how to compute it, given those that it needs
        self.needs = tuple(needs)

    def __getitem__(self, position: int) -> Task:
        return task(getitem, self, position)


class Batch:
    """Several tasks as one Dask collection."""

    __dask_scheduler__ = staticmethod(dask.threaded.get)

    def __init__(self, graph: Mapping[Any, Any], keys: list[Any]):
        self.graph, self.keys = graph, keys

    @staticmethod
    def __dask_optimize__(graph: Mapping[Any, Any], keys: list[Any], **kwargs: Any) -> Mapping[Any, Any]:
        return graph  # it has what is needed and nothing else

    def __dask_graph__(self) -> Mapping[Any, Any]:
        return self.graph

    def __dask_keys__(self) -> list[Any]:
        return self.keys

    def __dask_tokenize__(self) -> str:
        return str(self.keys)  # each names its task alone; Dask would read through all values instead

    def __dask_postcompute__(self) -> tuple[Callable[..., Any], tuple[()]]:
        return list, ()

    def __dask_postpersist__(self) -> tuple[Callable[..., Any], tuple[list[Any]]]:
        return Batch, (self.keys,)


def task(function: Callable[..., Any], *arguments: Any) -> Task:
    """Describe a call; arguments that are tasks, also those in lists, stand for their results."""
    key = f"{function.__name__.strip('_')}-{_prefix}-{next(_numbers)}"
    needs: list[Task] = []
    return Task(key, {key: (function, *(_referred(one, needs) for one in arguments))}, needs)


def _referred(argument: Any, needs: list[Task]) -> Any:
    """Return an argument with keys in place of tasks, and note these."""
    if isinstance(argument, Task):
        needs.append(argument)
        return argument.key
    if type(argument) is list and any(isinstance(one, (Task, list)) for one in argument):
        return [_referred(one, needs) for one in argument]
    return argument if isinstance(argument, (int, float, str)) or callable(argument) else (partial(_give, argument),)


def _give(value: Any) -> Any:
    return value


def chunks_of(array: da.Array) -> list[Task]:
    """Describe the chunks of a Dask array, each of which has all columns of some rows.

    A chunk that is persisted on a cluster is a promise in the graph of the array, which optimizing it loses. It gets a
    name of its own: a task that refers to it by a tuple, as arrays name their chunks, would be given the tuple itself.
    """
    promises = {key: value for key, value in dict(array.__dask_graph__()).items() if _is_promise(value)}
    graph = dict(dask.optimize(array)[0].__dask_graph__())
    keys = [(array.name, i, 0) for i in range(array.numblocks[0])]
    return [_kept_elsewhere(promises[key]) if key in promises else Task(key, graph) for key in keys]


def _kept_elsewhere(promise: Any) -> Task:
    name = f"chunk-{_prefix}-{next(_numbers)}"
    return Task(name, {name: promise})


def shared(value: Any) -> Task:
    """Describe a value that many tasks need, so that it is sent once and not with each of them."""
    key = f"{type(value).__name__.lower()}-{_prefix}-{next(_numbers)}"
    return Task(key, {key: (partial(_give, value),)})


def started(tasks: list[Task]) -> list[Task]:
    """Start tasks; the results stay where they are computed, for as long as these tasks are referred to."""
    graph = _persisted(tasks)
    return [Task(one.key, {one.key: _kept(graph[one.key])}) for one in tasks]


def _persisted(tasks: list[Task]) -> dict[Any, Any]:
    """Return a graph with the results of tasks, or promises of them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")  # it holds what boxes need to know, each its part
        graph: dict[Any, Any] = dask.persist(_batch(tasks))[0].graph
    return graph


def _kept(value: Any) -> Any:
    """Return what a graph holds for a result: a promise of it as it is, and a value so that Dask does not search it."""
    return value if _is_promise(value) else (partial(_give, value),)


def _is_promise(value: Any) -> bool:
    return hasattr(value, "__dask_future__") or hasattr(value, "client")


def results(tasks: list[Task]) -> list[Any]:
    """Wait for tasks, and return their results, of which a few leave a cluster at a time.

    `dask.compute` would put all of them together on one worker, and a client that asks for all at once makes every
    worker load all that it has.
    """
    graph = _persisted(tasks)
    found: list[Any] = []
    for start in range(0, len(tasks), RESULTS_AT_A_TIME):
        some = [graph.pop(one.key) for one in tasks[start : start + RESULTS_AT_A_TIME]]
        found += some[0].client.gather(some) if hasattr(some[0], "client") else some
    return found


def results_of(*stages: list[Task]) -> list[list[Any]]:
    """Wait for several stages that do not need each other, and return the results of each."""
    found = iter(results([one for stage in stages for one in stage]))
    return [list(islice(found, len(stage))) for stage in stages]


@contextmanager
def explained(remedy: str) -> Iterator[None]:
    """Explain why workers died: there is no other reason for it than memory, unless somebody stops them."""
    try:
        yield
    except Exception as error:
        if type(error).__name__ != "KilledWorker":
            raise
        raise MemoryError(
            "Workers died several times on the same task, most likely because they ran out of memory: give them more, "
            f"or {remedy}."
        ) from error


def _batch(tasks: list[Task]) -> Batch:
    return Batch(graph_of(tasks), [one.key for one in tasks])


def graph_of(tasks: list[Task]) -> dict[Any, Any]:
    """Collect all that tasks need."""
    graph: dict[Any, Any] = {}
    pending, merged = list(tasks), set()
    while pending:
        one = pending.pop()
        if one.key in merged:
            continue
        merged.add(one.key)
        if one.key not in graph:
            graph.update(one.graph)
        pending.extend(one.needs)
    return graph

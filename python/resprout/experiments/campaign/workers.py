"""Who simulates the parts of a campaign: the cores of this host, or a Dask cluster.

Both give a function from parts to (part, its rows), in the order in which parts become finished.
Nobody but its caller writes files, so a worker may die at any moment.
"""

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from typing import Any

from resprout import __version__
from resprout.errors import UserError
from resprout.experiments.campaign.parts import Part, StoppedError, simulate

Finished = Iterator[tuple[Part, bytes]]
Workers = Callable[[Iterable[Part]], Finished]

_CONNECT_SECONDS = 10


def core_count() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0))


@contextmanager
def local_cores(count: int) -> Iterator[Workers]:
    """Threads: all their work is in native calls, during which Python's lock is free."""
    stop = threading.Event()
    pool = ThreadPoolExecutor(count)

    def work(parts: Iterable[Part]) -> Finished:
        futures = {pool.submit(simulate, part, stop.is_set): part for part in parts}
        for future in as_completed(list(futures)):
            yield futures.pop(future), future.result()

    try:
        yield work
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)


@contextmanager
def dask_cluster(address: str) -> Iterator[Workers]:
    """The workers of a scheduler, also those that come later. Dask repeats what a lost one had."""
    from distributed import Client

    # What goes wrong is said once, by us.
    logging.disable(logging.CRITICAL)
    try:
        # A client that cannot connect would take another half a minute to end.
        asyncio.run(_connect(address))
        client = Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, TypeError, ValueError) as error:
        raise UserError(
            f"--scheduler: no Dask scheduler answers at {address!r}; give one as tcp://HOST:8786"
        ) from error
    with client:
        yield lambda parts: _work_on_cluster(client, parts)


async def _connect(address: str) -> None:
    from distributed import Security
    from distributed.comm.core import connect

    arguments = Security().get_connection_args("client")
    comm = await connect(address, timeout=_CONNECT_SECONDS, **arguments)
    await comm.close()


def _work_on_cluster(client: Any, parts: Iterable[Part]) -> Finished:
    from distributed import as_completed as dask_as_completed

    # A name of its own for each task: equal names would share their results between campaigns.
    futures = [client.submit(simulate_elsewhere, part, __version__, pure=False) for part in parts]
    part_of = {future.key: part for future, part in zip(futures, parts, strict=True)}
    pending = dask_as_completed(futures, loop=client.loop)
    del futures  # so that a result is forgotten as soon as it has been handed on
    for future in pending:
        part = part_of[future.key]
        try:
            rows = future.result()
        except Exception as error:
            if future.cancelled():
                raise StoppedError("the scheduler ended or is out of reach") from error
            line = " ".join(str(error).split()).split(". ")[0]
            raise StoppedError(
                f"the cluster could not finish part {part.number}: {type(error).__name__}: {line}"
            ) from error
        yield part, rows


def simulate_elsewhere(part: Part, version: str) -> bytes:
    """simulate() on a host whose Resprout must be that of the campaign."""
    if version != __version__:
        raise RuntimeError(f"the worker has Resprout {__version__}, the campaign {version}")
    return simulate(part)

"""The Python daemon of Spark, with the reasoners already imported: workers are forked from it and start at once.

A worker collects garbage after every task; what was imported before the fork is exempt from that. What a worker frees
it keeps for the next batch. One that Java has hung up on ends without a word.
"""

from __future__ import annotations

import contextlib
import gc
import socket
from collections.abc import Callable

with contextlib.suppress(ImportError):
    import thalweg.events.reasoner
    import thalweg.spark.task  # noqa: F401


Worker = Callable[[socket.socket, bool], int]
"""Does one task that comes through a socket; whether the other side is known; 0: it may do another."""


def until_hung_up(work: Worker) -> Worker:
    """The same worker, which ends without a word when nobody listens. Java ends idle workers by closing their sockets,
    and a worker notices on a Unix socket that its last answer reaches nobody."""

    def worker(sock: socket.socket, authenticated: bool) -> int:
        try:
            return work(sock, authenticated)
        except BrokenPipeError:
            return 1

    return worker


if __name__ == "__main__":
    from pyspark import daemon

    from thalweg._memory import keep_freed_memory

    daemon.worker = until_hung_up(daemon.worker)  # type: ignore[assignment]
    keep_freed_memory()
    gc.freeze()
    daemon.manager()

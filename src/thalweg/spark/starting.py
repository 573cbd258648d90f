"""Starting Java for Spark: a start that is broken off leaves no Java behind.

Java passes over interruptions, and ends when the Python that has started it is gone. But it looks for that only when it
has told Python where it is to be found; one that cannot do so any more would stay. Later, while Spark starts in it, it
would end with a page about that.
"""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen
from typing import Any


@contextmanager
def no_java_left() -> Iterator[None]:
    """While Spark starts: where that is broken off, the Java that was started for it is ended."""
    from pyspark import SparkContext, java_gateway

    begun: list[Popen[bytes]] = []

    def noted(*args: Any, **more: Any) -> Popen[bytes]:
        with _uninterrupted():
            begun.append(Popen(*args, **more))
        return begun[-1]

    module: Any = java_gateway
    module.Popen, before = noted, module.Popen
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        for java in begun:
            java.kill()
            java.wait()
            SparkContext._gateway = SparkContext._jvm = None
        raise
    finally:
        module.Popen = before


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """An interruption waits until this is done. Only the main thread is interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked: list[tuple[Any, ...]] = []
    before = signal.signal(signal.SIGINT, lambda *given: asked.append(given))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if asked and callable(before):
        before(*asked[0])


def quiet_py4j() -> None:
    """What goes wrong is told once, by the command. py4j raises it, and prints a page before that: when a call is
    interrupted, and when the call by which Spark then cancels its jobs finds the line busy."""
    logging.getLogger().addFilter(lambda record: "py4j" not in Path(record.pathname).parts)

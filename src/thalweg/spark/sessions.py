"""A Spark session with defaults that suit a pipeline on one machine. On a cluster, bring your own."""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import sys
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import thalweg
from thalweg.io.errors import InputError
from thalweg.spark.java import provide_java
from thalweg.spark.sockets import socket_directory
from thalweg.spark.starting import no_java_left

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ARROW_ROWS = 100_000
"""Rows per Arrow batch: large enough that the work per batch does not count, small enough for memory."""

PARTITIONS = "spark.sql.shuffle.partitions"
TRACEBACKS = "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled"

DEFAULTS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "2g",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(ARROW_ROWS),
    "spark.python.worker.reuse": "true",
    TRACEBACKS: "false",  # all Python functions run in the same workers
    "spark.python.daemon.module": "thalweg.spark.daemon",
    "spark.python.unix.domain.socket.enabled": str(hasattr(socket, "AF_UNIX")).lower(),  # TCP may hold back 40 ms
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.sql.streaming.minBatchesToRetain": "10",
}


def session(
    master: str | None = None, *, shards: int | None = None, name: str = "thalweg", **settings: str
) -> SparkSession:
    """The running session, or a new one. `settings` are those of Spark, with ``__`` for dots."""
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise InputError(
            "spark", "PySpark is not installed", 'install it with: pip install "thalweg[spark]"'
        ) from error
    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    provide_java()
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    if master is None or master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.appName(name)
    chosen = master
    if master is not None or "spark.master" not in os.environ.get("PYSPARK_SUBMIT_ARGS", ""):
        chosen = master or "local[*]"
        builder = builder.master(chosen)
    sockets = _sockets() if chosen is not None and chosen.startswith("local") else {}
    for key, value in {**DEFAULTS, **_logging(), **sockets}.items():
        builder = builder.config(key, value)
    for key, value in settings.items():
        builder = builder.config(key.replace("__", "."), value)
    try:
        with no_java_left():
            found = builder.getOrCreate()
    except Exception as error:
        where = f" with the master {master}" if master is not None else ""
        hint = None if master is None else "is that how it is written, and does it run there?"
        raise InputError("spark", f"Spark does not start{where}: {_reason(error)}", hint) from error
    found.sparkContext.setLogLevel("ERROR")
    if PARTITIONS.replace(".", "__") not in settings:
        found.conf.set(PARTITIONS, shards or found.sparkContext.defaultParallelism)
    return found


def _reason(error: Exception) -> str:
    """What Java says, without the page below it."""
    java = getattr(error, "java_exception", None)
    text = str(java.getMessage() if java is not None else error).strip()
    return text.splitlines()[0] if text else type(error).__name__


def _logging() -> dict[str, str]:
    """Java's log: errors only, where this package is a directory that Java can read."""
    file = Path(__file__).with_name("log4j2.properties")
    return {"spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={file.as_uri()}"} if file.is_file() else {}


def _sockets() -> dict[str, str]:
    """Sockets lie where the next session finds what is left of them, on this machine."""
    place = socket_directory()
    return {} if place is None else {"spark.python.unix.domain.socket.dir": str(place)}


def carry_package(spark: SparkSession) -> None:
    """Where this package was loaded from a wheel (``--py-files``), give it to the workers: Spark brings them zip files,
    but not under the name of a wheel."""
    archive = getattr(thalweg.__spec__.loader, "archive", "") if thalweg.__spec__ is not None else ""
    shown = "thalweg.zip"
    if not archive.endswith(".whl") or shown in (spark.sparkContext._python_includes or ()):
        return
    copy = Path(tempfile.mkdtemp(prefix="thalweg-wheel-")) / shown
    shutil.copyfile(archive, copy)
    spark.sparkContext.addPyFile(str(copy))
    atexit.register(shutil.rmtree, copy.parent, ignore_errors=True)

"""Killed at random instants and started again, a stream finds what an uninterrupted one finds: no row twice, none lost.

The driver is killed in a process of its own; a Python worker is killed under a running query. The number of kills is
that of the environment variable THALWEG_KILLS (3 without it).
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

import psutil
import pytest
from stories import assert_same_tables, cars

from thalweg import spark as ts
from thalweg.spark.checkpoint import Checkpoint
from thalweg.spark.files import Directory

pytestmark = [pytest.mark.spark, pytest.mark.slow]

KILLS = int(os.environ.get("THALWEG_KILLS", "3"))
HERE = Path(__file__).parent


def committed(folder: Path) -> int:
    """How many batches are committed."""
    last = Checkpoint(Directory(str(folder / "checkpoint"))).last()
    return 0 if last is None else last.batch + 1


def started(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(HERE / "crashing_stream.py"), str(folder), "2"]
    return subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)


def killed(process: subprocess.Popen[bytes]) -> None:
    """Kill the driver and the Java it started, with no chance to tidy up."""
    if process.poll() is not None:
        return
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGKILL)
    for child in children:
        if child.is_running():
            child.send_signal(signal.SIGKILL)
    process.wait()


def test_a_killed_driver_starts_again_where_it_was(spark: Any, tmp_path: Path) -> None:
    story, rng, files = cars(), Random(KILLS), KILLS + 3
    story.write(tmp_path / "in", files)
    for kill in range(KILLS + 1):
        process = started(tmp_path)
        try:
            if kill == KILLS:
                assert process.wait(timeout=240) == 0
                break
            wanted = min(files - 1, committed(tmp_path) + 1)
            while process.poll() is None and committed(tmp_path) < wanted:
                time.sleep(0.02)
            time.sleep(rng.random() * 0.6)
            assert process.poll() is None, "the stream ended before it could be killed"
        finally:
            killed(process)
    assert committed(tmp_path) == files
    assert_same_tables(story.embedded(), ts.read(spark, str(tmp_path / "out")))


def test_a_killed_python_worker_costs_a_restart_and_nothing_else(spark: Any, tmp_path: Path) -> None:
    story = cars()
    folder = story.write(tmp_path / "in", 6)
    schema = spark.createDataFrame(story.rows.slice(0, 1)).schema
    sdf = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))
    options = {"checkpoint": tmp_path / "checkpoint", "out": tmp_path / "out", "trigger": "available"}
    kills = 0
    for _ in range(10):
        running = ts.stream(sdf, story.program, row="nr", shards=2, **options, **story.options)
        if kills < 2:
            before = committed(tmp_path)
            while committed(tmp_path) == before and running.query.isActive:
                time.sleep(0.01)
            for worker in workers():
                worker.send_signal(signal.SIGKILL)
                kills += 1
        try:
            running.wait()
            break
        except Exception:
            continue
    assert kills
    assert_same_tables(story.embedded(), running.tables)


def workers() -> list[psutil.Process]:
    """The Python workers of this process's Spark: what its daemon has forked."""
    found = []
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            parent = child.parent()
            if parent is not None and all("thalweg.spark.daemon" in p.cmdline() for p in (child, parent)):
                found.append(child)
    return found

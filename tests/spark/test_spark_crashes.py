"""Killed at random instants and started again, a stream finds what an uninterrupted one finds: no row twice, none lost.

The driver is killed in a process of its own, a Python worker under a running query, an executor in a cluster. Rows
that Spark has to compute are on their way through files when a driver or an executor is killed.
The number of kills of each is that of the environment variable THALWEG_KILLS (`make fuzz`: 25; without it 1: 3 in all).
A stream has twice as many files: between two kills it commits one batch or two.
"""

from __future__ import annotations

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
from processes import workers
from stories import assert_same_tables, cars, followed

from java_archive import OPTIONS
from thalweg.spark.checkpoint import Checkpoint
from thalweg.spark.files import Directory

pytestmark = pytest.mark.spark

KILLS = int(os.environ.get("THALWEG_KILLS", "1"))
MASTER = "local-cluster[2,1,1024]"
HERE = Path(__file__).parent
SOON = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "JAVA_TOOL_OPTIONS": OPTIONS}
"""For processes that do not live long: Java does not compile for the long run."""


def committed(folder: Path) -> int:
    """How many batches are committed."""
    last = Checkpoint(Directory(str(folder / "checkpoint"))).last()
    return 0 if last is None else last.batch + 1


def started(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(HERE / "crashing_stream.py"), str(folder)]
    return subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL, env=SOON)


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
    story, rng, files = cars(), Random(KILLS), 2 * KILLS + 1
    story.write(tmp_path / "in", files)
    for _ in range(KILLS):
        process = started(tmp_path)
        try:
            wanted = min(files - 1, committed(tmp_path) + 1)
            while process.poll() is None and committed(tmp_path) < wanted:
                time.sleep(0.02)
            time.sleep(rng.random() * 0.4)
            assert process.poll() is None, "the stream ended before it could be killed"
        finally:
            killed(process)
    running = followed(spark, story, tmp_path, computed=True)
    running.wait()
    # Of a file that Spark had noted when it was killed, it makes one batch with the next file.
    assert KILLS < committed(tmp_path) <= files
    assert_same_tables(story.embedded(), running.tables)


def test_a_killed_python_worker_costs_a_restart_and_nothing_else(spark: Any, tmp_path: Path) -> None:
    """Whether a kill hits a running task or an idle worker is left to chance; Spark may make it good by itself."""
    story, rng, files = cars(), Random(KILLS), 2 * KILLS + 3
    story.write(tmp_path / "in", files)
    kills = starts = 0
    while True:
        running = followed(spark, story, tmp_path)
        starts += 1
        while kills < KILLS and running.query.isActive:
            before = committed(tmp_path)
            while committed(tmp_path) == before and running.query.isActive:
                time.sleep(0.01)
            time.sleep(rng.random() * 0.3)
            found = workers()
            if found and running.query.isActive:
                rng.choice(found).send_signal(signal.SIGKILL)
                kills += 1
        try:
            running.wait()
            break
        except Exception:
            assert starts <= kills, "it failed without a kill"
    assert kills == KILLS
    assert_same_tables(story.embedded(), running.tables)


def test_a_killed_executor_of_a_cluster_changes_nothing(tmp_path: Path) -> None:
    command = [sys.executable, str(HERE / "cluster_stream.py"), MASTER, str(tmp_path), str(KILLS)]
    limit = 240 + 60 * KILLS
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False, env=SOON)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert f"the same tables after {KILLS} kills" in done.stdout

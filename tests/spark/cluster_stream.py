"""A stream on a cluster of processes, compared with an embedded run: ``python cluster_stream.py MASTER FOLDER [kill]``.

With `kill`, an executor is killed when the first batch is committed.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import time
from pathlib import Path

import psutil
from stories import assert_same_tables, cars, short_traffic

from thalweg import spark as ts
from thalweg.spark.checkpoint import Checkpoint
from thalweg.spark.files import Directory


def executors() -> list[psutil.Process]:
    """The executors of this process's cluster."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it may have ended meanwhile
            if "CoarseGrainedExecutorBackend" in " ".join(process.cmdline()):
                found.append(process)
    return found


def kill_one(folder: Path, killed: list[int]) -> None:
    checkpoint = Checkpoint(Directory(str(folder / "checkpoint")))
    while checkpoint.last() is None:
        time.sleep(0.05)
    while not (running := executors()):
        time.sleep(0.05)
    victim = running[0]
    victim.send_signal(signal.SIGKILL)
    killed.append(victim.pid)


def main(master: str, folder: Path, kill: bool) -> None:
    story = cars() if kill else short_traffic()
    story.write(folder / "in", 4)
    spark = ts.session(master, shards=2, spark__executor__memory="768m")
    schema = spark.createDataFrame(story.rows.slice(0, 1)).schema
    sdf = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder / "in"))
    killed: list[int] = []
    if kill:
        threading.Thread(target=kill_one, args=(folder, killed), daemon=True).start()
    while True:
        running = ts.stream(
            sdf,
            story.program,
            checkpoint=folder / "checkpoint",
            out=folder / "out",
            trigger="available",
            row="nr",
            shards=2,
            **story.options,
        )
        try:
            running.wait()
            break
        except Exception:
            if not killed:
                raise
    assert bool(killed) == kill
    assert_same_tables(story.embedded(), running.tables)
    spark.stop()
    print("the same tables")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), "kill" in sys.argv[3:])

"""A stream on a cluster of processes, compared with an embedded run: ``python cluster_stream.py MASTER FOLDER KILLS``.

So many times an executor is killed, at a random instant after another batch has been committed.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import time
import traceback
from pathlib import Path
from random import Random

import psutil
from stories import assert_same_tables, followed, short_traffic

from thalweg import spark as ts
from thalweg.spark.checkpoint import Checkpoint
from thalweg.spark.files import Directory

SETTINGS = {"spark__executor__memory": "768m", "spark__deploy__maxExecutorRetries": "-1"}


def executors() -> list[psutil.Process]:
    """The executors of this process's cluster."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it may have ended meanwhile
            if "CoarseGrainedExecutorBackend" in " ".join(process.cmdline()):
                found.append(process)
    return found


class Killer(threading.Thread):
    """Kills an executor after the first batch, after the second, and so on."""

    def __init__(self, folder: Path, kills: int) -> None:
        super().__init__(daemon=True)
        self.checkpoint = Checkpoint(Directory(str(folder / "checkpoint")))
        self.kills, self.killed, self.rng = kills, 0, Random(kills)

    def run(self) -> None:
        while self.killed < self.kills:
            last = self.checkpoint.last()
            running = executors()
            if last is None or last.batch < self.killed or not running:
                time.sleep(0.02)
                continue
            time.sleep(self.rng.random() * 0.5)
            with contextlib.suppress(psutil.Error):
                self.rng.choice(running).send_signal(signal.SIGKILL)
                self.killed += 1


def main(master: str, folder: Path, kills: int) -> None:
    story = short_traffic()
    story.write(folder / "in", 2 * kills + 3)  # enough that it does not end before the last kill
    spark = ts.session(master, shards=2, **SETTINGS)
    killer = Killer(folder, kills)
    killer.start()
    failures = 0
    while True:
        running = followed(spark, story, folder, computed=True)
        try:
            running.wait()
            break
        except Exception:
            failures += 1
            if failures > killer.killed:
                raise
    assert killer.killed == kills, f"{killer.killed} kills, not {kills}"
    assert_same_tables(story.embedded(), running.tables)
    spark.stop()
    print(f"the same tables after {kills} kills and {failures} new starts")


if __name__ == "__main__":
    try:
        main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
    except Exception:  # to where it is found among all that Java has to say at its end
        traceback.print_exc(file=sys.stdout)
        sys.exit(1)

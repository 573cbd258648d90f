"""A stream in a process of its own, to be killed: ``python crashing_stream.py FOLDER SHARDS``."""

from __future__ import annotations

import sys
from pathlib import Path

from stories import cars

from thalweg import spark as ts


def main(folder: Path, shards: int) -> None:
    story = cars()
    spark = ts.session("local[2]", shards=shards)
    schema = spark.createDataFrame(story.rows.slice(0, 1)).schema
    sdf = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder / "in"))
    running = ts.stream(
        sdf,
        story.program,
        checkpoint=folder / "checkpoint",
        out=folder / "out",
        trigger="available",
        row="nr",
        shards=shards,
        **story.options,
    )
    running.wait()
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))

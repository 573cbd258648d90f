"""A stream in a process of its own, to be killed: ``python crashing_stream.py FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

from stories import cars, followed

from thalweg import spark as ts


def main(folder: Path) -> None:
    spark = ts.session("local[2]", shards=2)
    followed(spark, cars(), folder, computed=True).wait()
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))

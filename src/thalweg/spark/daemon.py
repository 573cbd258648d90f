"""The Python daemon of Spark, with the reasoners already imported: workers are forked from it and start at once.

A worker collects garbage after every task; what was imported before the fork is exempt from that. What a worker frees
it keeps for the next batch.
"""

from __future__ import annotations

import contextlib
import gc

with contextlib.suppress(ImportError):
    import thalweg.events.reasoner
    import thalweg.spark.task  # noqa: F401

if __name__ == "__main__":
    from pyspark.daemon import manager

    from thalweg._memory import keep_freed_memory

    keep_freed_memory()
    gc.freeze()
    manager()

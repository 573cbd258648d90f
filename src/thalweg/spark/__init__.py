"""The pipeline on Spark: batch and streaming, the tables of an embedded run.

Spark owns sources, shuffles, scheduling and offsets; the reasoning is done by the reasoners of this package, one per
shard. Nothing here decides what is true. The names below are the public face.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from thalweg.spark.batch import recognise
    from thalweg.spark.frames import from_columns, from_json, from_rtec, together
    from thalweg.spark.sessions import session
    from thalweg.spark.streaming import Stream, stream
    from thalweg.spark.tables import Tables, read

_WHERE = {
    "Stream": "thalweg.spark.streaming",
    "Tables": "thalweg.spark.tables",
    "from_columns": "thalweg.spark.frames",
    "from_json": "thalweg.spark.frames",
    "from_rtec": "thalweg.spark.frames",
    "read": "thalweg.spark.tables",
    "recognise": "thalweg.spark.batch",
    "session": "thalweg.spark.sessions",
    "stream": "thalweg.spark.streaming",
    "together": "thalweg.spark.frames",
}

__all__ = [
    "Stream",
    "Tables",
    "from_columns",
    "from_json",
    "from_rtec",
    "read",
    "recognise",
    "session",
    "stream",
    "together",
]


def __getattr__(name: str) -> object:
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'thalweg.spark' has no attribute {name!r}")

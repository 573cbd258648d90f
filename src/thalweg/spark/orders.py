"""What the driver asks of a shard, what the shard notes of it, and where its tables lie meanwhile."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from thalweg.spark.checkpoint import Lineage, batch_name
from thalweg.spark.files import Directory
from thalweg.spark.parquet import Files
from thalweg.spark.places import Sources
from thalweg.spark.routing import MESSAGE
from thalweg.spark.settings import Settings

LANDING = "_landing"
"""Where rows land, in the directory of the tables: each run has a place there, and the next one clears all of them."""
SORTED_ABOVE = 4_000_000
"""Rows per shard from which a batch is sorted by arrival, so that memory follows the window and not the batch."""


def most_unsorted(settings: Settings) -> int:
    """Rows that may come in any order."""
    return SORTED_ABOVE * settings.stages[0].shards


@dataclass(frozen=True)
class Order:
    """What to do. `state` is None for a run that keeps none; `passing`: the result is provisional and leaves no state.
    `ordered`: rows come in the order of arrival, so that the clock can follow them. `follows`: nobody has looked at the
    rows, so a shard goes as far beyond `to` as its own rows let it; `again`: it did, and others went further. `files`
    are those that every shard reads itself."""

    settings: Settings
    stage: int
    batch: int
    mark: str
    to: int
    out: Directory
    lineages: dict[str, Lineage] = field(default_factory=dict)
    state: Directory | None = None
    passing: bool = False
    ordered: bool = False
    follows: bool = False
    again: bool = False
    limit: int | None = None
    files: Files | None = None
    sources: Sources = Sources(("input",))


@dataclass(slots=True)
class Note:
    """What a shard did, for the driver. `to` is the query time it went to. Readers of files also tell the names of the
    rows that they took, and how many of these are about times after that."""

    stage: int
    shard: int
    to: int = 0
    rows: int = 0
    unread: int = 0
    waiting: int = 0
    names: list[str] = field(default_factory=list)
    latest: int | None = None
    rejected: dict[str, int] = field(default_factory=dict)
    tables: dict[str, int] = field(default_factory=dict)
    revised: int = 0
    first_rejected: dict[str, Any] | None = None
    lineage: dict[str, Any] | None = None
    restored: int = 0
    seconds: float = 0.0


def message(stage: int, shard: int, kind: str, content: bytes) -> pa.RecordBatch:
    place = [pa.array([stage], pa.int32()), pa.array([shard], pa.int32())]
    return pa.record_batch([*place, pa.array([kind]), pa.array([content], pa.binary())], names=list(MESSAGE))


def staging(batch: int) -> tuple[str, ...]:
    """Where the tables of a batch lie until it is committed."""
    return "_staging", batch_name(batch)

"""Rows that several shards read: one of them tells of a row when it is rejected, for the others it is a copy.

That is the first of the shards that read it in the first stage that does. Which one it is depends on what the row says
and on nothing else, so that rows of any number are told apart.
"""

from __future__ import annotations

from thalweg.protocol import Rows
from thalweg.spark.keying import elsewhere
from thalweg.spark.parcel import split, targets
from thalweg.spark.places import marked
from thalweg.spark.settings import Settings
from thalweg.spark.stages import Name, Routes

_KINDS = ("event", "fluent", "predicate")


def told_apart(rows: Rows, settings: Settings) -> dict[tuple[int, int], Rows]:
    """The rows by stage and shard."""
    found: dict[tuple[int, int], Rows] = {}
    first = _first_stage(rows, settings)
    for stage, plan in enumerate(settings.stages):
        name = _name(rows, plan.inputs)
        if name is not None:
            parts = split(rows, plan.grid, plan.inputs[name], told=stage == first)
            found |= {(stage, shard): part for shard, part in parts.items()}
    return found


def for_shard(rows: Rows, settings: Settings, stage: int, shard: int) -> Rows:
    """The rows that a shard has; those are copies that another one tells of."""
    if stage != _first_stage(rows, settings):
        return marked(rows, copies=True)
    plan = settings.stages[stage]
    name = _name(rows, plan.inputs)
    routes = plan.inputs[name] if name is not None else ()
    if sum(len(elsewhere(plan.grid, route.parts)) for route in routes) < 2:
        return rows
    return marked(rows, targets(rows, plan.grid, routes).argmax(axis=0) != shard)


def _first_stage(rows: Rows, settings: Settings) -> int:
    """The first stage that reads rows of such a name; what none reads, the first one gets."""
    reads = (stage for stage, plan in enumerate(settings.stages) if _name(rows, plan.inputs) is not None)
    return next(reads, 0)


def _name(rows: Rows, inputs: Routes) -> Name | None:
    """The name under which a stage reads the rows; None: it does not."""
    names = (Name(kind, rows.name, len(rows.args)) for kind in _KINDS)
    return next((name for name in names if name in inputs), None)

"""A checkpoint goes over to a changed program: `thalweg migrate`.

Every shard's window is evaluated again under the changed rules, stage after stage, from the rows and values that the
state has kept; each kind of reasoner knows what that is. What comes out differently is added to the tables of the last
batch as changes (where they tell causes, with the cause ``program``); the rest stays. All of it becomes valid with one
commit. The stream must not be running meanwhile.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from thalweg.io.errors import InputError
from thalweg.language.program import Program
from thalweg.language.rules import Kind
from thalweg.plans import Options, as_program
from thalweg.protocol import CannotGoOn, Rows
from thalweg.spark.checkpoint import Checkpoint, Commit, Lineage, shard_key
from thalweg.spark.files import DamagedFile, Directory
from thalweg.spark.outputs import Outputs, Sink, partition, standing
from thalweg.spark.settings import Settings, settings_of
from thalweg.spark.shard import Shard
from thalweg.spark.stages import Name, StagePlan
from thalweg.spark.task import Found, Note, Order, restored, staging, store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Migration:
    """What a migration did: the query time whose window was evaluated again, the rows that were added by table
    (nothing at all where the checkpoint had the program already), and what the changed program cannot know of the
    past."""

    batch: int | None
    query_time: int | None
    corrections: dict[str, int]
    notes: tuple[str, ...] = ()


def migrate(
    checkpoint: str | Path,
    program: Program | str | Path,
    *,
    background: Sequence[str | Path] | str | Path = (),
    spark: SparkSession | None = None,
    sinks: Mapping[str, Sink] | None = None,
) -> Migration:
    """Give a checkpoint a changed program. Sinks, which need a session, get the last batch again, with what was
    added."""
    checked = Checkpoint(Directory(str(checkpoint)))
    if not checked.begun:
        raise InputError("checkpoint", f"{checkpoint} holds no checkpoint of a pipeline")
    old = checked.settings()
    new = _settings(old, as_program(program, background))
    last = checked.last()
    if last is None or not last.begun:
        checked.take()
        checked.started(new)
        return Migration(None, None, {})
    if new.identity == old.identity:
        return Migration(last.batch, last.moment.query_time, {})
    tables = checked.tables
    if tables is None:
        raise InputError("checkpoint", f"{checkpoint} does not say where its tables are: it is damaged")
    outputs = Outputs(tables, new.kind, spark, dict(sinks or {}))
    outputs.publish(last.batch, last.tables, edition=last.edition)
    outputs.clear(last.batch)
    try:
        shards, corrections, notes = _revised(old, new, checked, outputs, last)
    except DamagedFile:
        _refuse_running(checked, last)  # the stream has cleared it away
        raise
    sizes = _together(outputs, last, corrections)
    commit = replace(
        last,
        mark=uuid.uuid4().hex,
        shards=shards,
        tables=sizes,
        edition=last.edition + 1,
        identity=new.identity,
    )
    _refuse_running(checked, last)
    checked.take()
    checked.announce(new)
    checked.commit(commit, last)
    checked.settle()
    outputs.publish(commit.batch, commit.tables, edition=commit.edition)
    return Migration(last.batch, last.moment.query_time, dict(corrections), notes)


def _refuse_running(checked: Checkpoint, last: Commit) -> None:
    if checked.last() != last:
        told = "the stream is running: it has committed a batch meanwhile"
        raise InputError("migrate", told, "stop it, migrate, and start it again with the changed rules")


def _settings(old: Settings, program: Program) -> Settings:
    """The settings with another program, if its state can be had from the old one's."""
    if program.kind != Kind(old.kind):
        why = f"a program of kind {program.kind} cannot go on from the state of one of kind {old.kind}"
        raise InputError("migrate", why, "start with a new checkpoint")
    new = settings_of(
        program,
        Options(**old.options),
        old.columns or None,
        shards=old.shards,
        event=old.event,
        label=old.label,
        disorder=old.disorder,
        max_ahead=old.max_ahead,
    )
    again = "start with a new checkpoint"
    if [stage.grid for stage in old.stages] != [stage.grid for stage in new.stages]:
        why = f"the changed program is cut into other stages: {_keys(new)}, not {_keys(old)}"
        raise InputError("migrate", why, again)
    moved = _moved(old.stages, new.stages)
    if moved is not None:
        why = f"under the changed program other shards would have to know {moved.kind} {moved.name}/{moved.arity}"
        raise InputError("migrate", why, again)
    return new


def _keys(settings: Settings) -> str:
    return ", then ".join(stage.key for stage in settings.stages)


def _moved(old: Sequence[StagePlan], new: Sequence[StagePlan]) -> Name | None:
    """What both programs have and compute, or read, by different keys."""
    found: list[Name] = []
    for before, after in zip(old, new, strict=True):
        for mine, theirs in ((before.members, after.members), (before.inputs, after.inputs)):
            found += [name for name in set(mine) & set(theirs) if mine[name] != theirs[name]]
    homes = _homes(old)
    found += [name for name, stage in _homes(new).items() if homes.get(name, stage) != stage]
    return min(found, default=None)


def _homes(stages: Sequence[StagePlan]) -> dict[Name, int]:
    """The stage that computes each name."""
    return {name: number for number, stage in enumerate(stages) for name in stage.members}


def _revised(
    old: Settings, new: Settings, checked: Checkpoint, outputs: Outputs, last: Commit
) -> tuple[dict[str, Lineage], Counter[str], tuple[str, ...]]:
    """The states of all shards under the changed program, how many rows of each table that adds, and what cannot be
    known."""
    order = Order(
        settings=old,
        stage=0,
        batch=last.batch,
        mark="",
        to=last.moment.query_time,
        out=outputs.directory,
        lineages=dict(last.shards),
        state=checked.directory,
        sources=last.sources,
    )
    lineages: dict[str, Lineage] = {}
    added: Counter[str] = Counter({"changes": 0})
    notes: dict[str, None] = {}
    waiting: dict[tuple[int, int], list[Rows]] = {}
    mark = uuid.uuid4().hex
    for stage, plan in enumerate(new.stages):
        for number in range(plan.shards):
            key = shard_key(stage, number)
            shard = _changed(restored(replace(order, stage=stage), number), new)
            shard.sources = last.sources
            shard.accept(waiting.pop((stage, number), []))
            note = Note(stage, number)
            found = Found(replace(order, settings=new, stage=stage), note)
            outcome = shard.revise()
            notes |= dict.fromkeys(outcome.notes)
            found.add(outcome)
            found.write(number)
            for target, rows in found.forwards.items():
                waiting.setdefault(target, []).extend(rows)
            stored = store(checked.directory, shard.snapshot(), ("state", key), last.batch, "state")
            lineages[key] = Lineage(mark, stored)
            added.update(note.tables)
    return lineages, added, tuple(notes)


def _changed(shard: Shard, settings: Settings) -> Shard:
    try:
        return shard.changed(settings)
    except CannotGoOn as error:
        raise InputError("migrate", str(error), "start with a new checkpoint") from error


def _together(outputs: Outputs, last: Commit, corrections: Counter[str]) -> dict[str, int]:
    """Lay the rows of the last batch beside what was added; returns the sizes."""
    sizes = {**dict(last.tables), **{name: corrections[name] for name in standing(outputs.kind)}}
    for name in sorted(set(corrections) - standing(outputs.kind)):
        if not corrections[name]:
            continue
        sizes[name] = last.tables.get(name, 0) + corrections[name]
        place = (*staging(last.batch), name)
        for number, file in enumerate(outputs.directory.names(*place)):
            outputs.directory.move((*place, file), (*place, f"program-{last.edition + 1}-{number:05d}.parquet"))
        for file in outputs.directory.names(name, partition(last.batch)):
            kept = outputs.directory.read(name, partition(last.batch), file)
            outputs.directory.write(kept, *place, file)
    return sizes


"""A checkpoint goes over to a changed program: `thalweg migrate`.

Every shard's window is evaluated again under the changed rules, stage after stage, from the rows and values that the
state has kept; each kind of reasoner knows what that is. What comes out differently is added to the tables of the last
batch as changes (where they tell causes, with the cause ``program``); the rest stays. All of it becomes valid with one
commit. The stream must not be running meanwhile. Where the program was changed since the last batch, that change is
taken back first (`origin`).
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from thalweg.io.errors import InputError
from thalweg.language.program import Program
from thalweg.language.rules import Kind
from thalweg.plans import Options, as_program
from thalweg.protocol import CannotGoOn, Rows
from thalweg.spark.checkpoint import Checkpoint, Commit, Lineage, Stored, shard_key
from thalweg.spark.files import DamagedFile, Directory
from thalweg.spark.orders import Note, Order, staging
from thalweg.spark.origin import Origin, forget, keep, keep_state, origin_of
from thalweg.spark.outputs import Outputs, Sink, partition, standing
from thalweg.spark.settings import Settings, settings_of
from thalweg.spark.shard import Outcome, Shard
from thalweg.spark.stages import Name, StagePlan
from thalweg.spark.task import Found, store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_ADDED = "program-"
"""How the names of files begin that a changed program has added to a batch."""


@dataclass(frozen=True, slots=True)
class Migration:
    """What a migration did: the query time whose window was evaluated again, the rows that were added by table
    (nothing at all where the checkpoint had the program already), what the changed program cannot know of the
    past, and the rows that an earlier migration had added and that are taken out again."""

    batch: int | None
    query_time: int | None
    corrections: dict[str, int]
    notes: tuple[str, ...] = ()
    undone: dict[str, int] = field(default_factory=dict)


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
    last = checked.last()
    origin = origin_of(checked, last) if last is not None else Origin(checked.settings(), {}, "")
    new = _settings(origin.settings, as_program(program, background))
    if last is None or not last.begun:
        checked.take()
        checked.started(new)
        return Migration(None, None, {})
    if new.identity == checked.settings().identity:
        return Migration(last.batch, last.moment.query_time, {})
    tables = checked.tables
    if tables is None:
        raise InputError("checkpoint", f"{checkpoint} does not say where its tables are: it is damaged")
    outputs = Outputs(tables, new.kind, spark, dict(sinks or {}))
    outputs.publish(last)
    outputs.warn_of_lost(last)
    outputs.clear(last.batch)
    mark = uuid.uuid4().hex
    try:
        shards, corrections, notes = _revised(origin, new, checked, outputs, last, mark)
    except DamagedFile:
        _refuse_running(checked, last)  # the stream has cleared it away
        raise
    sizes, undone = _together(outputs, last, corrections, origin)
    commit = replace(
        last,
        mark=mark,
        shards=shards,
        tables=sizes,
        files=_files(outputs, last, sizes),
        edition=last.edition + 1,
        identity=new.identity,
    )
    _refuse_running(checked, last)
    checked.take()
    checked.announce(new)
    checked.commit(commit, last)
    checked.settle()
    forget(checked.directory, but=mark)
    outputs.publish(commit)
    return Migration(last.batch, last.moment.query_time, dict(corrections), notes, undone)


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
    origin: Origin, new: Settings, checked: Checkpoint, outputs: Outputs, last: Commit, mark: str
) -> tuple[dict[str, Lineage], Counter[str], tuple[str, ...]]:
    """The states of all shards under the changed program, how many rows of each table that adds, and what cannot be
    known. Where it is the program of the origin, the states are those, and nothing is added."""
    order = Order(
        settings=origin.settings,
        stage=0,
        batch=last.batch,
        mark="",
        to=last.moment.query_time,
        out=outputs.directory,
        lineages=dict(last.shards),
        state=checked.directory,
        sources=last.sources,
    )
    returns = new.identity == origin.settings.identity
    lineages: dict[str, Lineage] = {}
    former: dict[str, Stored] = {}
    added: Counter[str] = Counter({"changes": 0})
    notes: dict[str, None] = {}
    waiting: dict[tuple[int, int], list[Rows]] = {}
    for stage, plan in enumerate(new.stages):
        for number in range(plan.shards):
            key = shard_key(stage, number)
            shard = origin.shard(replace(order, stage=stage), number)
            before = shard.snapshot()
            shard = _changed(shard, new)
            shard.sources = last.sources
            shard.accept(waiting.pop((stage, number), []))
            note = Note(stage, number)
            found = Found(replace(order, settings=new, stage=stage), note)
            outcome = shard.revise()
            if returns:
                outcome = _standing(outcome, outputs)
            else:
                former[key] = keep_state(checked.directory, mark, key, before, last.batch)
            notes |= dict.fromkeys(outcome.notes)
            found.add(outcome)
            found.write(number)
            for target, rows in found.forwards.items():
                waiting.setdefault(target, []).extend(rows)
            state = before if returns else shard.snapshot()
            lineages[key] = Lineage(mark, store(checked.directory, state, ("state", key), last.batch, "state"))
            added.update(note.tables)
    if not returns:
        keep(checked.directory, mark, origin, former)
    return lineages, added, tuple(notes)


def _standing(outcome: Outcome, outputs: Outputs) -> Outcome:
    """Of what a shard found the tables that say how things stand."""
    return Outcome({name: table for name, table in outcome.tables.items() if name in standing(outputs.kind)})


def _changed(shard: Shard, settings: Settings) -> Shard:
    try:
        return shard.changed(settings)
    except CannotGoOn as error:
        raise InputError("migrate", str(error), "start with a new checkpoint") from error


def _together(
    outputs: Outputs, last: Commit, corrections: Counter[str], origin: Origin
) -> tuple[dict[str, int], dict[str, int]]:
    """Lay the rows of the last batch beside what was added, without what an earlier change had added; returns the
    sizes, and how much that was."""
    sizes = {**origin.tables, **{name: corrections[name] for name in standing(outputs.kind)}}
    undone: dict[str, int] = {}
    for name in sorted({*corrections, *last.tables} - standing(outputs.kind)):
        sizes[name] = origin.tables.get(name, 0) + corrections[name]
        undone[name] = last.tables.get(name, 0) - origin.tables.get(name, 0)
        if not corrections[name] and not undone[name]:
            continue
        place = (*staging(last.batch), name)
        for number, file in enumerate(outputs.directory.names(*place)):
            outputs.directory.move((*place, file), (*place, f"{_ADDED}{last.edition + 1}-{number:05d}.parquet"))
        for file in outputs.directory.names(name, partition(last.batch)):
            if not (origin.is_earlier and file.startswith(_ADDED)):
                kept = outputs.directory.read(name, partition(last.batch), file)
                outputs.directory.write(kept, *place, file)
    return sizes, {name: rows for name, rows in undone.items() if rows}


def _files(outputs: Outputs, last: Commit, sizes: Mapping[str, int]) -> dict[str, int]:
    """How many files each table has when those that are laid ready have taken the places of others."""
    staged = outputs.staged(last.batch, {})
    replaced = {name for name in last.files if name in staged or not sizes.get(name)}
    here = {name: len(outputs.directory.names(name, partition(last.batch))) for name in replaced}
    return outputs.together({name: count - here.get(name, 0) for name, count in last.files.items()}, staged)

"""One shard of one stage: a reasoner, what of its results is its own, and what other stages need of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.io.rejects import REJECTED
from thalweg.io.sinks import shaped
from thalweg.language.rules import Kind
from thalweg.protocol import Reasoner, Rows
from thalweg.spark.keying import Route
from thalweg.spark.parcel import NO_ROW, Sorter, forwarded, kept
from thalweg.spark.places import Sources, originals
from thalweg.spark.settings import Settings
from thalweg.spark.stages import Name

_INSTANCE: dict[Kind, dict[str, str]] = {
    Kind.EVENTS: {"changes": "fluent", "events": "event", "open": "fluent"},
    Kind.ANSWERS: {"changes": "answer", "answers": "answer", "open": "answer"},
    Kind.LARS: {"changes": "atom", "answers": "atom"},
}
"""Where the tables of a reasoner name their instances."""
_KIND = {"answer": "predicate", "atom": "predicate"}
"""What kind of instance a column of another name has."""


PROGRAM = "program"
"""The cause of changes that are due to a changed program."""


class StageError(RuntimeError):
    """A stage refused what another one computed: the cut between them is at fault."""


@dataclass(slots=True)
class Outcome:
    """What a shard found: tables by their documented names, rows for the shards of later stages, and notes on what a
    changed program cannot know."""

    tables: dict[str, pa.Table] = field(default_factory=dict)
    forwards: dict[tuple[int, int], list[Rows]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


class Shard:
    """The reasoner of a shard. `lasting`: its state is kept, and may be handed over to a changed program."""

    def __init__(self, settings: Settings, stage: int, shard: int, *, lasting: bool = False) -> None:
        self.settings = settings
        self.stage, self.shard = stage, shard
        self.plan = settings.stages[stage]
        self.reasoner: Reasoner = settings.stage_plan(stage).make(retain=lasting)
        self.kind = Kind(settings.kind)
        self.sources = Sources((settings.label,))
        self.query_time = settings.plan.schedule.start
        self._keep_own(self.plan.members, self.plan.selective)
        self._readers = [
            (later, kind, Sorter(plan.grid, kind, plan.foreign))
            for later, plan in enumerate(settings.stages)
            if later > stage
            for kind in ("fluent", "event")
            if any(name.kind == kind for name in plan.foreign)
        ]

    def _keep_own(self, members: Mapping[Name, Route], selective: bool) -> None:
        """From now on, of what is found about `members` only what belongs to this shard is told, where there may be
        more."""
        timed = self.kind is Kind.ANSWERS
        own = {name: (route,) for name, route in members.items()}
        self._own = {
            table: (column, Sorter(self.plan.grid, _KIND.get(column, column), own, timed=timed))
            for table, column in _INSTANCE[self.kind].items()
            if selective and self.plan.shards > 1
        }

    def accept(self, rows: Sequence[Rows]) -> None:
        """Take rows, of the stream or of earlier stages."""
        self.reasoner.accept(rows)

    def advance(self, to: int) -> Outcome:
        """Run every query time up to and including `to`; none where that has been passed, as it may have been where
        rows of a batch are older than those of the last one."""
        self.query_time = max(self.query_time, to)
        return self._outcome(dict(self.reasoner.advance(self.query_time).tables))

    def changed(self, settings: Settings) -> Shard:
        """The same shard of a pipeline with a changed program; `revise` tells what that makes of the window, also of
        what only the former program computes."""
        new = Shard(settings, self.stage, self.shard, lasting=True)
        new.reasoner = self.reasoner.changed(settings.stage_plan(self.stage).program)
        new.query_time, new.sources = self.query_time, self.sources
        new._keep_own({**self.plan.members, **new.plan.members}, self.plan.selective or new.plan.selective)
        return new

    def revise(self) -> Outcome:
        """What is different under the changed program, its cause being that."""
        revision = self.reasoner.revise()
        found = self._outcome(dict(revision.tables))
        found.notes = revision.notes
        for name, table in found.tables.items():
            if "cause" in table.column_names:
                at = table.column_names.index("cause")
                field = table.schema.field(at)
                cause = pa.repeat(pa.scalar(PROGRAM), table.num_rows).dictionary_encode()
                found.tables[name] = table.set_column(at, field, cause.cast(field.type))
        return found

    def _outcome(self, tables: dict[str, pa.Table]) -> Outcome:
        """Of what the reasoner found: what is this shard's to tell, and what other stages read."""
        for name, (column, own) in self._own.items():
            if name in tables:
                tables[name] = kept(tables[name], column, own, self.shard)
        found = Outcome()
        for later, kind, sorter in self._readers:
            table = tables["changes" if kind == "fluent" else "events"]
            for shard, rows in forwarded(table, sorter).items():
                found.forwards.setdefault((later, shard), []).extend(rows)
        for name, table in tables.items():
            if name == "rejected":
                found.tables[name] = self._rejected(table)
            else:
                name, table = shaped(name, table, self.kind)
                found.tables[name] = self.sources.with_causes(table)
        return found

    def _rejected(self, table: pa.Table) -> pa.Table:
        """The reasoner's rejected rows as the table of that name has them, but for copies."""
        rows = table.column("row").to_numpy()
        if (rows == NO_ROW).any():
            first = table.filter(pc.equal(table.column("row"), NO_ROW)).slice(0, 1).to_pylist()[0]
            raise StageError(f"stage {self.stage} rejected a change of an earlier one: {first}")
        own = originals(rows)
        rows, table = rows[own], table.filter(pa.array(own))
        size = table.num_rows
        source, place = self.sources.locate(rows)
        reasons = table.column("reason").combine_chunks().cast(pa.string())
        details = table.column("detail").combine_chunks().cast(pa.string())
        return pa.table([source, place, reasons, details, pa.nulls(size, pa.string())], schema=REJECTED)

    # ------------------------------------------------------------------ state

    def snapshot(self) -> tuple[bytes, ...]:
        """The state in pieces, which `restore` wants as one."""
        return self.query_time.to_bytes(8, "little", signed=True), self.reasoner.snapshot()

    def restore(self, state: bytes) -> None:
        self.query_time = int.from_bytes(state[:8], "little", signed=True)
        self.reasoner.restore(state[8:])


def latest_arrival(rows: Sequence[Rows]) -> int | None:
    """The last arrival among the rows."""
    return max((int(np.max(part.arrival)) for part in rows if len(part)), default=None)

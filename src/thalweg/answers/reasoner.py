"""The reasoner for Temporal Datalog: certain and open answers, online.

    >>> from thalweg import parse
    >>> from thalweg.answers.reasoner import Reasoner
    >>> reasoner = Reasoner(parse("query warm(X, T). warm(X, T) :- temp(X, high, T), temp(X, high, T+1)."))
    >>> reasoner.schemas()["answers"].names
    ['query', 'time_known', 'answer', 'time', 'X', 'where', 'evidence']

The clock moves in whole steps. At clock t the facts up to t-lateness are complete; those after it may still come,
or be retracted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import pyarrow as pa

from thalweg.analysis.farthest import farthest
from thalweg.analysis.requests import Uncopied, point, reachable, refuse_other_kinds, whole
from thalweg.analysis.temporal import Signature
from thalweg.answers import migration
from thalweg.answers.bulk import CHUNK, FACTS_PER_STEP, Bulk, qualifies
from thalweg.answers.changes import Change, changes, new_answers
from thalweg.answers.codec import Codec
from thalweg.answers.engine import Blocks, Engine, Regathered, Touched
from thalweg.answers.gathered import Gathered, Parts, answer_times
from thalweg.answers.inbox import Coded, Inbox, by_step, chunks, density
from thalweg.answers.loose import NEVER
from thalweg.answers.offline import check, plan
from thalweg.answers.report import report
from thalweg.answers.retained import Kept, Unasked, reach
from thalweg.answers.shapes import Shape
from thalweg.answers.snapshot import forget_texts, pack, unpack
from thalweg.answers.tables import Lazy, Shown, Writer
from thalweg.language.diagnostics import ProgramError, Severity
from thalweg.language.program import Program
from thalweg.language.rules import Kind
from thalweg.protocol import REJECTED, Batch, Revision, refuse_other_batches

State = tuple[int, int, Blocks] | tuple[Gathered, Parts]
"""A cell as it stands: query, time, blocks; or a query whose answers come from several cells."""


class Reasoner(Uncopied):
    """Runs the queries of one program over a stream.

    - `lateness`: how much later than its time a row may arrive, be it an insertion or a retraction; the closed world
      for time t begins at t + lateness.
    - `horizon`: how long an answer without a deadline (its premises have unrelated times) may wait; programs with
      such queries are refused without one.
    - `start`: the first time-point of the stream. Atoms before it do not exist.
    - `retain`: keep the rows that undecided answers can rest on, for a changed program.

    Every `advance` returns the tables `answers`, `open`, `changes` and `rejected`; `schemas` tells their columns.
    They are built when read.
    """

    def __init__(
        self,
        program: Program,
        lateness: int | timedelta = 0,
        *,
        horizon: int | timedelta | None = None,
        start: int | date = 0,
        retain: bool = False,
    ) -> None:
        refuse_other_kinds(program, Kind.ANSWERS)
        self.lateness = whole(lateness, program)
        if self.lateness < 0:
            raise ValueError(f"lateness is a number of time-points, not {lateness}")
        self.program = program
        self.horizon = None if horizon is None else whole(horizon, program)
        if self.horizon is not None and self.horizon < 0:
            raise ValueError(f"horizon is a number of time-points, not {horizon}")
        self.start = point(start, program)
        self.plan = plan(program)
        self._refuse_without_horizon()
        self._retains = retain
        self._revised = Revision()
        self.begin(Codec())

    def _refuse_without_horizon(self) -> None:
        if self.horizon is None:
            loose = [q for q in self.plan.queries if any(t.needs_horizon for t in q.loose)]
            found = [d for d in check(self.program) if d.code == "TW308"]
            if loose:
                raise ProgramError([replace(d, severity=Severity.ERROR) for d in found], self.program.sources)

    def begin(self, codec: Codec) -> None:
        """Start from nothing, with the constants that the codec knows."""
        known = codec.symbols.arrived
        self.codec = codec
        self.engine = Engine(self.plan, codec, self.lateness, self.start, self.horizon)
        self.inbox = Inbox(self.plan.datalog, codec, self.lateness, self.start, farthest(self.program))
        self.writer = Writer(self.plan, codec, self.lateness)
        self.bulk = Bulk(self.engine)
        self.in_bulk = qualifies(self.engine)
        self._retained = Kept(self.start, reach(self.engine)) if self._retains else None
        self.unasked: dict[str, Unasked] = {}
        if codec.symbols.arrived > known:
            codec.symbols.fix()

    def _forget_texts(self) -> None:
        """Forget the texts that nothing refers to, when there are many new ones."""
        if self.codec.symbols.is_due():
            forget_texts(self)

    @property
    def clock(self) -> int:
        """The last time-point that `advance` has reached."""
        return self.engine.clock

    def schemas(self) -> dict[str, pa.Schema]:
        """The schema of every table of a revision."""
        return {**self.writer.schemas, "rejected": REJECTED}

    def accept(self, batch: Batch) -> None:
        """Take insertions and retractions, in any order; they take effect when the clock reaches their arrival."""
        refuse_other_batches(batch)
        for rows in batch:
            self.inbox.accept(rows, self.engine.clock)

    def advance(self, to: int | date) -> Revision:
        """Move the clock, step by step, to `to`; steps at which nothing happens cost nothing. A date will do where the
        program declares its tick."""
        to = reachable(to, self.program, self.engine.clock)
        self._forget_texts()
        due = self.inbox.due(to)
        if self._retained is not None:
            self._retain(self._retained, due)
        shown: list[Shown] = []
        if self._pays_in_bulk(due):
            for until, part in chunks(due, CHUNK, to):
                shown += self.bulk.run(self.inbox.stamped(part), until)
        else:
            self._step_by_step(by_step(due), to)
        log, self.engine.log = self.engine.log, []
        return self._revision(log, shown)

    def _retain(self, retained: Kept, due: dict[Signature, Coded]) -> None:
        for predicate, rows in due.items():
            retained.add(predicate, rows)
        if retained.crowded:
            retained.trim(self.engine.closed)

    def _pays_in_bulk(self, due: dict[Signature, Coded]) -> bool:
        if not due or not self.in_bulk:
            return False
        rows, steps = density(due)
        return steps > 4 and rows < FACTS_PER_STEP * steps

    def _step_by_step(self, agenda: dict[int, list[tuple[Signature, Coded]]], to: int) -> None:
        steps = sorted(agenda, reverse=True)
        while (step := min(steps[-1] if steps else NEVER, self.engine.next_step())) <= to:
            parts = agenda.pop(steps.pop()) if steps and steps[-1] == step else []
            arrivals = self.inbox.arrivals(step, parts, self.engine.facts)
            self.engine.step(step, arrivals.inserted, arrivals.retracted)
        self.engine.skip(to)

    def replay(self, rows: Mapping[Signature, list[Coded]], begin: int, to: int) -> None:
        """Step through rows that took effect after a time, without saying what that changes."""
        self.engine.skip(begin)
        self.inbox.pending = {predicate: list(parts) for predicate, parts in rows.items()}
        self._step_by_step(by_step(self.inbox.due(to)), to)
        self.engine.log = []

    def _revision(self, log: list[Touched | Regathered], shown: list[Shown]) -> Revision:
        standing = self.engine.standing()
        gathered: list[State] = [(g, g.parts(self.engine.cells)) for g in self.engine.gathered.values()]
        clock = self.engine.clock
        rejected = self.inbox.rejected.take(clock)
        writer = self.writer
        return Revision(
            Lazy(
                {
                    "answers": lambda: writer.answers([*shown, *self._changed(log, new_answers)]),
                    "open": lambda: writer.open(
                        self._standing([*standing.cells(), *gathered], clock)
                    ),
                    "changes": lambda: writer.changes([*shown, *self._changed(log, changes)]),
                    "rejected": lambda: rejected,
                }
            )
        )

    def _changed(
        self, log: list[Touched | Regathered], found: Callable[[Mapping[int, Shape], Blocks, Blocks], list[Change]]
    ) -> Iterator[Shown]:
        for touched in log:
            if isinstance(touched, Regathered):
                gathered = touched.gathered
                shapes, time = gathered.shapes, None
                before, after = gathered.blocks(touched.before), gathered.blocks(touched.after)
            else:
                shapes, time = self._shapes(touched.query), touched.time
                before, after = touched.before, touched.after
            for change in found(shapes, before, after):
                group, rows, n = change.group, change.rows, change.rows.length
                source = (after if change.op > 0 else before)[group.key]
                at, op = np.full(n, touched.clock), np.full(n, change.op)
                times = answer_times(group.shape, rows) if time is None else np.full(n, time)
                yield Shown(group, rows, at, times, op, change.labels, source)

    def _shapes(self, query: int) -> dict[int, Shape]:
        return dict(enumerate(self.engine.shapes[query]))

    def _standing(self, state: Iterable[State], clock: int) -> Iterator[Shown]:
        for one in state:
            if isinstance(one[0], Gathered):
                gathered, parts = one
                shapes, time, blocks = gathered.shapes, None, gathered.blocks(parts)
            else:
                query, time, blocks = one
                shapes = self._shapes(query)
            for group, rows in report(shapes, blocks).values():
                n = rows.length
                at, none = np.full(n, clock), np.zeros(n, np.int64)
                times = answer_times(group.shape, rows) if time is None else np.full(n, time)
                yield Shown(group, rows, at, times, none, none, blocks[group.key])

    # -- stopping and resuming

    def snapshot(self) -> bytes:
        """The complete state: versioned, deterministic."""
        self._forget_texts()
        return pack(self)

    def restore(self, state: bytes) -> None:
        """Continue from a snapshot; refuses another program's state."""
        unpack(self, state)

    def changed(self, program: Program) -> Reasoner:
        """A reasoner for a changed program that goes on from here; this one is not to be used again. `revise` tells,
        once, what the changed rules make of the answers that are not decided."""
        return migration.changed(self, program)

    def revise(self) -> Revision:
        """What is different under the changed program."""
        revised, self._revised = self._revised, Revision()
        return revised

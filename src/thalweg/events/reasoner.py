"""The event reasoner: slides the window over query times and reports what changed.

At each query time rows are admitted, the stages of the plan run in order on the changes, and the differences of the
output fluents become rows of `changes`. Evaluating from scratch is the same thing with everything new.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

import numpy as np
import pyarrow as pa

from thalweg.analysis.checker import refuse_errors
from thalweg.analysis.farthest import farthest
from thalweg.analysis.requests import MOST_QUERIES, Uncopied, point, reachable, refuse_other_kinds, whole
from thalweg.columns.symbols import SymbolTable
from thalweg.events import migration, strides
from thalweg.events.admission import Admission
from thalweg.events.forgetting import forget_idle, forget_texts, is_blank, is_due
from thalweg.events.frames import Reader
from thalweg.events.output import NO_CHANGES, Output
from thalweg.events.past import Name, Past
from thalweg.events.plan import Plan, Stage, plan
from thalweg.events.state import pack, unpack
from thalweg.events.units import Clock, Unit
from thalweg.language.program import Program
from thalweg.language.rules import Kind
from thalweg.protocol import Batch, Revision, refuse_other_batches


class Reasoner(Uncopied):
    """Maximal intervals of every fluent over a sliding window.

    `window` and `step` are numbers of time-points, or timedeltas where the program declares its tick; query times
    are ``start + step``, ``start + 2*step``, ...; `start` may be a date there too. At a query time `q` everything
    that has arrived by `q` counts; what lies at or before ``q - window`` is final. `tick` is the distance of two
    time-points. `allow_gaps` permits a window smaller than the step. `recompute` evaluates every window from
    scratch instead of only what changed: for comparison, and as an escape. Where windows do not overlap that is the
    same: everything in a window is new. `symbols`: known before.

    >>> import thalweg
    >>> program = thalweg.parse("initiatedAt(on(X)=true, T) :- happensAt(press(X), T).")
    >>> reasoner = Reasoner(program, window=10, step=10)
    >>> reasoner.query_time
    0
    """

    def __init__(
        self,
        program: Program,
        *,
        window: int | timedelta,
        step: int | timedelta,
        start: int | date = 0,
        tick: int = 1,
        allow_gaps: bool = False,
        recompute: bool = False,
        symbols: SymbolTable | None = None,
    ) -> None:
        refuse_other_kinds(program, Kind.EVENTS)
        self.program = program
        self.window, self.step = whole(window, program), whole(step, program)
        self.start, self.tick = point(start, program, self.step), whole(tick, program)
        if self.step < 1 or self.window < 1:
            raise ValueError("window and step are positive numbers of time units")
        if self.tick < 1:
            raise ValueError("the tick is a positive number of time units")
        if self.window < self.step and not allow_gaps:
            raise ValueError(
                f"the window ({window}) is smaller than the step ({step}): rows would fall between windows; "
                "make it at least the step, or allow gaps"
            )
        refuse_errors(program)
        self.recompute = recompute
        self.identity: str | None = None
        """What snapshots belong to; known with the first one."""
        self.query_time = self.start
        self.kept = 0
        """How many instances and keys were left when some were last forgotten."""
        self.past: dict[Name, Past] = {}
        """What was told of the window and is not computed any more."""
        self._ended: pa.Table = NO_CHANGES
        self._unknown: tuple[str, ...] = ()
        self.compile(symbols)

    def compile(self, symbols: SymbolTable | None) -> None:
        """Begin with a plan of the program; the constants have the ids of `symbols`, where these are given."""
        self._plan: Plan = plan(self.program, tick=self.tick, start=self.start, symbols=symbols)
        self._plan.symbols.fix()
        self._admission = Admission(
            self._plan,
            window=self.window,
            step=self.step,
            start=self.start,
            tick=self.tick,
            farthest=farthest(self.program),
        )
        self._strides = self.step <= self.window and strides.possible(
            self._plan, overlapping=self.step < self.window
        )
        self._output = Output(self._plan)
        self._seed()

    def accept(self, batch: Batch) -> None:
        """Take insertions and retractions, in any order, with arrival times."""
        refuse_other_batches(batch)
        for rows in batch:
            if len(rows):
                self._admission.accept(rows, self.query_time + self.step)

    def advance(self, to: int | date) -> Revision:
        """Run every query time up to and including `to`, none where it is the present one; a date or datetime where the
        program declares its tick."""
        to = reachable(to, self.program, self.query_time, self.step)
        again = self.recompute and self.window > self.step
        if self.query_time + self.step <= to:
            self._forget_idle()
        while self.query_time + self.step <= to:
            stride = 1 if again else self._stride(to)
            final = self.final(self.query_time + self.step, self.query_time)
            self._output.keep()
            self._query(self.query_time + stride * self.step, self.query_time, final, recompute=again)
            self._leap(to)
        tables = self._output.tables(self.query_time)
        return Revision({**tables, "rejected": self._admission.rejected.table(self.query_time)})

    def snapshot(self) -> bytes:
        """The complete state: versioned, deterministic."""
        self._forget_idle()
        return pack(self)

    def restore(self, state: bytes) -> None:
        """Continue from a snapshot of the same program with the same window; refuses any other."""
        unpack(self, state)

    def changed(self, program: Program) -> Reasoner:
        """A reasoner for a changed program that goes on from here; this one is not to be used again. What the changed
        rules make of the window is told by `revise`, to be called once, after rows that count at the query time."""
        new, ended = migration.changed(self, program)
        new._ended, new._unknown = ended, migration.unknown(new, self._plan)
        return new

    def revise(self) -> Revision:
        """Evaluate the window of the last query time again, from scratch; returns what is different now."""
        if self.query_time > self.start:
            self._output.keep()
            self._query(self.query_time, self.query_time - self.step, self.kept_from, recompute=True)
        revision = self.advance(self.query_time)
        changes = pa.concat_tables([self._ended, revision["changes"]])
        notes, self._ended, self._unknown = self._unknown, NO_CHANGES, ()
        return Revision({**revision.tables, "changes": changes}, notes)

    # ----------------------------------------------------------------- one query

    def _leap(self, to: int) -> None:
        """Pass over the query times before the next arrival, where no event or instance is known to which anything
        could happen meanwhile."""
        if self.query_time + self.step <= to and is_blank(self):
            last = min(to, self._admission.next_arrival() - 1)
            self.query_time += max(0, (last - self.query_time) // self.step * self.step)
        if (to - self.query_time) // self.step > MOST_QUERIES:
            raise ValueError(
                f"there are more than {MOST_QUERIES:,} query times between {self.query_time} and {to}: is that time "
                "right? Begin near the first row with `start=`, or choose a larger step"
            )

    def _stride(self, to: int) -> int:
        """How many query times are evaluated in one go: where each says what it would say by itself."""
        most = min((to - self.query_time) // self.step, strides.QUERIES)
        if most < 2 or not self._strides or self.query_time == self.start:
            return 1
        return self._admission.together(self.query_time, most, strides.ROWS)

    def _seed(self) -> None:
        for unit, store, ids, values in self._plan.seeds:
            unit.seed(store, ids, np.full(len(ids), self.start - self.tick), values)

    def _forget_idle(self) -> None:
        """Forget what is idle, when it is time; before there is more to do, so that the last query is spared it."""
        texts = self._plan.symbols.is_due()
        if self.query_time > self.start and (texts or is_due(self)):
            forget_idle(self)
        if texts:
            forget_texts(self)
        elif self._output.words.is_crowded():
            self._output.forget_texts()

    def _grid(self, time: int) -> int:
        return time - time % self.tick

    def final(self, query: int, previous: int) -> int:
        """The point up to which nothing is revised at a query time that follows another."""
        if previous == self.start:
            return self.start - self.tick
        return max(self.start, min(self._grid(query - self.window), self._grid(previous)))

    @property
    def kept_from(self) -> int:
        """The point after which the window can be evaluated again. Where windows do not overlap nothing of the last one
        is kept, and only what is still to come can be different."""
        if self.window <= self.step:
            return self._grid(self.query_time)
        return self.final(self.query_time, self.query_time - self.step)

    def _query(self, query: int, previous: int, final: int, *, recompute: bool) -> None:
        clock = Clock(final, previous, query, self.tick, self.start)
        clock.tumbling = self.window <= self.step
        if not clock.tumbling:  # otherwise that has been said at the end of the last query
            for store in self._plan.catalogue.events.values():
                store.expire(final - 1)
        if query - previous > self.step:
            clock.step = self.step
        clock.causes = self._admission.admit(query, previous, previous + self.step - self.window)
        if recompute:
            self._forget(clock)
        asked = self._evaluate(clock)
        self._output.collect(clock)
        self.query_time = query
        self._commit(self.kept_from, asked)

    def _evaluate(self, clock: Clock) -> list[Unit]:
        """Run the stages on the changes; returns the units that had anything to do."""
        readers = Reader(before=True), Reader(before=False)
        changed = {id(store) for store in self._plan.input_events.values() if store.moves}
        asked: list[Unit] = []

        def stirred(unit: Unit) -> bool:
            return clock.recompute or not unit.reads.isdisjoint(changed) or unit.due(clock)

        for stage in self._plan.stages:
            if stage.loop:
                if not any(map(stirred, stage.units)):
                    continue
                self._loop(stage, clock)
                asked += stage.units
                changed.update(*(unit.changed() for unit in stage.units))
                continue
            for unit in stage.units:
                if stirred(unit):
                    unit.collect(*readers, clock)
                    unit.apply(clock, round=False)
                    unit.finish(clock)
                    asked.append(unit)
                    changed |= unit.changed()
        return asked

    def _forget(self, clock: Clock) -> None:
        """Start again from the state at the window's start, with every event in the window new."""
        clock.recompute, clock.causes = True, False
        for unit in self._plan.units():
            unit.forget(clock)
        for store in self._plan.input_events.values():
            store.all_new(clock.final)

    def _loop(self, stage: Stage, clock: Clock) -> None:
        """Rounds until nothing changes: every way round a cycle moves on in time, so there is an end."""
        before, after = Reader(before=True), Reader(before=False)
        before.inside = after.inside = stage.inside
        while True:
            for reader in (before, after):
                reader.memo, reader.touched, reader.held = {}, {}, {}
            busy = [unit.collect(before, after, clock) for unit in stage.units]
            if not before.first_round and not any(busy):
                break
            for unit in stage.units:
                for store in unit.stores:
                    store.settle()
            changed = [unit.apply(clock, round=True) for unit in stage.units]
            before.first_round = after.first_round = False
            if not any(changed):
                break
        for unit in stage.units:
            unit.finish(clock)

    def _commit(self, final: int, asked: Sequence[Unit]) -> None:
        """End of a query, in which some units were asked. What was over at the final point is not asked for again."""
        for store in self._plan.catalogue.events.values():
            store.commit(final - 1)
        for unit in self._plan.units():
            unit.expire(final)
        for one in asked:
            one.clear()
            one.commit()

    # ----------------------------------------------------------------- what is known

    def schemas(self) -> dict[str, pa.Schema]:
        """The columns of the tables of a revision."""
        return Output.schemas()

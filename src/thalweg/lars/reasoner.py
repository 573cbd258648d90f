"""The LARS reasoner: rows in, changes of the answer stream out.

`tables` says what the columns of a `Revision` mean.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from datetime import date, timedelta
from itertools import islice

import numpy as np
import pyarrow as pa

from thalweg.analysis.checker import refuse_errors
from thalweg.analysis.requests import Uncopied, point, reachable, refuse_other_kinds, whole
from thalweg.columns.compiled import njit
from thalweg.columns.symbols import as_floats
from thalweg.language.program import Program
from thalweg.language.rules import Clause, Declare, Kind, Role
from thalweg.language.terms import arguments, signature
from thalweg.lars import migration
from thalweg.lars.admission import EMPTY_REJECTED, ROW, Admission
from thalweg.lars.calendar import Calendar
from thalweg.lars.codes import Codes
from thalweg.lars.compile import Compiler, Network
from thalweg.lars.diagonal import Diagonal
from thalweg.lars.ends import Ends
from thalweg.lars.engine import Engine
from thalweg.lars.extended import View, labels_table
from thalweg.lars.labels import FOREVER
from thalweg.lars.operators import Moment, every_tick
from thalweg.lars.pages import Pages
from thalweg.lars.retained import Kept
from thalweg.lars.state import arrays_of, put_back, taken, used_symbols
from thalweg.lars.store import NOTHING, Store
from thalweg.lars.stratify import Predicate, stratify
from thalweg.lars.tables import (
    MODELS,
    Blank,
    Found,
    Output,
    answers_table,
    derived,
    model_table,
    no_answer_table,
    revisions,
)
from thalweg.lars.texts import Texts
from thalweg.lars.worlds import worlds
from thalweg.protocol import Batch, Ints, Revision, refuse_other_batches

_PACKING = 16
"""Stores are looked at for packing once in so many rounds."""
_STRIDE = 8192
"""Where points of heads are followed, ticks without input are gone through in such strides."""


class _Naming:
    """Texts of atoms, for the order of answers and for loops without one."""

    def __init__(self, network: Network, texts: Texts) -> None:
        self._texts = texts
        self._of = {
            id(store): (predicate, pointed, network.kinds[predicate])
            for pointed, table in ((False, network.plain), (True, network.ahead))
            for predicate, store in table.items()
        }

    def atom(self, store: Store, key: Ints) -> tuple[str, int | None]:
        if id(store) not in self._of:
            return store.name, None
        (name, _), pointed, kinds = self._of[id(store)]
        text = self._texts.atoms(name, kinds, key.reshape(1, len(key)))[0].as_py()
        return text, int(as_floats(key[-1:])[0]) if pointed else None

    def loop(self, text: str) -> int:
        return self._texts.codes.symbols.add(text)


class Reasoner(Uncopied):
    """Keeps the answer stream of a LARS program.

    `lateness`: how many ticks late a row may come and still revise the answers. `models`: how many answer streams to
    report where there are several (0: all), at each tick at which they may change. `start`: the first point of the
    timeline. `blocks`: ticks are handled together where nothing late divides them; then `until` is not known.
    `predict`: choices are made for all ticks that are known, so that `until` is exact; without it `until` reaches to
    the next tick at which a choice must be looked at again. `answers`, `labels`: give the whole answer, all labels at
    the end of every call. `retain`: keep the input that windows can still see, for a changed program.
    """

    def __init__(
        self,
        program: Program,
        *,
        lateness: int | timedelta = 0,
        models: int = 1,
        start: int | date = 0,
        blocks: bool = False,
        predict: bool = True,
        answers: bool = False,
        labels: bool = False,
        retain: bool = False,
    ) -> None:
        refuse_other_kinds(program, Kind.LARS)
        self.lateness = whole(lateness, program)
        if self.lateness < 0:
            raise ValueError(f"lateness is {lateness}; it is a number of ticks, 0 or more")
        if not isinstance(models, int) or models < 0:
            raise ValueError(f"models is {models!r}; it is a number of answer streams, 0 for all")
        refuse_errors(program)
        self.program = program
        self.start = point(start, program)
        self._blocks = blocks
        self._predict = predict
        self._models = models
        self._with_answers = answers
        self._with_labels = labels
        self._codes = Codes()
        self._texts = Texts(self._codes)
        self._pages = Pages(self._texts, known_ends=not blocks)
        self._fed = _read_inputs(program)
        self._retained = Kept(self.start) if retain else None
        self._revision = Revision()
        self._now = self.start - 1
        self._rounds = 0
        self._build()
        self._admission = Admission(self._codes, self._network.kinds, self.start, self.lateness)
        self._begin()

    # ------------------------------------------------------------------ set-up

    def _build(self) -> None:
        symbols = self._codes.symbols
        known = symbols.arrived
        compiler = Compiler(
            self.program, self._texts, start=self.start, fed=self._fed, revisable=self.lateness > 0
        )
        network = self._network = compiler.run()
        if symbols.arrived > known:
            symbols.fix()
        self._moment = Moment(self.start, self.start, self.start)
        weighs = {
            table[p].name
            for table in (network.plain, network.ahead)
            for p in table
            if p in compiler.strata.chosen
        }
        naming = _Naming(network, self._texts)
        self._engine = Engine(network, self._moment, weighs, naming, predict=self._predict)
        self.follows_points = any(isinstance(o, Diagonal) for o in network.operators)
        self._ends = Ends(compiler, self._engine.choices, weighs, naming, predict=self._predict)
        self._lazy = self.follows_points or (bool(self._engine.choices) and not self._predict)
        self._blanks = [Calendar(c.blank) for c in self._engine.choices]
        self._outputs = [
            Output(p, pointed, store, Calendar(store))
            for pointed, table in ((False, self._network.plain), (True, self._network.ahead))
            for p, store in table.items()
        ]

    def _begin(self) -> None:
        """Background facts, and rules that hold before any input."""
        facts: dict[Predicate, list[list[int]]] = {}
        for statement in self.program.statements:
            if isinstance(statement, Clause) and not statement.body:
                predicate = signature(statement.head)
                if predicate in self._network.facts:
                    kinds = self._network.kinds[predicate]
                    row = [
                        self._codes.constant(t, k)
                        for t, k in zip(arguments(statement.head), kinds, strict=True)
                    ]
                    facts.setdefault(predicate, []).append(row)
        self._engine.start(
            {
                self._network.facts[p]: np.array(rows, np.int64).reshape(len(rows), p[1])
                for p, rows in facts.items()
            }
        )
        self._codes.symbols.fix()
        self._flips(self._now, self._now)
        self._blank_flips(self._now, self._now)
        self._engine.end_round()

    @property
    def now(self) -> int:
        """The last tick that was run; before the first, the one before the start."""
        return self._now

    @property
    def first_revisable(self) -> int:
        """The first tick that a changed program evaluates again: late rows may revise what comes after it."""
        return min(self._now, self._now + 1 - self.lateness)

    # ------------------------------------------------------------------ the protocol

    def accept(self, batch: Batch) -> None:
        """Take insertions and retractions, in any order, with arrival times."""
        refuse_other_batches(batch)
        for rows in batch:
            predicate = (rows.name, len(rows.args))
            if predicate not in self._fed and predicate in self._network.kinds:
                self._open_input(predicate)
            self._admission.accept(rows, self._now)

    def advance(self, to: int | date) -> Revision:
        """Run every tick up to and including `to`, none where it is the present one; a date or datetime where the
        program declares its tick."""
        to = reachable(to, self.program, self._now)
        found: list[Found] = []
        blank: list[Blank] = []
        models: list[pa.Table] = []
        if to > self._now:
            self._forget_texts()
            due, late = self._admission.ticks(to)
            if self._models == 1:
                for first, last in self._segments(due, late, to):
                    self._segment(first, last, found, blank)
            else:
                for first, last, differs in self._stops(due, to):
                    self._segment(first, last, found, blank)
                    if differs:
                        models.append(self.models(self._models))
        tables = {"changes": self._pages.changes(found, self._network.kinds), "rejected": EMPTY_REJECTED}
        if self._blanks:
            tables["no_answer"] = no_answer_table(
                blank, self._codes.symbols.texts, known_ends=not self._blocks
            )
        if self._models != 1:
            tables["models"] = pa.concat_tables([MODELS.empty_table(), *models])
        if self._admission.rejected.parts:
            tables["rejected"] = self._admission.rejected.table()
        if self._with_answers:
            tables["answers"] = self.answers()
        if self._with_labels:
            tables["labels"] = self.labels()
        return Revision(tables)

    def replay(self, to: int) -> None:
        """Run every tick up to `to` without saying what that changes."""
        blocks, self._blocks = self._blocks, not self.follows_points
        due, late = self._admission.ticks(to)
        if due and due[0] <= to:
            self._segment(due[0], due[0] - 1, [], [])
        for first, last in self._segments(due, late, to):
            self._segment(first, last, [], [])
        self._blocks = blocks

    def _segments(self, due: list[int], late: list[int], to: int) -> Iterable[tuple[int, int]]:
        """Runs of ticks (first with input, last) that one round handles; they cover everything up to `to`."""
        if not self._blocks:
            for tick in due:
                yield tick, tick
            if not due or due[-1] < to:
                yield to + 1, to
            return
        cuts = [self._now + 1, *(t for t in late if t > self._now + 1), to + 1]
        for first, following in zip(cuts, cuts[1:], strict=False):
            yield first, following - 1

    def _stops(self, due: list[int], to: int) -> Iterable[tuple[int, int, bool]]:
        """The same, with an end at every tick at which some answer stream may change, and whether it may: at the last
        tick, which is there because somebody asks then, nothing may."""
        waiting = deque(due)
        while self._now < to:
            change = self._next_change()
            tick = min([to, change, *islice(waiting, 1)])
            if waiting and waiting[0] == tick:
                waiting.popleft()
                yield tick, tick, True
            else:
                yield tick + 1, tick, tick == change

    def _next_change(self) -> int:
        """A tick up to which nothing changes without input."""
        if any(
            len(o.reads[0].live(self._now + 1)) for o in self._network.operators if isinstance(o, Diagonal)
        ):
            return self._now + 1
        ticks = [int(o.store.due[: len(o.store)].min(initial=FOREVER)) for o in self._outputs]
        return max(
            self._now + 1, min([FOREVER, *ticks, *(c.next_change(self._now) for c in self._engine.choices)])
        )

    def _segment(self, first: int, last: int, found: list[Found], blank: list[Blank]) -> None:
        """Bring everything up to `last`; rows take part at `first` at the earliest."""
        if first - 1 > self._now:
            self._quiet(first - 1, found, blank)
        if last < first:
            return
        moment = self._moment
        moment.horizon, moment.target = first - self.lateness, last
        self._round()
        self._feed(last)
        self._engine.run()
        self._ends.renew()
        found += self._flips(self._now, last)
        blank += self._blank_flips(self._now, last)
        self._engine.end_round()
        self._now = last

    def _quiet(self, to: int, found: list[Found], blank: list[Blank]) -> None:
        """Ticks without input: labels run out, and points move on, some at a time."""
        while self.follows_points and to - self._now > _STRIDE:
            self._stretch(self._now + _STRIDE, found, blank)
            self._compact()
        self._stretch(to, found, blank)

    def _stretch(self, to: int, found: list[Found], blank: list[Blank]) -> None:
        if self._lazy:
            self._moment.horizon, self._moment.target = self._now + 1 - self.lateness, to
            self._round()
            self._engine.run()
            self._ends.renew()
        found += self._flips(self._now, to)
        blank += self._blank_flips(self._now, to)
        if self._lazy:
            self._engine.end_round()
        self._now = to

    def _round(self) -> None:
        """Before a round: once in a while, stores are packed."""
        self._rounds += 1
        if self._rounds % _PACKING == 0:
            self._compact()
        if self._retained is not None and self._retained.crowded:
            self._retained.trim(self.first_revisable, self._network)

    # ------------------------------------------------------------------ input

    def _feed(self, last: int) -> None:
        for predicate, (rows, clean, _) in self._admission.take(last).items():
            store = self._network.inputs[predicate]
            gone = None
            if not clean:
                rows = self._admission.in_time(rows)
                if not len(rows):
                    continue
                facts, gone = self._admission.resolve(rows, store.holds)
            else:
                facts = np.ascontiguousarray(rows[:, ROW + 1 :])
            if self._retained is not None:
                self._retained.add(predicate, rows)
            self._change_input(predicate, store, facts, gone)

    def _change_input(self, predicate: Predicate, store: Store, facts: Ints, gone: Ints | None) -> None:
        reach = self._network.reach.get(predicate, 0)
        pieces = np.empty((len(facts), 3), np.int64)
        _occurrences(facts, -1 if reach is None else reach, pieces)
        if predicate not in self._network.kept:
            store.delta_rows = facts
            store.change(pieces, NOTHING)
            return
        columns = np.arange(store.width)
        lost = []
        if gone is not None and len(gone):
            lost = [store.strike(np.ascontiguousarray(gone), every_tick(len(gone)), columns)]
        store.settle([store.absorb(facts, pieces, columns, self._moment.horizon)], lost)

    def _open_input(self, predicate: Predicate) -> None:
        """A predicate that rules derive gets input as well: its views must take that in."""
        old = self._engine
        self._fed |= {predicate}
        self._build()
        self._moment.horizon, self._moment.target = self._now + 1 - self.lateness, self._now
        self._engine.take_over(old)
        self._admission.kinds = self._network.kinds
        self._rebuild_calendars()
        for calendar in (*(o.calendar for o in self._outputs), *self._blanks):
            calendar.renew(self._now)

    # ------------------------------------------------------------------ snapshots

    def snapshot(self) -> bytes:
        """The complete state: versioned, deterministic."""
        self._forget_texts()
        return taken(self)

    def restore(self, state: bytes) -> None:
        """Continue from a snapshot; refuses another program's state."""
        put_back(self, state)

    def changed(self, program: Program) -> Reasoner:
        """A reasoner for a changed program that goes on from here, with what was retained of the input; this one is not
        to be used again. `revise` tells, once, what the changed rules make of the ticks that may still be revised."""
        return migration.changed(self, program)

    def revise(self) -> Revision:
        """What is different under the changed program."""
        revision, self._revision = self._revision, Revision()
        return revision

    def _rebuild_calendars(self) -> None:
        for calendar in (*(o.calendar for o in self._outputs), *self._blanks):
            calendar.rebuild()

    # ------------------------------------------------------------------ forgetting

    def _forget_texts(self) -> None:
        """Forget the texts that nothing refers to, when there are many new ones; between rounds. What is over is
        dropped first, so that they follow from what is known, not from when stores are packed."""
        symbols = self._codes.symbols
        if not symbols.is_due():
            return
        self._pack(self._now + 1 - self.lateness, always=True)
        symbols.forget(used_symbols(arrays_of(self)))
        self._codes.forget_tags()
        self._texts.forget()
        self._ends.renew()

    def _compact(self) -> None:
        self._pack(min(self._moment.horizon, self._now + 1))

    def _pack(self, horizon: int, *, always: bool = False) -> None:
        renamed = self._engine.compact(horizon, always=always)
        for calendar in (*(o.calendar for o in self._outputs), *self._blanks):
            if id(calendar.store) in renamed:
                calendar.rename(renamed[id(calendar.store)])

    # ------------------------------------------------------------------ output

    def _flips(self, last: int, target: int) -> list[Found]:
        """Changes of truth in (last, target], and revisions of what was said about ticks up to `last`."""
        out = []
        for output in self._outputs:
            store = output.store
            rows = self._turned(output.calendar, last, target)
            if len(rows):
                keys, exact = store.keys[rows[:, 0]], None
                if self._lazy and not self._blocks:
                    rows[:, 5], exact = self._ends.exact(
                        output.view, keys, _asked_at(rows), rows[:, 1] > 0, rows[:, 5]
                    )
                out.append(Found(output, keys, rows, exact))
        return out

    def _turned(self, calendar: Calendar, last: int, target: int) -> Ints:
        store = calendar.store
        rows = calendar.turn(last, target)
        if self.lateness and (store.plus is not NOTHING or store.minus is not NOTHING):
            return np.concatenate([revisions(store, last), rows])
        return rows

    def _blank_flips(self, last: int, target: int) -> list[Blank]:
        """Where answer streams begin or cease to be missing."""
        found: list[Blank] = []
        for choice, calendar in zip(self._engine.choices, self._blanks, strict=True):
            rows = self._turned(calendar, last, target)
            if len(rows):
                rows[:, 0] = calendar.store.keys[rows[:, 0], 0]
                exact = None
                if self._lazy and not self._blocks:
                    rows[:, 5], exact = self._ends.blank(
                        choice, rows[:, 0], _asked_at(rows), rows[:, 1] > 0, rows[:, 5]
                    )
                found.append((rows, exact))
        return found

    def models(self, most: int = 0) -> pa.Table:
        """Every answer stream at the current tick (at most that many where that is not 0), in the order of what they
        derive: that in which they are found depends on what was chosen before."""

        def answer() -> pa.Table:
            return answers_table(self._outputs, self._now, self._texts, self._network.kinds, None)

        found = sorted(worlds(self._engine, self._moment, self._now, most, answer), key=derived)
        tables = [model_table(self._now, number, table) for number, table in enumerate(found, 1)]
        return pa.concat_tables(tables) if tables else MODELS.empty_table()

    def answers(self) -> pa.Table:
        """The answer stream at the current tick: every derived atom with the ticks of its current interval."""
        return answers_table(self._outputs, self._now, self._texts, self._network.kinds, self._ends)

    def labels(self) -> pa.Table:
        """Every window atom and head, whether it is in, and until when without further input."""
        heads = [View(o.store, "", o.predicate, o.pointed) for o in self._outputs]
        return labels_table([*heads, *self._network.views], self._now, self._texts, self._network.kinds, self._ends)


def _asked_at(rows: Ints) -> Ints:
    """The ticks at which changes (tuple, op, query time, from, to, until) are true: those of the past until the tick
    before their query time at least."""
    return np.where(rows[:, 3] == rows[:, 2], rows[:, 2], rows[:, 2] - 1)


def _read_inputs(program: Program) -> frozenset[Predicate]:
    """Predicates that rules read and nothing in the program defines, and declared events."""
    strata = stratify(program)
    read = {e.atom for e in strata.edges} - strata.derived - strata.background
    declared = {
        (s.name, len(s.arguments))
        for s in program.statements
        if isinstance(s, Declare) and s.role is Role.EVENT
    }
    return frozenset(read | declared)


@njit(cache=True)
def _occurrences(facts: Ints, reach: int, pieces: Ints) -> None:
    """Each fact from its time on, for as long as it matters (-1: for ever)."""
    last = facts.shape[1] - 1
    for k in range(len(facts)):
        time = np.int64(np.int64(facts[k, last]).view(np.float64))
        pieces[k, 0] = k
        pieces[k, 1] = time
        pieces[k, 2] = FOREVER if reach < 0 else time + reach

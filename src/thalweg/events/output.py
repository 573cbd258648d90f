"""What a query found, as Arrow tables: changes of intervals, derived events, pending countdowns.

The table of changes is dictionary-encoded, with each text once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thalweg.columns import recycling
from thalweg.columns.cells import NONE
from thalweg.columns.tabulating import tabulate
from thalweg.columns.texts import Indices, Marks, number_anew, number_anew_by, unnumber
from thalweg.events.admission import REJECTED
from thalweg.events.moves import Moves, Spans, by_time, told
from thalweg.events.plan import Plan
from thalweg.events.stores import EventStore, FluentStore
from thalweg.events.sweeping import SweepUnit
from thalweg.events.units import Clock
from thalweg.events.words import Words, cause_texts, dictionary

TEXT = pa.dictionary(pa.int32(), pa.string())
CHANGES = pa.schema(
    [
        ("query_time", pa.int64()),
        ("op", TEXT),
        ("fluent", TEXT),
        ("value", TEXT),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("cause", TEXT),
    ]
)
EVENTS = pa.schema(
    [
        ("query_time", pa.int64()),
        ("op", pa.string()),
        ("event", pa.string()),
        ("time", pa.int64()),
        ("cause", pa.string()),
    ]
)
PENDING = pa.schema(
    [
        ("query_time", pa.int64()),
        ("fluent", pa.string()),
        ("value", pa.string()),
        ("due", pa.int64()),
        ("since", pa.int64()),
        ("cancelled_by", pa.string()),
    ]
)
NO_CHANGES, _NO_EVENTS, _NOTHING_PENDING = (s.empty_table() for s in (CHANGES, EVENTS, PENDING))


@dataclass(slots=True)
class Part:
    """Changes of one fluent at one query time: deletions (op 0) or insertions (1)."""

    query: int
    op: int
    found: Spans
    length: int


class Output:
    """Collects differences query by query and turns them into tables."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.forget()

    def forget(self) -> None:
        """Drop texts and collected rows, after a snapshot was put in."""
        self.words = Words(self.plan.catalogue.coder)
        self._marks = Marks()
        self._changes: dict[int, tuple[FluentStore, list[Part]]] = {}
        self._events: list[pa.Table] = []
        self._borrowed: list[Part] = []

    # ----------------------------------------------------------------- collecting

    def collect(self, clock: Clock) -> None:
        """Take the differences of the query that has just run."""
        for unit, at, store in self.plan.outputs:
            difference = unit.reported(at, clock)
            if difference is not None:
                self._change(clock, store, 0, difference.removed)
                self._change(clock, store, 1, difference.added)
        for derived in self.plan.derived:
            moves = derived.reported(clock)
            if moves:
                self._happened(clock, derived.store, moves)

    def _change(self, clock: Clock, store: FluentStore, op: int, found: Spans) -> None:
        length = len(found.ids)
        if length:
            part = Part(clock.query, op, found, length)
            self._borrowed.append(part)
            self._changes.setdefault(id(store), (store, []))[1].append(part)

    def keep(self) -> None:
        """Before another query: what was collected is valid during its query only, so copy it."""
        for part in self._borrowed:
            part.found = part.found.copy()
        self._borrowed = []

    def _change_table(self) -> pa.Table:
        """The collected changes, fluent by fluent, each column written in one go."""
        if not self._changes:
            return NO_CHANGES
        found = list(self._changes.values())
        self._changes, self._borrowed = {}, []
        parts = [part for _, some in found for part in some]
        total = sum([part.length for part in parts])
        queries, starts, ends = (recycling.empty(total, np.int64) for _ in range(3))
        ops, instances = (recycling.empty(total, np.int32) for _ in range(2))
        there = np.full((total + 7) >> 3, 255, np.uint8)
        at = base = 0
        for store, some in found:
            for part in some:
                rows = part.found.ids, part.found.starts, part.found.ends, part.query, part.op
                tabulate(*rows, base, at, queries, ops, instances, starts, ends, there)
                at += part.length
            base += store.instances.count
        causes = by_time(total)
        if any(told(part.found.causes) for part in parts):
            causes = np.concatenate([part.found.causes for part in parts])
        return pa.table(
            [
                pa.array(queries),
                dictionary(ops, pa.array(["delete", "insert"])),
                self._fluent_column(found, instances),
                self._value_column(found, total),
                pa.array(starts),
                pa.Array.from_buffers(pa.int64(), total, [pa.py_buffer(there), pa.py_buffer(ends)]),
                cause_texts(causes),
            ],
            schema=CHANGES,
        )

    def _fluent_column(
        self, found: Sequence[tuple[FluentStore, list[Part]]], indices: Indices
    ) -> pa.DictionaryArray:
        """The instances, of which `indices` are the numbers, counted from store to store; with each text once: of those
        that occur, or simply of all, by the indices as they are, where these are few."""
        count = sum([store.instances.count for store, _ in found])
        if 2 * count <= len(indices):
            return dictionary(indices, self.words.all_fluents([store for store, _ in found]))
        places, first = self._marks.of(count), np.empty(min(count, len(indices)), np.int64)
        occurring = []
        at = base = known = 0
        for store, parts in found:
            rows = indices[at : at + sum([part.length for part in parts])]
            before, known = known, number_anew(rows, places, first, known, rows)
            occurring.append((store, first[before:known] - base))
            at += len(rows)
            base += store.instances.count
        unnumber(places, first[:known])
        return dictionary(indices, self.words.fluents(occurring))

    def _value_column(self, found: Sequence[tuple[FluentStore, list[Part]]], total: int) -> pa.DictionaryArray:
        """The values, with each text once."""
        indices = recycling.empty(total, np.int32)
        symbols = self.words.symbol_numbers()
        places = self._marks.of(len(symbols))
        first = np.empty(len(symbols), np.int64)
        known = at = 0
        numeric: list[tuple[FluentStore, Part, slice]] = []
        for store, parts in found:
            is_number = self.plan.catalogue.coder.sorts.numeric(("value", store.name, 0))
            for part in parts:
                here = slice(at, at + part.length)
                at = here.stop
                if is_number:
                    numeric.append((store, part, here))
                elif store.by_value:
                    keys = store.instances.keys, store.arity, part.found.ids
                    known = number_anew_by(*keys, places, first, known, indices[here])
                else:
                    known = number_anew(part.found.values, places, first, known, indices[here])
        unnumber(places, first[:known])
        texts = [self.words.take(symbols[first[:known]])]
        if numeric:
            texts.append(self._numbers(numeric, known, indices))
        return dictionary(indices, pa.concat_arrays(texts))

    def _numbers(self, numeric: list[tuple[FluentStore, Part, slice]], base: int, indices: Indices) -> pa.Array:
        """Values that are numbers: their indices, from `base` on, and their texts."""
        codes = [
            store.instances.column(store.arity, part.found.ids) if store.by_value else part.found.values
            for store, part, _ in numeric
        ]
        numbers = [
            self.words.text_numbers(("value", store.name, 0), some)
            for (store, _, _), some in zip(numeric, codes, strict=True)
        ]
        most = max(int(some.max()) for some in numbers) + 1
        places, first, known = self._marks.of(most), np.empty(most, np.int64), 0
        for (_, _, here), some in zip(numeric, numbers, strict=True):
            known = number_anew(some, places, first, known, indices[here])
            indices[here] += base
        unnumber(places, first[:known])
        return self.words.take(first[:known])

    def _happened(self, clock: Clock, store: EventStore, moves: Moves) -> None:
        for op, rows, causes in (
            ("delete", moves.gone, moves.gone_cause),
            ("insert", moves.came, moves.came_cause),
        ):
            if len(rows):
                arguments = [np.ascontiguousarray(rows[:, 1 + i]) for i in range(store.arity)]
                names = self.words.events(store.name, arguments, len(rows))
                self._events.append(
                    pa.table(
                        [
                            pa.array(np.full(len(rows), clock.query)),
                            pa.repeat(op, len(rows)),
                            names,
                            pa.array(np.ascontiguousarray(rows[:, 0])),
                            cause_texts(causes).cast(pa.string()),
                        ],
                        schema=EVENTS,
                    )
                )

    # ----------------------------------------------------------------- tables

    def tables(self, query_time: int) -> dict[str, pa.Table]:
        """Everything collected since the last call, and the countdowns that run at `query_time`."""
        events = pa.concat_tables(self._events) if self._events else _NO_EVENTS
        self._events = []
        return {"changes": self._change_table(), "events": events, "open": self._pending(query_time)}

    def _pending(self, query_time: int) -> pa.Table:
        found = []
        for unit in self.plan.units():
            if not isinstance(unit, SweepUnit) or not unit.countdowns.plans:
                continue
            pending = unit.countdowns.pending()
            for at, store in enumerate(unit.stores):
                mine = pending.fluent == at
                n = int(mine.sum())
                if not n:
                    continue
                source, target = pending.value[mine], pending.target[mine]
                ends = target == NONE
                name = self.words.fluents([(store, pending.instance[mine])])
                pair = pc.binary_join_element_wise(name, self.words.values(store, source), "=")
                end = pc.binary_join_element_wise("end of ", pair, "")
                again = pc.binary_join_element_wise(end, " or initiation of ", pair, "")
                shown = self.words.values(store, np.where(ends, source, target))
                found.append(
                    pa.table(
                        [
                            pa.array(np.full(n, query_time)),
                            name,
                            pc.if_else(pa.array(ends), pa.scalar(None, pa.string()), shown),
                            pa.array(pending.due[mine]),
                            pa.array(pending.since[mine]),
                            pc.if_else(pa.array(pending.postponable[mine]), again, end),
                        ],
                        schema=PENDING,
                    )
                )
        return pa.concat_tables(found) if found else _NOTHING_PENDING

    @staticmethod
    def schemas() -> dict[str, pa.Schema]:
        return {"changes": CHANGES, "events": EVENTS, "open": PENDING, "rejected": REJECTED}

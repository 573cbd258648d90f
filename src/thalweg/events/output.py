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
from thalweg.columns.texts import Indices, Marks, borders, number_anew, unnumber
from thalweg.events import strides
from thalweg.events.determined import SpanUnit
from thalweg.events.moves import Moves, Spans, by_time, told
from thalweg.events.plan import Plan
from thalweg.events.stores import EventStore, FluentStore
from thalweg.events.sweeping import SweepUnit
from thalweg.events.units import Clock
from thalweg.events.words import Words, as_arrow, cause_texts, dictionary
from thalweg.protocol import REJECTED, Ints

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
_TIME, _OPS = pa.int64(), pa.array(["delete", "insert"])
NO_CHANGES, _NO_EVENTS, _NOTHING_PENDING = (s.empty_table() for s in (CHANGES, EVENTS, PENDING))


@dataclass(slots=True)
class Part:
    """Changes of one fluent: deletions (op 0) or insertions (1) of one query time, or both of several, each row with
    its own."""

    query: int | Ints
    op: int | Ints
    found: Spans
    length: int


class Output:
    """Collects differences query by query and turns them into tables."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._repeated = _repeated(plan)
        self.forget()

    def forget(self) -> None:
        """Drop texts and collected rows, after a snapshot was put in."""
        self.forget_texts()
        self._marks = Marks()
        self._changes: dict[int, tuple[FluentStore, list[Part]]] = {}
        self._events: list[pa.Table] = []
        self._borrowed: list[Part] = []

    def forget_texts(self) -> None:
        """Drop the texts that were written so far; they are written again when they are asked for."""
        self.words = Words(self.plan.catalogue.coder)

    # ----------------------------------------------------------------- collecting

    def collect(self, clock: Clock) -> None:
        """Take the differences of the query that has just run."""
        for unit, at, store in self.plan.outputs:
            difference = unit.reported(at, clock)
            if clock.step:
                self._told(strides.told(difference, store, clock), store)
            elif difference is not None:
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

    def _told(self, rows: Ints, store: FluentStore) -> None:
        """Changes of several query times, as columns of arrays of their own."""
        length = rows.shape[1]
        if length:
            queries, ops, ids, starts, ends, values = rows
            found = Spans(ids, starts, ends, values[: 0 if store.by_value else length], by_time(length))
            self._changes.setdefault(id(store), (store, []))[1].append(Part(queries, ops, found, length))

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
        ops, instances, values = (recycling.empty(total, np.int32) for _ in range(3))
        there = np.full((total + 7) >> 3, 255, np.uint8)
        at = base = 0
        numeric: list[tuple[FluentStore, Part, slice]] = []
        for store, some in found:
            is_number = self.words.is_number(("value", store.name, 0))
            keys, column = store.instances.keys, store.arity if store.by_value and not is_number else -1
            for part in some:
                if is_number:
                    numeric.append((store, part, slice(at, at + part.length)))
                rows = part.found.ids, part.found.starts, part.found.ends
                symbols = part.found.values[:0] if is_number else part.found.values
                here = slice(at, at + part.length)
                tabulate(*rows, symbols, keys, column, base, at, instances, values, starts, ends, there)
                queries[here], ops[here] = part.query, part.op
                at += part.length
            base += store.instances.count
        causes = by_time(total)
        if any(told(part.found.causes) for part in parts):
            causes = np.concatenate([part.found.causes for part in parts])
        return pa.Table.from_arrays(
            [
                as_arrow(queries, _TIME),
                dictionary(ops, _OPS),
                self._fluent_column([store for store, _ in found], instances),
                self._value_column(numeric, values),
                as_arrow(starts, _TIME),
                pa.Array.from_buffers(pa.int64(), total, [pa.py_buffer(there), pa.py_buffer(ends)]),
                cause_texts(causes),
            ],
            schema=CHANGES,
        )

    def _fluent_column(self, stores: Sequence[FluentStore], indices: Indices) -> pa.DictionaryArray:
        """The instances, of which `indices` are the numbers, counted from store to store; with each text once: of those
        that occur, or simply of all, by the indices as they are, where these are few."""
        bases = np.cumsum([0, *(store.instances.count for store in stores)])
        count = int(bases[-1])
        if 2 * count <= len(indices):
            return self._named_once(stores, indices, self.words.all_fluents(stores))
        places, first = self._marks.of(count), np.empty(min(count, len(indices)), np.int64)
        first = first[: number_anew(indices, places, first, 0, indices)]
        unnumber(places, first)
        ends = np.empty(len(bases), np.int64)
        borders(first, bases, ends)
        at = ends.tolist()
        occurring = [(store, first[at[n] : at[n + 1]] - bases[n]) for n, store in enumerate(stores)]
        return self._named_once(stores, indices, self.words.fluents(occurring))

    def _named_once(self, stores: Sequence[FluentStore], indices: Indices, texts: pa.Array) -> pa.DictionaryArray:
        """Texts by number, where pairs that differ in their value only have the same."""
        if self._repeated.isdisjoint(store.name for store in stores):
            return dictionary(indices, texts)
        once = texts.dictionary_encode()
        return dictionary(once.indices.to_numpy()[indices], once.dictionary)

    def _value_column(
        self, numeric: list[tuple[FluentStore, Part, slice]], indices: Indices
    ) -> pa.DictionaryArray:
        """The values, with each text once; `indices` are symbols, but for those that are numbers."""
        symbols = self.words.symbol_numbers()
        places, first = self._marks.of(len(symbols)), np.empty(len(symbols), np.int64)
        known = at = 0
        for _, _, here in numeric:
            some = indices[at : here.start]
            known, at = number_anew(some, places, first, known, some), here.stop
        some = indices[at:]
        known = number_anew(some, places, first, known, some)
        unnumber(places, first[:known])
        texts = self.words.take(symbols[first[:known]])
        if numeric:
            texts = pa.concat_arrays([texts, self._numbers(numeric, known, indices)])
        return dictionary(indices, texts)

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
                queries = np.full(len(rows), clock.query)
                if clock.step:
                    queries = clock.told_at(rows[:, 0])
                    order = np.argsort(queries, kind="stable")
                    rows, causes, queries = rows[order], causes[order], queries[order]
                arguments = [np.ascontiguousarray(rows[:, 1 + i]) for i in range(store.arity)]
                names = self.words.events(store.name, arguments, len(rows))
                self._events.append(
                    pa.table(
                        [
                            pa.array(queries),
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


def _repeated(plan: Plan) -> frozenset[str]:
    """The fluents of which several pairs are instances that have the same text: those whose values are parts of keys,
    if there is more than one."""
    values: dict[str, set[object]] = {}
    for unit, _, store in plan.outputs:
        found = values.setdefault(store.name, set())
        heads = [rule.head[-1] for rule in unit.plans] if isinstance(unit, SpanUnit) else []
        found.update(slot.code if slot.name is None else slot.name for slot in heads)
        if not heads or any(slot.name is not None for slot in heads):
            found.add(store)
    return frozenset(name for name, some in values.items() if len(some) > 1)

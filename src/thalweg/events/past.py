"""What was told of fluents and derived events that the program computes no more, or otherwise than before.

It is kept as codes while some of it lies in the window. Where a changed program computes them again, that is where it
begins: otherwise it would tell the same intervals and events a second time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from thalweg.columns.ragged import Ragged, Version
from thalweg.columns.timelines import OPEN
from thalweg.events.plan import Plan
from thalweg.events.stores import EventStore, FluentStore
from thalweg.protocol import CannotGoOn, Ints

if TYPE_CHECKING:
    from thalweg.events.reasoner import Reasoner


class Name(NamedTuple):
    """``simple`` or ``determined`` for fluents, ``event``; and the relation."""

    kind: str
    relation: str


@dataclass(frozen=True, slots=True)
class Past:
    """Rows of codes: of a fluent arguments, value, start and end, of an event arguments and time. `numeric` has 1 for
    each argument, and for the value, that is a number. Nothing was told from `until` on."""

    rows: Ints
    numeric: Ints
    until: int

    def after(self, final: int) -> Past:
        """What does not lie at or before a point."""
        return replace(self, rows=self.rows[self.rows[:, -1] > final])

    def with_rows(self, other: Past | None) -> Past:
        """The same and another's rows."""
        if other is None:
            return self
        return replace(self, rows=np.concatenate([other.rows, self.rows]), until=max(self.until, other.until))


# --------------------------------------------------------------------------- what was told


def told_of_fluent(store: FluentStore, plan: Plan) -> Past:
    """The intervals of a fluent; what runs has no end yet."""
    rows, ids = store.lists.everything(Version.NOW)
    value = store.instances.column(store.arity, ids) if store.by_value else rows[:, 2]
    arguments = [store.instances.column(i, ids) for i in range(store.arity)]
    places = [*(("fluent", store.name, i) for i in range(store.arity)), ("value", store.name, 0)]
    return Past(np.column_stack([*arguments, value, rows[:, 0], rows[:, 1]]), _numeric(places, plan), int(OPEN))


def told_of_event(store: EventStore, plan: Plan, until: int) -> Past:
    """The events of a relation."""
    rows, _ = store.primary().lists.everything(Version.NOW)
    places = [("event", store.name, i) for i in range(store.arity)]
    return Past(np.column_stack([rows[:, 1:-1], rows[:, 0]]), _numeric(places, plan), until)


def _numeric(places: list[tuple[str, str, int]], plan: Plan) -> Ints:
    return np.array([plan.catalogue.coder.sorts.numeric(place) for place in places], np.int64)


def ended(past: Past, at: int) -> Past:
    """The same; what runs has ended there."""
    rows = past.rows.copy()
    rows[rows[:, -1] == OPEN, -1] = at
    return replace(past, rows=rows, until=at)


# --------------------------------------------------------------------------- where it goes on


def put_fluent(store: FluentStore, past: Past, plan: Plan) -> None:
    """Let a store that knows nothing yet know what was told."""
    _refuse_other_sorts(store.name, past, told_of_fluent(store, plan))
    arity, rows = store.arity, past.rows
    columns = [np.ascontiguousarray(rows[:, i]) for i in range(arity + store.by_value)]
    ids = store.intern(columns, len(rows))
    order = np.lexsort((rows[:, arity + 1], ids))
    ids, rows = ids[order], rows[order]
    if not store.by_value and ((ids[1:] == ids[:-1]) & (rows[1:, arity + 1] < rows[:-1, arity + 2])).any():
        raise CannotGoOn(f"{_shown(store.name)} had several values at once, which the changed program does not allow")
    value = np.zeros(len(rows), np.int64) if store.by_value else rows[:, arity]
    spans = np.ascontiguousarray(np.column_stack([rows[:, arity + 1], rows[:, arity + 2], value]))
    sizes = np.bincount(ids, minlength=store.instances.count)
    store.lists = Ragged.of({"rows": spans, "sizes": sizes}, 1)
    store.forget_accesses()


def put_event(store: EventStore, past: Past, plan: Plan) -> None:
    """The same for an event."""
    _refuse_other_sorts(store.name, past, told_of_event(store, plan, 0))
    if len(past.rows):
        rows = np.ascontiguousarray(np.column_stack([past.rows[:, -1], past.rows[:, :-1]]))
        store.apply(rows, np.ones(len(rows), np.int64), None)
        for index in store.indexes.values():
            index.lists.commit()


def _refuse_other_sorts(name: str, past: Past, now: Past) -> None:
    """Numbers and symbols are kept differently."""
    if past.numeric.tolist() != now.numeric.tolist():
        raise CannotGoOn(f"{_shown(name)} has an argument or value that is a number in only one of the programs")


def _shown(name: str) -> str:
    return name.partition("(")[0]


# --------------------------------------------------------------------------- in a snapshot


def arrays_of(reasoner: Reasoner) -> Iterator[tuple[str, Ints]]:
    """What is still in the window, as arrays with names."""
    for name, past in sorted(reasoner.past.items()):
        if past.until > reasoner.kept_from:
            at = f"past {name.kind} {name.relation}"
            yield f"{at}.rows", past.after(reasoner.kept_from).rows
            yield f"{at}.numeric", past.numeric
            yield f"{at}.until", np.array([past.until])


def of_arrays(arrays: dict[str, Ints]) -> dict[Name, Past]:
    """What `arrays_of` gave."""
    found = {}
    for at, rows in arrays.items():
        if at.startswith("past ") and at.endswith(".rows"):
            whose = at.removesuffix(".rows")
            name = Name(*whose.removeprefix("past ").split(" ", 1))
            found[name] = Past(rows, arrays[f"{whose}.numeric"], int(arrays[f"{whose}.until"][0]))
    return found

"""A changed program takes over the state of another one.

What both programs have in common is carried over: symbols, the events of the window, input intervals, the timelines of
fluents, pending countdowns, rows that wait. Then the window is evaluated from scratch under the changed rules, from
the state at its start. What the rules leave as it was stays as it was; the rest is reported as changes. What is not
computed any more ends at the query time, and is remembered (`past`) in case that it is computed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from thalweg.analysis.farthest import farthest, too_large
from thalweg.columns.ragged import Version
from thalweg.columns.timelines import INITIATE, OPEN
from thalweg.events.determined import InputUnit, SpanUnit
from thalweg.events.output import CHANGES, Output
from thalweg.events.past import Name, Past, ended, put_event, put_fluent, told_of_event, told_of_fluent
from thalweg.events.plan import Plan, Unit
from thalweg.events.simple import SimpleUnit
from thalweg.events.stores import EventStore, FluentStore
from thalweg.events.sweeping import SweepUnit
from thalweg.protocol import CannotGoOn

if TYPE_CHECKING:
    from thalweg.events.reasoner import Reasoner
    from thalweg.language.program import Program

_UNTOLD = {"span", "source", "place"}
"""What tells rules apart that say the same."""


def changed(old: Reasoner, program: Program) -> tuple[Reasoner, pa.Table]:
    """A reasoner for the program with the state of another, of which `revise` is to be called; and the changes that end
    what it does not compute any more."""
    if old.query_time > (limit := farthest(program)) + old.step:
        raise CannotGoOn(f"the clock is at {old.query_time}, which is {too_large(limit)}")
    symbols = old._plan.symbols.copy()
    new = type(old)(
        program,
        window=old.window,
        step=old.step,
        start=old.start,
        tick=old.tick,
        allow_gaps=old.window < old.step,
        recompute=old.recompute,
        symbols=symbols,
    )
    new.query_time = old.query_time
    left = _left(new, old)
    again = _go_on_from(new._plan, old._plan, left)
    new.past = {name: ended(past, new.query_time + new.tick) for name, past in left.items() if name not in again}
    _carry_stores(new._plan, old._plan, new.query_time != new.start, {name.relation for name in again})
    before = {_label(unit): unit for unit in old._plan.units()}
    for unit in new._plan.units():
        _carry_unit(unit, before.get(_label(unit)), new._plan, old._plan, new.kept_from, new.tick)
    known = {**new._plan.input_events, **new._plan.inputs}
    for name, waiting in old._admission.waiting.items():
        if name in known:
            new._admission.waiting[name] = waiting
    new._admission.rejected = old._admission.rejected
    return new, _ended(new, old)


# --------------------------------------------------------------------------- what was told otherwise


def _told_by(plan: Plan) -> dict[Name, FluentStore]:
    """The fluents that a program tells."""
    stores = [store for _, _, store in plan.outputs]
    return {Name("determined" if store.by_value else "simple", store.name): store for store in stores}


def _left(new: Reasoner, old: Reasoner) -> dict[Name, Past]:
    """What was told of fluents and events that the changed program does not compute as the old one did, as far as it
    lies in the window."""
    found = {name: past for name, past in old.past.items() if past.until > new.kept_from}
    mine = _told_by(new._plan)
    for name, store in _told_by(old._plan).items():
        if name not in mine:
            found[name] = told_of_fluent(store, old._plan).with_rows(found.get(name))
    for derived in old._plan.derived:
        if derived.store.name not in new._plan.catalogue.events:
            name = Name("event", derived.store.name)
            found[name] = told_of_event(derived.store, old._plan, new.query_time + new.tick)
    return {name: past.after(new.kept_from) for name, past in found.items()}


def _go_on_from(new: Plan, old: Plan, left: dict[Name, Past]) -> set[Name]:
    """Let the stores of what is computed again, or otherwise, know what was told; returns whose past that was."""
    theirs = _told_by(old)
    fluents = {name: store for name, store in _told_by(new).items() if name not in theirs}
    events = {derived.store.name: derived.store for derived in new.derived}
    again: set[Name] = set()
    told: dict[Name, Past] = {}
    for name, past in left.items():
        if name.kind == "event":
            if name.relation in events:
                put_event(events[name.relation], past, new)
                again.add(name)
            continue
        ways = (name, Name("simple", name.relation), Name("determined", name.relation))
        way = next((way for way in ways if way in fluents), None)
        if way is not None:
            told[way] = past.with_rows(told.get(way))
            again.add(name)
    for way, past in told.items():
        put_fluent(fluents[way], past, new)
    return again


# --------------------------------------------------------------------------- stores


def _carry_stores(new: Plan, old: Plan, begun: bool, known: set[str]) -> None:
    """Carry over what both programs have; `known` are fluents that know what was told of them."""
    for name, event in new.catalogue.events.items():
        if name in old.catalogue.events:
            _check_sorts(new, old, "event", name, event.arity)
            _carry_events(event, old.catalogue.events[name])
    for mine, theirs in (
        (new.catalogue.simple, old.catalogue.simple),
        (new.catalogue.determined, old.catalogue.determined),
    ):
        for name, store in mine.items():
            if name in theirs:
                _check_sorts(new, old, "fluent", name, store.arity)
                store.instances, store.lists = theirs[name].instances, theirs[name].lists
                store.forget_accesses()
    if begun:
        for unit in new.units():
            if isinstance(unit, SimpleUnit | SweepUnit) and _names(unit) <= known | set(old.catalogue.simple):
                unit._found = []


def _check_sorts(new: Plan, old: Plan, kind: str, name: str, arity: int) -> None:
    """Numbers and symbols are kept differently."""
    places = [(kind, name, i) for i in range(arity)] + ([("value", name, 0)] if kind == "fluent" else [])
    for place in places:
        if new.catalogue.coder.sorts.numeric(place) != old.catalogue.coder.sorts.numeric(place):
            what = name.partition("(")[0]
            raise CannotGoOn(f"{what} has an argument or value that is a number in only one of the programs")


def _carry_events(new: EventStore, old: EventStore) -> None:
    rows, _ = old.primary().lists.everything(Version.NOW)
    if len(rows):
        new.primary()
        new.apply(np.ascontiguousarray(rows[:, :-1]), np.ascontiguousarray(rows[:, -1]), None)
        for index in new.indexes.values():
            index.lists.commit()


# --------------------------------------------------------------------------- units


def _label(unit: Unit) -> tuple[str, ...]:
    stores: Iterable[Any] = getattr(unit, "stores", None) or [unit.store]  # type: ignore[union-attr]
    return (type(unit).__name__, *(store.name for store in stores))


def _names(unit: SimpleUnit | SweepUnit) -> set[str]:
    return {store.name for store in unit.stores}


def _go_on(unit: SweepUnit, store: FluentStore, final: int, tick: int) -> None:
    """Under other rules, what holds at the window's start goes on from when it was initiated."""
    rows, ids = store.lists.everything(Version.NOW)
    here = (rows[:, 0] <= final) & (rows[:, 1] > final)
    if here.any():
        rows = rows[here]
        unit.seed(store, ids[here], rows[:, 0] - tick, np.ascontiguousarray(rows[:, 2]), INITIATE)


def _carry_unit(new: Unit, old: Unit | None, plan: Plan, before: Plan, final: int, tick: int) -> None:
    match new, old:
        case InputUnit(), InputUnit():
            new.given, new.ahead = old.given, old.ahead
        case SweepUnit(), SweepUnit() if _rules(plan, _names(new)) == _rules(before, _names(new)):
            new.restore(old.candidates, old.state())
        case SweepUnit(), _:
            for store in new.stores:
                _go_on(new, store, final, tick)
            new.begin()
        case SpanUnit(), SpanUnit() if _same_bindings(new, old, plan, before):
            for mine, theirs in zip(new.plans, old.plans, strict=True):
                mine.bindings, mine.heads = theirs.bindings, theirs.heads
                mine.flips, mine.started = theirs.flips, theirs.started
                mine.reset_index()
                for memory, kept in zip(mine.memories, theirs.memories, strict=True):
                    memory.adopt(kept)
        case SpanUnit(), _:
            for mine in new.plans:
                mine.bind_all(new.store)
        case _:
            pass


def _same_bindings(new: SpanUnit, old: SpanUnit, plan: Plan, before: Plan) -> bool:
    """Do the rules speak of the same variables? Which of them stand for one number depends on the facts."""
    if _rules(plan, {new.store.name}) != _rules(before, {new.store.name}):
        return False
    return [p.variables for p in new.plans] == [p.variables for p in old.plans]


def _rules(plan: Plan, names: set[str]) -> list[Any]:
    """The rules of fluents, without what only tells where they stand."""
    normal = plan.normal
    found: list[Any] = [p for p in normal.points if p.relation in names and p.effect is not None]
    found += [s for s in normal.spans if s.fluent in names]
    found += [d for d in normal.delays if d.fluent in names]
    return [_told(rule) for rule in found]


def _told(value: Any) -> Any:
    if is_dataclass(value):
        told = tuple(_told(getattr(value, f.name)) for f in fields(value) if f.name not in _UNTOLD)
        return (type(value).__name__, *told)
    if isinstance(value, tuple | list):
        return tuple(map(_told, value))
    return value


# --------------------------------------------------------------------------- what ends


def _ended(new: Reasoner, old: Reasoner) -> pa.Table:
    """Changes that end the running intervals of fluents which the program no longer computes."""
    parts = [CHANGES.empty_table()]
    mine = _told_by(new._plan)
    for name, store in _told_by(old._plan).items():
        if name in new.past and name not in mine:
            parts += _closings(store, new.query_time, new.tick, old._output)
    return pa.concat_tables(parts)


def _closings(store: FluentStore, query: int, tick: int, texts: Output) -> Iterator[pa.Table]:
    rows, ids = store.lists.everything(Version.NOW)
    running = rows[:, 1] == OPEN
    rows, ids = rows[running], ids[running]
    if not len(rows):
        return
    values = store.instances.column(store.arity, ids) if store.by_value else np.ascontiguousarray(rows[:, 2])
    names, shown = texts.words.fluents([(store, ids)]), texts.words.values(store, values)
    n = len(rows)
    starts, last = pa.array(np.ascontiguousarray(rows[:, 0])), pa.array(np.full(n, query + tick))
    for op, ends in (("delete", pa.nulls(n, pa.int64())), ("insert", last)):
        told = [pa.array(np.full(n, query)), pa.repeat(op, n), names, shown, starts, ends, pa.repeat("time", n)]
        yield pa.table(told, names=CHANGES.names).cast(CHANGES)


# --------------------------------------------------------------------------- what cannot be known


def unknown(new: Reasoner, old: Plan) -> tuple[str, ...]:
    """Sentences on what the changed program cannot know of the window."""
    if new.query_time == new.start:
        return ()
    if new.window <= new.step:
        return (f"windows do not overlap: the changed rules count after query time {new.query_time}",)
    known, now = {**old.input_events, **old.inputs}, {**new._plan.input_events, **new._plan.inputs}
    named = sorted({name.partition("(")[0] for name in set(now) - set(known)})
    return tuple(f"{name} was not read before: its rows count after query time {new.query_time}" for name in named)

"""What if: the same run with rows added or left out, and a set of rows that is just enough.

Rows that are added arrive when they happen; rows that are left out never were.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from thalweg.explain.ask import Question, question, rebuilt
from thalweg.explain.history import NEW, as_constant
from thalweg.explain.tree import Node, Part, Place
from thalweg.explain.why import Explainer
from thalweg.explain.world import Known
from thalweg.io.assemble import filtered
from thalweg.io.errors import InputError
from thalweg.language.wording import counted
from thalweg.protocol import Rows
from thalweg.reference.events import Row, run
from thalweg.reference.intervals import contains
from thalweg.reference.terms import Ground, signature, text

if TYPE_CHECKING:
    from thalweg.result import Result

_KEY = ["fluent", "value", "start", "end"]


@dataclass(frozen=True, slots=True, repr=False)
class Difference:
    """What would be different: intervals that would come and go, and the result as it would be."""

    inserted: pa.Table
    withdrawn: pa.Table
    result: Result

    def __bool__(self) -> bool:
        return bool(self.inserted.num_rows or self.withdrawn.num_rows)

    def __repr__(self) -> str:
        moment = self.result.moment if self.result.is_dated else str
        lines = [
            f"{sign} {row['fluent']}={row['value']} from {moment(row['start'])} "
            + ("on" if row["end"] is None else f"to {moment(row['end'])}")
            for sign, table in (("-", self.withdrawn), ("+", self.inserted))
            for row in table.to_pylist()
        ]
        return "\n".join(lines) or "nothing would be different"


def what_if(result: Result, known: Known, *, insert: Any = (), retract: Any = ()) -> Difference:
    """The result with rows added or left out. Events are given as texts, ``"press(lamp) @ 5"``, or in any form that
    `run` takes."""
    from thalweg.io.sinks import Memory
    from thalweg.result import Result as Made
    from thalweg.runs import up_to

    plan = known.plan
    gone = _asked(result, retract, known)
    _refuse_absent(retract, known)
    added = [replace(part, row=np.full(len(part), NEW)) for part in _asked(result, insert, known)]
    _refuse_later(added, known.last)
    rows = [*_without(known.given.rows, gone), *added]
    reasoner = plan.make()
    reasoner.accept(up_to(rows, plan.schedule.end))
    memory = Memory(result.program.kind)
    for name, table in reasoner.advance(known.last).tables.items():
        if name == "rejected":
            _refuse_rejected(table)
            memory.add(name, plan.feed.rejected(table))
        else:
            memory.add(name, plan.feed.with_causes(table))
    made = Made(result.program, memory.tables(), result.summary(), result.kind)
    made.about(rebuilt(known, made, rows))
    before, after = (r.arrow["timeline"].select(_KEY) for r in (result, made))
    return Difference(_minus(after, before), _minus(before, after), made)


def _minus(left: pa.Table, right: pa.Table) -> pa.Table:
    gone = {tuple(row.values()) for row in right.to_pylist()}
    keep = [tuple(row.values()) not in gone for row in left.to_pylist()]
    return left.filter(pa.array(keep, pa.bool_()))


# --------------------------------------------------------------------------- rows


def _asked(result: Result, given: Any, known: Known) -> list[Rows]:
    """Events in whatever form they were given."""
    from thalweg.runs import rows

    if isinstance(given, list | tuple) and any(isinstance(item, str) for item in given):
        single = ([item] if isinstance(item, Mapping) else item for item in given)
        return [part for item in single for part in _asked(result, item, known)]
    if isinstance(given, str):
        if "@" in given:
            return [_row(question(given, known.description, known.plan.clock), known)]
        _refuse_untimed(given)
    found, rejected = rows(result.program, given)
    if rejected.num_rows:
        first = rejected.slice(0, 1).to_pylist()[0]
        raise InputError(first["reason"], f"cannot use {first['text']}: {first['detail']}")
    return found


def _refuse_untimed(given: str) -> None:
    """A text that is neither an event at a time nor the name of a file."""
    if given != "-" and not os.path.exists(given) and not glob.glob(given, recursive=True):
        hint = 'a row is written "press(lamp) @ 5", or {"name": "press", "time": 5, "lamp": "a"}'
        raise InputError("question", f"'{given}' says no time, and there is no file of that name", hint)


def _refuse_later(added: Sequence[Rows], last: int) -> None:
    """Rows that the result cannot know of: it ends before they arrive, or before their time."""
    for part in added:
        later = np.maximum(part.time, part.arrival) > last
        if later.any():
            first = int(np.maximum(part.time, part.arrival)[later].min())
            hint = "run further, with `end`, and ask that result"
            raise InputError("question", f"{part.name} at {first} lies after the end of the result, {last}", hint)


def _refuse_rejected(table: pa.Table) -> None:
    """Rows that were added and count for nothing."""
    for row in table.to_pylist():
        if row["row"] == NEW:
            raise InputError("question", f"a row that is added counts for nothing, {row['reason']}: {row['detail']}")


def _refuse_absent(given: Any, known: Known) -> None:
    """Events that are to be left out, given as texts, must be there."""
    for item in [given] if isinstance(given, str) else given if isinstance(given, list | tuple) else ():
        if isinstance(item, str) and "@" in item:
            asked = question(item, known.description, known.plan.clock)
            if not known.given.at(asked.term, asked.time):
                times = sorted({fact.start for fact in known.given.events(asked.term, known.last, 10)})
                hint = f"it happens at {', '.join(map(known.moment, times))}" if times else "it never happens"
                said = f"{text(asked.term)} does not happen at {known.moment(asked.time)}"
                raise InputError("question", said, hint)


def _row(asked: Question, known: Known) -> Rows:
    if asked.value is not None or signature(asked.term) not in known.description.input_events:
        stated = text(asked.term)
        raise InputError("question", f"{stated} is no input event", "give intervals as a table")
    name, *arguments = asked.term if isinstance(asked.term, tuple) else (asked.term,)
    time = np.array([asked.time], np.int64)
    columns = tuple(pa.array([str(argument)]) for argument in arguments)
    return Rows(name, np.ones(1, np.int8), time, time, np.array([NEW], np.int64), columns)


def _without(given: Sequence[Rows], gone: Sequence[Rows]) -> Iterator[Rows]:
    """The rows without those that say the same as one of the others, insertions and retractions alike."""
    facts = {fact for part in gone for fact in _facts(part)}
    for part in given:
        keep = (
            np.array([fact not in facts for fact in _facts(part)], bool)
            if facts
            else np.ones(len(part), bool)
        )
        kept = filtered(part, keep)
        if kept is not None:
            yield kept


def _facts(part: Rows) -> Iterator[tuple[Ground, ...]]:
    columns = [map(as_constant, column.to_pylist()) for column in part.args]
    ends = part.end.tolist() if part.end is not None else [None] * len(part)
    values = map(as_constant, part.value.to_pylist()) if part.value is not None else [None] * len(part)
    arguments = zip(*columns, strict=True) if columns else [()] * len(part)
    for row in zip(arguments, part.time.tolist(), ends, values, strict=True):
        yield (part.name, *row)


# --------------------------------------------------------------------------- enough


def minimal(known: Known, asked: Question) -> Node:
    """A set of rows that is enough for what is asked, of which none can be left out.

    Enough means: with these rows and no others, by the definition, it holds (or happens) at that time. Found by leaving
    out rows one after the other, beginning with the leaves of the explanation.
    """
    explainer = Explainer(known, ends=False)
    pair = (asked.term, asked.value)
    tree = (
        explainer.happens(asked.term, asked.time)
        if asked.value is None
        else explainer.holds(pair, asked.time)
    )
    rows = [_reference_row(place, known) for place in tree.leaves()]
    if not _follows(known, rows, asked):
        before = [fact for fact in known.given.everything() if fact.start <= asked.time]
        rows = [_reference_row(known.given.place(fact), known) for fact in before]
        if len(rows) > MANY:
            raise InputError(
                "minimal",
                f"the explanation needs more than its leaves, and {counted(len(rows), 'row')} are too many",
            )
        if not _follows(known, rows, asked):
            raise InputError("minimal", "what the window has forgotten is needed")
    rows = _reduced(rows, lambda kept: _follows(known, kept, asked))
    numbers = {row.number for row in rows}
    places = [known.given.place(fact) for fact in known.given.everything() if fact.number in numbers]
    leaves = tuple(
        Node(Part.INPUT, f"{place.fact} at {place.time}", time=place.time, place=place)
        for place in sorted(places, key=lambda place: (place.time, place.number))
    )
    return Node(tree.part, f"{tree.text}: these rows are enough, and each is needed", leaves, asked.time)


MANY = 400
"""Rows that are tried one by one, at most."""


def _reduced(rows: list[Row], enough: Callable[[list[Row]], bool]) -> list[Row]:
    """A set from which no row can be taken away. Large pieces are tried first; since a row may be needed only because
    of another, until nothing changes."""
    while True:
        before = len(rows)
        size = (len(rows) + 1) // 2
        while size:
            for first in range(0, len(rows), size):
                without = [*rows[:first], *rows[first + size :]]
                if len(without) < len(rows) and enough(without):
                    rows = without
                    break
            else:
                size //= 2
        if len(rows) == before:
            return rows


def _reference_row(place: Place, known: Known) -> Row:
    fact = next(fact for fact in known.given.everything() if fact.number == place.number)
    name, *arguments = fact.term if isinstance(fact.term, tuple) else (fact.term,)
    shape = "event" if fact.value is None else "interval"
    return Row(
        name=name,
        args=tuple(arguments),
        time=fact.start,
        arrival=fact.start,
        number=fact.number,
        shape=shape,
        value=fact.value,
        end=fact.end,
    )


def _follows(known: Known, rows: Iterable[Row], asked: Question) -> bool:
    """True when the rows alone make it so."""
    until = max(known.last, asked.time)
    trace = run(known.program, rows, until=until, start=known.start, tick=known.tick)
    if asked.value is None:
        return (text(asked.term), asked.time) in trace.events()
    return contains(trace.intervals().get((asked.term, asked.value), []), asked.time)

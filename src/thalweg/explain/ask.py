"""Asking about a result: `why`, `why_not`, `what_if`, and why something changed.

A question is written ``status(m1)=voting @ 130`` (``=true`` may be left out) or, of an event, ``closed(m1) @ 130``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from thalweg.explain.history import Derived, Given, Timelines
from thalweg.explain.tree import Node, Part
from thalweg.explain.why import Explainer
from thalweg.explain.why_not import Doubter
from thalweg.explain.wording import ground, pair_text
from thalweg.explain.world import Known
from thalweg.io.errors import InputError, did_you_mean
from thalweg.io.times import Clock
from thalweg.language.rules import Kind
from thalweg.reference.description import Description
from thalweg.reference.intervals import contains
from thalweg.reference.terms import Ground, signature
from thalweg.reference.terms import text as term_text

if TYPE_CHECKING:
    from thalweg.plans import Plan
    from thalweg.protocol import Rows
    from thalweg.result import Result


_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'")
MANY = 10_000
"""Names of the input among which a misspelt one is looked for."""


@dataclass(frozen=True, slots=True)
class Question:
    """A pair (or, value None, an event) at a time-point."""

    term: Ground
    value: Ground | None
    time: int


def question(text: str, description: Description, clock: Clock | None = None) -> Question:
    """What a text asks. Times are time-points or dates.

    >>> from thalweg.language.parser import parse
    >>> rules = parse("initiatedAt(on(X)=true, T) :- happensAt(press(X), T).")
    >>> question("on(lamp) @ 4", Description(rules))
    Question(term=('on', 'lamp'), value='true', time=4)
    """
    stated, _, when = text.rpartition("@")
    hint = "write it like 'on(lamp)=true @ 130'"
    if not stated.strip() or not when.strip():
        raise InputError("question", f"'{text.strip()}' says no time-point", hint)
    try:
        time = (clock or Clock()).point(when.strip(), "the time-point")
    except InputError as error:
        raise InputError("question", error.message, hint) from None
    if not _is_balanced(stated):
        raise InputError("question", f"the brackets of {stated.strip()} do not match", hint)
    name, _, value = _split(stated.strip())
    term = ground(name)
    if isinstance(term, (int, float)) or not name:
        raise InputError("question", f"{text} names no fluent and no event")
    events = description.derived | description.input_events
    fluents = description.outputs | description.input_fluents
    if signature(term) in fluents:
        return Question(term, ground(value) if value else "true", time)
    if signature(term) in events and not value:
        return Question(term, None, time)
    known = sorted(f"{n}/{a}" for n, a in fluents | events)
    wanted = f"{signature(term)[0]}/{signature(term)[1]}"
    message = f"the program has no {'fluent ' if wanted in known else ''}{wanted}{did_you_mean(wanted, known)}"
    raise InputError("question", message, f"it has {', '.join(known)}")


def _split(stated: str) -> tuple[str, str, str]:
    """A pair at its first equals sign outside quotes and brackets."""
    depth = 0
    for i, sign in enumerate(_unquoted(stated)):
        depth += (sign in "([") - (sign in ")]")
        if sign == "=" and not depth:
            return stated[:i].strip(), "=", stated[i + 1 :].strip()
    return stated, "", ""


def _unquoted(stated: str) -> str:
    """The text with what stands between quotes blanked out; a quote that is not closed is left.

    >>> _unquoted(r"on('it\\'s = (1)')=true")
    'on(             )=true'
    """
    return _QUOTED.sub(lambda found: " " * len(found[0]), stated)


def _is_balanced(stated: str) -> bool:
    """True when every bracket outside quotes is closed, and every quote."""
    waiting: list[str] = []
    for sign in _unquoted(stated):
        if sign in "([":
            waiting.append(")" if sign == "(" else "]")
        elif sign == "'" or (sign in ")]" and (not waiting or waiting.pop() != sign)):
            return False
    return not waiting


def known_of(result: Result) -> Known:
    """Everything about a run that explanations need; the input is read again."""
    from thalweg.plans import prepare

    if result.program.kind is not Kind.EVENTS:
        message = "what would be different, which rows suffice and why something changed is known of event descriptions"
        raise InputError("question", f"{message}; this program is of kind {result.program.kind}", "ask why, or why not")
    if result.origin is None or result.input_is_spent():
        raise InputError(
            "question", "the input of this result cannot be read again", "give it as a file or table"
        )
    plan = prepare(result.program, result.origin.events, result.origin.options)
    rows = [part for chunk, _ in plan.feed for part in chunk.rows]
    last = result.summary().last_query_time
    return _known(result, rows, plan, plan.schedule.start if last is None else last)


def rebuilt(known: Known, result: Result, rows: Sequence[Rows]) -> Known:
    """The same about a run of the same plan over other rows."""
    return _known(result, rows, known.plan, known.last)


def _known(result: Result, rows: Sequence[Rows], plan: Plan, last: int) -> Known:
    rejected = {
        (r["source"], r["row"]) for r in result.arrow["rejected"].select(["source", "row"]).to_pylist()
    }
    return Known(
        result.program,
        Description(result.program),
        Timelines(result.arrow["timeline"]),
        Derived(result.arrow["events"]),
        Given(rows, plan, rejected, last),
        plan,
        last,
    )


def why_not(known: Known, text: str) -> Node:
    """Why something does not hold or happen."""
    asked = question(text, known.description, known.plan.clock)
    if holds(known, text):
        said = f"{text.partition('@')[0].strip()} does hold at {known.moment(asked.time)}"
        raise InputError("question", said, "ask why")
    doubter = Doubter(known)
    if asked.value is None:
        node = doubter.happens(asked.term, asked.time)
    else:
        node = doubter.holds((asked.term, asked.value), asked.time)
    return replace(node, children=(*_unheard_of(known, asked), *node.children))


def _unheard_of(known: Known, asked: Question) -> Iterator[Node]:
    """Names in a question that neither the input nor the program has: slips, or variables, which questions have not."""
    program = str(known.program)
    for name in asked.term[1:] if isinstance(asked.term, tuple) else ():
        if isinstance(name, str) and term_text(name) not in program and not known.given.mentions(name):
            near = did_you_mean(name, known.given.names(MANY))
            near = near or ("; a question has no variables" if name[:1].isupper() or name[:1] == "_" else "")
            yield Node(Part.FAILS, f"{term_text(name)} stands in no row of the input{near}", time=asked.time)


def changes(known: Known, table: pa.Table, text: str) -> Node:
    """Why a pair changed at a query time: ``on(lamp) @ 15``; all changes of it that the query time brought."""
    asked = question(text, known.description, known.plan.clock)
    if asked.value is None:
        raise InputError("question", f"{text.partition('@')[0].strip()} is an event", "ask about a fluent")
    pair = pair_text(asked.term, asked.value)
    same = pc.and_(
        pc.equal(table.column("fluent").cast(pa.string()), term_text(asked.term)),
        pc.equal(table.column("value").cast(pa.string()), term_text(asked.value)),
    )
    rows = table.filter(same).to_pylist()
    found = [why_changed(known, row) for row in rows if row["query_time"] == asked.time]
    if not found:
        times = ", ".join(str(time) for time in sorted({row["query_time"] for row in rows})[:20])
        hint = f"it changed at {times}" if times else "it never changed"
        raise InputError("question", f"query time {asked.time} did not change {pair}", hint)
    if len(found) == 1:
        return found[0]
    return Node(Part.CHANGE, f"{pair} changed at query time {asked.time}", tuple(found), asked.time)


def why_changed(known: Known, change: Mapping[str, Any]) -> Node:
    """Why a row of `changes` is there: the row of input that caused it, and how things are now."""
    wanted = ("query_time", "op", "fluent", "value", "start", "end", "cause")
    if not isinstance(change, Mapping) or not all(name in change for name in wanted):
        hint = "give one of result['changes'] as a dictionary, or a text like 'on(lamp) @ 15'"
        raise InputError("question", "this is no row of changes", hint)
    pair = ground(change["fluent"]), ground(change["value"])
    start, end, cause = change["start"], change["end"], change["cause"]
    span = f"from {start} {'on' if end is None else f'to {end}'}"
    came = change["op"] == "insert"
    said = f"{pair_text(*pair)} {span} was {'found' if came else 'withdrawn'} at query time {change['query_time']}"
    children = list(_because(known, cause))
    now = known.intervals(pair)
    if contains(now, start):
        children.append(Explainer(known).holds(pair, start))
    else:
        children.append(Doubter(known).holds(pair, start))
    return Node(Part.CHANGE, said, tuple(children), change["query_time"])


def _because(known: Known, cause: str) -> Iterator[Node]:
    """What a change is due to: time, or a row that came late, or one that took another back."""
    found = None if cause == "time" else known.given.named(cause)
    if found is None:
        yield Node(Part.CHANGE, "because time went on" if cause == "time" else "because of a row that came late")
        return
    row, op = found
    late = "that came late" if op > 0 else "that took another back"
    yield Node(Part.CHANGE, f"because of a row {late}")
    yield Node(Part.INPUT, f"{row.fact} at {row.time}", time=row.time, place=row)


def why(known: Known, text: str) -> Node:
    """Why something holds or happens."""
    asked = question(text, known.description, known.plan.clock)
    explainer = Explainer(known)
    if asked.value is None:
        node = explainer.happens(asked.term, asked.time)
        said = f"{term_text(asked.term)} does not happen at {known.moment(asked.time)}"
    else:
        if not contains(known.intervals((asked.term, asked.value)), asked.time):
            said = f"{pair_text(asked.term, asked.value)} does not hold at {known.moment(asked.time)}"
            raise InputError("question", said, "ask why not")
        return explainer.holds((asked.term, asked.value), asked.time)
    if node.part is Part.UNEXPLAINED:
        raise InputError("question", said, "ask why not")
    return node


def asked_of_what_holds(known: Known, text: str) -> Question:
    """What a text asks, which must be so."""
    why(known, text)
    return question(text, known.description, known.plan.clock)


def holds(known: Known, text: str) -> bool:
    """True when what the question names holds or happens."""
    asked = question(text, known.description, known.plan.clock)
    if asked.value is not None:
        return contains(known.intervals((asked.term, asked.value)), asked.time)
    if signature(asked.term) in known.description.derived:
        return any(True for _ in known.derived.at(asked.term, asked.time))
    return bool(known.given.at(asked.term, asked.time))

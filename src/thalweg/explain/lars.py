"""Why an extended atom is in the answer stream at a tick, or why not: questions about a result, and what it knows.

A question is written ``takeBusM @ 400``, ``at(402) expBusM @ 400`` or ``[3m] sometime jam @ 400``; `lars_supports`
finds the answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from thalweg.analysis.roles import EntityKind, entities
from thalweg.explain.history import Given
from thalweg.explain.lars_supports import Tick, Where
from thalweg.explain.tree import Node
from thalweg.explain.wording import ground
from thalweg.io.errors import InputError, did_you_mean
from thalweg.language.diagnostics import ProgramError
from thalweg.language.parser import parse
from thalweg.language.printer import duration_text
from thalweg.language.rules import Aggregate, Call, Clause, Windowed
from thalweg.language.terms import Atom, Compound, Number, Term, signature
from thalweg.reference.lars_search import rules_of
from thalweg.reference.lars_streams import Stream
from thalweg.reference.lars_terms import substitute
from thalweg.reference.terms import Ground

if TYPE_CHECKING:
    from thalweg.io.times import Clock
    from thalweg.language.program import Program
    from thalweg.plans import Plan
    from thalweg.result import Result


@dataclass(frozen=True, slots=True)
class Question:
    """An extended atom at a tick."""

    literal: Call | Windowed
    tick: int


def question(written: str, program: Program, clock: Clock) -> Question:
    """What a text asks."""
    stated, _, when = written.rpartition("@")
    hint = "write it like 'takeBusM @ 400', 'at(402) expBusM @ 400' or '[3m] sometime jam @ 400'"
    try:
        tick = clock.point(when)
    except InputError:
        raise InputError("question", f"'{written.strip()}' says no tick", hint) from None
    tick_of = program.tick_seconds
    seconds = "" if tick_of is None else f"tick {duration_text(Fraction(repr(tick_of)))}. "
    try:
        read = parse(f"program lars. {seconds}asked if {stated.strip()}.")
    except ProgramError as error:
        raise InputError("question", f"cannot read {stated.strip()}", hint) from error
    rules = [s for s in read.statements if isinstance(s, Clause)]
    literals = [x for rule in rules for x in rule.body]
    if len(rules) != 1 or len(literals) != 1 or not isinstance(literals[0], Call | Windowed) or literals[0].negated:
        raise InputError("question", f"{stated.strip()} is not one atom", hint)
    _refuse_unknown(literals[0].goal if isinstance(literals[0], Call) else literals[0].atom, program)
    return Question(literals[0], tick)


def _refuse_unknown(atom: Term, program: Program) -> None:
    known = sorted(f"{e.name}/{e.arity}" for e in entities(program).of_kind(EntityKind.PREDICATE))
    name, arity = signature(atom)
    if f"{name}/{arity}" not in known:
        near = did_you_mean(f"{name}/{arity}", known)
        raise InputError("question", f"the program has no {name}/{arity}{near}", f"it has {', '.join(known)}")


class Answered:
    """The answer streams of a result, and the input behind them."""

    def __init__(self, result: Result) -> None:
        from thalweg.plans import prepare

        if result.origin is None or result.input_is_spent():
            raise InputError(
                "question", "the input of this result cannot be read again", "give it as a file or table"
            )
        self.program = result.program
        self.plan: Plan = prepare(result.program, result.origin.events, result.origin.options)
        rows = [part for chunk, _ in self.plan.feed for part in chunk.rows]
        last = result.summary().last_query_time
        rejected = {
            (r["source"], r["row"]) for r in result.arrow["rejected"].select(["source", "row"]).to_pylist()
        }
        self.last = self.plan.schedule.start if last is None else last
        self.given = Given(rows, self.plan, rejected, self.last)
        self._answers = result.arrow["answers"]

    def at(self, tick: int) -> Tick:
        """Everything about one tick."""
        if tick > self.last:
            raise InputError("question", f"{tick} lies after the end of the result, {self.last}")
        answers: dict[Where, tuple[int, int | None]] = {}
        for row in self._answers.to_pylist():
            if row["from"] <= tick and (row["to"] is None or row["to"] >= tick):
                point = tick if row["at"] is None else row["at"]
                answers[point, as_term(ground(row["atom"]))] = row["from"], row["to"]
        first = _reach(self.program, tick)
        inputs = {(f.start, as_term(f.term)): f for f in self.given.between(first, tick)}
        facts = frozenset(
            substitute(s.head, {}) for s in self.program.statements if isinstance(s, Clause) and not s.body
        )
        data = frozenset(inputs)
        stream = Stream(self.plan.schedule.start + 1, data | frozenset(answers), data, facts)
        return Tick(self, tick, stream, inputs, answers)


def as_term(value: Ground) -> Term:
    """A ground term of results and input as a term of the language."""
    if isinstance(value, tuple):
        return Compound(str(value[0]), tuple(map(as_term, value[1:])))
    return Atom(value) if isinstance(value, str) else Number(value)


def _reach(program: Program, tick: int) -> int | None:
    """The first point that some window can see at a tick; None where anything may be asked for."""
    past = 0
    for rule in rules_of(program):
        for literal in rule.body:
            if isinstance(literal, Windowed | Aggregate):
                if literal.window is None or literal.window.kind != "time":
                    return None
                past = max(past, literal.window.past + literal.window.hop)
    return tick - past


# --------------------------------------------------------------------------- questions about a result


def why(known: Answered, written: str) -> Node:
    """Why an extended atom is in at a tick."""
    asked = question(written, known.program, known.plan.clock)
    tick = known.at(asked.tick)
    if not tick.holds(asked.literal):
        raise InputError(
            "question", f"{written.rpartition('@')[0].strip()} is not in at {asked.tick}", "ask why not"
        )
    return tick.why(asked.literal)


def why_not(known: Answered, written: str) -> Node:
    """Why an extended atom is out at a tick."""
    asked = question(written, known.program, known.plan.clock)
    tick = known.at(asked.tick)
    if tick.holds(asked.literal):
        raise InputError("question", f"{written.rpartition('@')[0].strip()} is in at {asked.tick}", "ask why")
    return tick.why_not(asked.literal)


def holds(known: Answered, written: str) -> bool:
    """Is an extended atom in at a tick?"""
    asked = question(written, known.program, known.plan.clock)
    return known.at(asked.tick).holds(asked.literal)

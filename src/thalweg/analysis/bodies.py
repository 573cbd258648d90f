"""What stands where in a statement: its body, its nested literals, the terms of a literal.

Bodies nest through ``findall``, disjunction and negated conjunctions; every other analysis walks them
through here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from thalweg.language.rules import (
    Absent,
    Body,
    Clause,
    Declare,
    Delayed,
    DynamicDomain,
    EffectRule,
    Either,
    EventRule,
    FindAll,
    Grounding,
    Ignored,
    Initially,
    IntervalRule,
    Literal,
    Postponable,
    Query,
    Statement,
    Tick,
    literal_terms,
)
from thalweg.language.terms import Term


class Place(NamedTuple):
    """A literal where it stands: `negated` by itself or by what is around it; `local` inside a findall or a
    negated conjunction, where its own variables are not seen outside."""

    literal: Literal
    negated: bool
    local: bool


_NESTING = frozenset({FindAll, Absent, Either})


def literals(body: Body) -> list[Place]:
    """Every literal of the body and of the bodies nested in it, left to right, containers before contents."""
    for literal in body:
        if literal.__class__ in _NESTING:
            return list(_nested(body))
    return [Place(literal, getattr(literal, "negated", False), False) for literal in body]


def _nested(body: Body) -> Iterator[Place]:
    stack = [Place(literal, False, False) for literal in reversed(body)]
    while stack:
        literal, negated, local = stack.pop()
        match literal:
            case FindAll():
                yield Place(literal, negated, local)
                stack.extend(Place(inner, negated, True) for inner in reversed(literal.body))
            case Absent():
                yield Place(literal, True, local)
                stack.extend(Place(inner, True, True) for inner in reversed(literal.body))
            case Either():
                yield Place(literal, negated, local)
                for alternative in reversed(literal.alternatives):
                    stack.extend(Place(inner, negated, local) for inner in reversed(alternative))
            case _:
                yield Place(literal, negated or getattr(literal, "negated", False), local)


def body_of(statement: Statement) -> Body:
    """The body of a rule; nothing for statements that have none."""
    match statement:
        case (
            EffectRule()
            | EventRule()
            | IntervalRule()
            | Initially()
            | Delayed()
            | Postponable()
            | Clause()
            | Grounding()
        ):
            return statement.body
        case _:
            return ()


def head_terms(statement: Statement) -> tuple[Term, ...]:
    """The terms of a statement outside its body."""
    match statement:
        case EffectRule(_, pair, time):
            return pair.fluent, pair.value, time
        case EventRule(event, time):
            return event, time
        case IntervalRule(pair, intervals):
            return pair.fluent, pair.value, intervals
        case Initially(pair) | Postponable(pair):
            return pair.fluent, pair.value
        case Delayed(source, target, delay):
            pairs = (source,) if target is None else (source, target)
            return *(term for pair in pairs for term in (pair.fluent, pair.value)), delay
        case Clause(head, _, at):
            return (head,) if at is None else (head, at)
        case Query(goal):
            return (goal,)
        case Grounding(entity):
            return (entity,)
        case DynamicDomain(predicate):
            return (predicate,)
        case Declare() | Tick() | Ignored():
            return ()


def terms_of(statement: Statement) -> Iterator[Term]:
    """All terms of a statement, nested literals included."""
    yield from head_terms(statement)
    for where in literals(body_of(statement)):
        yield from literal_terms(where.literal)

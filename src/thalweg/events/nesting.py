"""Terms as arguments, ``on(per(X))``: reads that relations with flat names cannot answer, to be refused.

A compound argument is part of a relation's name, so ``on(per(_))`` and ``on(_)`` are two relations. A read is answered
by the rules and facts of its own relation, and that is right unless one of its variables could be a term. Fields of
the data never are terms: a variable that stands in an input event or input fluent can be none, and an input that is
read with a term as argument never comes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from thalweg.events.forms import (
    DelayRule,
    EdgeAt,
    EffectAt,
    EventAt,
    Fact,
    Flat,
    HoldsAt,
    Missing,
    Normal,
    PostponeRule,
    StartRule,
    Total,
)
from thalweg.language.instances import apart
from thalweg.language.rules import Effect, Role
from thalweg.language.terms import Span, Term, Variable


class Fault(NamedTuple):
    """What is wrong, where, and what to write instead."""

    message: str
    span: Span
    help: str


Key = tuple[str, str, int]
"""An event, fluent or fact by kind, name and number of arguments."""


def is_nested(relation: str) -> bool:
    """Is an argument of the relation a term?"""
    return any(apart(argument)[1] for argument in apart(relation)[1])


def hidden_terms(relation: str, args: Sequence[Term], other: str) -> list[Term] | None:
    """What stands in the holes of a read where another relation has terms; None where they have no instance in common.

    >>> hidden_terms("on(_,_)", (Variable("X"), Variable("Y")), "on(per(_),_)")
    [Variable(name='X')]
    >>> hidden_terms("on(far(_))", (Variable("X"),), "on(per(_))") is None
    True
    """
    filled = iter(args)
    found: list[Term] = []

    def meet(mine: str, yours: str) -> bool:
        if mine == "_":
            term = next(filled)
            if yours != "_":
                found.append(term)
            return True
        (name, parts), (other_name, other_parts) = apart(mine), apart(yours)
        if yours == "_":
            return all(meet(part, "_") for part in parts)
        if name != other_name or len(parts) != len(other_parts):
            return False
        return all(meet(*pair) for pair in zip(parts, other_parts, strict=True))

    return found if meet(relation, other) else None


def faults(normal: Normal, grounded: Iterable[tuple[str, Span]]) -> Iterator[Fault]:
    """The reads that their relations cannot answer. `grounded`: what groundings are about."""
    given = _given(normal)
    if not any(is_nested(relation) for relation in (*normal.events, *normal.fluents, *normal.facts, *normal.wanted)):
        return
    for relation, span in grounded:
        kind = "event" if relation in normal.events else "fluent"
        if is_nested(relation) and _key(kind, relation) not in given:
            yield _no_input(kind, relation, span)
    for body, span in _bodies(normal):
        yield from _in_body(body, span, given, frozenset())


def _given(normal: Normal) -> dict[Key, set[str]]:
    """The relations that rules and facts give."""
    found: dict[Key, set[str]] = {}
    for p in normal.points:
        found.setdefault(_key("event" if p.effect is None else "fluent", p.relation), set()).add(p.relation)
    fluents = [rule.fluent for rule in normal.spans]
    fluents += [rule.fluent for rule in normal.starts] + [rule.fluent for rule in normal.delays]
    for fluent in fluents:
        found.setdefault(_key("fluent", fluent), set()).add(fluent)
    for relation, declared in normal.declared.items():
        if declared.role is Role.STATE:
            found.setdefault(_key("fluent", relation), set()).add(relation)
    for relation in normal.facts:
        found.setdefault(_key("fact", relation), set()).add(relation)
    return found


def _key(kind: str, relation: str) -> Key:
    name, parts = apart(relation)
    return kind, name, len(parts)


def _bodies(normal: Normal) -> Iterator[tuple[Sequence[Flat], Span]]:
    """What rules read; one that terminates looks at what there is to end."""
    for p in normal.points:
        if p.effect is Effect.TERMINATES and p.value is not None:
            yield (*p.body, HoldsAt(p.relation, p.args, p.value, negated=True)), p.span
        else:
            yield p.body, p.span
    rules: list[StartRule | DelayRule | PostponeRule] = [*normal.starts, *normal.delays, *normal.postpones]
    for rule in rules:
        yield rule.body, rule.span
    for s in normal.spans:
        yield (*(x for _, x in s.inputs), *s.tests), s.span


def _read(x: Flat) -> tuple[str, str, tuple[Term, ...]] | None:
    """What a literal reads: its kind, relation and arguments."""
    match x:
        case EventAt(relation, args, _):
            return "event", relation, args
        case HoldsAt() | EdgeAt() | EffectAt():
            return "fluent", x.fluent, x.args
        case Fact(relation, args, _):
            return "fact", relation, args
        case _:
            return None


def _in_body(
    body: Sequence[Flat], span: Span, given: Mapping[Key, set[str]], plain: frozenset[str]
) -> Iterator[Fault]:
    """The faults of a body. `plain`: variables that are no terms, as no rule or fact has one in their place."""
    for x in body:
        read = _read(x)
        if read is not None and not getattr(x, "negated", False):
            kind, relation, args = read
            others = given.get(_key(kind, relation), set()) - {relation}
            hidden = [term for other in others for term in hidden_terms(relation, args, other) or ()]
            plain |= {term.name for term in args if isinstance(term, Variable) and term not in hidden}
    for x in body:
        match x:
            case Missing(bodies):
                for inner in bodies:
                    yield from _in_body(inner, span, given, plain)
            case Total(_, _, inner, _):
                yield from _in_body(inner, span, given, plain)
        if (read := _read(x)) is not None:
            yield from _in_read(*read, span, given, plain)


def _in_read(
    kind: str,
    relation: str,
    args: Sequence[Term],
    span: Span,
    given: Mapping[Key, set[str]],
    plain: frozenset[str],
) -> Iterator[Fault]:
    shapes = given.get(_key(kind, relation))
    if shapes is None:
        if is_nested(relation) and kind != "fact":
            yield _no_input(kind, relation, span)
        return
    if relation not in shapes and kind != "fact":
        yield _no_rule(relation, sorted(shapes), span)
    for other in sorted(shapes - {relation}):
        terms = hidden_terms(relation, args, other)
        if terms and all(isinstance(term, Variable) and term.name not in plain for term in terms):
            said = f"a variable of `{relation}` may be a term here, as there is `{other}` too"
            yield Fault(said, span, "write the term out, with variables inside")


def _no_input(kind: str, relation: str, span: Span) -> Fault:
    what = "event" if kind == "event" else "fluent"
    said = f"the input {what} `{relation}` never comes: a field of the data is a constant, not a term"
    return Fault(said, span, "let a variable stand there, or give the parts of the term arguments of their own")


def _no_rule(relation: str, shapes: Sequence[str], span: Span) -> Fault:
    there = " and ".join(f"`{shape}`" for shape in shapes)
    said = f"no rule gives `{relation}`; there is {there}"
    return Fault(said, span, "write the arguments as the heads of the rules have them")

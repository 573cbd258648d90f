"""Declarations: ``event``, ``state``, ``fluent``, ``points``, ``tick``, ``query`` and the header ``program``."""

from __future__ import annotations

from thalweg.language.diagnostics import Refused
from thalweg.language.operators import DECLARE, IN, names_atom
from thalweg.language.rules import Argument, Declare, Kind, Pair, Query, Role, Statement, Tick
from thalweg.language.terms import Atom, Compound, Number, Term, Variable

TYPES = ("symbol", "int", "float", "number")


def _malformed(message: str, term: Term, suggestion: str | None = None) -> Refused:
    return Refused("TW031", message, term.span, suggestion)


def header(term: Term) -> Kind | None:
    """The kind that ``program events.`` names; None for any other clause."""
    if not (isinstance(term, Compound) and term.functor == DECLARE + "program"):
        return None
    named = term.args[0]
    if isinstance(named, Atom) and named.name in tuple(Kind):
        return Kind(named.name)
    raise _malformed("a program is one of events, answers, lars", named)


def tick_seconds(term: Term) -> float | None:
    """The length of a time-point that ``tick 1s.`` names; None for any other clause."""
    if not (isinstance(term, Compound) and term.functor == DECLARE + "tick"):
        return None
    amount = term.args[0]
    if isinstance(amount, Number) and amount.written and amount.value > 0:
        return float(amount.value)
    raise _malformed("a tick is a duration with a unit", amount, "write for instance `tick 1s.`")


def declaration(term: Compound) -> Statement | None:
    """The statement of a declaration; the header has none."""
    subject = term.args[0]
    word = term.functor.removeprefix(DECLARE)
    if header(term) is not None:
        return None
    seconds = tick_seconds(term)
    if seconds is not None:
        return Tick(seconds, span=term.span)
    if word == "query":
        if not names_atom(subject):
            raise _malformed("a query is an atom", subject, "write for instance `query malf(X, T).`")
        return Query(subject, span=term.span)
    if word not in tuple(Role):
        raise _malformed("this is not a declaration", term)
    return _entity(Role(word), subject, term)


def _entity(role: Role, subject: Term, whole: Compound) -> Declare:
    values: tuple[Term, ...] = ()
    if isinstance(subject, Compound) and subject.functor == IN:
        subject, domain = subject.args
        if role is Role.EVENT:
            raise _malformed("an event has no values", domain)
        if not (isinstance(domain, Compound) and domain.functor == "{}"):
            raise _malformed("values stand in curly brackets", domain, "write `in {null, proposed}`")
        values = domain.args
    if isinstance(subject, Atom):
        return Declare(role, subject.name, (), values, span=whole.span)
    if isinstance(subject, Compound) and names_atom(subject):
        return Declare(role, subject.functor, tuple(map(_argument, subject.args)), values, span=whole.span)
    raise _malformed(
        f"`{role}` expects a name with its arguments", subject, f"write `{role} name(argument).`"
    )


def _argument(term: Term) -> Argument:
    if isinstance(term, Compound) and term.functor == ":" and len(term.args) == 2:
        named, type_ = term.args
        if not (isinstance(type_, Atom) and type_.name in TYPES):
            raise _malformed(f"a type is one of {', '.join(TYPES)}", type_)
        return Argument(_argument_name(named), type_.name)
    return Argument(_argument_name(term), "")


def _argument_name(term: Term) -> str:
    if isinstance(term, Atom | Variable):
        return term.name
    raise _malformed(
        "an argument is a name, with or without a type", term, "write for instance `speed: float`"
    )


def declared_pair(role: Role, pair: Pair, whole: Term) -> Declare:
    """The declaration of ``points(walk(_)=true)`` and its like."""
    fluent = pair.fluent
    values = () if isinstance(pair.value, Variable) else (pair.value,)
    if isinstance(fluent, Atom):
        return Declare(role, fluent.name, (), values, span=whole.span)
    assert isinstance(fluent, Compound)
    return Declare(
        role,
        fluent.functor,
        tuple(Argument(_argument_name(a), "") for a in fluent.args),
        values,
        span=whole.span,
    )

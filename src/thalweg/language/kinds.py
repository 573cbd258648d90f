"""Which of the three kinds a program is: said by its header, or told from what it uses, or by its file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from thalweg.language.diagnostics import Diagnostic, Severity
from thalweg.language.rules import Kind
from thalweg.language.terms import Compound, Span, Term, Variable

_SHOWS = {
    Kind.EVENTS: "the Event Calculus",
    Kind.ANSWERS: "`query`, the mark of Temporal Datalog",
    Kind.LARS: "windows, the mark of LARS",
}


_SUFFIXES = {".lars": Kind.LARS, ".tdl": Kind.ANSWERS}


def kind_of(
    terms: Iterable[Term], signals: Mapping[str, Span], header: Kind | None, source: str = ""
) -> Kind:
    """The kind of a program; where nothing shows it the name of its file does, and a text with nothing but facts is
    taken for background of an event description."""
    if header is not None:
        return header
    for kind in (Kind.EVENTS, Kind.LARS, Kind.ANSWERS):
        if kind in signals:
            return kind
    for suffix, kind in _SUFFIXES.items():
        if source.endswith(suffix):
            return kind
    return Kind.ANSWERS if any(map(_passes_time, terms)) else Kind.EVENTS


def _passes_time(term: Term) -> bool:
    """Does a rule pass time from body to head, like ``malf(X, T-2) :- shdn(X, T)``?

    The last arguments of the head and of a literal share a variable, and it looks like a time: one of them has an
    offset, or the variable is called ``T``, ``T1``, ``Time`` or the like.
    """
    if not (isinstance(term, Compound) and term.functor == ":-" and len(term.args) == 2):
        return False
    head, body = term.args
    goals = body.args if isinstance(body, Compound) and body.functor == "," else (body,)
    name, offset = _time_variable(head)
    for goal in goals:
        other, other_offset = _time_variable(goal)
        if name and name == other and (offset or other_offset or _TIME.fullmatch(name)):
            return True
    return False


_TIME = re.compile(r"T\d*|Time\w*")


def _time_variable(atom: Term) -> tuple[str, bool]:
    """The variable of the last argument, and whether it has an offset."""
    if not isinstance(atom, Compound):
        return "", False
    last = atom.args[-1]
    offset = isinstance(last, Compound) and last.functor in ("+", "-") and len(last.args) == 2
    if offset:
        assert isinstance(last, Compound)
        last = last.args[0]
    return (last.name, offset) if isinstance(last, Variable) and not last.anonymous else ("", False)


def mixed(kind: Kind, signals: Mapping[str, Span]) -> list[Diagnostic]:
    """An error for every other kind that shows in the program."""
    return [
        Diagnostic(
            "TW032",
            Severity.ERROR,
            f"this uses {_SHOWS[Kind(other)]}, but the program is of kind `{kind}`",
            span,
            suggestion=f"move it to a file of its own, or begin the file with `program {other}.`",
        )
        for other, span in signals.items()
        if other != kind
    ]


def accepted(kind: Kind, diagnostic: Diagnostic) -> bool:
    """True for what is an error elsewhere but belongs to the ASCII form of Ticker, which LARS programs may use."""
    foreign = diagnostic.code == "TW008" and diagnostic.message.startswith(("`!=`", "`<=`"))
    return kind is Kind.LARS and foreign

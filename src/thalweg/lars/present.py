"""Heads without a point stand at the tick of evaluation and nowhere else.

So ``[w] at(T) p``, where p has only such heads, says that p is in and that T is now. Where T is asked for nothing else
the atom can be read without a point, and its label ends where that of p does, however far away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from thalweg.language.rules import Call, Clause, Literal, Windowed, literal_terms
from thalweg.language.terms import Compound, Number, Term, Variable, signature, variables
from thalweg.lars.stratify import Predicate

StandsNow = Callable[[Predicate], bool]
"""True for predicates that have heads without a point, and nothing else."""


def without_points(clause: Clause, stands_now: StandsNow) -> Clause:
    """The clause with plain atoms for at-atoms whose point is now and asked for nothing else."""
    for name in _points(clause, stands_now):
        if clause.at is None or name not in {v.name for v in variables(clause.at)}:
            clause = _read_plainly(clause, name, stands_now)
    return clause


def ahead_of_now(clause: Clause, stands_now: StandsNow) -> tuple[int, Clause] | None:
    """For a head ``at(T+k)`` whose T is now and asked for nothing else: k, and the clause without a point."""
    match clause.at:
        case Variable(name):
            shift = 0
        case Compound("+", (Variable(name), Number(k))) | Compound("+", (Number(k), Variable(name))):
            shift = int(k)
        case _:
            return None
    if shift < 0 or name not in _points(clause, stands_now):
        return None
    return shift, replace(_read_plainly(clause, name, stands_now), at=None)


def _points(clause: Clause, stands_now: StandsNow) -> list[str]:
    """The variables that stand for now as times of at-atoms, and nowhere else but in the head's time."""
    timed = [x for x in clause.body if _is_now(x, stands_now)]
    terms: list[Term] = [clause.head, *(x.atom for x in timed if isinstance(x, Windowed))]
    terms += [t for x in clause.body if x not in timed for t in literal_terms(x)]
    elsewhere = {v.name for t in terms for v in variables(t)}
    names = [x.time.name for x in timed if isinstance(x, Windowed) and isinstance(x.time, Variable)]
    return [n for n in dict.fromkeys(names) if n not in elsewhere]


def _is_now(literal: Literal, stands_now: StandsNow) -> bool:
    if not isinstance(literal, Windowed) or literal.negated or not isinstance(literal.time, Variable):
        return False
    window = literal.window
    whole = window is None or (window.kind == "time" and window.hop == 1)
    return whole and literal.time.name != "_" and stands_now(signature(literal.atom))


def _read_plainly(clause: Clause, name: str, stands_now: StandsNow) -> Clause:
    body = tuple(
        Call(x.atom, False)
        if isinstance(x, Windowed) and _is_now(x, stands_now) and x.time == Variable(name)
        else x
        for x in clause.body
    )
    return replace(clause, body=body)
